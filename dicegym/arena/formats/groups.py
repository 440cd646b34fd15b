"""The contest in groups, for games at whose table fewer can sit than have entered.

Qualifying: all play equally often at tables drawn afresh, until it is clear who the best tableful are. Then these
play among themselves for the first places, the next tableful for the places below, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dicegym.arena.entries import Disqualified, Progress, Reporter, Spec, admit, check_table, entries_of
from dicegym.arena.formats.grouping import Decided, Group, Qualified, Session, Tally, playoff, qualify
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.report import Report, plain_text
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.spec import Parameter
from dicegym.errors import ParameterError
from dicegym.games import game as game_of
from dicegym.sandbox.jobs import Entry, Failure
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import Sandbox

KEPT_MISPLAYS = 100
"""Misplays of one entry that are kept in words, the first."""


@dataclass(frozen=True)
class GroupStanding:
    """One line of the ranking.

    Attributes:
        place: 1 for the best; who is equal in points and wins of the playoff shares a place.
        name: the entry.
        group: number of its group in the playoffs, 1 for the best.
        points: of the playoff.
        wins: games of the playoff won alone.
        games: games of the playoff.
        qualifying_points: points in qualifying; 0 if all fit at one table.
        qualifying_wins: games won alone in qualifying.
        qualifying_games: games in qualifying.
    """

    place: int
    name: str
    group: int
    points: int
    wins: int
    games: int
    qualifying_points: int
    qualifying_wins: int
    qualifying_games: int


@dataclass(frozen=True)
class GroupsResult:
    """What a contest in groups came to.

    Attributes:
        game: name of the game.
        title: the game's title.
        seed: the contest's seed.
        table: seats at a full table.
        cycles: cycles of qualifying.
        standings: best first.
        disqualified: by name.
        misplays: what entries did wrong and the rules dealt with, of each entry the first `KEPT_MISPLAYS`.
        remarks: how ties were broken, and which playoffs were not decided.
    """

    game: str
    title: str
    seed: int
    table: int
    cycles: int
    standings: tuple[GroupStanding, ...]
    disqualified: tuple[Disqualified, ...]
    misplays: tuple[Misplay, ...]
    remarks: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def report(self) -> Report:
        """Return the ranking, to be shown."""
        titles = ["Ranking", "Entry", "Group", "Points", "Wins", "Games"]
        rows = [
            [str(cell) for cell in (line.place, line.name, line.group, line.points, line.wins, line.games)]
            for line in self.standings
        ]
        tables = [("Rankings", titles, rows)]
        if self.cycles:
            by_points = sorted(self.standings, key=lambda line: (-line.qualifying_points, -line.qualifying_wins))
            qualifying = [
                [
                    line.name,
                    *map(str, (line.qualifying_points, line.qualifying_wins, line.qualifying_games, line.group)),
                ]
                for line in by_points
            ]
            tables.append(("Qualifying", ["Entry", "Points", "Wins", "Games", "Into group"], qualifying))
        return Report(
            f"{self.title}: {len(self.standings)} entries at tables of {self.table}, "
            f"{self.cycles} cycles of qualifying, seed {self.seed}",
            tables,
            self.disqualified,
            self.misplays,
            self.remarks,
        )

    def text(self) -> str:
        """Return the report as plain text."""
        return plain_text(self.report())


class _StruckError(Exception):
    """An entry did what the rules have no answer to."""


def groups(
    game: Game | str,
    entries: Mapping[str, Spec] | Iterable[Spec],
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> GroupsResult:
    """Check all entries, let them qualify for groups, and let each group play for its places.

    A full table has the game's number of players; if more have entered, they qualify (`qualify`), and the groups of
    the playoffs are the best tableful, the next, and so on. What is left over plays at a smaller table, one entry alone
    not at all. Place p is worth (most players of the game) + 1 - p points at every table. The result depends on
    ``seed`` and the names of the entries alone, not on their order or the number of processes. If an entry must be
    struck while it plays, the contest begins anew without it.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}.
        seed: names all games and the entries' private randomness.
        workers: number of processes (default: of usable processors).
        progress: see `Progress`.
        limits: what an entry may use; default: 10 s and 512 MiB.

    Raises:
        ParameterError: two entries have one name, there are fewer than the game's fewest players, or the game is for
            one player.
        UnknownNameError: there is no such game or agent.
    """
    game = game_of(game)
    seed = Parameter(0, -(1 << 63), (1 << 64) - 1, "the seed of a contest").check("seed", seed)
    check_table(game)
    found, missing = entries_of(game, entries)
    least = max(2, game.spec.players[0])
    if len(found) + len(missing) < least:
        raise ParameterError(f"a contest of fewer than {least} entries has no games of {game!r}: name at least {least}")
    struck = {bad.name: bad.reason for bad in missing}
    with Sandbox(game, workers, limits) as sandbox:
        report = Reporter(progress, len(found))
        admit(sandbox, game, found, seed, struck, report)
        while True:
            table = _Table(sandbox, game, [entry for entry in found if entry.name not in struck], seed, report)
            try:
                return _hold(table, struck)
            except _StruckError as error:
                name, reason = error.args
                struck[name] = reason


class _Table:
    """Plays sessions in a sandbox, and keeps what went wrong."""

    def __init__(self, sandbox: Sandbox, game: Game, entries: Sequence[Entry], seed: int, report: Reporter) -> None:
        self.game, self.seed = game, seed
        self.entries = {entry.name: entry for entry in entries}
        self.misplays: list[Misplay] = []
        self._kept: Counter[str] = Counter()
        self._sandbox, self._report, self._done = sandbox, report, 0

    def _job(self, session: Session) -> Match:
        """Return the session as a job, at a table that is as large as its group."""
        game = self.game
        if len(session.group) != game.players:
            game = Game(game.spec, len(session.group), **game.parameters)
        entries = tuple(self.entries[name] for name in session.group)
        return Match(game, entries, named_seed("groups", self.seed, *session.label), session.games)

    def play(self, sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        """Play ``sessions``; see `Play` in ``grouping.py``. Raises _StruckError by the first faulty session."""
        jobs = [self._job(session) for session in sessions]
        numbers = {job.seed: number for number, job in enumerate(jobs)}
        outcomes: dict[int, Any] = {}
        for job, outcome in self._sandbox.run(jobs):
            if isinstance(job, Match):  # whatever a sandbox is given
                outcomes[numbers[job.seed]] = outcome
                self._report(" - ".join(entry.name for entry in job.entries))
        found: list[Sequence[Sequence[float]]] = []
        for number, session in enumerate(sessions):
            outcome = outcomes[number]
            if isinstance(outcome, Failure):
                raise _StruckError(session.group[outcome.actor], outcome.reason)
            for misplay in misplays_of(session.group, outcome):
                self._kept[misplay.name] += 1
                if self._kept[misplay.name] <= KEPT_MISPLAYS:
                    self.misplays.append(misplay)
            found.append([tuple(map(float, returns)) for returns in outcome["returns"]])
        return found


def _hold(table: _Table, struck: Mapping[str, str]) -> GroupsResult:
    """Qualify and play off. Raises _StruckError."""
    game, seed, names = table.game, table.seed, sorted(table.entries)
    most, size = game.spec.players[1], game.players
    if len(names) > size:
        qualified = qualify(names, size, most, seed, table.play)
    else:
        qualified = Qualified(names, Tally(names, most), 0, [])
    remarks = list(qualified.remarks)
    standings: list[GroupStanding] = []
    for number, first in enumerate(range(0, len(names), size), 1):
        group: Group = tuple(sorted(qualified.order[first : first + size]))
        if len(group) >= max(2, game.spec.players[0]):
            decided = playoff(group, number, most, table.play)
        else:
            decided = Decided(list(group), Tally(group, most), [])
        remarks += decided.remarks
        standings += _lines(decided, number, first, qualified.tally)
    return GroupsResult(
        game.name,
        game.spec.title,
        seed,
        size,
        qualified.cycles,
        tuple(standings),
        tuple(Disqualified(name, reason) for name, reason in sorted(struck.items())),
        tuple(table.misplays),
        tuple(remarks),
    )


def _lines(decided: Decided, number: int, above: int, before: Tally) -> list[GroupStanding]:
    """Return the ranking of a group, below ``above`` other entries."""
    lines: list[GroupStanding] = []
    tally = decided.tally
    for position, name in enumerate(decided.order, 1):
        tied = lines and tally.merit(lines[-1].name) == tally.merit(name)
        place = lines[-1].place if tied else above + position
        own = (table[name] for table in (tally.points, tally.wins, tally.games))
        earlier = (table[name] for table in (before.points, before.wins, before.games))
        lines.append(GroupStanding(place, name, number, *own, *earlier))
    return lines
