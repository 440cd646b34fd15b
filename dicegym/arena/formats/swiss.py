"""The Swiss tournament: in each round those meet who have come to about as much, and nobody meets anybody twice.

It tells a large field apart in few rounds. Pairs are made as `dicegym.arena.formats.pairing` says. At larger tables
those sit together who stand next to each other, as far as they have not met.

Ranked are points (a win is 1, a draw 1/2; at larger tables the share of the others left behind), then Buchholz: the sum
of the opponents' points, at larger tables the mean of a table's, where a bye counts as an opponent with one's own
points (FIDE Handbook C.07), then the share of games won. Who is still equal shares a place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dicegym.arena.director import Director, Format
from dicegym.arena.formats import pairing
from dicegym.arena.formats.rounds import GRAIN, Rounds, ranks_of
from dicegym.arena.formats.rounds_result import RoundsResult, RoundsStanding, number
from dicegym.arena.options import ContestOptions
from dicegym.engine.game import Game
from dicegym.errors import ParameterError


@dataclass(frozen=True)
class SwissStanding(RoundsStanding):
    """One row of the ranking of a Swiss tournament; `RoundsStanding` says what its other attributes are.

    Attributes:
        buchholz: the sum of its opponents' points.
    """

    buchholz: float


@dataclass(frozen=True, kw_only=True)
class SwissResult(RoundsResult[SwissStanding]):
    """What a Swiss tournament came to; `RoundsResult` says what its attributes are."""

    def columns(self, row: SwissStanding) -> dict[str, str]:
        """Return what the ranking shows of an entry."""
        return {**super().columns(row), "Buchholz": number(row.buchholz)}

    def meaning(self) -> Sequence[str]:
        """Return what the columns mean."""
        return ("Points rank, then 'Buchholz', the points of an entry's opponents, then the share of games won.",)


def swiss(director: Director) -> SwissResult:
    """Play the rounds. Whoever is struck is not paired any more; what was played against it before stands."""
    rounds = Rounds(director)
    for played in range(director.options.rounds or usual_rounds(len(rounds.start))):
        names = rounds.names
        if len(names) < rounds.fewest:
            break
        if director.game.players == 2 and _all_met(names, rounds):
            rounds.remarks.append(f"it ended after {played} rounds, in which everybody had met everybody")
            break
        _round(rounds, f"Round {played + 1}")
    merits = _merits(rounds)
    ranks = ranks_of(merits)
    order = sorted(merits, key=lambda name: (ranks[name], name))
    standings = tuple(
        SwissStanding(place=ranks[name], **rounds.figures(name), buchholz=merits[name][1]) for name in order
    )
    return SwissResult(**rounds.common(), standings=standings)


def _round(rounds: Rounds, title: str) -> None:
    """Pair and play a round."""
    accounts, start = rounds.accounts, rounds.start
    order = sorted(rounds.names, key=lambda name: (-accounts[name].points, start[name]))
    had = {name: accounts[name].byes for name in order}
    if rounds.director.game.players == 2:
        free, tables = _pairs(rounds, order, had)
        for one, other in tables:
            if rounds.met(one, other):
                rounds.remarks.append(f"{title.lower()}: {one} and {other} met again, as nothing else was left")
    else:
        seats = pairing.sizes(len(order), rounds.director.game.players, rounds.fewest)
        free = pairing.byes(order, len(order) - sum(seats), had)
        tables = pairing.tables([name for name in order if name not in free], seats, rounds.met)
    rounds.play(title, tables, free)


def _pairs(rounds: Rounds, order: Sequence[str], had: Mapping[str, int]) -> tuple[list[str], Sequence[tuple[str, ...]]]:
    """Return who has a bye, and the pairs."""
    points = {name: rounds.accounts[name].points for name in order}
    if len(order) % 2 == 0:
        return [], pairing.pairs(order, points, rounds.met)
    free = pairing.byes(order, 1, had)
    return free, pairing.pairs([name for name in order if name not in free], points, rounds.met)


def _all_met(names: Sequence[str], rounds: Rounds) -> bool:
    return all(rounds.met(one, other) for i, one in enumerate(names) for other in names[:i])


def _merits(rounds: Rounds) -> dict[str, tuple[float, float, float]]:
    """Return what each is ranked by: points, Buchholz, share of games."""
    accounts = rounds.accounts
    buchholz = dict.fromkeys(rounds.names, 0.0)
    for one in rounds.rounds:
        for table in one.pairings:
            playing = [name for name, played in zip(table.entries, table.played, strict=True) if played]
            for name in table.entries:
                others = [other for other in playing if other != name] if name in playing else [name]
                if name in buchholz:
                    mean = sum(accounts[other].points for other in others) / len(others)
                    buchholz[name] = round(buchholz[name] + mean, GRAIN)
    return {name: (accounts[name].points, buchholz[name], accounts[name].share) for name in rounds.names}


def usual_rounds(entries: int) -> int:
    """Return the fewest rounds after which no more than one of so many entries can have won all of its pairs."""
    return max(1, math.ceil(math.log2(max(2, entries))))


def _fits(game: Game, entries: int, options: ContestOptions) -> None:
    most = entries - 1 + entries % 2
    if game.players == 2 and options.rounds is not None and options.rounds > most:
        raise ParameterError(
            f"rounds={options.rounds} cannot be played by {entries} entries, as after {most} everybody has met "
            f"everybody: give at most {most}, or more games of a match"
        )


def _matches(game: Game, entries: int, options: ContestOptions) -> int:
    rounds = options.rounds or usual_rounds(entries)
    return rounds * options.seeds * (entries // 2 if game.players == 2 else math.ceil(entries / game.players))


SWISS = Format(
    swiss,
    fewest=lambda game: max(2, game.spec.players[0]),
    matches=_matches,
    name="swiss",
    takes=frozenset({"games", "seeds", "rounds", "seeding", "players", "less_luck"}),
    fits=_fits,
)
