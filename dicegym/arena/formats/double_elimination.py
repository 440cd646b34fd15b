"""Double elimination: who has lost two matches is out.

Entries are drawn into a bracket of pairs, or seeded in the order in which they were named, so that the first two can
meet in its last round at the earliest; where they are no power of two, the first ones have a bye. Who loses there goes
on in the losers' bracket, in whose every second round those of the round before meet those who have just come down, as
far as that can be such as they have not met. Who wins both brackets meet in the grand final; if the one who had not
lost yet loses that, a second final decides.

A match that ends level is decided by further games, one at a time, and after `MOST_FURTHER` of them by lot. Those who
went out in the same round of the losers' bracket share a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.grouping import shuffled
from dicegym.arena.formats.pairing import least_met
from dicegym.arena.formats.rounds import Rounds, further
from dicegym.arena.formats.rounds_result import Pairing, RoundsResult, RoundsStanding, round_table
from dicegym.arena.matrix import Matrix
from dicegym.arena.options import ContestOptions
from dicegym.arena.report import ReportTable
from dicegym.engine.game import Game
from dicegym.errors import ParameterError

MOST_FURTHER = 9
"""Games that are played to decide a match that ended level."""

FINAL, SECOND_FINAL = FINALS = "Grand final", "Second final"
Slot = str | None
"""An entry in a bracket; None: nobody."""


@dataclass(frozen=True)
class EliminationStanding(RoundsStanding):
    """One row of the ranking of a double elimination; `RoundsStanding` says what its other attributes are.

    Attributes:
        out: the round in which it lost for the second time; empty: it won.
    """

    out: str


@dataclass(frozen=True, kw_only=True)
class EliminationResult(RoundsResult[EliminationStanding]):
    """What a double elimination came to; `RoundsResult` says what its attributes are."""

    def columns(self, row: EliminationStanding) -> dict[str, str]:
        """Return what the ranking shows of an entry."""
        cells = {"Seed": row.start, "Won": row.won, "Lost": row.lost, "Byes": row.byes, "Out in": row.out or "-"}
        return {title: str(cell) for title, cell in cells.items()}

    def tables(self) -> list[ReportTable | Matrix]:
        """Return the ranking, and the finals."""
        return [*super().tables(), *(round_table(one) for one in self.rounds if one.title in FINALS)]

    def details(self) -> list[ReportTable | Matrix]:
        """Return every round before the finals."""
        return [round_table(one) for one in self.rounds if one.title not in FINALS]

    def meaning(self) -> Sequence[str]:
        """Return what a place means."""
        return ("A place says how far an entry came before it had lost twice.",)


def bracket(size: int) -> list[int]:
    """Return who stands where in a bracket of ``size``, a power of two, from 0: the best two meet in its last round."""
    order = [0]
    while len(order) < size:
        order = [one for seed in order for one in (seed, 2 * len(order) - 1 - seed)]
    return order


class _Brackets:
    """The two brackets, round by round."""

    def __init__(self, director: Director) -> None:
        self.rounds = Rounds(director)
        self.out: list[tuple[str, list[str]]] = []
        """Who went out in which round, the first ones first."""

    def play(self, *rounds: tuple[str, Sequence[tuple[Slot, Slot]]]) -> list[tuple[list[Slot], list[Slot]]]:
        """Play rounds of both brackets at a time, (title, pairs); return who won and who lost in each, in order."""
        real = [pair for _, pairs in rounds for pair in pairs if None not in pair]
        played = iter(self._decided([(str(one), str(other)) for one, other in real]))
        found = []
        for title, pairs in rounds:
            won: list[Slot] = []
            lost: list[Slot] = []
            kept: list[Pairing] = []
            for one, other in pairs:
                if one is not None and other is not None:
                    kept.append(next(played))
                    first = kept[-1].points[0] >= kept[-1].points[1]  # level: both were struck, and neither goes far
                    won.append(one if first else other)
                    lost.append(other if first else one)
                else:
                    won.append(one or other)
                    lost.append(None)
                    if won[-1] is not None:
                        kept.append(Pairing((won[-1],), (1.0,), (0.0,), 0, "bye"))
            if kept:
                self.rounds.keep(title, kept)
            found.append((won, lost))
        return found

    def _decided(self, pairs: Sequence[tuple[str, str]]) -> list[Pairing]:
        """Let pairs meet until one of each has won, or a lot has been drawn."""
        found = self.rounds.meet(pairs)
        for games in range(1, MOST_FURTHER + 1):
            level = [i for i, one in enumerate(found) if _is_level(one)]
            more = self.rounds.meet([pairs[i] for i in level], games=1, times=1)
            for i, one in zip(level, more, strict=True):
                found[i] = further(found[i], one, f"decided by {games} further game{'s' * (games > 1)}")
        for i, one in enumerate(found):
            if _is_level(one):
                winner = shuffled(one.entries, "lot", self.rounds.director.seed, len(self.rounds.rounds))[0]
                note = f"level after {MOST_FURTHER} further games: by lot"
                points = tuple(float(name == winner) for name in one.entries)
                found[i] = Pairing(one.entries, points, one.scores, one.games, note, one.played)
                self.rounds.remarks.append(f"{' and '.join(one.entries)} were {note}, {winner}")
        return found

    def leave(self, title: str, names: Sequence[Slot]) -> None:
        """Note who is out."""
        self.out.append((title, [name for name in names if name is not None]))

    def to_the_end(self) -> None:
        """Play all rounds; whoever has won is the last to leave, without a title."""
        names = self.rounds.names
        if not names:
            return
        size = 1 << (len(names) - 1).bit_length()
        winners: list[Slot] = [names[seed] if seed < len(names) else None for seed in bracket(size)]
        losers: list[Slot] = []
        number = 0
        while len(winners) > 1:
            number += 1
            title, minor = f"Winners' round {number}", f"Losers' round {2 * number - 3}"
            if number == 1:
                ((winners, losers),) = self.play((title, _neighbours(winners)))
                continue
            (winners, dropped), (losers, out) = self.play((title, _neighbours(winners)), (minor, _neighbours(losers)))
            self.leave(minor, out)
            major = f"Losers' round {2 * number - 2}"
            ((losers, out),) = self.play((major, self._against(losers, dropped)))
            self.leave(major, out)
        self._final(winners[0], losers[0] if losers else None)

    def _against(self, losers: Sequence[Slot], dropped: Sequence[Slot]) -> list[tuple[Slot, Slot]]:
        """Return who of the losers' bracket meets whom of those who come down: from the other end, the least met."""
        left = {f"{i}": name for i, name in reversed(list(enumerate(dropped)))}

        def met(place: str, name: str) -> int:
            above = left[place]
            return self.rounds.met(above, name) if above is not None else 0

        pairs = []
        for name in losers:
            place = least_met(left, () if name is None else (name,), met)
            pairs.append((name, left.pop(place)))
        return pairs

    def _final(self, unbeaten: Slot, other: Slot) -> None:
        ((won, lost),) = self.play((FINAL, [(unbeaten, other)]))
        title = FINAL
        if other is not None and won[0] == other:
            title = SECOND_FINAL
            ((won, lost),) = self.play((SECOND_FINAL, [(unbeaten, other)]))
        self.leave(title, lost)
        self.leave("", won)


def _neighbours(slots: Sequence[Slot]) -> list[tuple[Slot, Slot]]:
    return list(zip(slots[::2], slots[1::2], strict=True))


def _is_level(pairing: Pairing) -> bool:
    return all(pairing.played) and len(set(pairing.points)) == 1


def double_elimination(director: Director) -> EliminationResult:
    """Play both brackets and the final. Whoever is struck loses its matches, the others have walkovers."""
    brackets = _Brackets(director)
    brackets.to_the_end()
    standings: list[EliminationStanding] = []
    for title, names in reversed(brackets.out):
        place = 1 + len(standings)
        for name in sorted(names):
            if name not in director.struck:
                standings.append(EliminationStanding(place=place, **brackets.rounds.figures(name), out=title))
    return EliminationResult(**brackets.rounds.common(), standings=tuple(standings))


def _check(game: Game, options: ContestOptions) -> None:
    if game.players != 2:
        raise ParameterError(
            f"the format 'double-elimination' is for pairs, and {game!r} seats {game.players}: make a table of two, "
            "players=2, or hold a contest of another format"
        )


DOUBLE_ELIMINATION = Format(
    double_elimination,
    fewest=lambda game: 2,
    matches=lambda game, entries, options: (2 * entries - 2) * options.seeds,
    check=_check,
    name="double_elimination",
    takes=frozenset({"games", "seeds", "seeding", "players", "less_luck"}),
)
