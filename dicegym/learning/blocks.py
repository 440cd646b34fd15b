"""The games of an evaluation, in blocks that are played here or as jobs of an executor.

A block is a function of its game, its entries, the seed and its games' numbers. So an evaluation has the same results
on any number of processes or machines.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.playing_on import results
from dicegym.analysis.variance_reduction import Watched, luck_of, meter_of
from dicegym.bots.source import Source
from dicegym.engine import loops
from dicegym.engine.game import Game
from dicegym.envs.opponents import Opponents
from dicegym.errors import AgentError, FaultWarning
from dicegym.play.player import Player
from dicegym.players.roster import load
from dicegym.sandbox.heartbeat import LOADING, PLAYING, Reading
from dicegym.sandbox.jobs import Context, Entry, Failure, Sent
from dicegym.sandbox.remote import IsolatedPlayer

SIDE_BY_SIDE = 1000
"""Games of a block whose players are all in the referee's process; they are played as a batch."""
APART = 200
"""Games of a block with a bot in another process. The bot runs one program for all of them, so results may depend on
this number, but not on how blocks are distributed."""
MOST_KINDS = 100
"""Different messages of faults that are kept of a block; further ones are counted as the last of them."""


def seating_of(number: int, seats: int, rivals: int) -> tuple[int, list[int]]:
    """Return the measured player's seat in game ``number``, and for each seat the player there: 0, or 1 + an opponent.

    Opponents move on by one seat whenever the player has sat in every seat.
    """
    time, seat = divmod(number, seats)
    who = [0] * seats
    for place in range(1, seats):
        who[(seat + place) % seats] = 1 + (time + place - 1) % rivals
    return seat, who


class Results(NamedTuple):
    """A player's results in some games."""

    shares: np.ndarray
    """float64[games]: its share of the first place, 1 / n if n players tie; in games for one its return."""
    luck: np.ndarray | None = None
    """float64[games]: its luck in the same unit; None if not asked for."""

    @classmethod
    def join(cls, parts: Sequence[Results]) -> Results:
        """Return the results of several blocks as one."""
        luck = [part.luck for part in parts if part.luck is not None]
        return cls(np.concatenate([part.shares for part in parts]), np.concatenate(luck) if luck else None)


def results_of(
    game: Game,
    player: Player,
    rivals: Sequence[Player],
    first: int,
    n: int,
    seed: int,
    less_luck: bool = False,
    copies: _Copies | None = None,
) -> Results:
    """Play games number ``first`` to ``first + n - 1`` of ``seed``; return the player's results.

    Games are played as a batch, or one by one with ``copies``.

    Raises ParameterError if ``less_luck`` is asked for and this game has no luck meter.
    """
    rows, players = np.arange(n), [player, *rivals]
    states = game.new_states(n)
    numbers = np.arange(first, first + n, dtype=np.uint64)
    loops.begin_rows(states, rows, game.blank, np.full(n, seed, np.uint64), numbers)
    seating = [seating_of(number, game.players, len(rivals)) for number in range(first, first + n)]
    seats, who = (np.array(part, np.int64) for part in zip(*seating, strict=True))
    table, luck = Opponents(game, states), None
    if copies is not None:
        actions = [copies.play(table, states, row, first + row, *seating[row]) for row in rows.tolist()]
        if less_luck:
            known = [None if isinstance(one, IsolatedPlayer) else one for one in players]
            luck = luck_of(game, known, who, seed, range(first, first + n), actions)[rows, seats]
    else:
        for row, sits in enumerate(who.tolist()):
            table.sit(row, int(states["key"][row]), {there: players[one] for there, one in enumerate(sits)})
        if less_luck:
            luck = _play_watched(game, states, table, players, who)[rows, seats]
        else:
            table.play_out()
    return Results(results(game, states)[rows, seats], luck)


def _play_watched(
    game: Game, states: np.ndarray, table: Opponents, players: Sequence[Player], who: np.ndarray
) -> np.ndarray:
    """Play new games to their end; return the luck of each seat: float64[games, seats]."""
    nobody, meter = np.full(len(states), -1), meter_of(game, players, who)
    watched = Watched(states, meter)
    while len(rows := watched.open):
        watched.step(rows, table.answers(rows, nobody)[0])
    return meter.luck


@dataclass(frozen=True)
class EvaluationBlock:
    """Some games of an evaluation, as a job for an executor; see `dicegym.sandbox.jobs.Job`.

    The first entry is measured, the others are its opponents.
    """

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    first: int
    """Number of the first game."""
    games: int
    less_luck: bool = False
    """Whether to measure luck."""

    @property
    def facts(self) -> dict[str, Any]:
        """What determines the outcome, in addition to game, entries and limits; see `Job.facts`."""
        asked = {"less_luck": True} if self.less_luck else {}
        return {"kind": "evaluation", "seed": self.seed, "first": self.first, "games": self.games} | asked

    def run(self, context: Context) -> list[Any]:
        """Load all players and play; return the lists of `Results`, and the faults.

        Each fault is a message and how often it occurred, in the order of the first occurrences.
        """
        heartbeat = context.heartbeat
        heartbeat.note(LOADING, 0)
        faults: dict[str, int] = {}

        def note(message: Warning | str, *where: Any, **more: Any) -> None:
            words = str(message)
            if words not in faults and len(faults) >= MOST_KINDS:
                words = next(reversed(faults))
            faults[words] = faults.get(words, 0) + 1

        copies = _Copies(self, context)
        heartbeat.note(PLAYING, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("always", FaultWarning)
            warnings.showwarning = note
            try:
                found = self.play(copies.players, copies if copies.one_by_one else None)
            except Exception as error:
                copies.blame(error)
                raise
        return [found.shares.tolist(), None if found.luck is None else found.luck.tolist(), list(faults.items())]

    def play(self, players: Sequence[Player], copies: _Copies | None = None) -> Results:
        """Play the games with these players, in the order of the entries; see `results_of`."""
        player, *rivals = players
        return results_of(self.game, player, rivals, self.first, self.games, self.seed, self.less_luck, copies)

    def without(self, failure: Failure) -> None:
        """Return None: a player that failed is not measured."""

    def moment(self, reading: Reading) -> str:
        """Describe when ``reading`` was taken; see `Job.moment`."""
        if reading.phase == LOADING:
            return "while it was loaded"
        return f"in games {self.first + 1} to {self.first + self.games} of the evaluation"


class _Copies:
    """The players of a block, and of a bot in another process a copy for each seat that it fills.

    Attributes:
        one_by_one: whether games are played one by one, as a bot in another process plays one game at a time.
    """

    def __init__(self, block: EvaluationBlock, context: Context) -> None:
        self._block, self._context = block, context
        self._moment = "while it was loaded"
        self._copies = [[self._load(number)] for number in range(len(block.entries))]
        self.one_by_one = any(isinstance(player, IsolatedPlayer) for player in self.players)

    @property
    def players(self) -> list[Player]:
        """The first copy of each entry."""
        return [mine[0] for mine in self._copies]

    def _load(self, number: int) -> Player:
        block, context = self._block, self._context
        entry = block.entries[number]
        context.heartbeat.blamed = number
        if isinstance(entry.origin, Source) and not context.apart(entry):
            return load(block.game, entry.origin, entry.name)  # a new program for each game, as everywhere
        return context.load(entry, block.game, 0, lambda: self._moment, None)

    def play(
        self, table: Opponents, states: np.ndarray, row: int, number: int, seat: int, who: Sequence[int]
    ) -> list[int]:
        """Play game ``number`` in a row of a table, seated as by `seating_of`; return the actions.

        Raises GoneError if a bot's process has ended, which is not a fault under the rules.
        """
        self._moment = f"in game {number + 1} of the evaluation"
        state, actions, taken = states[row], list[int](), [0] * len(self._copies)
        seated = {seat: self._copies[0][0]}
        for there in ((seat + place) % len(who) for place in range(1, len(who))):
            mine, used = self._copies[who[there]], taken[who[there]]
            if isinstance(mine[0], IsolatedPlayer) and used == len(mine):
                mine.append(self._load(who[there]))
            seated[there] = mine[min(used, len(mine) - 1)]
            taken[who[there]] += 1
        table.sit(row, int(state["key"]), seated)
        while not state["over"]:
            actions.append(table.answer(row))
            self._block.game.step(state, actions[-1])
            table.tell(row)
        for player in (one for mine in self._copies for one in mine if isinstance(one, IsolatedPlayer)):
            player.raise_if_gone()
        return actions

    def blame(self, error: Exception) -> None:
        """Note which entry raised the ``error`` that ended the block.

        AgentError names its bot or model. Any other error comes from a `Player` that the caller gave.
        """
        entries, heartbeat = self._block.entries, self._context.heartbeat
        if isinstance(error, AgentError):
            guilty = [number for number, entry in enumerate(entries) if entry.name == error.agent]
        else:
            guilty = [number for number, entry in enumerate(entries) if isinstance(entry.origin, Player | Sent)]
        heartbeat.blamed = next(iter(guilty), heartbeat.blamed)


def blocks_of(
    game: Game, entries: tuple[Entry, ...], games: int, seed: int, less_luck: bool = False
) -> list[EvaluationBlock]:
    """Return the blocks of an evaluation of ``games`` games between ``entries``; see `EvaluationBlock`."""
    size = SIDE_BY_SIDE if all(entry.trusted for entry in entries) else APART
    return [
        EvaluationBlock(game, entries, seed, block * size, min(size, games - block * size), less_luck)
        for block in range(math.ceil(games / size))
    ]
