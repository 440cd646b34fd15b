"""A window that shows pictures: a process of its own, so it answers while the interpreter waits or computes.

It needs pygame (extra ``render``) and a display. It ends when it is closed by whoever looks, and with this process.
"""

from __future__ import annotations

import importlib.util
import os
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

PROGRAM = Path(__file__).with_name("window_program.py")
READY = b"ready"
HEAD = struct.Struct("<II")
"""What stands before a picture: width and height."""
START_SECONDS = 20.0
"""So long a window may take to come up."""
_SAID: set[str] = set()
"""What was said already: once is enough for one process."""


class Window:
    """A window, which opens with the first picture.

    Args:
        title: what stands above it.
        frames: pictures a second at the most; whoever shows them faster waits.
    """

    def __init__(self, title: str, frames: float) -> None:
        self._title, self._pause = title, 1 / frames
        self._process: subprocess.Popen[bytes] | None = None
        self._closed_by_user = False
        self._next = 0.0

    def __getstate__(self) -> dict[str, Any]:
        """Leave the window out: a copy opens its own."""
        return {**vars(self), "_process": None}

    def opens(self) -> bool:
        """Return whether there is a window, or can be one; if not, say once why, and how to get one."""
        if self._process is not None or self._closed_by_user:
            return True
        reason = _hindrance()
        if not reason:
            self._process, reason = _started(self._title)
        if reason and reason not in _SAID:
            _SAID.add(reason)
            print(f"no window, so games are printed: {reason}", file=sys.stderr)
        return not reason

    def show(self, picture: np.ndarray) -> None:
        """Show a picture, uint8[height, width, 3]; nothing happens any more once the window was closed by hand."""
        if self._process is None or self._process.stdin is None:
            return
        time.sleep(max(0.0, self._next - time.monotonic()))
        height, width, _ = picture.shape
        try:
            self._process.stdin.write(HEAD.pack(width, height) + np.ascontiguousarray(picture).tobytes())
            self._process.stdin.flush()
        except OSError:
            self.close()
            self._closed_by_user = True
        self._next = time.monotonic() + self._pause

    def close(self) -> None:
        """Close it."""
        process, self._process, self._closed_by_user = self._process, None, False
        if process is not None:
            _end(process)

    def __del__(self) -> None:
        """Close it when nobody has it any more."""
        process = vars(self).get("_process")
        if process is not None:
            _end(process)


def _hindrance() -> str:
    """Return why there can be no window, and what to do; empty if there can."""
    if importlib.util.find_spec("pygame") is None:
        return "it needs pygame, which is not installed: pip install 'dicegym[render]'"
    asked = os.environ.get("SDL_VIDEODRIVER")
    if sys.platform.startswith("linux") and not (
        asked or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return "there is no display here; for files, render_mode='rgb_array' and gymnasium.wrappers.RecordVideo"
    return ""


def _started(title: str) -> tuple[subprocess.Popen[bytes] | None, str]:
    """Start the program; return it, or None and why it did not come up."""
    process = subprocess.Popen(
        [sys.executable, "-P", str(PROGRAM), title],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the program that plays
    )
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.append(process.stdout.readline() if process.stdout else b""))
    reader.daemon = True
    reader.start()
    reader.join(START_SECONDS)
    if said and said[0].strip() == READY:
        return process, ""
    process.kill()
    _, errors = process.communicate()
    last = errors.decode(errors="replace").strip().splitlines()[-1:] or ["it did not come up"]
    return None, f"{last[0]}; for files, render_mode='rgb_array' and gymnasium.wrappers.RecordVideo"


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            pass  # what it had not taken yet
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
