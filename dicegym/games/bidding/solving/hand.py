"""One hand of Liar's Dice for two as tables, derived from the rules of the game.

Nothing of the rules is repeated here: legal bids, the dice that count for a bid and the outcome of every call are found
by playing the game, once for each number of matching dice.

The player that bids first is the *opener*, place 0; the *other* is place 1. Bids fall into levels: any bid of a higher
level may follow. So the bids made are a number with one digit for each level, 0 for none of its bids, the highest level
last: a *node* of the public tree. The nodes below a node follow it without a gap. Another bid adds ``step[bid]``, and
the number of bids tells which player is to move.

Bids above the dice on the table are not in the tree: a player that makes one is called, and loses. That ending is kept
in ``overbid``, so that a best response may still make them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding import chance
from dicegym.games.bidding.table import FACES, MOST_DICE, N_BIDS, SEATS, last_bid

Dice = tuple[int, int]
"""The dice of the opener of a hand and of the other."""
BidPath = tuple[int, ...]
"""The bids of a hand, by their numbers in `Hand.bids`."""
CALL = N_BIDS
"""The challenge that all these games have."""
DIGITS = (MOST_DICE + 1) ** np.arange(FACES)
"""Place values of the faces in the number that stands for a roll."""
GOES_ON = -1
"""The kind of an action that does not end the hand."""
NOT_ALLOWED = -1
"""In place of an ending: the call is illegal."""


class Rolls(NamedTuple):
    """All rolls of some dice, in the order of `dicegym.games.bidding.chance.rolls`."""

    counts: np.ndarray
    """int8[rolls, 6]: how many dice show each face."""
    chances: np.ndarray
    """float64[rolls]: the probability of each roll."""


@cache
def rolls(dice: int, faces: int) -> Rolls:
    """Return all rolls of ``dice`` dice with ``faces`` faces."""
    found = chance.rolls(dice, faces)
    return Rolls(np.array([one[2] for one in found], np.int8), np.array([one[0] for one in found]))


@cache
def _numbers(dice: int, faces: int) -> np.ndarray:
    """Return int64[(most dice + 1) ** 6]: the number of the roll whose counts of faces are the digits of the index."""
    numbers = np.zeros((MOST_DICE + 1) ** FACES, np.int64)
    counts = rolls(dice, faces).counts
    numbers[counts @ DIGITS] = np.arange(len(counts))
    return numbers


def number_of_roll(dice: int, counts: np.ndarray, faces: int) -> np.ndarray:
    """Return the numbers of the `rolls` with these ``counts``, int[..., 6]: int64[...]. Raises ParameterError."""
    found: np.ndarray = _numbers(dice, faces)[np.clip(counts, 0, MOST_DICE) @ DIGITS]
    wrong = (rolls(dice, faces).counts[found] != counts).any(axis=-1)
    if wrong.any():
        raise ParameterError(
            f"{dice} dice cannot show each face {np.asarray(counts)[wrong].reshape(-1, FACES)[0].tolist()} times: give "
            "a complete record of the game"
        )
    return found


class Start(NamedTuple):
    """The beginning of a hand for two; the game is over if a seat has no dice."""

    first: int
    """Dice of seat 0."""
    second: int
    """Dice of seat 1."""
    opener: int


def start_of(state: Any) -> Start:
    """Return the beginning of the hand that has just begun in a record of a game for two."""
    first, second = int(state["left"][0]), int(state["left"][1])
    return Start(first, second, 0 if state["over"] else int(state["player"]))


def starts_of(dice: int) -> list[Start]:
    """Return all beginnings of hands, the fewest dice first."""
    return [
        Start(first, total - first, opener)
        for total in range(2, 2 * dice + 1)
        for first in range(max(1, total - dice), min(dice, total - 1) + 1)
        for opener in (0, 1)
    ]


class Worth(NamedTuple):
    """The win probabilities of a player from the beginning of each hand."""

    opens: dict[Dice, float]
    """If it opens the hand."""
    follows: dict[Dice, float]
    """If its opponent does."""


def hand_after(ending: Start) -> Dice | None:
    """Return the hand that follows an ending, or None after the end of the game."""
    first, second, opener = ending
    return None if min(first, second) == 0 else (second, first) if opener else (first, second)


def opening_record(game: Game, start: Start) -> Any:
    """Return a record in which a hand begins, with the dice of both seats left out."""
    state = game.new_game()[0]
    state["left"][:2] = state["rolled"][:2] = start[:2]
    state["hands"] = 0
    state["player"] = start.opener
    return state


def _after_bid(start: Any, bid: int, bidder: int) -> Any:
    """Return the record of a hand after the seat ``bidder`` opened with ``bid``."""
    state = start.copy()
    state["bids"][0], state["n_bids"], state["player"] = bid * SEATS + bidder, 1, 1 - bidder
    return state


@cache
def has_wild(game: Game) -> bool:
    """Return whether the highest face is wild: whether the rules count a die of it as a one."""
    state = _after_bid(opening_record(game, Start(1, 1, 0)), 0, 1)
    state["hands"][:2, game.all_parameters["faces"] - 1] = 1
    game.step(state, CALL)
    return int(state["left"][0]) == 0  # the bid was true, so who called it lost the die


class Mixture(NamedTuple):
    """A player's mixed strategy in some records."""

    actions: np.ndarray
    """int64[m]: the actions that it may play in any of them, each once."""
    chances: np.ndarray
    """float64[records, m]: the probability of each."""


Policy = Callable[[np.ndarray], Mixture]
"""A player's strategy: takes records that hold the dice of the player to move alone."""


class Kind(NamedTuple):
    """A way to end a hand: a call on a certain bid."""

    counts: tuple[np.ndarray, np.ndarray]
    """By seat int64[rolls]: how many dice of each roll match the bid."""
    ends: np.ndarray
    """int64[dice on the table + 1]: the number of the end in `HandEndings.ends`, by how many dice match in all."""


class HandEndings:
    """The ends of a hand by the rules.

    Args:
        game: a game of `dicegym.games.bidding` for two.
        start: the beginning of the hand.

    Attributes:
        game: the same.
        start: the same.
        rolls: the rolls of each seat.
        kinds: the ways to end the hand found so far.
        ends: what the hand may end in: the beginnings of the next hands, or the end of the game.
    """

    def __init__(self, game: Game, start: Start) -> None:
        self.game, self.start = game, start
        self.rolls = tuple(rolls(dice, game.all_parameters["faces"]) for dice in start[:2])
        self.kinds: list[Kind] = []
        self.ends: list[Start] = []
        self._known: dict[tuple[int, int, int], int] = {}

    def kind(self, record: Any, action: int) -> int:
        """Return the number in `kinds` of an action of the player to move, or `GOES_ON` if it does not end the hand."""
        last = int(record["bids"][record["n_bids"] - 1]) if record["n_bids"] else -1
        key = int(record["player"]), last, action
        if key not in self._known:
            self._known[key] = self._find(record, action)
        return self._known[key]

    def _find(self, record: Any, action: int) -> int:
        after = record.copy()
        self.game.step(after, action)
        if not (after["over"] or after["finished"] != record["finished"]):
            return GOES_ON
        _, _, face = last_bid(record)
        wild = self.game.all_parameters["faces"] if has_wild(self.game) else face
        matches = [one - 1 for one in {face, wild}] if face else []
        mine, theirs = (held.counts.astype(np.int64)[:, matches].sum(axis=1) for held in self.rolls)
        ends = np.zeros(int(record["left"][:2].sum()) + 1, np.int64)
        pairs = {one + other: (one, other) for one in np.unique(mine).tolist() for other in np.unique(theirs).tolist()}
        for matching, (one, other) in pairs.items():
            shown = record.copy()
            shown["hands"][0] = self.rolls[0].counts[np.argmax(mine == one)]
            shown["hands"][1] = self.rolls[1].counts[np.argmax(theirs == other)]
            self.game.step(shown, action)
            end = start_of(shown)
            if end not in self.ends:
                self.ends.append(end)
            ends[matching] = self.ends.index(end)
        self.kinds.append(Kind((mine, theirs), ends))
        return len(self.kinds) - 1


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand, from the opener's first bid on."""

    dice: Dice
    rolls: tuple[Rolls, Rolls]
    """By place."""
    bids: np.ndarray
    """int64[bids]: their actions, by rising level."""
    calls: tuple[tuple[int, ...], tuple[int, ...]]
    """By place of the caller: the actions that may answer a bid."""
    first: np.ndarray
    """int64[bids + 1]: the number of the lowest bid that may follow bid i - 1; first[0] = 0 for the opening."""
    step: np.ndarray
    """int64[bids]: what each bid adds to a node."""
    nodes: int
    counting: np.ndarray
    """int64[2, bids, width]: by place, how many dice of each roll match a bid, padded with 0."""
    outcome: np.ndarray
    """int64[2, bids, calls, matching]: the number of the ending by place of the caller, bid, number of the call, and
    matching dice in all; `NOT_ALLOWED` for calls that the caller does not have, and more dice than there are."""
    endings: tuple[Start, ...]
    """The endings that the hand may have; place 0 is seat 0."""
    overbid: tuple[int, int]
    """By place: the ending after it bids more dice than there are and is called; `NOT_ALLOWED` if that is illegal."""
    impossible: np.ndarray
    """int64[...]: the actions that bid more dice than there are."""

    @cached_property
    def sizes(self) -> np.ndarray:
        """int64[2]: the number of rolls of each place."""
        return np.array([len(one.chances) for one in self.rolls])

    @cached_property
    def width(self) -> int:
        """The number of rolls in a row of a table: the larger one of both places."""
        return int(self.sizes.max())

    @cached_property
    def n_calls(self) -> np.ndarray:
        """int64[2]: the number of calls of each place."""
        return np.array([len(calls) for calls in self.calls])

    @cached_property
    def levels(self) -> int:
        """The most bids of a hand, plus two."""
        return len(np.unique(self.first)) + 2

    @cached_property
    def squeeze(self) -> int:
        """How many nodes share one row for calls: with a single call, a node that no bid can follow needs no row."""
        return 1 + int((self.first[1:] == len(self.bids)).sum()) if self.outcome.shape[2] == 1 else 1

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int, int]]:
        """The shapes of a strategy's tables of bids and of calls."""
        return (self.nodes, self.width), (-(-self.nodes // self.squeeze), self.outcome.shape[2], self.width)

    @property
    def tree(self) -> tuple[np.ndarray, np.ndarray, int, np.ndarray, np.ndarray]:
        """What sweeps need to visit the nodes: first, step, squeeze, n_calls and sizes."""
        return self.first, self.step, self.squeeze, self.n_calls, self.sizes

    def wins(self, values: np.ndarray, place: int) -> np.ndarray:
        """Return the win probability of a place for each outcome: float64[2, bids, calls, matching].

        ``values`` is float64[endings], the opener's win probabilities.
        """
        own = values if place == 0 else 1 - values
        return np.where(self.outcome == NOT_ALLOWED, 0.0, own[self.outcome])

    def overbid_value(self, values: np.ndarray, place: int) -> float:
        """Return the same for a bid of more dice than there are, which is called; 0 if that is illegal."""
        if self.overbid[place] == NOT_ALLOWED:
            return 0.0
        found = float(values[self.overbid[place]])
        return found if place == 0 else 1 - found

    def numbers_of(self, actions: Iterable[int]) -> BidPath | None:
        """Return the numbers of bids, or None if one is not among `bids`."""
        found = [self._numbers.get(int(action)) for action in actions]
        return None if None in found else tuple(number for number in found if number is not None)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {int(action): number for number, action in enumerate(self.bids)}

    def node_of(self, path: Iterable[int]) -> int:
        """Return the node after the bids with these numbers."""
        return sum(int(self.step[number]) for number in path)

    def actions_of(self, path: Sequence[int]) -> np.ndarray:
        """Return the actions of all choices after these bids, bids before calls: int64[choices]."""
        return np.concatenate([self.bids, self.calls[len(path) % 2] if path else ()]).astype(np.int64)


def ending_values(hand: Hand, worth: Worth, place: int) -> np.ndarray:
    """Return the opener's win probability after each ending, float64[endings], if ``worth`` is that of a place."""
    own = np.zeros(len(hand.endings))
    for number, ending in enumerate(hand.endings):
        dice = hand_after(ending)
        if dice is None:
            own[number] = ending[place] > 0
        else:
            own[number] = (worth.opens if ending.opener == place else worth.follows)[dice]
    return own if place == 0 else 1 - own


def number_nodes(follow: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return an order of bids by rising level, and in that order `Hand.first`, `Hand.step` and `Hand.nodes`.

    ``follow`` is bool[bids, bids]: whether a bid (column) may follow another (row). Raises ParameterError if bids have
    no levels, so that nodes cannot be numbered.
    """
    above = follow.sum(axis=1)
    order = np.argsort(-above, kind="stable")
    level = -above[order]
    if not np.array_equal(follow[np.ix_(order, order)], level[:, None] < level[None, :]):
        raise ParameterError("these bids have no levels: whether one may follow must depend on how many may follow it")
    step, below = np.zeros(len(order), np.int64), 1
    for value in np.unique(level)[::-1]:
        numbers = np.flatnonzero(level == value)
        step[numbers] = below * np.arange(1, len(numbers) + 1)
        below *= len(numbers) + 1
    return order, np.array([0, *(int((level <= value).sum()) for value in level)]), step, below


@lru_cache(maxsize=64)
def tabulate(game: Game, opener: int, other: int, rarest: float = 0.0) -> Hand:
    """Return the hand that a player with ``opener`` dice opens against one with ``other`` dice.

    Bids whose probability before the roll is below ``rarest`` are left out.
    """
    start, total = Start(opener, other, 0), opener + other
    endings, state = HandEndings(game, start), opening_record(game, start)
    legal = np.flatnonzero(game.legal(state)[:N_BIDS])
    impossible = legal[legal // FACES + 1 > total]
    made = {int(bid): [_after_bid(state, int(bid), 1 - place) for place in (0, 1)] for bid in legal}
    bids = [bid for bid in made if bid // FACES + 1 <= total and _chance(endings, made[bid][0], bid) >= rarest]
    calls = [tuple((np.flatnonzero(game.legal(made[bids[0]][p])[N_BIDS:]) + N_BIDS).tolist()) for p in (0, 1)]
    order, first, step, nodes = number_nodes(np.array([game.legal(made[bid][1])[bids] for bid in bids]))
    ordered = np.array(bids, np.int64)[order]
    width, most = max(len(one.chances) for one in endings.rolls), max(opener, other)
    counting = np.zeros((2, len(bids), width), np.int64)
    outcome = np.full((2, len(bids), max(map(len, calls)), 2 * most + 1), NOT_ALLOWED, np.int64)
    for number, bid in enumerate(ordered.tolist()):
        for place in (0, 1):
            for call, action in enumerate(calls[place]):
                counts, ends = endings.kinds[endings.kind(made[bid][place], action)]
                outcome[place, number, call, : total + 1] = ends
                for seat in (0, 1):
                    counting[seat, number, : len(counts[seat])] = counts[seat]
    overbid = [NOT_ALLOWED, NOT_ALLOWED]
    for place in (0, 1) if len(impossible) else ():
        kind = endings.kinds[endings.kind(made[int(impossible[0])][1 - place], CALL)]
        found = np.unique(kind.ends[kind.counts[0][:, None] + kind.counts[1]])
        if len(found) > 1:
            raise ParameterError(f"{game!r}: a bid above all dice may win, so a hand's tree cannot leave it out")
        overbid[place] = int(found[0])
    return Hand(
        (opener, other), (endings.rolls[0], endings.rolls[1]), ordered, (calls[0], calls[1]), first, step, nodes,
        counting, outcome, tuple(endings.ends), (overbid[0], overbid[1]), impossible,
    )  # fmt: skip


def _chance(endings: HandEndings, record: Any, bid: int) -> float:
    """Return the probability before the roll that a bid is true; ``record`` is the one after it."""
    counts = endings.kinds[endings.kind(record, CALL)].counts
    one, other = (np.bincount(count, held.chances) for count, held in zip(counts, endings.rolls, strict=True))
    return float(np.convolve(one, other)[bid // FACES + 1 :].sum())
