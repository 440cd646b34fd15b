"""System calls forbidden to a process and all its threads, for good (Linux's seccomp), by name and reason.

`RULES` lists what an untrusted program may not ask of the kernel, and why; to forbid another call, add a line. All else
is allowed: private memory, files that Landlock and the file system allow, threads, clocks, pipes. Most calls fail with
EPERM, which Python raises as PermissionError, so the program's error says what is forbidden. Calls for which C
libraries have a fallback fail with ENOSYS.

The kernel caches which calls always pass, so reading and writing are as fast as without a filter.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import sys
from typing import NamedTuple

from dicegym.sandbox import linux

LOWER_HALF = 0xFFFFFFFF


class Condition(NamedTuple):
    """A test of one argument of a call: whether its lower half, after ``mask``, is one of ``values``.

    The kernel reads flags, commands and process ids from the lower half alone. For pointers, both halves are tested
    (``wide``).
    """

    argument: int
    values: tuple[int, ...]
    mask: int = LOWER_HALF
    wide: bool = False


class Rule(NamedTuple):
    """Calls that are refused for one reason.

    Attributes:
        reason: what they would do.
        listed: each call's name and its numbers on x86_64 and aarch64; "-": the machine lacks the call.
        unless: a call passes if one of these tests holds.
        only: a call is refused only if one of these tests holds; empty: always.
        error: the error number of refused calls.
    """

    reason: str
    listed: str
    unless: tuple[Condition, ...] = ()
    only: tuple[Condition, ...] = ()
    error: int = errno.EPERM

    @property
    def calls(self) -> dict[str, tuple[int | None, int | None]]:
        """Name -> numbers on both machines; None: the machine lacks the call."""
        found = {}
        for call in self.listed.split(", "):
            name, *numbers = call.split()
            first, second = (None if number == "-" else int(number) for number in numbers)
            found[name] = first, second
        return found


OWN = -1  # in a test's values, this stands for the id of the process that installs the filter

_CLONE_THREAD = 0x10000

RULES: tuple[Rule, ...] = (
    Rule("start another process, which could outlive the match", "fork 57 -, vfork 58 -"),
    Rule(
        "the same by the general call; threads, which it also starts, pass",
        "clone 56 220",
        unless=(Condition(0, (_CLONE_THREAD,), _CLONE_THREAD),),
    ),
    Rule(
        "the same with flags in memory, which a filter cannot read; C libraries fall back on clone",
        "clone3 435 435",
        error=errno.ENOSYS,
    ),
    Rule("become another program", "execve 59 221, execveat 322 281, uselib 134 -"),
    Rule(
        "inspect other processes, or take over their open files",
        "ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, "
        "process_mrelease 448 448, kcmp 312 272, pidfd_open 434 434, pidfd_getfd 438 438, "
        "pidfd_send_signal 424 424, migrate_pages 256 238, move_pages 279 239",
    ),
    Rule(
        "send signals to other processes; 0, -1 and groups count as others",
        "kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240",
        unless=(Condition(0, (OWN,)),),
    ),
    Rule(
        "make the kernel signal others (F_SETOWN, F_SETSIG, F_SETOWN_EX), block programs that open a file "
        "(F_SETLEASE, F_SETDELEG), watch folders (F_NOTIFY), use up the room of all pipes (F_SETPIPE_SZ)",
        "fcntl 72 25",
        only=(Condition(1, (8, 10, 15, 1024, 1040, 1026, 1031)),),
    ),
    Rule(
        "the same by another call; type into a terminal (TIOCSTI, TIOCLINUX), take one over (TIOCSCTTY)",
        "ioctl 16 29",
        only=(Condition(1, (0x8901, 0x8902, 0x5412, 0x541C, 0x540E)),),  # FIOSETOWN, SIOCSPGRP first
    ),
    Rule(
        "reach the network, or other processes by named or abstract sockets",
        "socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242, "
        "sendmsg 46 211, sendmmsg 307 269",
    ),
    Rule(
        "the same from an open socket: send to an address",
        "sendto 44 206",
        unless=(Condition(4, (0,), wide=True),),
    ),
    Rule(
        "the same with a new pair; local pairs (AF_UNIX) pass",
        "socketpair 53 199",
        unless=(Condition(0, (1,)),),
    ),
    Rule(
        "share memory that no limit counts or that outlives the process",
        "memfd_create 319 279, memfd_secret 447 447, shmget 29 194, shmat 30 196, shmctl 31 195, "
        "remap_file_pages 216 234",
    ),
    Rule(
        "the same without a file (MAP_SHARED with MAP_ANONYMOUS), or as a stack that no limit counts (MAP_GROWSDOWN)",
        "mmap 9 222",
        only=(Condition(3, (0x21, 0x23), 0x2F), Condition(3, (0x100,), 0x100)),
    ),
    Rule(
        "leave messages and semaphores to other processes",
        "mq_open 240 180, mq_unlink 241 181, semget 64 190, semctl 66 191, semop 65 193, semtimedop 220 192, "
        "msgget 68 186, msgctl 71 187, msgrcv 70 188, msgsnd 69 189",
    ),
    Rule("raise its own limits, or change others' limits", "setrlimit 160 164"),
    Rule(
        "the same by the general call; reading limits, which it also does, passes",
        "prlimit64 302 261",
        unless=(Condition(2, (0,), wide=True),),
    ),
    Rule(
        "take processors or disks from others, or change their priorities",
        "sched_setaffinity 203 122, sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274, "
        "setpriority 141 140, ioprio_set 251 30",
    ),
    Rule(
        "use up what all processes share: write all disks (sync), open asynchronous requests",
        "sync 162 81, syncfs 306 267, io_setup 206 0",
    ),
    Rule(
        "outlive its referee, let others inspect it, leave the group that is killed with it",
        "prctl 157 167",
        only=(Condition(0, (1, 4, 35, 36, 0x59616D61)),),  # PDEATHSIG, DUMPABLE, MM, CHILD_SUBREAPER, PTRACER
    ),
    Rule(
        "become another user with other limits",
        "setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147, "
        "setresgid 119 149, setfsuid 122 151, setfsgid 123 152, setgroups 116 159, capset 126 91",
    ),
    Rule("leave the group that is killed with it", "setsid 112 157, setpgid 109 154"),
    Rule(
        "change the owner, mode or times of a file, which needs no right to write and which Landlock allows",
        "chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -, "
        "fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5, "
        "lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16",
    ),
    Rule("empty a file by name, which Landlock allows before version 3", "truncate 76 45"),
    Rule(
        "watch what others do to files, which shows when they move",
        "inotify_init 253 -, inotify_init1 294 26, fanotify_init 300 262",
    ),
    Rule("make devices, or pipes that block programs that open them", "mknod 133 -, mknodat 259 33"),
    Rule(
        "change the file system: mounts and roots",
        "mount 165 40, umount2 166 39, move_mount 429 429, open_tree 428 428, fsopen 430 430, fsconfig 431 431, "
        "fsmount 432 432, fspick 433 433, mount_setattr 442 442, statmount 457 457, listmount 458 458, "
        "chroot 161 51, pivot_root 155 41, quotactl 179 60, quotactl_fd 443 443, name_to_handle_at 303 264, "
        "open_by_handle_at 304 265, lookup_dcookie 212 18",
    ),
    Rule("gain rights in new namespaces", "unshare 272 97, setns 308 268"),
    Rule(
        "fill the kernel with Landlock rules, which no limit counts; those in force stay",
        "landlock_create_ruleset 444 444, landlock_add_rule 445 445, landlock_restrict_self 446 446",
    ),
    Rule("store or read secrets in the kernel", "add_key 248 217, request_key 249 218, keyctl 250 219"),
    Rule(
        "do any of this through a queue that a filter does not see",
        "io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427",
    ),
    Rule(
        "use parts of the kernel that had many security holes and that no bot needs",
        "userfaultfd 323 282, perf_event_open 298 241, bpf 321 280, personality 135 92, modify_ldt 154 -, "
        "iopl 172 -, ioperm 173 -, vmsplice 278 75, lsm_set_self_attr 460 460",
    ),
    Rule(
        "change the machine as root could",
        "kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, "
        "delete_module 176 106, reboot 169 142, swapon 167 224, swapoff 168 225, syslog 103 116, acct 163 89, "
        "vhangup 153 58, sethostname 170 161, setdomainname 171 162, settimeofday 164 170, "
        "clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, nfsservctl 180 42, _sysctl 156 -",
    ),
)

LAST_KNOWN = 462
"""The newest call that the table covers (mseal, Linux 6.10). Later calls fail with ENOSYS, as on older kernels, and C
libraries fall back. So do the calls of x86_64's second ABI (x32), whose numbers begin at 2**30."""


class _Machine(NamedTuple):
    column: int  # index into the numbers of `Rule.calls`
    architecture: int
    """AUDIT_ARCH_... of linux/audit.h, which the kernel reports with each call."""
    seccomp: int  # number of the system call


_MACHINES = {"x86_64": _Machine(0, 0xC000003E, 317), "aarch64": _Machine(1, 0xC00000B7, 277)}

# Opcodes of classic BPF, and return values of a filter.
_LOAD, _AND, _IF_EQUAL, _IF_GREATER, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in the kernel's struct seccomp_data; arguments are 8 bytes each, the lower half first on both machines."""

_SET_MODE_FILTER, _ASK_FOR_ACTION = 1, 2
_ALL_THREADS = 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _machine() -> _Machine | None:
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    return _MACHINES.get(os.uname().machine)


class _Instruction(NamedTuple):
    """One instruction of a filter; the last two fields are numbers of instructions to skip after a comparison."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


def _body(rule: Rule) -> list[_Instruction]:
    """Return the instructions for a call of ``rule``: tests, then the return without a hit, then that with one."""
    passed, refused = _Instruction(_RETURN, _ALLOW), _Instruction(_RETURN, _ERROR | rule.error)
    if not (rule.unless or rule.only):
        return [refused]
    body = [refused, passed] if rule.unless else [passed, refused]
    for test in reversed(rule.unless or rule.only):  # backwards, since each jump leads to the end
        for half in reversed(range(1 + test.wide)):
            for value in reversed(test.values):
                to_miss, last = len(body) - 2, half == test.wide
                jumps = (to_miss + 1, 0) if last else (0, to_miss)
                body.insert(0, _Instruction(_IF_EQUAL, value, *jumps))
            if test.mask != LOWER_HALF:
                body.insert(0, _Instruction(_AND, test.mask))
            body.insert(0, _Instruction(_LOAD, _ARGUMENTS + 8 * test.argument + 4 * half))
    return body


@functools.cache
def _plan(machine: str) -> tuple[bytes | _Instruction, ...]:
    """Return the packed instructions of the filter, except those with the id of the process (`OWN`)."""
    kind = _MACHINES[machine]
    steps = [
        _Instruction(_LOAD, _ARCHITECTURE),
        _Instruction(_IF_EQUAL, kind.architecture, 1),
        _Instruction(_RETURN, _KILL),
        _Instruction(_LOAD, _NUMBER),
        _Instruction(_IF_GREATER, LAST_KNOWN, 0, 1),
        _Instruction(_RETURN, _ERROR | errno.ENOSYS),
    ]
    for rule in RULES:
        body = _body(rule)
        for numbers in rule.calls.values():
            if (number := numbers[kind.column]) is not None:
                steps += [_Instruction(_IF_EQUAL, number, 0, len(body)), *body]
    steps.append(_Instruction(_RETURN, _ALLOW))
    return tuple(step if step.value == OWN else _packed(step) for step in steps)


def _packed(step: _Instruction) -> bytes:
    return struct.pack("=HBBI", step.code, step.if_true, step.if_false, step.value)


def program(own: int, machine: str) -> bytes:
    """Return the filter in the kernel's format, 8 bytes per instruction.

    Args:
        own: id of the process that will install it.
        machine: name as in `os.uname`.

    Raises:
        KeyError: the table has no numbers for ``machine``.
    """
    return b"".join(step if isinstance(step, bytes) else _packed(step._replace(value=own)) for step in _plan(machine))


@functools.cache
def available() -> bool:
    """Return whether this kernel supports filters and the table has this machine's numbers."""
    machine = _machine()
    if machine is None:
        return False
    wanted = ctypes.c_uint32(_ERROR)
    try:  # this only asks whether filters may return errors
        linux.call(machine.seccomp, ctypes.c_uint(_ASK_FOR_ACTION), ctypes.c_uint(0), ctypes.byref(wanted))
    except (OSError, AttributeError):
        return False
    _plan(os.uname().machine)  # computed once, before processes are forked
    return True


def install() -> bool:
    """Forbid the calls of `RULES` to this process, its threads and its children; return whether that worked.

    The filter holds the process id, so a forked child could signal only its parent: install the filter in each process
    that runs untrusted code. Calling `available` before the fork makes that faster.
    """
    machine = _machine()
    if machine is None or not available():
        return False
    instructions = program(os.getpid(), os.uname().machine)
    wanted = _Program(len(instructions) // 8, instructions)
    try:
        linux.give_up_new_privileges()
        linux.call(machine.seccomp, ctypes.c_uint(_SET_MODE_FILTER), ctypes.c_uint(_ALL_THREADS), ctypes.byref(wanted))
    except OSError:
        return False
    return True
