"""Liar's Dice with "spot on" a second time, slowly: written from the text and its rulings, sharing no code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Roll = Callable[[int, int, int], int]
"""(seat, round, number of the die) -> face."""


@dataclass
class SpotOn:
    """One game; lists are indexed by player. Moves are what bots return; whatever else they return disqualifies."""

    players: int
    dice: int
    roll: Roll
    mover: int
    faces: int = 6
    """The highest one is wild, and a bid on it is worth double."""
    n_dice: list[int] = field(default_factory=list)
    hands: list[list[int]] = field(default_factory=list)
    """The dice of this round; those of the disqualified lie there until it ends."""
    bids: list[tuple[int, int]] = field(default_factory=list)
    bidders: list[int] = field(default_factory=list)
    rounds: int = 0
    last: tuple[str, int, int, int] | None = None
    """The last challenge, who made it, whose number of dice it changed, by how much."""

    def __post_init__(self) -> None:
        self.n_dice = [self.dice] * self.players
        self.shake()

    def shake(self) -> None:
        self.hands = [
            [self.roll(player, self.rounds, number) for number in range(count)]
            for player, count in enumerate(self.n_dice)
        ]
        self.bids, self.bidders = [], []

    def winner(self) -> int | None:
        alive = [player for player in range(self.players) if self.n_dice[player] > 0]
        return alive[0] if len(alive) == 1 else None

    def left_of(self, player: int) -> int:
        while True:
            player = (player + 1) % self.players
            if self.n_dice[player] > 0:
                return player

    def value(self, bid: tuple[int, int]) -> int:
        quantity, face = bid
        return quantity + quantity if face == self.faces else quantity

    def allowed(self, move: Any) -> bool:
        if isinstance(move, str):
            if not self.bids or move not in ("Liar", "Spot on, lose two", "Spot on, gain one"):
                return False
            return move != "Spot on, gain one" or self.n_dice[self.mover] < self.dice
        if not (isinstance(move, tuple) and len(move) == 2 and all(type(part) is int for part in move)):
            return False
        if move[0] < 1 or move[1] not in range(1, self.faces + 1) or len(self.bids) >= 100:
            return False
        return not self.bids or self.value(move) > self.value(self.bids[-1])

    def play(self, move: Any) -> bool:
        """Play; return whether that was allowed."""
        me = self.mover
        if isinstance(move, tuple) and len(move) == 2 and type(move[0]) is int:
            move = (min(move[0], 10**15), move[1])  # as the rules page says
        if not self.allowed(move):
            self.n_dice[me] = 0
            self.mover = self.left_of(me)
            return False
        if isinstance(move, tuple):
            self.bids.append(move)
            self.bidders.append(me)
            self.mover = self.left_of(me)
            return True

        quantity, face = self.bids[-1]
        bidder = self.bidders[-1]
        dice = [die for hand in self.hands for die in hand]
        counted = len([die for die in dice if die in {face, self.faces}])
        if move == "Liar":
            change = (bidder, -1) if counted < quantity else (me, -1)
        elif counted != quantity:
            change = (me, -1)
        elif move == "Spot on, lose two":
            change = (bidder, -min(self.n_dice[bidder], 2))
        else:
            change = (me, +1)
        player, difference = change
        self.n_dice[player] += difference
        self.last = (move, me, player, difference)
        self.rounds += 1
        self.mover = me if difference > 0 else self.left_of(player)
        self.shake()
        return True
