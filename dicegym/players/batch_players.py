"""Players of a batch without Python between the moves: compiled twins, and pure players as tables.

A game's ``twins.py`` declares compiled twins of its agents (`dicegym.engine.twin_kernels.twin`). A twin chooses as its
file does, move for move, or with the same probabilities if it draws. It replaces the file wherever a shipped agent is
named and its source is unchanged. An edited file, or one of the same name in another folder, plays itself
(`dicegym.players.roster.opponent`).

If a game numbers its situations, a pure player is a table of its answers. Games between such tables are played
together, fifty times as fast as one by one with `dicegym.play.drive.Referee` (measured), and identical to the last bit.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dicegym.bots.bot_files import gather
from dicegym.bots.scan import text_of
from dicegym.bots.source import Source
from dicegym.engine import loops
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.loops import UNKNOWN
from dicegym.engine.seats import seating
from dicegym.engine.twin_kernels import list_twins
from dicegym.games.parts import TWINS, part
from dicegym.play.player import Player
from dicegym.play.turn import Act

_SAYS_PURE = re.compile(r"^PURE = True\b", re.MULTILINE)


def source_hash(path: Path) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a bot's source, with line ends made equal.

    The source is its file and the files of its folder that it imports (`dicegym.bots.bot_files.gather`).
    """
    return _hash_of([text_of(data) for data in gather(path).values()])


def _hash_of(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class TwinPlayer(Player):
    """The compiled twin of an agent: ``number`` is its place among the game's twins. It draws by the game's key."""

    at_once = True

    def __init__(self, name: str, number: int, pure: bool) -> None:
        self.name, self.number, self.pure = name, number, pure

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        choose = list_twins(game.spec.module)[self.number].kernel
        return lambda turn: int(choose(turn.record))

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        actions = np.empty(len(rows), np.int64)
        loops.choose_rows(states, rows, self.number, actions)
        return actions


def twin_numbers(game: Game) -> dict[str, int]:
    """Return name -> number of the compiled twins of a game."""
    return {name: number for number, twin in enumerate(list_twins(game.spec.module)) for name in twin.names}


def twin_of(game: Game, source: Source, name: str) -> TwinPlayer | None:
    """Return the compiled twin of a file, called ``name`` if that is one of its names, or None."""
    twins = list_twins(game.spec.module)
    if not twins or (source.arguments is not None and name not in twin_numbers(game)):
        return None
    texts = [text_of(data) for data in gather(source.file).values()]
    made_of = _hash_of(texts)
    for number, twin in enumerate(twins):
        if twin.file == made_of:
            called = name if name in twin.names else twin.names[0]
            return TwinPlayer(called, number, _SAYS_PURE.search(texts[0]) is not None)
    return None


class Tabulated:
    """The answers of a pure player in a game of ``size`` numbered situations, each asked once."""

    def __init__(self, game: Game, player: Player, size: int) -> None:
        self._game = game
        self._player = player
        self.answers = np.full(size, UNKNOWN, np.int32)

    def act_rows(self, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row, and remember those of 32 bits."""
        numbers = _situations_of(states, rows)
        found, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        actions = self._player.act_rows(self._game, states, rows[first], seats[first])
        fits = (actions > UNKNOWN) & (actions <= np.iinfo(np.int32).max)
        self.answers[found[fits]] = actions[fits]
        answers: np.ndarray = actions[place]
        return answers


def _situations_of(states: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the number of the situation in each of the games ``states[rows[k]]``: int64[rows]."""
    numbers = np.empty(len(rows), np.int64)
    loops.situation_rows(states, np.asarray(rows, np.int64), numbers)
    return numbers


@functools.cache
def situations(game: Game) -> int:
    """Return the number of situations of a player of ``game``; 0 if they are not numbered."""
    twins = part(game, TWINS)
    found = twins.situations(game) if twins is not None else None
    return 0 if found is None else len(found)


class TabledPlayer(Player):
    """Plays by a table: ``actions``, int[situations], are a pure player's choices."""

    pure = True

    def __init__(self, name: str, actions: np.ndarray) -> None:
        self.name = name
        given = np.asarray(actions, np.int64)
        widest = max(-int(given.min(initial=0)), int(given.max(initial=0)) + 1)
        self.actions = given.astype(np.min_scalar_type(-widest))  # small, as each match sends it to a process

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        first = np.zeros(1, np.int64)
        return lambda turn: int(self.act_rows(game, np.array([turn.record]), first, first)[0])

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        chosen: np.ndarray = self.actions[_situations_of(states, rows)].astype(np.int64)
        return chosen


AT_ONCE = 256
"""Games that are played together; their records fit into the cache of a processor."""


class TableGame(NamedTuple):
    """The result of a game."""

    order: list[int]
    """The player in each seat."""
    actions: list[int]
    """Of all seats, in order."""
    returns: list[float]
    """The sum of rewards of each seat."""
    faults: list[tuple[int, int, int]]
    """(seat, its decision from 1, number of the fault) of each illegal action."""


def tables_alone(game: Game, players: Sequence[object]) -> bool:
    """Return whether all players are tables of ``game``, so that `play_tables` can play."""
    return all(isinstance(player, TabledPlayer) for player in players) and situations(game) > 0


def prepare(game: Game) -> None:
    """Compile what `play_tables` needs, or load it, before time is measured."""
    if situations(game) > 0:
        states, none = game.new_states(1), np.zeros(0, np.int64)
        loops.begin_rows(states, none, game.blank, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
        loops.situation_rows(states, none, none)
        loops.step_rows(states, none, none, none)


def play_tables(
    game: Game, players: Sequence[TabledPlayer], seed: int, games: int, acting: Callable[[int, int], None]
) -> Iterator[TableGame]:
    """Yield games 0 to ``games - 1`` of ``seed`` between ``players``, seated by each game's key.

    ``acting(game, player to move)`` is called again and again, as a game may never end.
    """
    tables = np.stack([player.actions for player in players]).astype(np.int64)
    for first in range(0, games, AT_ONCE):
        yield from _played(game, tables, seed, range(first, min(first + AT_ONCE, games)), acting)


def _played(
    game: Game, tables: np.ndarray, seed: int, numbers: range, acting: Callable[[int, int], None]
) -> Iterator[TableGame]:
    n = len(numbers)
    states = game.new_states(n)
    keys = [game_key(seed, number) for number in numbers]
    orders = [seating(key, game.players) for key in keys]
    players = np.array(orders)
    seeds = np.full(n, seed % (1 << 64), np.uint64)
    loops.begin_rows(states, np.arange(n), game.blank, seeds, np.array(numbers, np.uint64))
    asked = np.zeros((n, game.players), np.int64)
    played: list[tuple[np.ndarray, np.ndarray]] = []
    wrong: list[list[tuple[int, int, int]]] = [[] for _ in numbers]
    over, mover = states["over"], states["player"]  # views
    (rows,) = np.logical_not(over).nonzero()
    while len(rows):
        seats = mover[rows].astype(np.int64)
        whose = players[rows, seats]
        acting(numbers[int(rows[0])], int(whose[0]))
        faults = np.empty(len(rows), np.int64)
        actions = tables[whose, _situations_of(states, rows)]
        asked[rows, seats] += 1
        loops.step_rows(states, rows, actions, faults)
        for at in faults.nonzero()[0].tolist():
            row, seat = int(rows[at]), int(seats[at])
            wrong[row].append((seat, int(asked[row, seat]), int(faults[at])))
        played.append((rows, actions))
        rows = rows[np.logical_not(over[rows])]
    where = np.concatenate([some for some, _ in played])
    chosen = np.concatenate([actions for _, actions in played])[np.argsort(where, kind="stable")]
    ends = np.cumsum(np.bincount(where, minlength=n))
    for row, actions in enumerate(np.split(chosen, ends[:-1])):
        yield TableGame(orders[row], actions.tolist(), game.returns(states[row]).tolist(), wrong[row])
