"""Classic Liar's Dice a second time, slowly: written from the text and its rulings, sharing no code with the game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Roll = Callable[[int, int, int], int]
"""(seat, hand, number of the die) -> face."""


@dataclass
class Hand:
    """A hand that has ended."""

    cups: list[list[int]]
    plays: list[tuple[int, int]]
    """(seat, play), the call at the end included: a play is quantity * 10 + face, 0 is liar."""
    loser: int


@dataclass
class LiarsDice:
    """One game; lists are indexed by seat. A play that is None stands for no answer."""

    players: int
    dice: int
    roll: Roll
    cups: list[list[int]] = field(default_factory=list)
    plays: list[tuple[int, int]] = field(default_factory=list)
    ended: list[Hand] = field(default_factory=list)
    mover: int = 0
    faces: int = 6

    def __post_init__(self) -> None:
        self.cups = [[0] * self.dice for _ in range(self.players)]
        self.shake()

    def shake(self) -> None:
        for seat, cup in enumerate(self.cups):
            cup[:] = [self.roll(seat, len(self.ended), number) for number in range(len(cup))]
        self.plays = []

    @property
    def hands(self) -> list[list[int]]:
        return self.cups

    @property
    def n_dice(self) -> list[int]:
        return [len(cup) for cup in self.cups]

    @property
    def rounds(self) -> int:
        return len(self.ended)

    @property
    def bids(self) -> list[tuple[int, int]]:
        return [divmod(play, 10) for _, play in self.plays]

    @property
    def bidders(self) -> list[int]:
        return [seat for seat, _ in self.plays]

    def alive(self) -> list[int]:
        return [seat for seat, cup in enumerate(self.cups) if cup]

    def winner(self) -> int | None:
        return self.alive()[0] if len(self.alive()) == 1 else None

    def after(self, seat: int) -> int:
        ring = [*range(seat + 1, self.players), *range(seat + 1)]
        return next(other for other in ring if self.cups[other])

    def is_bid(self, play: int) -> bool:
        quantity, face = play // 10, play % 10
        if not 1 <= face <= self.faces or quantity < 1 or quantity > self.dice * self.players:
            return False
        if not self.plays:
            return True
        last = self.plays[-1][1]
        if quantity > last // 10:
            return True
        return quantity == last // 10 and face > last % 10

    def legal_plays(self) -> list[int]:
        bids = [
            10 * quantity + face
            for quantity in range(1, 31)
            for face in range(1, self.faces + 1)
            if self.is_bid(10 * quantity + face)
        ]
        return bids + [0] * bool(self.plays)

    def play(self, play: int | None) -> bool:
        """Play; return whether that was allowed. What is not counts as calling liar."""
        me = self.mover
        allowed = play is not None and (self.is_bid(play) or (play == 0 and bool(self.plays)))
        if play is not None and self.is_bid(play):
            self.plays.append((me, play))
            self.mover = self.after(me)
            return True
        if not self.plays:
            loser = me
        else:
            bidder, bid = self.plays[-1]
            found = sum(cup.count(bid % 10) for cup in self.cups)
            loser = me if found >= bid // 10 else bidder
        self.ended.append(Hand([list(cup) for cup in self.cups], [*self.plays, (me, 0)], loser))
        self.cups[loser].pop()
        self.shake()
        self.mover = self.after(me)
        return allowed
