"""One table: all entries play together, and the entry with most wins is first."""

from __future__ import annotations

from collections.abc import Sequence

from dicegym.analysis.variance_reduction import check_meter
from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.formats.settling import settle, table_for
from dicegym.arena.match import Match
from dicegym.arena.match_rows import PlayedMatch
from dicegym.arena.results import Columns, ContestResult, Presentation, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.sandbox.jobs import Entry


def one_table(director: Director) -> ContestResult:
    """Let all entries play together. If one fails, it is disqualified and the others start again.

    Figures of a standing: ``wins``, games won alone, and ``share``, their share of all games. Details: ``games``.
    """
    game, times = director.game, director.options.seeds
    games = director.games_per_match
    played: list[PlayedMatch] = []
    while len(seated := tuple(director.entries)) >= max(2, game.spec.players[0]):
        director.game = table_for(game, len(seated))
        jobs = [Match(director.game, seated, director.seed, games, number=number) for number in range(times)]
        if len(played := settle(director, jobs)) == times:
            break
    else:
        played = []
    total = games * len(played)
    wins = {entry.name: sum(one.row.wins[i] for one in played) for i, entry in enumerate(seated)}
    standings = ranking(wins, {name: {"wins": won, "share": won / max(1, total)} for name, won in wins.items()})
    columns: Columns = {"Wins": "wins", "Share": lambda row: row["share"] if total else None}
    table = ranking_table(standings, columns)
    words = [] if total else ["No game was played: too few entries can play."]
    shown = Presentation([write_count(total, "game"), f"seed {director.seed}"], [table], words)
    return director.result(standings, played, shown, games=total)


def _check(game: Game, options: ContestOptions, entries: Sequence[Entry]) -> None:
    most = game.spec.players[1]
    if len(entries) > most:
        raise ParameterError(
            f"{len(entries)} entries do not fit one table of {game.spec.title}, where {most} can sit: name at most "
            f"{most}, or choose another format"
        )
    if options.less_luck and len(entries) >= max(2, game.spec.players[0]):
        check_meter(table_for(game, len(entries)))


ONE_TABLE = Format(one_table, "one_table", matches=lambda game, entries, options: options.seeds, check=_check)
