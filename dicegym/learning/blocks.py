"""The games of an evaluation, in blocks: played side by side here, or as jobs wherever an executor has them done.

A block is a function of its game, its entries, the seed and its games' numbers. So an evaluation has the same
figures on any number of processes or machines.
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
from dicegym.play.drive import Referee
from dicegym.play.player import Player
from dicegym.players.roster import load
from dicegym.sandbox.heartbeat import LOADING, PLAYING, Heartbeat, Reading
from dicegym.sandbox.jobs import Context, Entry, Failure
from dicegym.sandbox.remote import GoneError, IsolatedPlayer

SIDE_BY_SIDE = 1000
"""Games of a block that are played side by side, by players who sit beside the referee."""
APART = 200
"""Games of a block in which a bot plays in a process of its own: it keeps one program for them, so figures may depend
on this number, but on nothing else of how they are shared out."""
MOST_KINDS = 100
"""Different faults of a block that are kept in words; the others are counted as the last of them."""


def seating_of(number: int, seats: int, rivals: int) -> tuple[int, list[int]]:
    """Return the seat of the one who is measured in game ``number``, and by seat who sits there: 0, or 1 + an opponent.

    Opponents move on by a seat whenever the player has sat in each.
    """
    time, seat = divmod(number, seats)
    who = [0] * seats
    for place in range(1, seats):
        who[(seat + place) % seats] = 1 + (time + place - 1) % rivals
    return seat, who


class Results(NamedTuple):
    """What a player got in each of some games."""

    shares: np.ndarray
    """float64[games]: its share of the first place, a shared one shared out; of a player alone its return."""
    luck: np.ndarray | None = None
    """float64[games]: what of that was luck, in the same unit; None: nobody asked."""

    @classmethod
    def join(cls, parts: Sequence[Results]) -> Results:
        """Return the results of all games of some blocks, one after the other."""
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
) -> Results:
    """Play games number ``first`` to ``first + n - 1`` of ``seed`` side by side; return what the player got.

    Raises ParameterError if ``less_luck`` is asked for and luck cannot be told in this game.
    """
    rows = np.arange(n)
    states = game.new_states(n)
    numbers = np.arange(first, first + n, dtype=np.uint64)
    loops.begin_rows(states, rows, game.blank, np.full(n, seed, np.uint64), numbers)
    table = Opponents(game, states)
    seats, who = np.empty(n, np.int64), np.zeros((n, game.players), np.int64)
    for row, key in enumerate(states["key"].tolist()):
        seat, sits = seating_of(first + row, game.players, len(rivals))
        seats[row], who[row] = seat, sits
        table.sit(row, key, {there: rivals[one - 1] for there, one in enumerate(sits) if one} | {seat: player})
    luck = None
    if less_luck:
        luck = _played_watched(game, states, table, [player, *rivals], who)[rows, seats]
    else:
        table.play_out()
    return Results(results(game, states)[rows, seats], luck)


def _played_watched(
    game: Game, states: np.ndarray, table: Opponents, players: Sequence[Player], who: np.ndarray
) -> np.ndarray:
    """Play games that have just begun to their ends; return what luck was worth to each seat: float64[games, seats]."""
    nobody = np.full(len(states), -1)
    meter = meter_of(game, players, who)
    watched = Watched(game, states, meter)
    while len(rows := watched.open):
        watched.step(rows, table.answers(rows, nobody)[0])
    return meter.luck


class BlockResult(NamedTuple):
    """The results of a block."""

    results: Results
    faults: list[tuple[str, int]]
    """What failed, in words, in the order in which it did first, and how often."""

    def to_plain(self) -> list[Any]:
        """Return it as lists, texts and numbers."""
        shares, luck = self.results
        return [shares.tolist(), self.faults, None if luck is None else luck.tolist()]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> BlockResult:
        """Return what `to_plain` told of."""
        shares, faults, luck = plain
        return cls(Results(np.array(shares), None if luck is None else np.array(luck)), faults)


@dataclass(frozen=True)
class EvaluationBlock:
    """Some games of an evaluation, as a job for an executor; see `dicegym.sandbox.jobs.Job`.

    The first of ``entries`` is measured, the others are its opponents.
    """

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    first: int
    """Number of the first game."""
    games: int
    less_luck: bool = False
    """Whether to say what of the results was luck."""

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, in addition to game, entries and limits; see `Job.facts`."""
        asked = {"less_luck": True} if self.less_luck else {}
        return {"kind": "evaluation", "seed": self.seed, "first": self.first, "games": self.games} | asked

    def run(self, context: Context) -> list[Any]:
        """Load everybody and play; return a `BlockResult` as plain values."""
        heartbeat = context.heartbeat
        heartbeat.note(LOADING, 0)
        faults: dict[str, int] = {}

        def note(message: Warning | str, *where: Any, **more: Any) -> None:
            words = str(message)
            if words not in faults and len(faults) >= MOST_KINDS:
                words = next(reversed(faults))
            faults[words] = faults.get(words, 0) + 1

        table = _Table(self, context)
        heartbeat.note(PLAYING, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("always", FaultWarning)
            warnings.showwarning = note
            found = table.play() if table.one_by_one else self.play(table.players)
        return BlockResult(found, list(faults.items())).to_plain()

    def play(self, players: Sequence[Player]) -> Results:
        """Let these players, in the order of the entries, play the games side by side."""
        player, *rivals = players
        return results_of(self.game, player, rivals, self.first, self.games, self.seed, self.less_luck)

    def without(self, failure: Failure) -> None:
        """Return None: a player that failed is not measured."""

    def moment(self, reading: Reading) -> str:
        """Return when ``reading`` was taken; see `Job.moment`."""
        if reading.phase == LOADING:
            return "while it was loaded"
        return f"in games {self.first + 1} to {self.first + self.games} of the evaluation"


class _Table:
    """Everybody at the table of a block.

    Attributes:
        players: by their number among the entries.
        one_by_one: whether games are played one after the other, as a bot in a process of its own sits at one game at
            a time.
    """

    def __init__(self, block: EvaluationBlock, context: Context) -> None:
        self._block, self._context = block, context
        self._moment = "while it was loaded"
        self.players: list[Player] = [self._load(number) for number in range(len(block.entries))]
        self.one_by_one = any(isinstance(player, IsolatedPlayer) for player in self.players)
        self._moment = f"in games {block.first + 1} to {block.first + block.games} of the evaluation"

    def _load(self, number: int) -> Player:
        block, context = self._block, self._context
        entry = block.entries[number]
        context.heartbeat.blamed = number
        if isinstance(entry.origin, Source) and not context.apart(entry):
            return load(block.game, entry.origin, entry.name)  # a fresh program for each game, as everywhere
        return context.load(entry, block.game, 0, lambda together: self._moment, None)

    def play(self) -> Results:
        """Play the games of the block one after the other; return what the player got."""
        block, game = self._block, self._block.game
        rivals = len(block.entries) - 1
        # Who fills several seats needs as many copies, if it sits at one game, and in one seat, at a time.
        copies: list[list[Player]] = [[player] for player in self.players]
        ended, seats = game.new_states(block.games), np.empty(block.games, np.int64)
        sat, actions = np.zeros((block.games, game.players), np.int64), []
        for row in range(block.games):
            number = block.first + row
            self._moment = f"in game {number + 1} of the evaluation"
            states = game.new_game(block.seed, number)
            seat, who = seating_of(number, game.players, rivals)
            taken = [0] * len(self.players)
            seated: list[Player] = [self.players[0]] * game.players
            for there in ((seat + place) % game.players for place in range(1, game.players)):
                mine = copies[who[there]]
                if isinstance(mine[0], IsolatedPlayer) and taken[who[there]] == len(mine):
                    mine.append(self._load(who[there]))
                seated[there] = mine[min(taken[who[there]], len(mine) - 1)]
                taken[who[there]] += 1
            referee = _BlockReferee(game, states, seated, who, self._context.heartbeat)
            ended[row] = referee.play()
            seats[row], sat[row] = seat, who
            actions.append(referee.actions)
        luck, rows = None, np.arange(block.games)
        if block.less_luck:
            known = [None if isinstance(player, IsolatedPlayer) else player for player in self.players]
            numbers = range(block.first, block.first + block.games)
            luck = luck_of(game, known, sat, block.seed, numbers, actions)[rows, seats]
        return Results(results(game, ended)[rows, seats], luck)


class _BlockReferee(Referee):
    """Drives one game of a block: a bot whose process is gone ends the block.

    Args:
        who: by seat, the number of the entry that sits there.
    """

    def __init__(
        self, game: Game, states: np.ndarray, players: Sequence[Player], who: Sequence[int], heartbeat: Heartbeat
    ) -> None:
        self._who, self._heartbeat = who, heartbeat
        super().__init__(game, states, players)

    def handle_failure(self, seat: int, error: AgentError) -> int:
        self._heartbeat.blamed = self._who[seat]
        if isinstance(error, GoneError):
            raise error
        return super().handle_failure(seat, error)


def blocks_of(
    game: Game,
    entries: tuple[Entry, ...],
    games: int,
    seed: int,
    less_luck: bool = False,
) -> list[EvaluationBlock]:
    """Return the blocks of an evaluation of ``games`` games between ``entries``; see `EvaluationBlock`."""
    size = SIDE_BY_SIDE if all(entry.trusted for entry in entries) else APART
    return [
        EvaluationBlock(game, entries, seed, block * size, min(size, games - block * size), less_luck)
        for block in range(math.ceil(games / size))
    ]
