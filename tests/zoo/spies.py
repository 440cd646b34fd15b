"""Bots that look for what they must not know or reach. A bot that finds something raises an error.

Each has a function ``look`` that raises Found. Outside of a jail, where all of it is there, it does, as a test sees.
"""

from __future__ import annotations

from zoo.hostile import Hostile, Pays

SECRET = "a-secret-of-the-house"
"""The secret in the environment, in files of the home and of other bots, and in listeners' answers."""
KEYS = "@KEYS"
"""A placeholder in a bot's source for the keys of all its games, in order, each XORed with `MASK`."""
MASK = 0x5A5AA5A5C3C33C3C


def _spy(name: str, look: str, games: tuple[str, ...], head: str = "", jail: bool = True) -> Hostile:
    head = f"{head}\ndef look():\n" + "".join(f"    {line}\n" for line in look.strip("\n").splitlines())
    ask = "if asked in (1, 5):\n    look()\n    print('looked')"
    return Hostile(name, Pays.NOTHING, ask=ask, head=f"{head}\nlook()", games=games, jail=jail)


_READ = f'''
import os

def processes():
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []

def read(path):
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 20)
    except OSError:
        return
    if b"{SECRET[:8]}" + b"{SECRET[8:]}" in data:
        raise Found(f"the secret in {{path}}")
'''
_CONNECT = """
import socket

def connect(family, address):
    try:
        with socket.socket(family) as line:
            line.settimeout(0.2)
            line.connect(address)
    except OSError:
        return
    raise Found(f"a way to {address}")
"""
_WRITE = """
import os

def write(top):
    for folder, _, _ in os.walk(top):
        path = os.path.join(folder, "owned")
        try:
            with open(path, "w"):
                pass
        except OSError:
            continue
        os.unlink(path)
        raise Found(f"a way to write in {folder}")
"""

SPIES = (
    _spy(
        "reads_other_bots",
        """
for folder, _, files in (one for top in ("/tmp", os.path.dirname(__file__), "/proc/self/cwd") for one in os.walk(top)):
    for name in files:
        path = os.path.join(folder, name)
        if not os.path.exists(__file__) or not os.path.samefile(path, __file__):
            read(path)
""",
        ("hog", "liarsdice", "lucky"),
        _READ,
    ),
    _spy(
        "reads_the_home",
        """
import pwd
for home in {os.path.expanduser("~"), "@HOME", *(one.pw_dir for one in pwd.getpwall())}:
    for name in (".netrc", ".ssh/id_rsa"):
        read(os.path.join(home, name))
""",
        ("hog", "yatzy"),
        _READ,
    ),
    _spy(
        "reads_the_environment",
        """
for pid in (*processes(), "self", "thread-self"):
    read(f"/proc/{pid}/environ")
    read(f"/proc/{pid}/cmdline")
if any("SECRET" in key for key in os.environ):
    raise Found("the secret in the environment")
""",
        ("liarsdice", "liarsdice_spot_on"),
        _READ,
    ),
    _spy("connects_to_a_port", 'connect(socket.AF_INET, ("127.0.0.1", @PORT))', ("hog", "lucky"), _CONNECT),
    _spy("connects_to_a_name", 'connect(socket.AF_UNIX, "\\0zoo")', ("liarsdice", "yatzy"), _CONNECT),
    _spy("connects_to_a_file", 'connect(socket.AF_UNIX, "@HOME/listener")', ("lucky", "hog"), _CONNECT),
    _spy(
        "sees_other_processes",
        """
for pid in processes():
    try:
        text = open(f"/proc/{pid}/cmdline", "rb").read()
    except OSError:
        continue
    if b"zoo.visit" in text:
        raise Found(f"the referee is process {pid}")
""",
        ("liarsdice_spot_on", "hog"),
        _READ,
    ),
    _spy(
        "reads_the_memory_of_others",
        """
for pid in processes():
    try:
        command = open(f"/proc/{pid}/cmdline", "rb").read()
        maps = open(f"/proc/{pid}/maps").read().splitlines()
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            memory.seek(int(maps[0].split("-")[0], 16))
            memory.read(16)
    except OSError:
        continue
    if b"zoo.visit" in command:
        raise Found(f"the memory of process {pid}")
""",
        ("liarsdice", "yatzy"),
        _READ,
    ),
    _spy(
        "searches_its_memory_for_the_key",
        """
import gc, numpy
wanted = numpy.array([@KEYS], numpy.uint64)
known = set(wanted.tolist())
for thing in gc.get_objects():
    inside = thing.values() if type(thing) is dict else thing if type(thing) in (list, tuple) else ()
    if any(type(one) is int and one ^ @MASK in known for one in list(inside)):
        raise Found(f"a key in a {type(thing).__name__}")
mask = numpy.uint64(@MASK)
try:
    lines = open("/proc/self/maps").read().splitlines()
except OSError:
    lines = []
for line in lines:
    places, rights, *_ = line.split()
    first, last = (int(place, 16) for place in places.split("-"))
    if not rights.startswith("rw"):
        continue
    with open("/proc/self/mem", "rb", 0) as memory:
        for place in range(first, last, 1 << 20):
            try:
                memory.seek(place)
                data = memory.read(min(1 << 20, last - place))
            except (OSError, ValueError, OverflowError):
                break
            words = numpy.frombuffer(data[: len(data) // 8 * 8], numpy.uint64) ^ mask
            if numpy.isin(words, wanted).any():
                raise Found(f"a key in {line}")
""",
        ("hog", "liarsdice", "lucky"),
        jail=False,
    ),
    _spy(
        "searches_its_objects_for_the_record",
        """
import gc, sys
things = list(gc.get_objects())
for frame in sys._current_frames().values():
    while frame is not None:
        things += list(frame.f_locals.values())
        frame = frame.f_back
for thing in things:
    fields = getattr(getattr(type(thing), "dtype", None) and thing.dtype, "names", None) or ()
    if "key" in fields:
        raise Found("a record of the game")
    if type(thing).__name__ in ("Game", "Match", "Turn", "Referee", "Director", "Heartbeat", "Check"):
        raise Found(f"a {type(thing).__name__}")
""",
        ("hog", "liarsdice_spot_on", "yatzy"),
        jail=False,
    ),
    _spy("writes_compiled_kernels", 'write("@CACHE")', ("hog", "yatzy"), _WRITE, jail=False),
    _spy("writes_in_the_house", 'write("@HOUSE")', ("liarsdice", "lucky"), _WRITE),
)
