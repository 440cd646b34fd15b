"""Local agents: each plays in a process of its own, so that one that hangs or dies costs its own tables alone.

A process is asked one question at a time. An agent that exceeds its time is killed and started again, which fails the
question it hung on and no other; after `MOST_FAILURES` such ends in a row it is not seated any more. In the process of
a bot's file sits its referee alone (`dicegym.server.copies`): the bot itself is ended by that, at the table where it
hung.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from dicegym.errors import AgentError
from dicegym.escape import quote_words
from dicegym.sandbox import scratch
from dicegym.sandbox.jail import Isolation
from dicegym.server.framing import Malformed, parse
from dicegym.server.wire import Message

MOST_FAILURES = 3
SECONDS_TO_START = 120.0
"""Time to load: compiling the rules on a slow machine takes a while."""
_LONGEST = 1 << 16
_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from dicegym.server import host; "
_CODE += "host.main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), *sys.argv[6:])"
GRACE = 2.0
"""Seconds for a referee to end a bot, and say so, before it is ended itself."""

ENVIRONMENT = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
"""Sets of strings keep their order, and no threads of NumPy's keep rights that a process gives up for a bot."""


class Asker(Protocol):
    """Who asks an agent: a table."""

    number: int

    def answered(self, seat: int, command: Message | None) -> None:
        """Take the agent's command."""

    def failed(self, seat: int, reason: str) -> None:
        """Take note that the agent did not answer properly."""


class Question(NamedTuple):
    """One standing in which the agent is to move."""

    asker: Asker
    seat: int
    text: bytes


class LocalAgent(asyncio.SubprocessProtocol):
    """An agent in a process of its own.

    Args:
        name: under which it plays.
        spec: names it, as for `dicegym.agent`.
        game: the game's name.
        players: seats at its tables.
        seconds: time to answer.
        log: takes lines for the operator.
        level: how it is kept apart, for a bot's file; None for what is trusted and plays in the process itself.

    Attributes:
        retired: True when it has failed too often to be seated again.
    """

    def __init__(
        self,
        name: str,
        spec: str,
        game: str,
        players: int,
        seconds: float,
        log: Callable[[str], None],
        level: Isolation | None = None,
    ) -> None:
        self.name = name
        self.retired = False
        self._made = (game, str(players), spec)
        self._folder = ""  # of temporary files, where bots have none in a jail
        self._own = (str(seconds), Isolation.JAIL if level is None else level)  # who is trusted has no bot apart
        self._seconds = seconds if level is None else 2 * seconds + GRACE  # to load, to answer
        self._log = log
        self._queue: deque[Question] = deque()
        self._asked: Question | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._failures = 0
        self._why = ""
        self._transport: asyncio.SubprocessTransport | None = None
        self._ready = False
        self._begun: asyncio.Future[None] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._stopping = False
        self._gone = asyncio.Event()
        self._out, self._err = b"", b""

    async def start(self) -> None:
        """Start the process and wait until the agent is loaded. Raises AgentError."""
        loop = asyncio.get_running_loop()
        if self._transport is not None:
            self._transport.close()
        self._ready, self._why, self._out, self._err = False, "", b"", b""
        self._gone.clear()
        self._begun = loop.create_future()
        if not self._folder and self._own[1] is not Isolation.JAIL:
            self._folder = tempfile.mkdtemp(prefix="dicegym-bots-")
        path = [folder or os.getcwd() for folder in sys.path]
        await loop.subprocess_exec(
            lambda: self,
            sys.executable,
            "-P",
            "-c",
            _CODE,
            *self._made,
            str(os.getpid()),
            *self._own,
            self._folder,
            json.dumps(path),
            env=os.environ | ENVIRONMENT,
            start_new_session=True,
        )
        try:
            await asyncio.wait_for(self._begun, SECONDS_TO_START)
        except TimeoutError:
            self._kill("")
            raise AgentError(self.name, f"took more than {SECONDS_TO_START:g} s to load") from None
        self._ready = True
        self._next()

    async def stop(self) -> None:
        """End the process."""
        self._stopping = True
        if self._starting is not None:
            self._starting.cancel()
        if self._begun is not None:
            self._begun.cancel()
        self._kill("")
        if self._transport is not None:
            await self._gone.wait()
            self._transport.close()
        if self._folder:
            scratch.remove(self._folder)
            self._folder = ""

    def ask(self, asker: Asker, seat: int, name: str, seed: int, standing: bytes) -> None:
        """Have a standing answered, by a call of ``asker.answered`` or ``asker.failed`` later."""
        head = json.dumps({"table": asker.number, "name": name, "seed": seed})
        self._queue.append(Question(asker, seat, head[:-1].encode() + b', "standing": ' + standing.strip() + b"}\n"))
        self._next()

    def close(self, asker: Asker) -> None:
        """Forget a table."""
        self._queue = deque(question for question in self._queue if question.asker is not asker)
        if self._ready:
            self._write(b'{"close": %d}\n' % asker.number)

    def _next(self) -> None:
        if self._asked is not None or not self._queue:
            return
        loop = asyncio.get_running_loop()
        if self.retired:
            question = self._queue.popleft()
            loop.call_soon(question.asker.failed, question.seat, "has failed too often")
            loop.call_soon(self._next)
        elif self._ready:
            self._asked = self._queue.popleft()
            self._timer = loop.call_later(self._seconds, self._kill, f"took more than {self._seconds:g} s")
            self._write(self._asked.text)

    def _write(self, data: bytes) -> None:
        pipe: Any = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def _kill(self, why: str) -> None:
        self._why = why
        if self._transport is None or self._transport.get_returncode() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._transport.get_pid(), signal.SIGKILL)  # with everything that the bot may have started
        with contextlib.suppress(ProcessLookupError):
            self._transport.kill()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.SubprocessProtocol`."""
        self._transport = transport  # type: ignore[assignment]  # that is what subprocess_exec makes

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """See `asyncio.SubprocessProtocol`."""
        if fd == 2:
            self._err = (self._err + data)[-2000:]
            return
        *lines, self._out = (self._out + data).split(b"\n")
        for line in lines:
            answer = parse(line.decode(errors="replace"), _LONGEST)
            if isinstance(answer, Malformed):  # no bot should reach that pipe
                self._kill("wrote nonsense where its answers go")
                return
            self._heard(answer)
        if len(self._out) > _LONGEST:
            self._kill("wrote nonsense where its answers go")

    def _heard(self, answer: dict[str, Any]) -> None:
        if self._begun is not None and not self._begun.done():
            if "error" in answer:
                self._begun.set_exception(AgentError(self.name, str(answer["error"])))
            else:
                self._begun.set_result(None)
            return
        question = self._done()
        if question is None:
            return
        if "failed" in answer:
            if answer.get("gone"):
                self._failed(str(answer["failed"]))
            question.asker.failed(question.seat, str(answer["failed"]))
        else:
            self._failures = 0
            question.asker.answered(question.seat, answer.get("command"))
        self._next()

    def _done(self) -> Question | None:
        if self._timer is not None:
            self._timer.cancel()
        question, self._asked = self._asked, None
        return question

    def process_exited(self) -> None:
        """See `asyncio.SubprocessProtocol`: start again, unless that has been in vain."""
        self._ready = False
        self._gone.set()
        status = self._transport.get_returncode() if self._transport is not None else None
        last = self._err.decode(errors="replace").strip().rpartition("\n")[2]
        why = self._why or f"ended its process (status {status}{'; ' + quote_words(last, 100) if last else ''})"
        if self._stopping:
            return
        if self._begun is not None and not self._begun.done():
            self._begun.set_exception(AgentError(self.name, why))
            return
        question = self._done()
        self._failed(why)
        if not self.retired:
            self._starting = asyncio.get_running_loop().create_task(self._again())
        if question is not None:
            question.asker.failed(question.seat, why)
        self._next()

    def _failed(self, why: str) -> None:
        """Take note that the bot has ended its process, or had to be ended."""
        self._failures += 1
        self.retired = self._failures >= MOST_FAILURES
        self._log(f"{self.name} {why}" + (" and is not seated any more" if self.retired else ""))

    async def _again(self) -> None:
        try:
            await self.start()
        except AgentError as error:
            self.retired = True
            self._log(f"{self.name} could not be started again: {error.reason}")
            self._next()
