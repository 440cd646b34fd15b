"""A bot in another process, as its referee sees it: a player that answers one question after the other.

The referee times each question. It relies only on the processor time that the system reports for the bot's process, and
on its own clock. Of what the process says, only its answers count. The socket that failed shows the entry at fault.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

from dicegym.bots.answers import LONGEST_FRAME, decode
from dicegym.bots.calls import ANSWER, CALL, PRINT, Witness
from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ServiceError, one_line
from dicegym.escape import quote_words
from dicegym.games.parts import ADAPTER, need
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act
from dicegym.sandbox.frames import MessageStream, pack
from dicegym.sandbox.heartbeat import is_late, queue_time
from dicegym.sandbox.limits import Limits

LOOK_SECONDS = 0.02  # between two checks of the time of a bot that has not answered
AT_ONCE = 500  # independent questions that are sent without waiting for answers
START_SECONDS = 300.0
"""Seconds for a host or a child to start. No bot runs in it yet, so only a machine in trouble takes longer. On a busy
machine, a low-priority contest can take minutes for a second of work."""
END_SECONDS = 10.0  # seconds for a host to end one of its children; after that the host is killed
NOT_ASKED = "is not asked any more in this match"
"""The reason for each further question to a bot whose process has ended."""
WORDS_SECONDS = 1.0
"""Seconds for a child that has closed its socket to end by itself, so that its exit status is known."""
MOST_REMARKS = 5  # remarks about its program that are kept from a bot's process
_CREDENTIALS = struct.Struct("3i")
_PLAIN = re.compile(rb'\[([0-9]{1,18}),"ok",(-?[0-9]{1,18})\]')
"""Most answers: whole numbers, which are read without `json`."""
_RAISED = re.compile(r'called sys\.exit|raised (an error|\w{1,100})( \(says: "[^"]*"\))?')
_LINE = re.compile(r"[\w.<> -]{1,200}, line [0-9]+")
"""The forms of `dicegym.bots.program.Program.describe_error`, without its hint."""
START, MATCH = "start", "match"
"""Phases, each with its own time bank: loading, and all moves of a match."""
TOGETHER = "all answers together"
"""What a reason says of a limit that is not one move's."""


class GoneError(AgentError):
    """A bot's process ended or was ended: it is not asked any more."""


class StartError(ServiceError):
    """A bot's process could not be started, before any of the bot's code ran: the machine is to blame."""

    def __init__(self, name: str, why: object) -> None:
        self.name, self.why = name, one_line(why)
        super().__init__(f"the process of {name!r} could not be started ({self.why})")

    def __reduce__(self) -> tuple[type[StartError], tuple[str, str]]:
        """Pickle by the two arguments."""
        return type(self), (self.name, self.why)


class RaisedError(Exception):
    """An error that a bot raised in its process: its text, and the line of the bot's code."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text)
        self.text, self.where = text, where


def describe_end(status: int | None) -> str:
    """Return what a bot did, from its process's status: negative for a signal; None: it was still running."""
    if status is None:
        return "closed the socket to its referee"
    if status >= 0:
        return f"ended its process (exit status {status})"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"ended its process ({name})"


def look_often(end: socket.socket) -> None:
    """Make reading and writing raise BlockingIOError after `LOOK_SECONDS`; `settimeout` would poll at each call."""
    end.settimeout(None)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        end.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", 0, int(1e6 * LOOK_SECONDS)))


class Remote:
    """A child of a host: one copy of a bot's program, for one match.

    ``number`` must be new to the host. ``moment`` returns in words when the bot ends. ``witness`` is notified of all
    calls.

    Attributes:
        printed: what the bot has printed so far.
        spent: seconds of processor time since `begin_bank`.
        gone: the error with which the process ended early; otherwise None.
        clean: whether the ended process left no files.

    Raises GoneError if the process cannot be confined; OSError, EOFError or ValueError if the host cannot fork it.
    """

    def __init__(
        self,
        control: MessageStream,
        number: int,
        name: str,
        limits: Limits,
        moment: Callable[[], str],
        witness: Witness | None = None,
    ) -> None:
        self._control, self._child, self._name, self._limits, self._moment = control, number, name, limits, moment
        self._witness = witness
        self.printed = Printed()
        self.clean = True
        self.gone: GoneError | None = None
        self._process = 0  # its id; 0: unknown
        self._number = 0  # of the last question
        self._kept = b""  # received, but not read yet
        self._phase = START
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(START_SECONDS)
        try:
            with theirs:
                self._pass_credentials(1)
                control.send(("new", number), (theirs.fileno(),))
            self._meet()
        except OSError:
            self._socket.close()
            raise
        self.begin_bank(START)
        look_often(self._socket)

    def _pass_credentials(self, value: int) -> None:
        if hasattr(socket, "SO_PASSCRED"):  # Linux
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, value)

    def _meet(self) -> None:
        """Wait for the first frame, which comes before any bot is loaded, and learn the process id."""
        data, credentials, _, _ = self._socket.recvmsg(LONGEST_FRAME, socket.CMSG_SPACE(_CREDENTIALS.size))
        self._pass_credentials(0)
        for *_, content in credentials:
            self._process, _, _ = _CREDENTIALS.unpack(content)
        try:
            number, word, value = json.loads(data)
        except ValueError:
            number, word, value = 0, "failed", ["", describe_end(self._end(WORDS_SECONDS)), ""]
        if (number, word) != (0, "here"):
            raise self._fail(f"its process could not be confined ({one_line(value[1:2])})")

    # --- time ---------------------------------------------------------------------------------------------------------

    def begin_bank(self, phase: str = MATCH) -> None:
        """Start the time bank of a phase."""
        self._phase = phase
        self.spent = 0.0
        self._clock = 0.0  # seconds of wall-clock time of all answered questions
        self._began = self._used() or 0.0
        self._queued_before = queue_time(self._process) + queue_time()

    def _begin_move(self) -> None:
        self._asked, self._before = time.monotonic(), self.spent

    def _used(self) -> float | None:
        """Return the processor time of the bot's process; None if it has ended or the system does not report it."""
        try:
            return time.clock_gettime(~self._process << 3 | 2) if self._process else None  # clock_getcpuclockid(3)
        except OSError:
            return None

    def _queued(self) -> float:
        """Return the seconds that the bot's process and this referee waited for a processor since `begin_bank`."""
        return max(0.0, queue_time(self._process) + queue_time() - self._queued_before)

    def _judge(self) -> float:
        """End the bot if it has exceeded a limit; return the wall-clock seconds of its present move."""
        passed, used = time.monotonic() - self._asked, self._used()
        if used is not None:
            self.spent = max(self.spent, used - self._began)
        own = self.spent - self._before
        passed = max(passed, own)
        limits = self._limits
        bank, move = limits.seconds, limits.move_seconds
        if self._phase == START:
            bank = move = limits.start_seconds
        if own > move < bank:
            raise self._fail(f"took more than {move:g} s")
        if self.spent > bank:
            raise self._fail(f"took more than {bank:g} s" + (f" ({TOGETHER})" if self._phase == MATCH else ""))
        wall = limits.wall_of(move)
        if move < bank and is_late(passed, wall, self._queued):
            raise self._fail(f"took more than {wall:g} s by the clock")
        wall = limits.wall_of(bank)
        if is_late(self._clock + passed, wall, self._queued):
            more = f"; {TOGETHER}" if self._phase == MATCH else ""
            raise self._fail(f"took more than {wall:g} s by the clock ({self.spent:.1f} s of them at work{more})")
        return passed

    # --- questions and answers ----------------------------------------------------------------------------------------

    def ask(self, kind: str, what: tuple[Any, ...]) -> Any:
        """Return the answer. Raises RaisedError for an error of the bot; GoneError if its process has ended."""
        self._number += 1
        self._send(pack((self._number, kind, what)))
        answer = self._receive(self._number)
        self._check_silence()
        return answer

    def __call__(self, *arguments: Any) -> Any:
        """Ask a question of the bot's original interface; see `ask`."""
        return self.ask("ask", arguments)

    def many(self, questions: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Ask questions of the original interface without waiting for each answer; yield the answers in order.

        Raises the errors of `ask`. If the bot raises an error, its later answers are dropped.
        """
        for first in range(0, len(questions), AT_ONCE):
            part, begin = questions[first : first + AT_ONCE], self._number + 1
            self._number += len(part)
            self._send(b"".join([pack((number, "ask", what)) for number, what in enumerate(part, begin)]))
            for number in range(begin, self._number + 1):
                self._begin_move()  # what the caller did with the last answer is not the bot's time
                yield self._receive(number)
            self._check_silence()

    def _check_silence(self) -> None:
        if self._kept:
            raise self._fail("answered more than it was asked")

    def _send(self, data: bytes) -> None:
        if self.gone is not None:
            raise GoneError(self._name, NOT_ASKED)
        self._begin_move()
        while data:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                self._judge()
            except OSError:
                raise self._ended() from None

    def _receive(self, number: int) -> Any:
        """Return the answer to a question. Raises RaisedError or AgentError for an error of the bot."""
        word = "told"
        while word == "told":
            word, value = self._parse(number, self._read_line())
            passed = self._judge()  # also after calls for a witness, or a bot could send them forever
        self._clock += passed
        if word == "failed":
            raise value
        return value

    def _read_line(self) -> bytes:
        while True:
            line, end, rest = self._kept.partition(b"\n")
            if end:
                self._kept = rest
                return line
            if line:
                self._judge()
            if len(line) > LONGEST_FRAME:
                raise self._fail(f"sent more than {LONGEST_FRAME:,} bytes at once")
            try:
                more = self._socket.recv(LONGEST_FRAME)
            except BlockingIOError:
                self._judge()
                continue
            except OSError:
                more = b""
            if not more:
                raise self._ended()
            self._kept += more

    def _parse(self, number: int, line: bytes) -> tuple[str, Any]:
        """Return the content of a line: ("ok", answer), ("failed", error) or ("told", None), for a witness."""
        if (plain := _PLAIN.fullmatch(line)) and int(plain[1]) == number:
            return "ok", int(plain[2])
        try:
            their, word, value, *printed = json.loads(line.decode())
            if word == "told" and self._witness is not None:
                kind, text = value
                if kind in (CALL, ANSWER, PRINT):
                    self._witness.note(kind, str(text))
                return word, None
            if their != number or type(their) is not int:
                raise self._fail("answered another question than it was asked")
            if printed:
                (text,) = printed
                self.printed.clear()
                self.printed.write(text)
            if word == "ok":
                return word, decode(value)
            if word == "failed":
                return word, self._failed(*value)
        except (ValueError, TypeError, RecursionError, AttributeError):
            pass
        raise self._fail("sent nonsense from its process")

    def _failed(self, kind: str, text: str, where: str) -> Exception:
        """Return the error for one that the bot's process reports."""
        if kind == "large":
            return RaisedError("answered with more than any interface asks for", "")
        text, where = one_line(text, 1000), one_line(where)
        if kind == "reason" and self._phase == START:
            return AgentError(self._name, text)
        # A bot that has taken over its process can write these lines: text in another form is quoted as its words.
        if not _RAISED.fullmatch(text):
            text = f"failed ({quote_words(text, 1000)})"
        return RaisedError(text, where if _LINE.fullmatch(where) else "")

    # --- its end ------------------------------------------------------------------------------------------------------

    def _fail(self, what: str) -> GoneError:
        """End the process; return the error with the reason."""
        moment = self._moment()
        self.gone = GoneError(self._name, f"{what} {moment}" if moment else what)
        self.close()
        return self.gone

    def _ended(self) -> GoneError:
        """Return the error for a process that has closed its socket."""
        return self._fail(describe_end(self._end(WORDS_SECONDS)))

    def _end(self, seconds: float = 0.0) -> int | None:
        """Make the host end the child, which has ``seconds`` to end by itself; return its status or None."""
        self._control.send(("end", (self._child, seconds)))
        word, number, status, self.clean = self._control.receive(END_SECONDS)
        if (word, number) != ("ended", self._child):
            raise ValueError("a host answered something else")
        self._child = -1
        ended: int | None = status
        return ended

    def close(self) -> None:
        """End the process. Raises OSError, EOFError and ValueError if its host fails to."""
        self._socket.close()
        if self._child >= 0 and self._control.end.fileno() >= 0:  # otherwise it ended with its host
            self._end()


class RemoteProgram(Asked):
    """An adapter's view of a bot in another process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for an error that the bot raised; ``when`` says when."""
        if isinstance(error, AgentError):
            return error
        if not isinstance(error, RaisedError):
            raise error  # our own, or Ctrl-C
        return AgentError(self.name, f"{error.text} {when}" + (f" ({error.where})" if error.where else ""))


class IsolatedPlayer(Player):
    """A copy of a bot's program in another process, for the games of one match.

    ``seed`` is for the bot's randomness until it joins a game. A ``watched`` process reports calls to the witness.

    Attributes:
        says_pure: whether the file sets ``PURE = True``.
        remarks: notes for its author that are no errors.
        load_seconds: processor time of loading.

    Raises:
        AgentError: the bot cannot be loaded; GoneError if its process ended or took too long.
    """

    def __init__(self, remote: Remote, name: str, game: Game, seed: int, watched: bool = False) -> None:
        self.name = name
        self._remote = remote
        self._adapter = need(game, ADAPTER)
        self.printed = remote.printed
        try:
            found = remote.ask("load", (seed, watched))
        except (RaisedError, AgentError) as error:
            remote.close()
            raise RemoteProgram(name).failure(error, "while it was loaded") from None
        about = found if isinstance(found, dict) else {}
        self.says_pure = about.get("pure") is True
        remarks = about.get("remarks")
        self.remarks = tuple(map(quote_words, remarks[:MOST_REMARKS])) if isinstance(remarks, list) else ()
        self.load_seconds = remote.spent
        remote.begin_bank()

    @property
    def spent(self) -> float:
        """Seconds of processor time that the bot's process has used since loading."""
        return self._remote.spent

    def raise_if_gone(self) -> None:
        """Raise the GoneError of a process that has ended or was ended."""
        if self._remote.gone is not None:
            raise self._remote.gone

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        try:
            self._remote.ask("join", (seat, seed))
        except RaisedError as error:
            raise RemoteProgram(self.name).failure(error, "when it sat down") from error
        return self._adapter.sit(RemoteProgram(self.name), self._remote, game, seat)

    def close(self) -> bool:
        """End its process; return whether it left no files. Raises the errors of `Remote.close`."""
        self._remote.close()
        return self._remote.clean
