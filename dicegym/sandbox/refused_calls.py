"""The table of system calls that an untrusted program may not make, by name, number and reason.

What is not in it stays possible: memory of its own, files as far as Landlock and the file system let it, threads,
clocks, pipes. `dicegym.sandbox.seccomp` makes a filter of it.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import NamedTuple

Numbers = Mapping[str, tuple[int | None, int | None]]
"""Of calls by name, on x86_64 and on aarch64; None: there is no such call there."""


LOWER_HALF = 0xFFFFFFFF


class Condition(NamedTuple):
    """What an argument of a call is asked: whether its lower half, after ``mask``, is one of ``values``.

    The kernel reads flags, commands and process ids from the lower half alone. A pointer is asked as a whole, for both
    of its halves (``wide``).
    """

    argument: int
    values: tuple[int, ...]
    mask: int = LOWER_HALF
    wide: bool = False


class Rule(NamedTuple):
    """Calls that are refused for one reason.

    Attributes:
        reason: what they would do.
        calls: their numbers.
        unless: a test by which they pass.
        only: tests of which one must hold for them to be refused; none: all are.
        error: what they get.
    """

    reason: str
    calls: Numbers
    unless: tuple[Condition, ...] = ()
    only: tuple[Condition, ...] = ()
    error: int = errno.EPERM


OWN = -1
"""In a test's values: the id of the process that installs the filter."""

_CLONE_THREAD = 0x10000
_FORK = Rule(
    "start another process, which could outlive the match",
    {"fork": (57, None), "vfork": (58, None)},
)
_CLONE = Rule(
    "the same by the general call, which also starts threads: these pass",
    {"clone": (56, 220)},
    unless=(Condition(0, (_CLONE_THREAD,), _CLONE_THREAD),),
)
_CLONE3 = Rule(
    "the same with its flags in memory, where a filter cannot look; C libraries fall back on clone",
    {"clone3": (435, 435)},
    error=errno.ENOSYS,
)

RULES: tuple[Rule, ...] = (
    _FORK,
    _CLONE,
    _CLONE3,
    Rule("become another program", {"execve": (59, 221), "execveat": (322, 281), "uselib": (134, None)}),
    Rule(
        "look into other processes, or take over what they have open",
        {
            "ptrace": (101, 117),
            "process_vm_readv": (310, 270),
            "process_vm_writev": (311, 271),
            "process_madvise": (440, 440),
            "process_mrelease": (448, 448),
            "kcmp": (312, 272),
            "pidfd_open": (434, 434),
            "pidfd_getfd": (438, 438),
            "pidfd_send_signal": (424, 424),
            "migrate_pages": (256, 238),
            "move_pages": (279, 239),
        },
    ),
    Rule(
        "send signals to others than itself; 0, -1 and groups are others too",
        {
            "kill": (62, 129),
            "tkill": (200, 130),
            "tgkill": (234, 131),
            "rt_sigqueueinfo": (129, 138),
            "rt_tgsigqueueinfo": (297, 240),
        },
        unless=(Condition(0, (OWN,)),),
    ),
    Rule(
        "have the kernel send signals to others (F_SETOWN, F_SETSIG, F_SETOWN_EX), hold up whoever opens a file "
        "(F_SETLEASE, F_SETDELEG), be told of changes in folders (F_NOTIFY), take others' room in pipes (F_SETPIPE_SZ)",
        {"fcntl": (72, 25)},
        only=(Condition(1, (8, 10, 15, 1024, 1040, 1026, 1031)),),
    ),
    Rule(
        "the same by another call; type into a terminal (TIOCSTI, TIOCLINUX), take one over (TIOCSCTTY)",
        {"ioctl": (16, 29)},
        only=(Condition(1, (0x8901, 0x8902, 0x5412, 0x541C, 0x540E)),),  # FIOSETOWN, SIOCSPGRP first
    ),
    Rule(
        "reach the network, or other processes by named and abstract sockets",
        {
            "socket": (41, 198),
            "connect": (42, 203),
            "bind": (49, 200),
            "listen": (50, 201),
            "accept": (43, 202),
            "accept4": (288, 242),
            "sendmsg": (46, 211),  # may name an address, or hand over descriptors
            "sendmmsg": (307, 269),
        },
    ),
    Rule(
        "the same from a socket that is open: send to an address",
        {"sendto": (44, 206)},
        unless=(Condition(4, (0,), wide=True),),
    ),
    Rule(
        "the same with a new pair; those of the machine's own kind (AF_UNIX) pass",
        {"socketpair": (53, 199)},
        unless=(Condition(0, (1,)),),
    ),
    Rule(
        "share memory that no limit counts, or that outlives the process",
        {
            "memfd_create": (319, 279),
            "memfd_secret": (447, 447),
            "shmget": (29, 194),
            "shmat": (30, 196),
            "shmctl": (31, 195),
            "remap_file_pages": (216, 234),
        },
    ),
    Rule(
        "the same without a file (MAP_SHARED with MAP_ANONYMOUS), or as a stack that no limit counts (MAP_GROWSDOWN)",
        {"mmap": (9, 222)},
        only=(Condition(3, (0x21, 0x23), 0x2F), Condition(3, (0x100,), 0x100)),
    ),
    Rule(
        "leave messages and semaphores to other processes",
        {
            "mq_open": (240, 180),
            "mq_unlink": (241, 181),
            "semget": (64, 190),
            "semctl": (66, 191),
            "semop": (65, 193),
            "semtimedop": (220, 192),
            "msgget": (68, 186),
            "msgctl": (71, 187),
            "msgrcv": (70, 188),
            "msgsnd": (69, 189),
        },
    ),
    Rule(
        "raise its own limits, or change those of others",
        {"setrlimit": (160, 164)},
    ),
    Rule(
        "the same by the call that also asks for limits, which passes",
        {"prlimit64": (302, 261)},
        unless=(Condition(2, (0,), wide=True),),
    ),
    Rule(
        "take processors and disks from others, or change how others get them",
        {
            "sched_setaffinity": (203, 122),
            "sched_setscheduler": (144, 119),
            "sched_setparam": (142, 118),
            "sched_setattr": (314, 274),
            "setpriority": (141, 140),
            "ioprio_set": (251, 30),
        },
    ),
    Rule(
        "use up what all processes of the machine share: disks that write everything, requests that they may have open",
        {"sync": (162, 81), "syncfs": (306, 267), "io_setup": (206, 0)},
    ),
    Rule(
        "outlive who watches it, look like a process that may be watched by others, leave the group that is ended",
        {"prctl": (157, 167)},
        only=(Condition(0, (1, 4, 35, 36, 0x59616D61)),),  # PDEATHSIG, DUMPABLE, MM, CHILD_SUBREAPER, PTRACER
    ),
    Rule(
        "become another user, for whom other limits hold",
        {
            "setuid": (105, 146),
            "setgid": (106, 144),
            "setreuid": (113, 145),
            "setregid": (114, 143),
            "setresuid": (117, 147),
            "setresgid": (119, 149),
            "setfsuid": (122, 151),
            "setfsgid": (123, 152),
            "setgroups": (116, 159),
            "capset": (126, 91),
        },
    ),
    Rule("leave the group that is ended with it", {"setsid": (112, 157), "setpgid": (109, 154)}),
    Rule(
        "change who may use a file, or when it was changed, for which no right to write is needed (Landlock lets it)",
        {
            "chmod": (90, None),
            "fchmod": (91, 52),
            "fchmodat": (268, 53),
            "fchmodat2": (452, 452),
            "chown": (92, None),
            "fchown": (93, 55),
            "lchown": (94, None),
            "fchownat": (260, 54),
            "utime": (132, None),
            "utimes": (235, None),
            "futimesat": (261, None),
            "utimensat": (280, 88),
            "setxattr": (188, 5),
            "lsetxattr": (189, 6),
            "fsetxattr": (190, 7),
            "removexattr": (197, 14),
            "lremovexattr": (198, 15),
            "fremovexattr": (199, 16),
        },
    ),
    Rule("empty a file by its name, which Landlock lets before version 3", {"truncate": (76, 45)}),
    Rule(
        "be told what others do to files, which shows when they move",
        {"inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262)},
    ),
    Rule("make devices, and pipes on which whoever opens them hangs", {"mknod": (133, None), "mknodat": (259, 33)}),
    Rule(
        "change which files there are: mounts and roots",
        {
            "mount": (165, 40),
            "umount2": (166, 39),
            "move_mount": (429, 429),
            "open_tree": (428, 428),
            "fsopen": (430, 430),
            "fsconfig": (431, 431),
            "fsmount": (432, 432),
            "fspick": (433, 433),
            "mount_setattr": (442, 442),
            "statmount": (457, 457),
            "listmount": (458, 458),
            "chroot": (161, 51),
            "pivot_root": (155, 41),
            "quotactl": (179, 60),
            "quotactl_fd": (443, 443),
            "name_to_handle_at": (303, 264),
            "open_by_handle_at": (304, 265),
            "lookup_dcookie": (212, 18),
        },
    ),
    Rule("have rights of its own making: namespaces", {"unshare": (272, 97), "setns": (308, 268)}),
    Rule(
        "keep secrets in the kernel, or read them",
        {"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    ),
    Rule(
        "do any of this by a queue that a filter does not see",
        {"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    ),
    Rule(
        "use parts of the kernel that have been its weak places, and that no bot needs",
        {
            "userfaultfd": (323, 282),
            "perf_event_open": (298, 241),
            "bpf": (321, 280),
            "personality": (135, 92),
            "modify_ldt": (154, None),
            "iopl": (172, None),
            "ioperm": (173, None),
            "vmsplice": (278, 75),
            "lsm_set_self_attr": (460, 460),
        },
    ),
    Rule(
        "change the machine, as root could",
        {
            "kexec_load": (246, 104),
            "kexec_file_load": (320, 294),
            "init_module": (175, 105),
            "finit_module": (313, 273),
            "delete_module": (176, 106),
            "reboot": (169, 142),
            "swapon": (167, 224),
            "swapoff": (168, 225),
            "syslog": (103, 116),
            "acct": (163, 89),
            "vhangup": (153, 58),
            "sethostname": (170, 161),
            "setdomainname": (171, 162),
            "settimeofday": (164, 170),
            "clock_settime": (227, 112),
            "clock_adjtime": (305, 266),
            "adjtimex": (159, 171),
            "nfsservctl": (180, 42),
            "_sysctl": (156, None),
        },
    ),
)

PROCESSES = (_FORK, _CLONE, _CLONE3)
"""Rules without which processes can be started."""

LAST_KNOWN = 462
"""The newest call that the table has been compared with (mseal, Linux 6.10): later ones get ENOSYS, as on the kernels
before them, and C libraries do without. So do the numbers of x86_64's other kind (x32), which begin at 2**30."""
