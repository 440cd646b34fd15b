"""What solvers of a hand for two ask the rules: its rolls, how it begins, and what each call ends it in.

Nothing of the rules stands here: a call is played by the game itself, once for each number of matching dice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.games.bidding import chance
from dicegym.games.bidding.table import FACES, N_BIDS, last_bid

CALL = N_BIDS
"""The challenge that every one of these games has."""
GOES_ON = -1
"""The kind of an action that does not end the hand."""


class Rolls(NamedTuple):
    """All rolls of some dice, in the order of `dicegym.games.bidding.chance.rolls`."""

    counts: np.ndarray
    """int8[rolls, 6]: how many dice show each face."""
    chances: np.ndarray
    """float64[rolls]: how likely each roll is."""


@cache
def rolls(dice: int, faces: int = FACES) -> Rolls:
    """Return all rolls of ``dice`` dice with ``faces`` faces."""
    found = chance.rolls(dice, faces)
    return Rolls(np.array([one[2] for one in found], np.int8), np.array([one[0] for one in found]))


@cache
def _numbers(dice: int, faces: int) -> dict[tuple[int, ...], int]:
    return {tuple(counts.tolist()): number for number, counts in enumerate(rolls(dice, faces).counts)}


def number_of_roll(counts: np.ndarray, faces: int = FACES) -> int:
    """Return which of `rolls` shows ``counts``, int[6]. Raises KeyError if a die shows a face above ``faces``."""
    return _numbers(int(counts.sum()), faces)[tuple(counts.tolist())]


def faces_of(game: Game) -> int:
    """Return how many faces the dice of a game have."""
    return game.all_parameters["faces"]


class Start(NamedTuple):
    """What a hand for two begins with; the game is over if one has no dice."""

    first: int
    """Dice of seat 0."""
    second: int
    """Dice of seat 1."""
    opener: int


def start_of(state: Any) -> Start:
    """Return what the hand begins with that a record of a game for two has just come to."""
    first, second = int(state["left"][0]), int(state["left"][1])
    return Start(first, second, 0 if state["over"] else int(state["player"]))


def starts_of(dice: int) -> list[Start]:
    """Return all that a hand can begin with, the fewest dice first."""
    return [
        Start(first, total - first, opener)
        for total in range(2, 2 * dice + 1)
        for first in range(max(1, total - dice), min(dice, total - 1) + 1)
        for opener in (0, 1)
    ]


def opening_record(game: Game, start: Start) -> Any:
    """Return a record in which a hand begins, without anybody's dice."""
    state = game.new_game()[0]
    state["left"][:2] = state["rolled"][:2] = start[:2]
    state["hands"] = 0
    state["player"] = start.opener
    return state


class Mixture(NamedTuple):
    """How a player chooses at some public points, with each of some rolls."""

    actions: np.ndarray
    """int64[m]: what it may play with any of them, none twice."""
    chances: np.ndarray
    """float64[records, m]: how likely it plays each."""


Policy = Callable[[np.ndarray], Mixture]
"""How a player plays: asked with records whose hand is that of the player to move."""


class Kind(NamedTuple):
    """One way to end a hand: a call on a certain bid."""

    counts: tuple[np.ndarray, np.ndarray]
    """By seat int64[rolls]: how many dice of each roll match the bid."""
    ends: np.ndarray
    """int64[dice on the table + 1]: number of the end in `Showdown.ends`, by how many dice match in all."""


class Showdown:
    """What actions end a hand in, as the rules have it.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with.
        wild: whether the highest face counts for all.

    Attributes:
        rolls: of either seat.
        kinds: the ways to end the hand that were asked about.
        ends: what the hand may end in.
    """

    def __init__(self, game: Game, start: Start, wild: bool) -> None:
        self._game, self._wild = game, wild
        self.rolls = tuple(rolls(dice, faces_of(game)) for dice in start[:2])
        self.kinds: list[Kind] = []
        self.ends: list[Start] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def kind(self, record: Any, action: int) -> int:
        """Return the number in `kinds` of what an action of the player to move ends the hand in, or `GOES_ON`."""
        last = int(record["bids"][record["n_bids"] - 1]) if record["n_bids"] else -1
        key = int(record["player"]), last, action
        if key not in self._known:
            self._known[key] = self._find(record, action)
        return self._known[key]

    def _find(self, record: Any, action: int) -> int:
        after = record.copy()
        self._game.step(after, action)
        if not (after["over"] or after["finished"] != record["finished"]):
            return GOES_ON
        _, _, face = last_bid(record)
        counts = self._counts(0, face), self._counts(1, face)
        ends = np.zeros(sum(int(record["left"][seat]) for seat in (0, 1)) + 1, np.int64)
        examples = [dict(zip(*np.unique(one, return_index=True), strict=True)) for one in counts]
        for first, one in examples[0].items():
            for second, other in examples[1].items():
                shown = record.copy()
                shown["hands"][0], shown["hands"][1] = self.rolls[0].counts[one], self.rolls[1].counts[other]
                self._game.step(shown, action)
                end = start_of(shown)
                if end not in self.ends:
                    self.ends.append(end)
                ends[first + second] = self.ends.index(end)
        self.kinds.append(Kind(counts, ends))
        return len(self.kinds) - 1

    def _counts(self, seat: int, face: int) -> np.ndarray:
        """Return how many dice of each roll match a face (0: none was bid)."""
        held = self.rolls[seat].counts
        if face == 0:
            return np.zeros(len(held), np.int64)
        found: np.ndarray = held[:, face - 1].astype(np.int64)
        highest = faces_of(self._game)
        return found + held[:, highest - 1] if self._wild and face != highest else found
