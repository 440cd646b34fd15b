"""Yatzy a second time, slowly: written from the server's text and its rulings, sharing no code with the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations, product

Roll = Callable[[int, int, int, int], int]
"""(seat, round, how many rolls the turn has had, place) -> face."""

UPPER = {name: face for face, name in enumerate(("Ones", "Twos", "Threes", "Fours", "Fives", "Sixes"), 1)}
BOXES = (
    *UPPER,
    "One Pair",
    "Two Pairs",
    "Three of a Kind",
    "Four of a Kind",
    "Small Straight",
    "Large Straight",
    "Full House",
    "Chance",
    "Yatzy",
)


def asked_for(box: str, dice: Sequence[int]) -> bool:
    """Are these dice exactly what the box asks for?"""
    kinds = set(dice)
    times = sorted(list(dice).count(kind) for kind in kinds)
    if box in UPPER:
        return kinds == {UPPER[box]}
    return {
        "One Pair": len(dice) == 2 and len(kinds) == 1,
        "Two Pairs": len(dice) == 4 and times == [2, 2],
        "Three of a Kind": len(dice) == 3 and len(kinds) == 1,
        "Four of a Kind": len(dice) == 4 and len(kinds) == 1,
        "Small Straight": sorted(dice) == [1, 2, 3, 4, 5],
        "Large Straight": sorted(dice) == [2, 3, 4, 5, 6],
        "Full House": times == [2, 3],
        "Chance": len(dice) == 5,
        "Yatzy": len(dice) == 5 and len(kinds) == 1,
    }[box]


@lru_cache(maxsize=100_000)
def worth(box: str, dice: tuple[int, ...]) -> int:
    """What exactly these dice score in a box."""
    if not asked_for(box, dice):
        return 0
    return 50 if box == "Yatzy" else sum(dice)


@lru_cache(maxsize=100_000)
def most(box: str, dice: tuple[int, ...]) -> int:
    """What the best of these dice score in a box."""
    choices = chain.from_iterable(combinations(dice, n) for n in range(6))
    return max(worth(box, choice) for choice in choices)


@dataclass
class Yatzy:
    """One game. ``boxes`` of a seat maps the boxes it has filled to their points."""

    players: int
    roll: Roll
    boxes: list[dict[str, int]] = field(default_factory=list)
    times_helped: list[int] = field(default_factory=list)
    mover: int = 0
    round: int = 1
    rolls: int = 0
    errors: int = 0
    dice: list[int] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        self.boxes = [{} for _ in range(self.players)]
        self.times_helped = [0] * self.players
        self._first_roll()

    def _first_roll(self) -> None:
        self.dice = [self.roll(self.mover, self.round, 0, place) for place in range(5)]
        self.rolls, self.errors = 1, 0

    def open_boxes(self) -> list[str]:
        return [box for box in BOXES if box not in self.boxes[self.mover]]

    def total(self, seat: int) -> int:
        points = self.boxes[seat]
        upper = sum(points.get(box, 0) for box in UPPER)
        return sum(points.values()) + (50 if upper >= 63 else 0)

    def pay(self, seat: int) -> float:
        """The sum of the rewards of a seat so far."""
        if self.players == 1:
            return self.total(seat)
        if not self.over:
            return 0.0
        others = [self.total(other) for other in range(self.players) if other != seat]
        beaten = sum(points < self.total(seat) for points in others)
        beating = sum(points > self.total(seat) for points in others)
        return (beaten - beating) / len(others)

    def reroll(self, places: Iterable[int]) -> bool:
        """Roll dice again; return whether that was legal."""
        chosen = sorted(places)
        if self.rolls == 3 or not chosen:
            return self.mistake()
        for place in chosen:
            self.dice[place] = self.roll(self.mover, self.round, self.rolls, place)
        self.rolls += 1
        return True

    def keep(self, kept: Sequence[int]) -> bool:
        """Keep dice with these faces, the first such, and roll the others."""
        wanted, others = list(kept), []
        for place, face in enumerate(self.dice):
            if face in wanted:
                wanted.remove(face)
            else:
                others.append(place)
        return self.mistake() if wanted else self.reroll(others)

    def score(self, box: str, places: Iterable[int] | None = None) -> bool:
        """Fill a box with the dice in ``places``, or with its best dice."""
        if box not in self.open_boxes():
            return self.mistake()
        if places is None:
            points = most(box, tuple(self.dice))
        else:
            points = worth(box, tuple(self.dice[place] for place in places))
        self._fill(box, points)
        return True

    def mistake(self) -> bool:
        self.errors += 1
        if self.errors >= 10:
            self.help()
        return False

    def help(self) -> None:
        """The server plays the turn."""
        self.times_helped[self.mover] += 1
        self._fill(*self._server_choice())

    def _server_choice(self) -> tuple[str, int]:
        offers = [(most(box, tuple(self.dice)), box) for box in self.open_boxes()]
        points = max(offer[0] for offer in offers)
        return next((box, points) for offered, box in offers if offered == points)

    def _fill(self, box: str, points: int) -> None:
        self.boxes[self.mover][box] = points
        last = self.mover == self.players - 1
        if last and self.round == 15:
            self.over = True
            return
        self.mover = 0 if last else self.mover + 1
        self.round += last
        self._first_roll()
        if self.times_helped[self.mover] >= 2:
            self._fill(*self._server_choice())


def means_of(values: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """The mean over all throws that complete each set of dice which can be kept; ``values`` are by sorted hand."""
    found = {}
    hands = list(values)
    kept_sets = {kept for hand in hands for n in range(6) for kept in combinations(hand, n)}
    for kept in kept_sets:
        throws = [tuple(sorted(kept + throw)) for throw in product(range(1, 7), repeat=5 - len(kept))]
        found[kept] = sum(values[hand] for hand in throws) / len(throws)
    return found


def after_one_roll(values: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """The best that each hand comes to on average when one more roll may be made."""
    means = means_of(values)
    return {hand: max(means[kept] for n in range(6) for kept in combinations(hand, n)) for hand in values}


ALL_HANDS = sorted({tuple(sorted(throw)) for throw in product(range(1, 7), repeat=5)})


@lru_cache(maxsize=10_000)
def position(still_open: frozenset[str], upper: int) -> float:
    """The best mean of what is to come when a turn begins with these boxes open."""
    if not still_open:
        return 0.0

    def best(hand: tuple[int, ...]) -> float:
        offers = []
        for box in still_open:
            points = most(box, hand)
            after = upper + points * (box in UPPER)
            bonus = 50 if upper < 63 <= after else 0
            offers.append(points + bonus + position(still_open - {box}, after))
        return max(offers)

    values = {hand: best(hand) for hand in ALL_HANDS}
    return means_of(after_one_roll(after_one_roll(values)))[()]
