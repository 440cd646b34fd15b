"""A bot in a process of its own, as its referee sees it: a player that is asked one question after the other.

The referee alone judges, each question against the clock. What it goes by is the processor time of the bot's process
as the system counts it, and the clock on its own wall; nothing that the process says of itself counts but its answers.
The entry at fault follows from which socket failed.
"""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

from dicegym.bots.answers import LONGEST_FRAME, decode
from dicegym.bots.calls import Witness
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

LOOK_EVERY = 20
"""Milliseconds between two looks at the clocks of a bot that has not answered."""
AT_ONCE = 500
"""Questions that may wait for a bot whose answers do not depend on each other's."""
START_SECONDS = 300.0
"""How long a host, or one of its children, may take to start: no bot runs in it yet, so what takes longer is a machine
in trouble. Where others work and a contest gives way to them, a second of work takes minutes."""
END_SECONDS = 10.0
"""How long a host may take to end one of its children, before it is ended itself."""
NOT_ASKED = "is not asked any more in this match"
"""What is said of a bot whose process has ended, each time that it would be asked."""
WORDS_SECONDS = 1.0
"""How long a child that has closed its socket has to end by itself, so that there is something to say of its end."""
MOST_REMARKS = 5
"""What is kept of what a bot's process says of its program."""
_CREDENTIALS = struct.Struct("3i")
_RAISED = re.compile(r'called sys\.exit|raised (an error|\w{1,100})( \(says: "[^"]*"\))?')
_LINE = re.compile(r"[\w.<> -]{1,200}, line [0-9]+")
"""What `dicegym.bots.program.Program.describe_error` makes of what a bot raised, without its hint."""
START, MATCH = "start", "match"
"""What a bank of time is for: to load, and all moves of a match."""


class GoneError(AgentError):
    """A bot's process ended or had to be ended: it is not asked any more."""


class StartError(ServiceError):
    """A bot's process could not be started, and nothing of the bot has run in it: the machine is to blame."""


class RaisedError(Exception):
    """What a bot raised in its process: what it did, and the line of its own where."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(text)
        self.text, self.where = text, where


def describe_end(status: int | None) -> str:
    """Return what a bot did: ``status`` is of its process, negative for a signal; None: it was still running."""
    if status is None:
        return "closed the socket to its referee"
    if status >= 0:
        return f"ended its process (exit status {status})"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"ended its process ({name})"


class Remote:
    """A child of a host: one copy of a bot's program, for one match.

    Its ``number`` is one that the host does not know yet. ``moment`` says in words when a bot ends: a function of
    whether that is about all moves together. ``witness`` is told of all calls.

    Attributes:
        printed: what the bot printed so far.
        spent: seconds of processor time that it has used since `begin_bank`.
        gone: why it has ended, if it did not end as it should; else None.
        clean: whether it has left nothing, once it has ended.

    Raises GoneError if the process cannot be confined; OSError, EOFError or ValueError if its host makes none.
    """

    def __init__(
        self,
        control: MessageStream,
        number: int,
        name: str,
        limits: Limits,
        moment: Callable[[bool], str],
        witness: Witness | None = None,
    ) -> None:
        self._control, self._child, self._name, self._limits, self._moment = control, number, name, limits, moment
        self._witness = witness
        self.printed = Printed()
        self.clean = True
        self.spent = 0.0
        self._waited = 0.0
        self._clock: int | None = None
        self._process = 0
        self._began = 0.0
        self._phase = START
        self._number = 0
        self._kept = b""
        self.gone: GoneError | None = None
        self._socket, theirs = socket.socketpair()
        try:
            if hasattr(socket, "SO_PASSCRED"):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            control.send(("new", number), (theirs.fileno(),))
        except OSError:
            self._socket.close()
            raise
        finally:
            theirs.close()
        self._socket.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._meet()

    def _meet(self) -> None:
        """Wait for the first frame, which comes before any bot is loaded, and learn the number of the process."""
        if not self._poll.poll(1000 * START_SECONDS):
            self._socket.close()
            raise TimeoutError("it did not answer")
        size = socket.CMSG_SPACE(_CREDENTIALS.size) if hasattr(socket, "CMSG_SPACE") else 0
        data, ancillary, _, _ = self._socket.recvmsg(LONGEST_FRAME, size)
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == getattr(socket, "SCM_CREDENTIALS", None):
                process, _, _ = _CREDENTIALS.unpack(content[: _CREDENTIALS.size])
                self._process = process
                self._clock = ~process << 3 | 2  # as clock_getcpuclockid(3) has it on Linux
        if hasattr(socket, "SO_PASSCRED"):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        try:
            number, word, told = json.loads(data)
        except ValueError:
            number, word, told = 0, "failed", ["", describe_end(self._end(WORDS_SECONDS)), ""]
        if (number, word) != (0, "here"):
            raise self._leave(f"its process could not be confined ({one_line(told[1:2])})")
        self.begin_bank(START)

    def begin_bank(self, phase: str = MATCH) -> None:
        """Count time from now on, towards the bank of a match."""
        self._phase = phase
        self.spent = self._waited = 0.0
        self._began = self._used() or 0.0
        self._queued_before = queue_time(self._process) + queue_time()
        self._in_vain = 0.0

    def _queued(self) -> float:
        """Return how long the bot's process and this referee have waited for a processor since `begin_bank`."""
        return max(0.0, queue_time(self._process) + queue_time() - self._queued_before - self._in_vain)

    def _used(self) -> float | None:
        """Return the processor time of the bot's process; None if it is gone or the system does not tell."""
        if self._clock is None:
            return None
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return None

    def ask(self, kind: str, what: tuple[Any, ...]) -> Any:
        """Ask, and return the answer.

        Raises RaisedError for what the bot raised; GoneError if its process has ended, or had to be ended.
        """
        self._number = number = self._number + 1
        self._send(pack((number, kind, what)))
        value = self._receive(number)
        if self._kept:
            raise self._leave("answered more than it was asked")
        return value

    def __call__(self, *arguments: Any) -> Any:
        """Ask the bot what its original interface asks; see `ask`."""
        return self.ask("ask", arguments)

    def many(self, questions: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Ask the bot questions of one kind without waiting for each answer; yield the answers in their order.

        Raises as `ask` does. After what the bot raised, the answers that it gave meanwhile are dropped.
        """
        for first in range(0, len(questions), AT_ONCE):
            part = questions[first : first + AT_ONCE]
            begin, self._number = self._number + 1, self._number + len(part)
            self._send(b"".join(pack((begin + i, "ask", what)) for i, what in enumerate(part)))
            number = begin
            while number <= self._number:
                yield self._receive(number)
                at_hand = self._at_hand(number + 1)
                yield from at_hand
                number += 1 + len(at_hand)
            if self._kept:
                raise self._leave("answered more than it was asked")

    def _send(self, data: bytes) -> None:
        if self.gone is not None:
            raise GoneError(self._name, NOT_ASKED)
        begun = time.monotonic()
        while data:
            try:
                data = data[self._socket.send(data) :]
            except BlockingIOError:
                time.sleep(LOOK_EVERY / 1000)
                self._judge(time.monotonic() - begun)
            except OSError:
                raise self._ended() from None

    def _receive(self, number: int) -> Any:
        """Return the answer to a question."""
        begun, before = time.monotonic(), self.spent
        looked: float | None = None
        while True:
            end = self._kept.find(b"\n")
            if end < 0:
                if len(self._kept) > LONGEST_FRAME:
                    raise self._leave(f"sent more than {LONGEST_FRAME:,} bytes at once")
                if self._poll.poll(LOOK_EVERY):
                    try:
                        more = self._socket.recv(LONGEST_FRAME)
                    except OSError:
                        more = b""
                    if not more:
                        raise self._ended()
                    self._kept += more
                    end = self._kept.find(b"\n")
                    looked = None
                else:  # there was nothing to read: that this referee waited meanwhile has taken nothing from the bot
                    now = queue_time()
                    self._in_vain += 0.0 if looked is None else now - looked
                    looked = now
                passed = time.monotonic() - begun
                if end < 0:
                    if passed > LOOK_EVERY / 1000:
                        self._judge(passed, before)
                    continue
            line, self._kept = self._kept[:end], self._kept[end + 1 :]
            told = self._told(number, line)
            passed = time.monotonic() - begun
            self._judge(passed, before)  # of what it tells a witness too, or it could do so for ever
            if told is not None:
                self._waited += max(0.0, passed - (self.spent - before))
                word, value = told
                if word == "ok":
                    return value
                raise value

    def _at_hand(self, number: int) -> list[int]:
        """Return the answers from question ``number`` on that came together with the last one and are plain numbers.

        They were judged with it, as what a bot has spent is known of all that it has sent at once. So many answers are
        read in a third of the time; whatever else has come is left to `_receive`.
        """
        *lines, _ = self._kept.split(b"\n")
        found = []
        length = 0
        for line in lines:
            value = _plain(number, line)
            if value is None or number > self._number:
                break
            found.append(value)
            length += len(line) + 1
            number += 1
        self._kept = self._kept[length:]
        return found

    def _told(self, number: int, line: bytes) -> tuple[str, Any] | None:
        """Return what a line says: ("ok", answer) or ("failed", error); None if it tells a witness of something."""
        if (plain := _plain(number, line)) is not None:
            return "ok", plain
        try:
            found = json.loads(line.decode())
            their, word, value, *printed = found
            if word == "told" and self._witness is not None:
                method, text = value
                if method in ("note_call", "note_answer", "note_print"):
                    getattr(self._witness, method)(str(text))
                return None
            if their != number or type(their) is not int:
                raise self._leave("answered another question than it was asked")
            if printed:
                (text,) = printed
                self.printed.clear()
                self.printed.write(text)
            if word == "ok":
                return "ok", decode(value)
            if word == "failed":
                return "failed", self._failed(*value)
        except (ValueError, TypeError, RecursionError, AttributeError):
            pass
        raise self._leave("sent nonsense from its process")

    def _failed(self, kind: str, text: str, where: str) -> Exception:
        if kind == "large":
            return RaisedError("answered with more than any interface asks for", "")
        text, where = one_line(text, 1000), one_line(where)
        if kind == "reason" and self._phase == START:
            return AgentError(self._name, text)
        # A bot that has taken over its process writes these lines itself: what is not in our form is its words.
        if not _RAISED.fullmatch(text):
            text = f"failed ({quote_words(text, 1000)})"
        return RaisedError(text, where if _LINE.fullmatch(where) else "")

    def _judge(self, passed: float, before: float | None = None) -> None:
        """End the bot if it has passed a limit; ``passed``: seconds on the clock since it was asked."""
        used = self._used()
        if used is not None:
            self.spent = max(self.spent, used - self._began)
        limits = self._limits
        bank, move = limits.seconds, limits.move_seconds
        if self._phase == START:
            bank = move = limits.start_seconds
        own = 0.0 if before is None else self.spent - before
        clock = self._waited + max(passed, own) + (before if before is not None else self.spent)
        if own > move < bank:
            raise self._leave(f"took more than {move:g} s", together=False)
        if self.spent > bank:
            raise self._leave(f"took more than {bank:g} s", together=True)
        wall = limits.wall_of(bank)
        if limits.wall_of(move) < wall and is_late(passed, limits.wall_of(move), self._queued):
            raise self._leave(f"took more than {limits.wall_of(move):g} s by the clock", together=False)
        if is_late(clock, wall, self._queued):
            words = f"took more than {wall:g} s by the clock ({self.spent:.1f} s of them at work)"
            raise self._leave(words, together=True)

    def _leave(self, what: str, together: bool = False) -> GoneError:
        """End the process; return the error that says why."""
        moment = self._moment(together and self._phase == MATCH)
        self.gone = GoneError(self._name, f"{what} {moment}" if moment else what)
        self.close()
        return self.gone

    def _ended(self) -> GoneError:
        """Return the error for a process that has closed its end."""
        return self._leave(describe_end(self._end(WORDS_SECONDS)))

    def _end(self, seconds: float = 0.0) -> int | None:
        """Let the host end the child, if it does not end by itself so soon; return its status, see `Ended`."""
        self._control.send(("end", (self._child, seconds)))
        word, number, status, self.clean = self._control.receive(END_SECONDS)
        if (word, number) != ("ended", self._child):
            raise ValueError("a host answered something else")
        self._child = -1
        ended: int | None = status
        return ended

    def close(self) -> None:
        """End the process. Raises OSError, EOFError and ValueError if its host does not do that."""
        self._socket.close()
        if self._child >= 0 and self._control.end.fileno() >= 0:  # else it ended with its host, and others' is another
            self._end()


class RemoteProgram(Asked):
    """What an adapter knows of a bot in another process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for what the bot raised ``when``."""
        if isinstance(error, AgentError):
            return error
        if not isinstance(error, RaisedError):
            raise error  # of our own, or Ctrl-C
        return AgentError(self.name, f"{error.text} {when}" + (f" ({error.where})" if error.where else ""))


class IsolatedPlayer(Player):
    """A copy of a bot's program in a process of its own, for the games of one match.

    The seed is of the bot's randomness until it joins a game. If it is ``watched``, a witness is told of its calls.

    Attributes:
        says_pure: whether the file says so of itself.
        remarks: what its author should know although nothing is wrong.
        load_seconds: processor time that it took to load.

    Raises:
        AgentError: the bot cannot be loaded; GoneError if its process ended or took too long meanwhile.
    """

    def __init__(self, remote: Remote, name: str, game: Game, seed: int, watched: bool = False) -> None:
        self.name = name
        self._remote = remote
        self._adapter = need(game, ADAPTER)
        try:
            found = remote.ask("load", (seed, watched))
        except RaisedError as error:
            remote.close()
            raise RemoteProgram(name).failure(error, "while it was loaded") from error
        except AgentError:
            remote.close()
            raise
        known = found if isinstance(found, dict) else {}
        self.says_pure = known.get("pure") is True
        remarks = known.get("remarks")
        self.remarks = tuple(map(quote_words, remarks[:MOST_REMARKS])) if isinstance(remarks, list) else ()
        self.load_seconds = remote.spent
        remote.begin_bank()

    @property
    def printed(self) -> Printed:  # type: ignore[override]  # read alone
        """What the bot printed."""
        return self._remote.printed

    @property
    def spent(self) -> float:
        """Seconds of processor time that the bot's process has used since it was loaded."""
        return self._remote.spent

    def raise_if_gone(self) -> None:
        """Raise the GoneError of a process that has ended or had to be ended."""
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
        """End its process; return whether nothing is left of it. Raises what `Remote.close` does."""
        self._remote.close()
        return self._remote.clean


def _plain(number: int, line: bytes) -> int | None:
    """Return the answer to a question if a line holds a whole number and nothing else; what most answers are."""
    prefix = b'[%d,"ok",' % number
    if not line.startswith(prefix):
        return None
    body = line[len(prefix) : -1]
    return int(body) if body.removeprefix(b"-").isdigit() and len(body) < 19 else None
