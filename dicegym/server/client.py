"""Playing on a server, ours or another that speaks the game's protocol: `dicegym join`."""

from __future__ import annotations

import secrets as entropy
import time
from collections.abc import Callable
from dataclasses import dataclass

from dicegym.errors import AgentError, ParameterError
from dicegym.games import game as make_game
from dicegym.players.roster import agent, agent_name, resolve
from dicegym.server.channels import Address, Channel, address, connected
from dicegym.server.seated_agent import MakePlayer, SeatedAgent
from dicegym.server.wire import NOT_YOUR_TURN, REFUSALS, Message, Wire, wire_of

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the first and before any later attempt to connect again; each wait is twice the last."""
SILENCE = 2.0
"""Seconds without news after which it seems to be our turn, as long as we do not know what we are called."""
MOST_FAILURES = 5
"""Times that an agent may fail in a row before it leaves for good."""
MOST_TRIES = 10
"""Times that it is asked again after a command was refused."""


class _Failed(Exception):  # noqa: N818 - no error of this program: the agent's, which costs it its turn
    """The agent failed; leaving makes the server play its turn at once, instead of everybody waiting for that."""


class Identity:
    """What we are called in standings, which a server of another make may not tell.

    Whoever moves without a command of ours is somebody else. If nobody moves for a while, it is probably our turn; an
    error then tells that it is not.

    Args:
        wanted: the name that we have asked for.
    """

    def __init__(self, wanted: str | None) -> None:
        self.name: str | None = None
        self._wanted = wanted
        self._candidates: set[str] = set()
        self._mover = ""
        self._guessed = False

    def told(self, name: str) -> None:
        """Take the server's word."""
        self.name, self._guessed = name, False

    def seen(self, names: list[str], mover: str, asked: bool) -> None:
        """Take note of a standing, and whether we have sent a command since the last one."""
        if self.name not in names:
            self.name, self._guessed = (self._wanted if self._wanted in names else None), False
        if self.name is None:
            self._candidates = (self._candidates & set(names)) or set(names)
            if not asked:
                self._candidates -= {self._mover}
            if len(self._candidates) == 1:
                (self.name,) = self._candidates
        self._mover = mover

    def guess(self) -> str:
        """Return the name of the player to move, as it seems to be ours."""
        self.name, self._guessed = self._mover, True
        return self._mover

    def wrong(self) -> bool:
        """Take note of an error; return whether a guess was its reason."""
        if not self._guessed:
            return False
        self._candidates.discard(str(self.name))
        self.name, self._guessed = None, False
        return True


@dataclass
class Join:
    """One agent's stay on a server.

    Args:
        game: the game's name.
        where: the server.
        make: makes the player, given the game with the server's number of players.
        name: to play under, where names are free.
        secret: to log in by.
        games: leave after so many games; 0: never.
        seed: of the player's randomness.
        log: takes lines for the user.
        attempts: to connect again in a row.
        sleep: waits for so many seconds.

    Attributes:
        played: games finished.
    """

    game: str
    where: Address
    make: MakePlayer
    name: str | None
    secret: str | None = None
    games: int = 0
    seed: int = 0
    log: Callable[[str], None] = print
    attempts: int = 10
    sleep: Callable[[float], None] = time.sleep
    played: int = 0

    def __post_init__(self) -> None:
        """Sit down."""
        self._wire: Wire = wire_of(self.game)
        self._seated = SeatedAgent(self._wire, self.game, self.make, self.seed)
        self._who = Identity(self.name)
        self._standing: Message | None = None
        self._asked = False
        self._tries = 0
        self._failures = 0
        self._heard = False

    def run(self) -> None:
        """Play until ``games`` games are played; connect again whenever the connection is lost.

        Raises:
            AgentError, ModelError: the agent cannot play, or fails again and again.
            ParameterError: the server cannot be reached, or does not let the agent in.
        """
        wait, tries, ever = FIRST_WAIT, 0, False
        while True:
            self._heard = False
            try:
                with connected(self.where) as server:
                    self.log(f"connected to {self.where}")
                    ever = True
                    if self._play(server):
                        return
                reason = "the server has closed the connection"
            except _Failed as failed:
                reason = str(failed)
            except OSError as error:
                reason = error.strerror or str(error)
                if not ever:
                    raise ParameterError(f"{self.where} cannot be reached ({reason}): is a server there?") from None
            if self._heard:
                wait, tries = FIRST_WAIT, 0
            tries += 1
            if tries > self.attempts:
                raise ParameterError(f"{self.where} cannot be reached any more ({reason})")
            self.log(f"{reason}; connecting again in {wait:g} s")
            self.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _play(self, server: Channel) -> bool:
        """Play over one connection; return whether all games are played."""
        wire = self._wire
        self._asked = False
        server.send(wire.login_message(self.secret, self.name))
        for message in server.messages(self._patience):
            if message is None:  # it seems to be our turn
                self._answer(server, self._who.guess())
                continue
            try:
                word = wire.word_of(message)
                if word == wire.STANDING:
                    self._stand(server, message)
                elif word == wire.ERROR:
                    self._refused(server, message)
                elif word == wire.WELCOME:
                    self._who.told(wire.welcomed(message))
                    self.log(f"playing as {self._who.name}")
                elif word == wire.FINAL:
                    self._end(wire.final_text(message))
            except wire.CommandError as error:
                self.log(f"ignored a message: {error}")
            if self.games and self.played >= self.games:
                return True
        return False

    def _patience(self) -> float | None:
        return SILENCE if self._standing is not None and self._who.name is None and not self._asked else None

    def _stand(self, server: Channel, standing: Message) -> None:
        self._heard = True
        if self._standing is not None and not self._wire.continues(self._standing, standing):
            self._end("a game has ended, and another begins")  # a server that sends no FINAL
        self._standing = standing
        self._tries = 0
        names, mover = self._wire.names_of(standing), self._wire.mover_of(standing)
        self._who.seen(names, mover, self._asked)
        self._asked = False
        if mover == self._who.name:
            self._answer(server, mover)

    def _end(self, text: str) -> None:
        self._heard = True
        self.played += 1
        self._standing, self._asked = None, False
        self._seated.leave()
        self.log(text)

    def _answer(self, server: Channel, name: str) -> None:
        """Send the command of ``name``, whose turn it is."""
        standing = self._standing
        if standing is None:
            return
        try:
            command = self._seated.answer(standing, name)
        except AgentError as error:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise
            raise _Failed(f"{error.reason}: the server may play this turn") from error
        if command is None:
            return
        self._failures = 0
        self._asked = True
        if self._seated.trouble:
            self.log(f"the agent's answer is no command: {self._seated.trouble}")
        server.send(command)

    def _refused(self, server: Channel, message: Message) -> None:
        """Take an ERROR: we were not let in, or not meant, or the command was illegal."""
        code, text = message.get("code"), str(message.get("message", ""))[:200]
        if code in REFUSALS:
            raise ParameterError(f"{self.where} does not let {self.name or 'this agent'} play: {text}")
        self.log(f"the server says {code}: {text}")
        if self._who.wrong():
            self._asked = False
        elif self._asked and code != NOT_YOUR_TURN and self._who.name is not None and self._tries < MOST_TRIES:
            self._tries += 1
            self._answer(server, self._who.name)


def join(
    game: str,
    server: str,
    spec: str,
    name: str | None,
    secret: str | None,
    games: int,
    seed: int | None,
    log: Callable[[str], None],
) -> None:
    """Let the agent ``spec`` play on a server until ``games`` games are over; see `Join`.

    Raises what `Join.run` raises; and ParameterError, UnknownNameError if an argument names nothing.
    """
    where, table = address(server), make_game(game)
    wire_of(table)
    resolve(table, spec)
    called = agent_name(table, spec) if name is None and secret is None else name
    seed = entropy.randbits(63) if seed is None else seed
    Join(game, where, lambda found: agent(found, spec), called, secret, games, seed, log).run()
