"""The process of a bot: one host for each entry, which forks a child for each of its matches.

It is started by `dicegym.sandbox.host_start`, in a jail where there is one, and loads nothing of the package but what a
bot needs: no compiled code, no array, and the package's own ``__init__`` neither. The host itself never runs a bot. Its
referee tells it by the control socket (`dicegym.sandbox.frames`):

=============================  =======================================================================================
told                           answered
=============================  =======================================================================================
`Setup` as a dict              ``["ready"]``, or ``["failed", why]``
``("new", number)`` and the    nothing; a child confines itself, and then serves that socket: first it says
end of a socket pair           ``[0, "here", layers]``
``("end", (number, seconds))`` ``["ended", number, status, clean]`` when the child has ended, killed if it still ran
                               after so long; a status of None: it did; not clean: it has left files
=============================  =======================================================================================

The referee asks a child by frames of four bytes, the length, and `marshal` of (number, kind, what); each is answered
by one line of JSON, ``[number, "ok", value, printed]`` or ``[number, "failed", [kind, text, where], printed]``. A child
that is watched sends ``[number, "told", [method, text]]`` in between.

========  ==================================  =========================================================================
kind      what                                the value
========  ==================================  =========================================================================
load      seed                                {"pure": ..., "remarks": [...]}
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
from dicegym.sandbox.scratch import empty

LOOK_EVERY = 0.1
"""Seconds between two looks at how many files children have made."""
COMPILE_SECONDS = 1.0
"""Processor time that a host spends on its bot's text. What takes longer, each child does by itself."""


class Setup(dict[str, Any]):
    """What a host is told at its start, as a plain dict.

    path: folders where it is found if it is in no package.
    interface: the module with the bot's half of the original interface.
    source: the bot as a tuple, its file as text; see `dicegym.bots.source.Source`.
    name: what errors call the bot.
    texts: real path -> bytes of each of its files that were looked at: these play, whatever lies there by then.
    preload: modules that bots of this text will ask for.
    system, read: what a child may read: Python with all that is installed, and what is the bot's own.
    free: whether a child keeps its limits alone, and may do else what the user may.
    bounds: what it may use; see `dicegym.sandbox.confinement.Bounds`.
    folder: where each child gets a folder of its own for temporary files.
    files: how many there may be of them; 0: nobody counts.
    """


def main(control_number: int, forget: Callable[[], None]) -> None:
    """Serve the referee at the other end of the control socket until it closes it.

    ``forget`` takes what is loaded of the package from ``sys.modules``: a bot that imports it gets it whole.
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
    """Keeps what all children of an entry share, which is nothing of the bot's own."""

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
        with contextlib.suppress(Exception):  # a child will say what is wrong with it
            if _compiles_soon(self.source.file, self.bounds):
                code_of(self.source.file)  # now, so that programs of it start sooner

    def serve(self) -> None:
        """Do what the referee says."""
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
        """End all children if they have made too many files: a jail keeps them in memory, beside its limits."""
        about = os.statvfs(self.setup["folder"])
        if self.setup["files"] < about.f_files - about.f_ffree:
            for child in self._children.values():
                os.kill(child, signal.SIGKILL)

    def _end(self, number: int, seconds: float) -> int | None:
        child = self._children.pop(number)
        deadline = time.monotonic() + seconds
        ended, status = os.waitpid(child, os.WNOHANG)
        while ended == 0 and time.monotonic() < deadline:
            time.sleep(0.001)
            ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)  # with what it may have started, where nothing forbade that
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None

    def _clean(self, number: int) -> bool:
        """Throw away what a child has left in its folder; return whether that is gone, and nothing lies beside it."""
        folder = os.path.join(self.setup["folder"], f"match-{number}")
        try:
            if empty(folder):
                os.rmdir(folder)
                return {*os.listdir(self.setup["folder"])} <= {f"match-{child}" for child in self._children}
        except OSError:  # its bot has found a way
            pass
        return False


def _compiles_soon(file: Path, bounds: confinement.Bounds) -> bool:
    """Return whether a bot's text compiles soon and well, tried in a process that is thrown away.

    A few lines that nest ``finally`` keep a compiler busy for minutes and make gigabytes, and a host has no limits.
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
        """Confine this process, serve, and leave, whatever happens."""
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
            if os.getpid() == own:
                os._exit(status)
            os._exit(1)

    def _serve(self) -> None:
        """Answer questions until the socket is closed. Raises EOFError if one breaks off."""
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
        """Return (kind, text, where) of what the bot raised; see `dicegym.bots.program.Program.describe_error`."""
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
            self._watching = watch_calls(self)  # kept, since it ends when it is forgotten
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

    def note_call(self, call: str) -> None:
        """Tell the referee's witness."""
        self._tell("note_call", call)

    def note_answer(self, answer: str) -> None:
        """Tell the referee's witness."""
        self._tell("note_answer", answer)

    def note_print(self, text: str) -> None:
        """Tell the referee's witness."""
        self._tell("note_print", text)

    def _tell(self, method: str, text: str) -> None:
        self._answer("told", json.dumps([method, text[:4000]]))
