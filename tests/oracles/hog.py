"""Hog a second time, slowly: written from the contest's text and its rulings, sharing no code with the game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Roll = Callable[[int, int, int, int], int]
"""(seat, turn of that seat, number of the die, sides) -> face."""


@dataclass
class Hog:
    """One game. Lists are indexed by seat; ``log`` of a seat holds what happened in each of its turns."""

    goal: int = 100
    scores: list[int] = field(default_factory=lambda: [0, 0])
    runs: list[int] = field(default_factory=lambda: [0, 0])
    exchanges: list[int] = field(default_factory=lambda: [0, 0])
    log: list[list[tuple[int, list[int]]]] = field(default_factory=lambda: [[], []])
    mover: int = 0
    winner: int | None = None

    def legal_numbers(self) -> list[int]:
        return [] if self.winner is not None else [*range(-1, 11)]

    def sides(self) -> int:
        """Hog wild makes the dice four-sided; an odd number of exchanges swaps the two kinds of dice."""
        kinds = [6, 4]
        if sum(self.exchanges) % 2 == 1:
            kinds.reverse()
        hog_wild = sum(self.scores) % 7 == 0
        return kinds[hog_wild]

    def play(self, number: int, roll: Roll) -> bool:
        """Play one turn; return whether ``number`` was legal."""
        me, other = self.mover, 1 - self.mover
        if number not in self.legal_numbers():
            self.winner = other
            return False

        dice = self.sides()
        faces = [roll(me, len(self.log[me]), position, dice) for position in range(max(number, 0))]
        if number == -1:
            points = 1
            self.exchanges[me] += 1
        elif number == 0:
            points = 1 + max(int(digit) for digit in str(self.scores[other]))
        else:
            points = sum(faces)
        if 1 in faces:
            points = 1
            self.runs[me] += 1
        else:
            points *= {0: 1, 1: 1, 2: 2}.get(self.runs[me], 3)
            self.runs[me] = 0
        self.scores[me] += points
        self.log[me].append((number, faces))

        mine, theirs = (f"{score:03d}"[-2:] for score in (self.scores[me], self.scores[other]))
        if mine == theirs[::-1]:
            self.scores.reverse()
        if max(self.scores) >= self.goal:
            self.winner = self.scores.index(max(self.scores))
        else:
            self.mover = other
        return True
