"""What solvers of a hand for two ask the rules: its rolls, how it begins, and what each call ends it in.

Nothing of the rules stands here: a call is played by the game itself, once for each number of matching dice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding import chance
from dicegym.games.bidding.table import FACES, N_BIDS, SEATS, last_bid

Dice = tuple[int, int]
"""Of the opener of a hand, and of the other."""
BidPath = tuple[int, ...]
"""Numbers of the bids of a hand, as tables have them."""
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


def number_of_roll(dice: int, counts: Any, faces: int = FACES) -> int:
    """Return which of `rolls` shows ``counts``, int[6]. Raises ParameterError if none does."""
    found = _numbers(dice, faces).get(tuple(map(int, counts)))
    if found is None:
        raise ParameterError(
            f"{dice} dice cannot show each face {list(map(int, counts))} times: give a record with everything in it, "
            "as the game makes it"
        )
    return found


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
    """Return what the hand begins with that has just begun in a record of a game for two."""
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


def after_bid(start: Any, bid: int, bidder: int) -> Any:
    """Return the record of a hand that the seat ``bidder`` opened by the action ``bid``."""
    state = start.copy()
    state["bids"][0], state["n_bids"], state["player"] = bid * SEATS + bidder, 1, 1 - bidder
    return state


@cache
def has_wild(game: Game) -> bool:
    """Return whether dice of the highest face count for all: the rules say whether two of them are one of face 1."""
    state = after_bid(opening_record(game, Start(1, 1, 0)), 0, 1)
    state["hands"][:2, faces_of(game) - 1] = 1
    game.step(state, CALL)
    return int(state["left"][0]) == 0  # the bid was true, so who called it lost the die


class Mixture(NamedTuple):
    """How a player chooses at some public points, with each of some rolls."""

    actions: np.ndarray
    """int64[m]: what it may play with any of them, none twice."""
    chances: np.ndarray
    """float64[records, m]: how likely it plays each."""


Policy = Callable[[np.ndarray], Mixture]
"""How a player plays: asked with records whose hand is that of the player to move."""


@cache
def _matching(dice: int, faces: int, face: int, wild: bool) -> tuple[np.ndarray, dict[int, int]]:
    """Return how many dice of each roll match a face (0: none was bid), and by these numbers a roll that has them."""
    held = rolls(dice, faces).counts.astype(np.int64)
    counting = {face, faces if wild else face} if face else set()
    found: np.ndarray = held[:, [one - 1 for one in counting]].sum(axis=1)
    numbers, examples = np.unique(found, return_index=True)
    return found, dict(zip(numbers.tolist(), examples.tolist(), strict=True))


class Kind(NamedTuple):
    """One way to end a hand: a call on a certain bid."""

    counts: tuple[np.ndarray, np.ndarray]
    """By seat int64[rolls]: how many dice of each roll match the bid."""
    ends: np.ndarray
    """int64[dice on the table + 1]: number of the end in `HandEndings.ends`, by how many dice match in all."""


class Calls(NamedTuple):
    """What a player may answer to each of some bids of the other."""

    actions: tuple[int, ...]
    counting: np.ndarray
    """int64[2, bids, rolls]: by seat, how many dice of a roll match a bid; rows of the shorter list end with zeros."""
    ends: np.ndarray
    """int64[calls, bids, dice on the table + 1]: as of `Kind`."""


class HandEndings:
    """What actions end a hand in, as the rules have it.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: what the hand begins with.

    Attributes:
        rolls: of either seat.
        kinds: the ways to end the hand that were asked about.
        ends: what the hand may end in.
    """

    def __init__(self, game: Game, start: Start) -> None:
        self._game, self._dice = game, start[:2]
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
        faces, wild = faces_of(self._game), has_wild(self._game)
        (mine, examples), (theirs, others) = (_matching(dice, faces, face, wild) for dice in self._dice)
        found: dict[int, Start] = {}
        for first, one in examples.items():
            for second, other in others.items():
                if first + second not in found:
                    shown = record.copy()
                    shown["hands"][0], shown["hands"][1] = self.rolls[0].counts[one], self.rolls[1].counts[other]
                    self._game.step(shown, action)
                    found[first + second] = start_of(shown)
        self.ends += sorted({*found.values()} - {*self.ends})
        ends = np.zeros(int(record["left"][:2].sum()) + 1, np.int64)
        ends[list(found)] = [self.ends.index(end) for end in found.values()]
        self.kinds.append(Kind((mine, theirs), ends))
        return len(self.kinds) - 1

    def calls(self, bids: Iterable[int], caller: int) -> Calls:
        """Return what the seat ``caller`` may answer to bids, int actions of the other, that open the hand."""
        start = opening_record(self._game, Start(*self._dice, 0))
        made = [after_bid(start, bid, 1 - caller) for bid in bids]
        actions = tuple((np.flatnonzero(self._game.legal(made[0])[N_BIDS:]) + N_BIDS).tolist())
        kinds = [[self.kinds[self.kind(record, action)] for action in actions] for record in made]
        counting = np.zeros((2, len(made), max(len(rolled.chances) for rolled in self.rolls)), np.int64)
        for number, (kind, *_) in enumerate(kinds):
            for seat, counts in enumerate(kind.counts):
                counting[seat, number, : len(counts)] = counts
        return Calls(actions, counting, np.array([[kind.ends for kind in each] for each in kinds]).swapaxes(0, 1))
