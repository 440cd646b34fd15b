"""Lucky & Co a second time, slowly: written from the game's text and its rulings, sharing no code with the game.

Points are fractions, orders are lists of dice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

Draw = Callable[[int, int, int, int], int]
"""(seat, round, number of the draw, n) -> 0..n-1."""

BASICS = [
    [100, 0, 0, 0, 0, 0],
    [50, 25, 13, 7, 3, 2],
    [22, 22, 22, 11, 11, 11],
    [17, 17, 17, 17, 17, 17],
    [11, 11, 11, 22, 22, 22],
    [2, 3, 7, 13, 25, 50],
    [0, 0, 0, 0, 0, 100],
]
MULTIPLIERS = {7: Fraction(1, 3), 8: Fraction(1, 2), 9: Fraction(1), 10: Fraction(2), 11: Fraction(3)}
PRICES = dict(enumerate([1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]))
CEILING = 2**53


def stock() -> dict[int, int]:
    return {die: 20 if die <= 6 else 10 if die <= 16 else 3 for die in range(22)}


@dataclass
class Tray:
    """The draws of one seat in one round, taken one after the other."""

    draw: Callable[[int, int], int]
    taken: int = 0
    faces: Counter[int] = field(default_factory=Counter)

    def below(self, n: int) -> int:
        self.taken += 1
        return self.draw(self.taken - 1, n)

    def coin(self) -> bool:
        return self.below(2) == 1

    def fair(self) -> int:
        return self.below(6) + 1

    def multiplier(self) -> int:
        face = self.fair()
        self.faces[face] += 1
        return face

    def weighted(self, weights: list[int]) -> int:
        at = self.below(sum(weights))
        for face, weight in enumerate(weights, 1):
            if at < weight:
                self.faces[face] += 1
                return face
            at -= weight
        raise AssertionError


@dataclass
class Lucky:
    """One game. Lists are indexed by seat; dice are lists of numbers."""

    players: int
    rounds: int = 500
    lead: int = 200
    money: list[int] = field(default_factory=list)
    dice: list[list[int]] = field(default_factory=list)
    shop: dict[int, int] = field(default_factory=stock)
    orders: list[list[int]] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)
    played: int = 0
    mover: int = 0
    over: bool = False
    faces: list[Counter[int]] = field(default_factory=list)
    """What basic dice and multipliers showed in the last round."""
    seen: Counter[str] = field(default_factory=Counter)
    """How often each rule applied."""

    def __post_init__(self) -> None:
        self.money = self.money or [5] * self.players
        self.dice = self.dice or [[] for _ in range(self.players)]
        self.orders = [[] for _ in range(self.players)]
        self.scored = self.scored or [0] * self.players
        self.faces = [Counter() for _ in range(self.players)]

    def left(self, seat: int) -> int:
        return self.money[seat] - sum(PRICES[die] for die in self.orders[seat])

    def valid(self, seat: int, order: list[int]) -> bool:
        enough = all(self.shop[die] >= count for die, count in Counter(order).items())
        return enough and sum(PRICES[die] for die in order) <= self.money[seat]

    def addable(self) -> list[int]:
        order = self.orders[self.mover]
        return [] if self.over else [die for die in range(22) if self.valid(self.mover, [*order, die])]

    def add(self, die: int, count: int, draw: Draw) -> bool:
        """Add dice to the mover's order; return whether that is allowed. If it is not, the order is void."""
        longer = self.orders[self.mover] + [die] * count
        if self.valid(self.mover, longer):
            self.orders[self.mover] = longer
            return True
        self.void(draw)
        return False

    def void(self, draw: Draw) -> None:
        self.orders[self.mover] = []
        self.seen["void order"] += 1
        self.complete(draw)

    def complete(self, draw: Draw) -> None:
        self.mover += 1
        if self.mover == self.players:
            self.mover = 0
            self.play_round(draw)

    def play_round(self, draw: Draw) -> None:
        self.settle()
        points = self.points(draw)
        self.scored = [int(point) for point in points]  # never negative, so this rounds down
        self.money = [min(have + got, CEILING) for have, got in zip(self.money, self.scored, strict=True)]
        self.played += 1
        richest = sorted(self.money, reverse=True)
        self.over = richest[0] - richest[1] >= self.lead or self.played == self.rounds

    def settle(self) -> None:
        wanted = Counter(die for order in self.orders for die in order)
        for die, count in wanted.items():
            if count > self.shop[die]:
                self.seen["nobody gets it"] += 1
                continue
            self.shop[die] -= count
            for seat, order in enumerate(self.orders):
                bought = order.count(die)
                self.money[seat] -= bought * PRICES[die]
                self.dice[seat] = sorted(self.dice[seat] + [die] * bought)
        self.orders = [[] for _ in range(self.players)]

    def points(self, draw: Draw) -> list[Fraction]:
        """Return everybody's points of this round, attacks included."""
        trays = []
        points, shielded = [], []
        for seat, dice in enumerate(self.dice):
            tray = Tray(lambda number, n, seat=seat: draw(seat, self.played, number, n))
            self.faces[seat] = tray.faces
            flips = [(die, tray.coin()) for die in dice if die >= 17]
            success = Counter(die for die, flip in flips if flip)
            point = Fraction(0)
            for _ in range(1 + success[18] + success[19]):
                point += sum(tray.weighted(BASICS[die]) for die in dice if die <= 6)
            for _ in range(1 + success[19]):
                for die in dice:
                    if die in MULTIPLIERS:
                        point *= MULTIPLIERS[die] * tray.multiplier()
            for _ in range(success[20]):
                point = point**2
            for _ in range(success[21]):
                point = point**3
            self.seen["again"] += success[18]
            self.seen["all again"] += success[19]
            self.seen["power"] += success[20] + success[21]
            self.seen["ceiling"] += point > CEILING
            self.seen["fraction"] += point.denominator > 1
            points.append(min(point, Fraction(CEILING)))
            shielded.append(success[17] > 0)
            trays.append(tray)
        for seat, dice in enumerate(self.dice):
            for die in dice:
                if 12 <= die <= 16:
                    self.attack(die, seat, trays[seat], points, shielded)
        return points

    def attack(self, die: int, seat: int, tray: Tray, points: list[Fraction], shielded: list[bool]) -> None:
        others = [(seat + distance) % self.players for distance in range(1, self.players)]
        if die == 12:
            amount, victims = tray.fair(), others
        else:
            amount, victims = (10 if die <= 14 else 25), [others[tray.below(len(others))]]
        for victim in victims:
            if shielded[victim]:
                self.seen["shield"] += 1
                continue
            taken = min(points[victim], Fraction(amount))
            points[victim] -= taken
            self.seen[f"attack {die}"] += 1
            self.seen["less than the attack"] += taken < amount
            if die in (14, 16):
                self.seen["stolen fraction"] += taken.denominator > 1
                points[seat] = min(points[seat] + taken, Fraction(CEILING))

    def returns(self) -> list[Fraction]:
        places = [1 + sum(other > have for other in self.money) for have in self.money]
        return [1 - Fraction(2 * (place - 1), self.players - 1) if self.over else Fraction(0) for place in places]
