"""Processors, compiled kernels, graphics, what keeps bots of others apart, windows, the terminal, and ports."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from importlib import util
from pathlib import Path

from dicegym.bench import processor_name
from dicegym.doctor.diagnosis import BROKEN, LACKING, OK, Diagnosis
from dicegym.doctor.packages import version_of
from dicegym.errors import install_command

GIB = 1 << 30
LEAST_MEMORY = 2 * GIB
"""Below which a training with PyTorch may be ended by the system."""
NARROW = 80
"""Columns of a terminal that tables need."""
SIGNS = "\u2680\u2588\u2013"
"""A die, a bar and a dash: what terminals are asked to show."""
_GRAPHICS = ("/dev/nvidia0", "/dev/kfd")
_LIMIT = Path("/sys/fs/cgroup/memory.max")


def processor() -> list[Diagnosis]:
    """Return what computes here: processors that may be used, threads that kernels take, and memory."""
    from dicegym.engine.threads import cores

    usable, there = cores(), os.cpu_count() or 1
    words = f"{processor_name()}, {usable} of {there} processors may be used"
    found = [Diagnosis("machine", "processor", OK, words)]
    memory = _memory()
    if memory is None:
        return found
    words = f"{memory / GIB:.1f} GiB may be used"
    if memory < LEAST_MEMORY:
        advice = "train with fewer games at once: --set run.games=256"
        return [*found, Diagnosis("machine", "memory", LACKING, f"{words}: little for a training", advice)]
    return [*found, Diagnosis("machine", "memory", OK, words)]


def kernels() -> list[Diagnosis]:
    """Return where compiled kernels are kept, and whether some are there already."""
    from dicegym.engine import jit

    if not jit.CACHE_FOLDER:
        return [Diagnosis("kernels", "", OK, "compilation is switched off (NUMBA_DISABLE_JIT): all is plain Python")]
    folder = Path(jit.CACHE_FOLDER)
    files = [one for one in folder.iterdir() if one.suffix == ".nbc"]
    size = sum(one.stat().st_size for one in files)
    others = len([one for one in folder.parent.glob("kernels-*") if one != folder])
    words = f"{len(files)} compiled ({size / (1 << 20):.0f} MiB) in {folder}"
    if others:
        words += f", beside {others} of other versions, which go by themselves"
    if not os.access(folder, os.W_OK):
        return [
            Diagnosis("kernels", "", BROKEN, f"{folder} cannot be written", "let DICEGYM_CACHE name a folder of yours")
        ]
    if not files:
        return [
            Diagnosis("kernels", "", OK, f"{words}: the first game of each kind compiles its own, which takes minutes")
        ]
    return [Diagnosis("kernels", "", OK, words)]


def graphics() -> list[Diagnosis]:
    """Return whether trainings can use a graphics processor; PyTorch is asked by its files alone."""
    torch = version_of("torch")
    devices = [one for one in _GRAPHICS if Path(one).exists()]
    there = bool(devices) or shutil.which("nvidia-smi") is not None
    if not torch:
        if there:
            return [
                Diagnosis(
                    "graphics", "", LACKING, "a graphics processor is here, PyTorch is not", install_command("train")
                )
            ]
        return [
            Diagnosis(
                "graphics", "", LACKING, "PyTorch is not installed, which trainings need", install_command("train")
            )
        ]
    build = _build()
    words = f"PyTorch {torch}, built for {build or 'the processor alone'}"
    if there and not build:
        advice = "install a build for it: see pytorch.org"
        return [Diagnosis("graphics", "", LACKING, f"{words}, although a graphics processor is here", advice)]
    if build and not there:
        return [Diagnosis("graphics", "", OK, f"{words}; no graphics processor is here, the processor does it")]
    return [Diagnosis("graphics", "", OK, words + ("; train with --set run.device=auto" if there else ""))]


def isolation() -> list[Diagnosis]:
    """Return what keeps bots of others apart here, layer by layer."""
    from dicegym.sandbox import jail, landlock, seccomp

    why = jail.probe(jail.Isolation.JAIL)
    program = jail.bubblewrap()
    name = f"bubblewrap {program.version} ({program.path})" if program else "bubblewrap"
    found = [
        Diagnosis("isolation", "jail", LACKING, why, "bots of others have fewer walls around them until then")
        if why
        else Diagnosis("isolation", "jail", OK, f"{name}: own processes, network and files for each bot")
    ]
    known = landlock.version()
    layers = (
        ("Landlock", bool(known), f"version {known}", "a Linux from 5.13 on with Landlock switched on has it"),
        ("seccomp", seccomp.available(), "system calls are filtered", "a Linux on x86-64 or ARM has it"),
    )
    for layer, holds, words, advice in layers:
        found.append(
            Diagnosis(
                "isolation", layer, OK if holds else LACKING, words if holds else "not here", "" if holds else advice
            )
        )
    return found


def display() -> list[Diagnosis]:
    """Return whether a window can be opened."""
    name = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY", "")
    if sys.platform not in ("win32", "darwin") and not name:
        return [Diagnosis("display", "", LACKING, "no display: render_mode='human' prints instead", "")]
    if util.find_spec("pygame") is None:
        return [
            Diagnosis("display", "", LACKING, "a display, and nothing that opens windows", install_command("render"))
        ]
    return [Diagnosis("display", "", OK, f"windows can be opened{f' on {name}' if name else ''}")]


def terminal() -> list[Diagnosis]:
    """Return whether the output shows what is printed, and how wide it is."""
    encoding = getattr(sys.stdout, "encoding", None) or "unknown"
    width = shutil.get_terminal_size((0, 0)).columns
    words = f"{encoding}, " + (f"{width} columns" if width else "no terminal")
    try:
        SIGNS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return [Diagnosis("terminal", "", LACKING, f"{words}: dice and bars cannot be shown", "set PYTHONUTF8=1")]
    if 0 < width < NARROW:
        return [Diagnosis("terminal", "", LACKING, f"{words}: tables are cut", f"{NARROW} columns show them whole")]
    return [Diagnosis("terminal", "", OK, words)]


def port() -> list[Diagnosis]:
    """Return whether the port of the pages is free."""
    from dicegym.web.settings import HOST, PORT

    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, PORT))
        except OSError as error:
            words = f"{HOST}:{PORT} cannot be used ({error.strerror})"
            return [Diagnosis("port", "", LACKING, words, "dicegym web --port NUMBER takes another")]
    return [Diagnosis("port", "", OK, f"{HOST}:{PORT} is free for `dicegym web`")]


def _memory() -> int | None:
    """Return the bytes that this process may have: the machine's, or what a container leaves of them."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
    try:
        limit = _LIMIT.read_text().strip()
    except OSError:
        return found
    return min(found, int(limit)) if limit.isdecimal() else found


def _build() -> str:
    """Return what PyTorch was built for beside the processor, by its file of versions, without loading it."""
    spec = util.find_spec("torch")
    if spec is None or spec.origin is None:
        return ""
    try:
        text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    except OSError:
        return ""
    for kind, name in (("cuda", "CUDA"), ("hip", "ROCm"), ("xpu", "XPU")):
        if found := re.search(rf"^{kind}\b[^=]*= '([^']+)'", text, re.MULTILINE):
            return f"{name} {found[1]}"
    return ""
