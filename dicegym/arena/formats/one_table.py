"""All entries at one table: a number of games in which everybody plays, and the entry with most wins comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director, Format
from dicegym.arena.entries import AgentSpec
from dicegym.arena.formats.settling import settle, table_for
from dicegym.arena.match import Match
from dicegym.arena.results import ContestResult, Presentation, Standing, ranking, ranking_table
from dicegym.columns import write_count
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress
from dicegym.sandbox.jobs import Entry
from dicegym.sandbox.limits import Limits

SECONDS_A_GAME = 0.2
"""What an entry may think in a game, on average over all games; never less than the usual limit altogether."""


def _hold(director: Director) -> ContestResult:
    """Let all play together that are not disqualified; an entry that fails is left out, and the others begin anew.

    Figures of a standing: ``wins``, games won alone, and ``share``, their share of all games. Details: ``games``.
    """
    game, options = director.game, director.options
    games = options.games or game.spec.games_per_match
    while len(seated := tuple(director.entries)) >= max(2, game.spec.players[0]):
        table = table_for(game, len(seated))
        jobs = (Match(table, seated, director.seed, games, number=number) for number in range(options.seeds))
        played = settle(director, jobs)
        if len(played) == options.seeds:
            break
    else:
        left = [Standing(1, one.name, {"wins": 0, "share": 0.0}) for one in seated]
        words = ["No game was played: too few are left who can play."]
        return director.result(left, shown=_shown(director, left, 0, words), games=0)
    total, rows = games * options.seeds, [one.row for one in played]
    wins = {entry.name: sum(row.wins[i] for row in rows) for i, entry in enumerate(seated)}
    figures = {name: {"wins": won, "share": won / total} for name, won in wins.items()}
    found = ranking(wins, figures)
    return director.result(found, played, _shown(director, found, total), games=total)


def _shown(director: Director, standings: Sequence[Standing], games: int, words: Sequence[str] = ()) -> Presentation:
    share = (lambda row: row["share"]) if games else (lambda row: None)
    columns = {"Wins": "wins", "Share": share}
    table = ranking_table(standings, columns, "Wins", ("Place", "Player"))
    return Presentation([write_count(games, "game"), f"seed {director.seed}"], [table], words)


def _fits(game: Game, entries: Sequence[Entry], options: ContestOptions) -> None:
    most = game.spec.players[1]
    if len(entries) > most:
        raise ParameterError(
            f"{len(entries)} entries do not fit one table of {game.spec.title}, where {most} can sit: name {most} at "
            "most, or run a contest of another format"
        )


ONE_TABLE = Format(
    _hold,
    matches=lambda game, entries, options: options.seeds,
    name="one_table",
    fits=_fits,
)


def one_table(
    game: Game,
    entries: Mapping[str, AgentSpec],
    games: int,
    seed: int | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> ContestResult:
    """Play ``games`` games between all entries, seats drawn afresh for each; a bad entry is left out.

    The format `ONE_TABLE` with the entries in the order given, as the original command of Liar's Dice has it.

    Args:
        game: the game with its parameters; there are as many seats as entries, whatever it says.
        entries: agents as for `dicegym.agent` by name, in the order in which they are numbered.
        games: how many.
        seed: names all games and the entries' private randomness; None: drawn, and told in the result.
        limits: what an entry may use; default: `SECONDS_A_GAME`, but at least the default of `Limits`.
        progress: as for `contest`.

    Raises:
        ParameterError: fewer entries than the game needs, or more than it takes.
        UnknownNameError: there is no such agent.
    """
    options, usual = ContestOptions(games), Limits()
    limits = limits or Limits(max(usual.seconds, SECONDS_A_GAME * games), usual.memory)
    table = table_for(game, len(entries))
    with Director(table, entries, seed, 1, progress, limits, ONE_TABLE, in_order=True, options=options) as director:
        return _hold(director)
