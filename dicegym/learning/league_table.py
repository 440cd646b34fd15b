"""The table of a league's history against itself: who beat whom, and whether that runs in circles."""

from __future__ import annotations

import copy
import csv
import io
import math
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.report import Report, percent, plain_text
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text, write_text, writing
from dicegym.learning.evaluate import wilson
from dicegym.learning.files import LEAGUE_FILE

Z_SURE = 3.0
"""Standard errors beyond which a result is no chance: so many pairs are looked at that two would often be exceeded."""
MARGIN = 0.01
"""Less than this is not worth reporting, however sure it is."""
MOST_CYCLES = 10
"""How many are told one by one."""
MOST_PLAYERS = 1_000
"""At a table, that a file may say."""
_FIXED = ("member", "kind", "joined", "share", "even")


class Result(NamedTuple):
    """The result of one member against another."""

    rate: float
    """Share of first places of the one at tables filled with the other."""
    games: int
    """0 if exact."""


class LeagueTable:
    """Who was ever in a league, in order of joining, and the result of each against those who were there.

    Args:
        even: what equals get: 1 / players.
    """

    def __init__(self, even: float) -> None:
        self.even = even
        self.kinds: dict[str, str] = {}
        self.joined: dict[str, int] = {}
        self.gone: set[str] = set()
        self.results: dict[tuple[str, str], Result] = {}

    def copy(self) -> LeagueTable:
        """Return a table of its own."""
        return copy.deepcopy(self)

    def to_plain(self) -> dict[str, Any]:
        """Return all of it as lists, texts and numbers."""
        return {
            "members": [[name, kind, self.joined[name], name in self.gone] for name, kind in self.kinds.items()],
            "results": [[a, b, result.rate, result.games] for (a, b), result in self.results.items()],
        }

    @classmethod
    def from_plain(cls, even: float, plain: Mapping[str, Any]) -> LeagueTable:
        """Return what `to_plain` told of. Raises KeyError, TypeError or ValueError if that is damaged."""
        table = cls(even)
        for name, kind, joined, gone in plain["members"]:
            table.kinds[str(name)], table.joined[str(name)] = str(kind), int(joined)
            if gone:
                table.gone.add(str(name))
        for a, b, rate, games in plain["results"]:
            table.results[str(a), str(b)] = Result(float(rate), int(games))
        return table

    def add(self, name: str, kind: str, joined: int) -> None:
        """Note that a member joined after so many steps. Raises ParameterError for a name that is known."""
        if name in self.kinds:
            raise ParameterError(f"there is a {name!r} in the league already: give it another name")
        self.kinds[name], self.joined[name] = kind, joined

    def leave(self, name: str) -> None:
        """Note that a member has left; its results remain."""
        self.gone.add(name)

    def record(self, a: str, b: str, result: Result) -> None:
        """Note the result of ``a`` against ``b``; of two players, the other one's follows."""
        self.results[a, b] = result
        if self.even == 0.5:
            self.results[b, a] = Result(1 - result.rate, result.games)

    def result(self, a: str, b: str) -> Result | None:
        """Return the result of ``a`` against ``b``; None if they did not play."""
        return self.results.get((a, b))

    def beats(self, a: str, b: str) -> bool:
        """Return whether ``a`` is better than ``b`` by more than chance (`Z_SURE`) and than `MARGIN`."""
        above, below = self.results.get((a, b)), self.results.get((b, a))
        low, high = _interval(above) if above else (-math.inf, math.inf)
        least, most = _interval(below) if below else (-math.inf, math.inf)
        ahead = low > self.even + MARGIN or most < self.even - MARGIN
        behind = least > self.even + MARGIN or high < self.even - MARGIN  # at larger tables both may do well alone
        return ahead and not behind

    def regressions(self) -> list[str]:
        """Return the past selves that beat the newest one."""
        past = [name for name, kind in self.kinds.items() if kind == "past self"]
        return [name for name in past[:-1] if self.beats(name, past[-1])]

    def cycles(self) -> list[tuple[str, str, str]]:
        """Return the triples of which each beats the next and the last the first, each once."""
        beaten: dict[str, list[str]] = {name: [] for name in self.kinds}
        for a, b in permutations(self.kinds, 2):
            if self.beats(a, b):
                beaten[a].append(b)
        number = {name: k for k, name in enumerate(self.kinds)}
        return [
            (a, b, c)
            for a in self.kinds
            for b in beaten[a]
            for c in beaten[b]
            if a in beaten[c] and number[a] < min(number[b], number[c])
        ]

    def hardest(self, name: str) -> tuple[str, Result] | None:
        """Return who takes most against copies of a member, alone at a table filled with them, and that result."""
        met = [(other, result) for other in self.kinds if (result := self.result(other, name)) is not None]
        return max(met, key=lambda one: one[1].rate, default=None)

    def remarks(self) -> list[str]:
        """Return what is wrong, in words, and who does best against the newest past self."""
        past = [name for name, kind in self.kinds.items() if kind == "past self"]
        lines = [f"regression: {name} beats {past[-1]}" for name in self.regressions()]
        cycles = self.cycles()
        lines += [f"cycle: {a} beats {b}, {b} beats {c}, {c} beats {a}" for a, b, c in cycles[:MOST_CYCLES]]
        if len(cycles) > MOST_CYCLES:
            lines.append(f"and {len(cycles) - MOST_CYCLES} more cycles")
        lines = lines or ["no past self beats the newest one, and nothing runs in circles, as far as games tell"]
        hardest = self.hardest(past[-1]) if past else None
        if hardest is not None:
            where = "against" if self.even == 0.5 else "alone at a table filled with"
            who, rate = hardest[0], _cell(hardest[1])
            lines.append(
                f"hardest for {past[-1]}: {who}, which takes {rate} {where} it ({percent(self.even)} among equals)"
            )
        return lines

    def report(self, shares: Mapping[str, float]) -> Report:
        """Return all of it, to be shown; ``shares`` is what part of games each member gets."""
        titles = ["", "Member", "Joined", "Games of the learner"]
        titles += map(str, range(1, len(self.kinds) + 1))
        rows = []
        for number, name in enumerate(self.kinds, 1):
            cells = [_cell(self.result(name, other)) for other in self.kinds]
            share = "left" if name in self.gone else percent(shares.get(name))
            rows.append([str(number), f"{name} ({self.kinds[name]})", f"{self.joined[name]:,}", share, *cells])
        heading = f"League of {len(self.kinds)}: win rate of the row against the column, and games (none: computed)"
        if self.even != 0.5:
            heading += f"; first places of one at a table filled with the column, {percent(self.even)} among equals"
        return Report(heading, (("Results", titles, rows),), remarks=self.remarks())

    def write(self, folder: Path, shares: Mapping[str, float]) -> None:
        """Write ``league.csv``, which `read` reads, and ``league.md``, for people, into ``folder``."""
        names = list(self.kinds)
        cells_of = {name: cell(name) for name in names}
        header = [*_FIXED, *(f"{what}against {cells_of[name]}" for what in ("", "games ") for name in names)]
        with writing(folder / LEAGUE_FILE) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            for name in names:
                cells = [self.result(name, other) for other in names]
                share = "" if name in self.gone else f"{shares.get(name, 0.0):.6f}"
                writer.writerow(
                    [
                        cells_of[name],
                        self.kinds[name],
                        self.joined[name],
                        share,
                        self.even,
                        *("" if cell is None else f"{cell.rate:.6f}" for cell in cells),
                        *("" if cell is None else cell.games for cell in cells),
                    ]
                )
        shown = plain_text(self.report(shares)).replace("```", "'''")  # which would end the block
        write_text(folder / "league.md", f"```text\n{shown}\n```\n")


def read(path: Path) -> tuple[LeagueTable, dict[str, float]]:
    """Return the table in a ``league.csv`` and the shares of those in it. Raises DamagedFileError if it is none."""
    instead = 'name the folder of a training against "self": `dicegym train` writes it there'
    text = read_text(path, instead)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        table, shares = LeagueTable(float(rows[0]["even"])), {}
        if not 1 / MOST_PLAYERS <= table.even <= 0.5:
            raise ValueError(f"equals cannot get {table.even}")
        for row in rows:
            table.add(row["member"], row["kind"], int(row["joined"]))
            if row["share"]:
                shares[row["member"]] = float(row["share"])
            else:
                table.leave(row["member"])
        for row in rows:
            for other in table.kinds:
                if rate := row[f"against {other}"]:
                    games = int(row[f"games against {other}"])
                    table.results[row["member"], other] = _checked(Result(float(rate), games))
    except (KeyError, TypeError, ValueError, IndexError, csv.Error, ParameterError) as error:
        raise DamagedFileError(path, f"is no table of a league ({one_line(error, 100)})", instead) from None
    return table, shares


def _checked(result: Result) -> Result:
    """Return a result that may be one. Raises ValueError for another."""
    if not 0 <= result.rate <= 1 or result.games < 0:
        raise ValueError(f"{result.rate} of {result.games} games is no result")
    return result


def _interval(result: Result) -> tuple[float, float]:
    return wilson(result.rate, result.games, Z_SURE) if result.games else (result.rate, result.rate)


def _cell(result: Result | None) -> str:
    if result is None:
        return "-"
    return percent(result.rate) + (f" of {result.games}" if result.games else "")
