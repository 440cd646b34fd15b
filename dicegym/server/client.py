"""Playing on a server, ours or another that speaks the game's protocol: `dicegym server join`."""

from __future__ import annotations

import contextlib
import secrets as entropy
import time
from collections.abc import Callable
from dataclasses import dataclass

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import AgentError, ModelError, ParameterError
from dicegym.games import game as make_game
from dicegym.play.drive import play_game
from dicegym.play.player import Player, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.players.roster import agent, agent_name, resolve
from dicegym.server.channels import Address, Channel, address, connected
from dicegym.server.identity import Identity
from dicegym.server.seated_agent import MakePlayer, SeatedAgent
from dicegym.server.wire import NOT_YOUR_TURN, REFUSALS, Message, Wire, wire_of

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before the first and before any later attempt to connect again; each wait is twice the last."""
SILENCE = 2.0
"""Seconds without news after which it seems to be our turn, as long as we do not know what we are called."""
AFTER_THE_LAST = 10.0
"""Seconds without news after our last box, on a server that tells nobody else's turns, after which the game is over."""
MOST_FAILURES = 5
"""Times that an agent may fail in a row before it leaves for good."""
MOST_TRIES = 10
"""Times that it is asked again after a command was refused."""


class _Failed(Exception):  # noqa: N818 - no error of this program: the agent's, which costs it its turn
    """The agent failed; leaving makes the server play its turn at once, instead of everybody waiting for that."""


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
        wait: seconds to wait for the first game; 0: for ever.

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
    wait: float = 0.0
    played: int = 0

    def __post_init__(self) -> None:
        """Sit down."""
        self._wire: Wire = wire_of(self.game)
        self._seated = SeatedAgent(self._wire, self.game, self.make, self.seed)
        self._who = Identity(self.name)
        self._standing: Message | None = None
        self._due = False  # whether the standing asks us, and has not been answered
        self._asked = False
        self._last = False  # whether we have filled our last box, as far as we know
        self._tries = 0
        self._failures = 0
        self._heard = False
        self._ever_asked = False
        self._alone = True  # only ever shown our own turns: then nobody tells the end of a game

    def run(self) -> None:
        """Play until ``games`` games are played; connect again whenever the connection is lost.

        Raises:
            AgentError, ModelError: the agent cannot play, or fails again and again.
            ParameterError: the server cannot be reached, or does not let the agent in, or never asks it.
        """
        wait, tries, ever = FIRST_WAIT, 0, False
        while True:
            self._heard = False
            try:
                with connected(self.where) as server:
                    self.log(f"connected to {self.where}")
                    ever = True
                    try:
                        self._play(server)
                        return
                    finally:
                        server.leave()
            except (_Failed, EOFError) as gone:
                reason = str(gone)
            except OSError as error:
                reason = error.strerror or str(error)
                if not ever:
                    raise ParameterError(f"{self.where} cannot be reached ({reason}): is a server there?") from None
            if self._last and self._alone:  # a server that closes when a game is over, without a word
                self._end(f"{reason} after the last turn of this game")
                if self._done():
                    return
            if self._heard:
                wait, tries = FIRST_WAIT, 0
            tries += 1
            if tries > self.attempts:
                raise ParameterError(f"{self.where} cannot be reached any more ({reason}){self._never()}")
            self.log(f"{reason}; connecting again in {wait:g} s")
            self.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _never(self) -> str:
        return "" if self._ever_asked else ": this agent was never asked for a move"

    def _done(self) -> bool:
        return bool(self.games) and self.played >= self.games

    def _play(self, server: Channel) -> None:
        """Play over one connection until all games are played."""
        wire = self._wire
        self._asked = self._due = False
        # A secret alone is how clients of the original log in, which are told less.
        server.send(wire.login_message(self.secret, self.name, f"dicegym {dicegym.__version__}"))
        end = time.monotonic() + self.wait if self.wait else None
        while not self._done():
            patience = self._patience()
            if end is not None and not self._ever_asked:
                left = max(end - time.monotonic(), 0)
                patience = left if patience is None else min(left, patience)
            message = server.receive(patience)
            if message is not None:
                self._hear(message)
                self._catch_up(server)
            elif self._last:
                self._end("the game is over for this agent: the server does not tell its result")
            elif end is not None and not self._ever_asked and time.monotonic() >= end:
                seen = " (it has shown games of others)" if self._standing is not None else ""
                raise ParameterError(
                    f"{self.where} has not asked this agent for a move in {self.wait:g} s{seen}: perhaps nobody else "
                    "is there to play with; join again later, or wait longer by --wait SECONDS (0: for ever)"
                )
            elif self._standing is not None and self._who.name is None:  # it seems to be our turn
                self._who.guess()
                self._due = True
            while self._due and not self._done():
                self._answer(server)

    def _patience(self) -> float | None:
        if self._last and self._alone:
            return AFTER_THE_LAST
        return SILENCE if self._standing is not None and self._who.name is None and not self._asked else None

    def _catch_up(self, server: Channel) -> None:
        """Take in all that has come already: only the last of it says how things are."""
        while (message := server.receive(0)) is not None:
            self._hear(message)

    def _hear(self, message: Message) -> None:
        wire = self._wire
        try:
            word = wire.word_of(message)
            if word == wire.STANDING:
                self._stand(message)
            elif word == wire.ERROR:
                self._refused(message)
            elif word == wire.WELCOME:
                self._alone = False
                self._who.told(wire.welcomed(message))
                self.log(f"playing as {self._who.name}")
            elif word == wire.FINAL:
                self._alone = False
                self._end(wire.final_text(message))
        except wire.CommandError as error:
            self.log(f"ignored a message: {error}")

    def _stand(self, standing: Message) -> None:
        wire = self._wire
        names, mover = wire.names_of(standing), wire.mover_of(standing)
        self._heard = True
        if self._standing is not None and not wire.continues(self._standing, standing):
            self._end("a game has ended, and another begins")  # a server that sends no FINAL
        if standing != self._standing:
            self._tries = 0
        self._standing = standing
        self._who.seen(names, mover, self._asked)
        self._asked = False
        name = self._who.name
        self._alone &= name in (mover, None)
        self._last = name is not None and not wire.open_boxes(standing, name)
        self._due = mover == name and not self._last
        if not any(wire.open_boxes(standing, each) for each in names):
            self._end("the game is over")  # a server that shows the last table, and may send no FINAL

    def _end(self, text: str) -> None:
        self._heard = True
        self.played += 1
        self._standing, self._asked, self._due, self._last = None, False, False, False
        self._seated.leave()
        self.log(text)

    def _answer(self, server: Channel) -> None:
        """Send the command of the standing that asks us, unless the server has gone on while it was thought of."""
        standing, name = self._standing, self._who.name
        self._due = False
        if standing is None or name is None:
            return
        began = time.monotonic()
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
        self._ever_asked = True
        self._catch_up(server)
        if self._standing != standing:
            self.log(f"the server did not wait for the answer, which took {time.monotonic() - began:.1f} s: not sent")
            return
        self._asked, self._due = True, False
        if self._seated.trouble:
            self.log(f"the agent's answer is no command: {self._seated.trouble}")
        self._last = self._wire.open_boxes(standing, name) == 1 and self._wire.ends_turn(command)
        server.send(command)

    def _refused(self, message: Message) -> None:
        """Take an ERROR: we were not let in, or not meant, or the command was illegal."""
        code, text = message.get("code"), str(message.get("message", ""))[:200]
        if code in REFUSALS:
            raise ParameterError(f"{self.where} does not let {self.name or 'this agent'} play: {text}")
        self.log(f"the server says {code}: {text}")
        self._last = False
        if self._who.wrong():
            self._asked = False
        elif self._asked and code != NOT_YOUR_TURN and self._who.name is not None and self._tries < MOST_TRIES:
            self._tries += 1
            self._due = True


def join(
    game: str,
    server: str,
    spec: str,
    name: str | None,
    secret: str | None,
    games: int,
    seed: int | None,
    log: Callable[[str], None],
    wait: float = 0.0,
    trust: bool = False,
) -> None:
    """Let the agent ``spec`` play on a server until ``games`` games are over; see `Join`.

    The agent and the rules are loaded first: on the server it has seconds to answer.

    Raises what `Join.run` raises; ModelError, AgentError if the agent cannot be loaded; and ParameterError,
    UnknownNameError if an argument names nothing.
    """
    where, table = address(server), make_game(game)
    wire_of(table)
    resolve(table, spec)
    called = agent_name(table, spec) if name is None and secret is None else name
    seed = entropy.randbits(63) if seed is None else seed
    log(f"loading {spec}")
    player = rehearsed(table, spec, trust)
    Join(game, where, lambda _: player, called, secret, games, seed, log, wait=wait).run()


def rehearsed(table: Game, spec: str, trust: bool = False) -> Player:
    """Return a player that has nothing left to load or compile when it is asked. Raises AgentError, ModelError.

    ``trust`` is as for `dicegym.agent`.
    """
    state = play_game(table, [RandomPlayer()] * table.players)
    table.observe(state, 0)
    table, player = _loaded(table, spec, trust)
    act = player.join(table, 0, 0)
    if player.pure:  # whoever remembers what it was asked is not asked for nothing
        act(Turn(table, table.new_game()[0], 0))
    return player


def _loaded(table: Game, spec: str, trust: bool) -> tuple[Game, Player]:
    """Return the player and a table of a size that it can play at: which one the server has, it is yet to tell."""
    least, most = table.spec.players
    try:
        return table, agent(table, spec, trust=trust)
    except ModelError:
        for players in range(max(least, 2), most + 1):
            other = make_game(table.spec.name, players=players)
            with contextlib.suppress(ModelError):
                return other, agent(other, spec, trust=trust)
        raise
