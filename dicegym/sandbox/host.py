"""The process of a bot: one host for each entry, which forks a child for each match.

`dicegym.sandbox.host_start` starts it, in a jail if there is one. It loads only what a bot needs of the package: no
compiled code, no arrays, and not the package's ``__init__``. The host itself never runs a bot. Its referee sends
messages over the control socket (`dicegym.sandbox.frames`):

=============================  =======================================================================================
message                        answer
=============================  =======================================================================================
`Setup` as a dict              ``["ready"]``, or ``["failed", why]``
``("new", number)`` with one   none; a child confines itself and then serves that socket. It first sends
end of a socket pair           ``[0, "here", layers]``
``("end", (number, seconds))`` ``["ended", number, status, clean]`` when the child has ended. A child that still runs
                               after these seconds is killed, and its status is None. Not clean: it left files
=============================  =======================================================================================

The referee asks a child by frames: the length in four bytes, then the `marshal` data of (number, kind, what). The child
answers each with one line of JSON, ``[number, "ok", value, printed]`` or
``[number, "failed", [kind, text, where], printed]``. A watched child also sends ``[number, "told", [kind, text]]``.

========  ==================================  =========================================================================
kind      what                                value
========  ==================================  =========================================================================
load      (seed, watched)                     {"pure": ..., "remarks": [...]}
join      (seat, seed)                        null
ask       the arguments of the original       the answer, see `dicegym.bots.answers`
========  ==================================  =========================================================================
"""

from __future__ import annotations

import contextlib
import importlib
import json
import marshal
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from dicegym.bots import bot_files
from dicegym.bots.answers import LONGEST_FRAME, encode
from dicegym.bots.calls import Witness, watch_calls
from dicegym.bots.program import Program
from dicegym.bots.source import Source, code_of
from dicegym.bots.surroundings import PrivateStream, seed_numpy
from dicegym.errors import AgentError, one_line
from dicegym.play.printed import Printed
from dicegym.sandbox import confinement
from dicegym.sandbox.frames import MessageStream

LOOK_EVERY = 0.1  # seconds between two counts of the children's files
COMPILE_SECONDS = 1.0
"""Processor time that a host spends on compiling its bot. If compiling takes longer, each child compiles it again."""


class Setup(dict[str, Any]):
    """The first message to a host, as a plain dict.

    interface: the module with the bot's half of the original interface.
    path: folders in which that module is found, if it is in no package.
    source: the bot as a tuple, with its file as text; see `dicegym.bots.source.Source`.
    name: the bot's name in errors.
    texts: real path -> bytes of each inspected file of the bot. These bytes play, whatever the files contain later.
    preload: modules that the bot will import.
    system, read: what a child may read: Python with installed packages, and the bot's own files.
    free: whether a child has only limits, and within them may do what the user may.
    bounds: see `dicegym.sandbox.confinement.Bounds`.
    folder: contains the temporary folder of each child.
    files: largest number of files in it; 0: no limit.
    """


def main(control_number: int, forget: Callable[[], None]) -> None:
    """Serve the referee at the other end of the control socket until it closes the socket.

    ``forget`` removes the package from ``sys.modules``, so that a bot that imports it gets the whole package.
    """
    control = MessageStream(socket.socket(fileno=control_number))
    setup = control.receive()
    try:
        host = Host(control, setup)
        forget()
    except BaseException as error:
        control.send(["failed", f"{type(error).__name__}: {error}"])
        return
    control.send(["ready"])
    host.serve()


class Host:
    """Holds what all children of an entry share; none of it is made by the bot."""

    def __init__(self, control: MessageStream, setup: dict[str, Any]) -> None:
        self._control = control
        self.setup = setup
        self._children: dict[int, int] = {}
        sys.path[:0] = setup["path"]
        self.interface: Any = importlib.import_module(setup["interface"])
        del sys.path[: len(setup["path"])]
        confinement.end_with(os.getppid())
        confinement.prepare()
        self.bounds = confinement.Bounds(**setup["bounds"])
        file, *rest = setup["source"]
        self.source = Source(Path(file), *rest)
        for name in setup["preload"]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        bot_files.hold(setup["texts"])
        with contextlib.suppress(Exception):  # a child will report the error
            if _compiles_fast(self.source.file, self.bounds):
                code_of(self.source.file)  # cached, so that children start sooner

    def serve(self) -> None:
        """Carry out the referee's messages."""
        while True:
            while self.setup["files"] and self._children and not self._control.is_ready(LOOK_EVERY):
                self._limit_files()
            try:
                word, number = self._control.receive()
            except (EOFError, OSError):
                return
            if word == "new":
                self._new(number, self._control.files.pop(0))
            else:
                child, seconds = number
                self._control.send(["ended", child, self._end(child, seconds), self._clean(child)])

    def _new(self, number: int, end: int) -> None:
        folder = os.path.join(self.setup["folder"], f"match-{number}")
        os.mkdir(folder, 0o700)
        host = os.getpid()
        child = os.fork()
        if child == 0:
            self._control.close()
            Child(self, socket.socket(fileno=end), folder, host).live()
        os.close(end)
        self._children[number] = child

    def _limit_files(self) -> None:
        """Kill all children if they made too many files: a jail keeps files in memory that no other limit counts."""
        status = os.statvfs(self.setup["folder"])
        if self.setup["files"] < status.f_files - status.f_ffree:
            for child in self._children.values():
                os.kill(child, signal.SIGKILL)

    def _end(self, number: int, seconds: float) -> int | None:
        child = self._children.pop(number)
        deadline = time.monotonic() + seconds
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
            time.sleep(0.001)
        if ended[0]:
            return os.waitstatus_to_exitcode(ended[1])
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)  # with its own children, where nothing forbade them
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None

    def _clean(self, number: int) -> bool:
        """Remove a child's folder; return whether that worked and no unknown files are beside it."""
        folder = os.path.join(self.setup["folder"], f"match-{number}")
        try:
            shutil.rmtree(folder)
            return {*os.listdir(self.setup["folder"])} <= {f"match-{child}" for child in self._children}
        except (OSError, RecursionError):  # the bot has prevented it
            return False


def _compiles_fast(file: Path, bounds: confinement.Bounds) -> bool:
    """Return whether a bot's text compiles fast and without error, tried in a separate process with limits.

    A few lines of nested ``finally`` keep a compiler busy for minutes and take gigabytes, and a host has no limits.
    """
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 1
    try:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, COMPILE_SECONDS)
        confinement.confine(bounds, free=True)
        code_of(file)
        status = 0
    finally:
        os._exit(status)


class Child(Witness):
    """Runs one copy of a bot's program, for one match."""

    def __init__(self, host: Host, end: socket.socket, folder: str, parent: int) -> None:
        self._host = host
        self._end = end
        self._folder = folder
        self._parent = parent
        self._number = 0
        self._program: Any = None
        self._ask: Any = None
        self._printed = Printed()
        self._sent = 0
        self._watching: Any = None

    def live(self) -> NoReturn:
        """Confine this process, serve, and exit, whatever happens."""
        status = 1
        own = os.getpid()
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            os.chdir(os.path.dirname(os.path.abspath(self._host.source.file)) or "/")
            os.environ["TMPDIR"] = os.environ["HOME"] = self._folder
            sys.argv = [""]
            try:
                layers = confinement.confine(
                    self._host.bounds,
                    read=[*self._host.setup["system"], *self._host.setup["read"]],
                    write=[self._folder, os.devnull],
                    keep=[self._end.fileno()],
                    parent=self._parent,
                    free=self._host.setup["free"],
                )
            except BaseException as error:
                self._answer("failed", json.dumps(["reason", f"{type(error).__name__}: {error}", ""]))
                raise
            own_stream = PrivateStream(self._printed)
            vars(sys).update(stdout=own_stream, stderr=own_stream, __stdout__=own_stream, __stderr__=own_stream)
            self._answer("here", json.dumps(layers))
            self._serve()
            status = 0
        except EOFError:
            status = 0
        finally:
            os._exit(status if os.getpid() == own else 1)

    def _serve(self) -> None:
        """Answer questions until the socket is closed. Raises EOFError if a question is cut off."""
        recv, loads = self._end.recv, marshal.loads
        kept = b""
        while found := kept or recv(1 << 16):
            while len(found) < 4 or len(found) < (length := int.from_bytes(found[:4], "little") + 4):
                more = recv(1 << 16)
                if not more:
                    raise EOFError
                found += more
            request, kept = found[4:length], found[length:]
            self._number, kind, what = loads(request)
            try:
                if kind == "ask":
                    text = encode(self._ask(*what))
                elif kind == "join":
                    text = self._join(*what)
                else:
                    text = self._begin(*what)
            except BaseException as error:
                self._answer("failed", json.dumps(self._failure(error)))
            else:
                if self._printed.count == self._sent and len(text) < 1000:
                    self._end.sendall(f'[{self._number},"ok",{text}]\n'.encode())
                else:
                    self._answer("ok", text)

    def _answer(self, word: str, value: str) -> None:
        frame = f'[{self._number},"{word}",{value}'
        if self._printed.count != self._sent:
            frame += f",{json.dumps(self._printed.text)}"
            self._sent = self._printed.count
        data = f"{frame}]\n".encode()
        if len(data) > LONGEST_FRAME:
            data = f'[{self._number},"failed",["large","",""]]\n'.encode()
        self._end.sendall(data)

    def _failure(self, error: BaseException) -> list[str]:
        """Return (kind, text, where) for an error of the bot; see `dicegym.bots.program.Program.describe_error`."""
        if isinstance(error, AgentError) and not (self._program and self._program.is_own(error)):
            return ["reason", one_line(error.reason, 1000), ""]
        if type(error).__name__ == "TooMuchError":
            return ["large", "", ""]
        try:
            text, where = self._program.describe_error(error)
        except BaseException:
            return ["raised", f"raised {type(error).__name__}", ""]
        return ["raised", text[:1000], where[:300]]

    def _begin(self, seed: int, watched: bool) -> str:
        """Load the bot's file."""
        host = self._host
        if watched:
            self._watching = watch_calls(self)  # stored, because it ends when it is deleted
            self._watching.__enter__()
        seed_numpy(seed)
        self._program = Program(host.source, host.setup["name"], host.interface, seed, self._printed)
        remarks = [str(one)[:500] for one in self._program.remarks[:5]]
        text: str = encode({"pure": self._program.says_pure, "remarks": remarks})
        return text

    def _join(self, seat: int, seed: int) -> str:
        """Sit down in a game."""
        self._program.random.reseed(seed)
        seed_numpy(seed)
        self._ask = self._program.take_seat(seat)
        return "null"

    def note(self, kind: str, text: str) -> None:
        """Notify the referee's witness."""
        self._answer("told", json.dumps([kind, text[:4000]]))
