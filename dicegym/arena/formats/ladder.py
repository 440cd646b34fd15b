"""The ladder: all stand one above the other, and whoever wins against the one above takes its place.

In each round every second entry challenges the one above it, and in the next round the others do, so that nobody plays
twice in a round. That is the odd-even transposition sort (N. Habermann, "Parallel Neighbor-Sort, or the Glory of the
Induction Principle", Carnegie Mellon University, 1972): if the better one always won, as many rounds as there are
entries would put them in order. Who ends level with its challenger keeps its place.

At larger tables neighbours sit together, a tableful each, and stand in the order in which they come out; every second
round begins half a table lower, so that everybody can rise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.rounds import Rounds
from dicegym.arena.formats.rounds_result import Pairing, RoundsResult, RoundsStanding
from dicegym.arena.options import ContestOptions
from dicegym.engine.game import Game


@dataclass(frozen=True, kw_only=True)
class LadderResult(RoundsResult[RoundsStanding]):
    """What a ladder came to; `RoundsResult` says what its attributes are."""

    def columns(self, row: RoundsStanding) -> dict[str, str]:
        """Return what the ranking shows of an entry."""
        return {"Began as": str(row.start), **super().columns(row)}

    def meaning(self) -> Sequence[str]:
        """Return what a place means."""
        return ("A place is a rung of the ladder after the last round: who won rose, who lost fell.",)


def segments(entries: int, seats: int, number: int, fewest: int) -> list[range]:
    """Return the rungs, from 0, that sit together in round ``number``, from 0; all others rest."""
    shift = seats // 2 if number % 2 else 0
    found = [range(max(0, first), min(first + seats, entries)) for first in range(shift - seats, entries, seats)]
    playing = [rungs for rungs in found if len(rungs) >= fewest]
    return playing or (segments(entries, seats, 0, fewest) if number % 2 else [])


def ladder(director: Director) -> LadderResult:
    """Play the rounds. Whoever is struck leaves the ladder, and those below it move up."""
    rounds = Rounds(director)
    order = list(rounds.start)
    for number in range(director.options.rounds or len(order)):
        if len(order) < rounds.fewest:
            break
        playing = segments(len(order), director.game.players, number, rounds.fewest)
        found = rounds.hold(f"Round {number + 1}", [[order[rung] for rung in rungs] for rungs in playing])
        for rungs, pairing in zip(playing, found, strict=True):
            order[rungs.start : rungs.stop] = risen(pairing)
        order = [name for name in order if name not in director.struck]
    standings = tuple(RoundsStanding(place=place, **rounds.figures(name)) for place, name in enumerate(order, 1))
    return LadderResult(**rounds.common(), standings=standings)


def risen(pairing: Pairing) -> list[str]:
    """Return the entries of a table in the order in which they stand after it: who is level keeps its place."""
    points = dict(zip(pairing.entries, pairing.points, strict=True))
    return sorted(pairing.entries, key=lambda name: -points[name])  # a stable sort


def _matches(game: Game, entries: int, options: ContestOptions) -> int:
    return (options.rounds or entries) * options.seeds * math.ceil((entries - 1) / game.players)


LADDER = Format(
    ladder,
    fewest=lambda game: max(2, game.spec.players[0]),
    matches=_matches,
    name="ladder",
    takes=frozenset({"games", "seeds", "rounds", "seeding", "players", "less_luck"}),
)
