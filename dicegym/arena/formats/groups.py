"""The contest in groups, for games with fewer seats at a table than entries.

Qualifying: all play equally often at tables drawn afresh, until the best tableful is clear. Then these
play among themselves for the first places, the next tableful for the places below, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.grouping import MOST_GAMES, Decided, Qualified, Session, Tally, playoff, qualify
from dicegym.arena.formats.settling import settle, table_for
from dicegym.arena.match import Match
from dicegym.arena.match_rows import PlayedMatch
from dicegym.arena.report import ReportTable
from dicegym.arena.results import Columns, ContestResult, Presentation, Standing, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.dice import named_seed


def groups(director: Director) -> ContestResult:
    """Let all entries qualify for groups, and let each group play for its places.

    A full table has the game's number of players; if more have entered, they qualify (`qualify`), and the groups of
    the playoffs are the best tableful, the next, and so on. What is left over plays at a smaller table, one entry alone
    not at all. Place p is worth (most players of the game) + 1 - p points at every table. If an entry is disqualified
    while it plays, the contest begins anew without it.

    Figures of a standing: ``group``, 1 for the best; ``points``, ``wins`` (games won alone) and ``games`` of the
    playoff; the same of qualifying, as ``qualifying_points`` and so on. Details: ``table``, seats at a full table;
    ``cycles`` of qualifying; ``most_games``, after which a playoff ends undecided.
    """
    while True:
        try:
            return _hold(director)
        except _StruckError:
            continue


class _StruckError(Exception):
    """An entry did what the rules have no answer to, and is disqualified."""


def _hold(director: Director) -> ContestResult:
    """Qualify and play off. Raises _StruckError."""
    game, entries = director.game, {entry.name: entry for entry in director.entries}
    names, most, size = sorted(entries), game.spec.players[1], game.players
    most_games = director.options.games or MOST_GAMES
    played: list[PlayedMatch] = []

    def play(sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        jobs = []
        for group, label, games in sessions:
            seed = named_seed("groups", director.seed, *label)
            jobs.append(Match(table_for(game, len(group)), tuple(entries[name] for name in group), seed, games))
        found = settle(director, jobs, returns=True)
        if len(found) < len(jobs):
            raise _StruckError
        played.extend(found)
        return [one.returns for one in found]

    if len(names) > size:
        qualified = qualify(names, size, most, director.seed, play)
    else:
        qualified = Qualified(names, Tally(names, most), 0, [])
    remarks, standings = list(qualified.remarks), list[Standing]()
    for number, above in enumerate(range(0, len(names), size), 1):
        group = tuple(sorted(qualified.order[above : above + size]))
        if len(group) >= max(2, game.spec.players[0]):
            decided = playoff(group, number, most, play, most_games)
        else:
            decided = Decided(list(group), Tally(group, most), [])
        remarks += decided.remarks
        standings += _ranked(decided, number, above, qualified.tally)
    shown = _shown(standings, size, qualified.cycles, director.seed)
    details = {"table": size, "cycles": qualified.cycles, "most_games": most_games}
    return director.result(standings, played, shown, remarks, **details)


def _ranked(decided: Decided, number: int, above: int, before: Tally) -> list[Standing]:
    """Return the ranking of a group, below ``above`` other entries."""
    figures = {
        name: {"group": number, **decided.tally.figures(name), **before.figures(name, "qualifying_")}
        for name in decided.order
    }
    rows = ranking({name: decided.tally.merit(name) for name in decided.order}, figures)
    return [replace(row, place=above + row.place) for row in rows]


def _shown(standings: Sequence[Standing], table: int, cycles: int, seed: int) -> Presentation:
    """Return the ranking, and the result of qualifying if there was any."""
    own: Columns = {"Group": "group", "Points": "points", "Wins": "wins", "Games": "games"}
    tables: list[ReportTable] = []
    if cycles:
        titles = ["points", "wins", "games"]
        by_points = sorted(standings, key=lambda row: (-row["qualifying_points"], -row["qualifying_wins"]))
        cells = [[row.name, *(str(row[f"qualifying_{of}"]) for of in titles), str(row["group"])] for row in by_points]
        tables.append(("Qualifying", ["Entry", *map(str.title, titles), "Into group"], cells))
    facts = [f"tables of {table}", f"{write_count(cycles, 'cycle')} of qualifying", f"seed {seed}"]
    return Presentation(facts, [ranking_table(standings, own), *tables])


GROUPS = Format(groups, name="groups")
