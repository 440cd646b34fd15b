"""All entries at one table: a number of games in which everybody plays, and whoever wins most comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dicegym.arena.director import Director, Format
from dicegym.arena.entries import AgentSpec
from dicegym.arena.formats.settling import PlayedMatch, settle, table_for
from dicegym.arena.luck import Places, deserved, leads_of_shares, verdict
from dicegym.arena.match import Match
from dicegym.arena.options import ContestOptions
from dicegym.arena.report import ReportTable, percent
from dicegym.arena.results import ContestResult, Standing
from dicegym.arena.rows import MatchRow
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress
from dicegym.sandbox.limits import Limits

SECONDS_A_GAME = 0.2
"""What an entry may think in a game, on average over all games; never less than the usual limit altogether."""


@dataclass(frozen=True)
class TableStanding(Standing):
    """One row of the ranking.

    Attributes:
        place: 1 for the best; equal entries share one.
        name: the entry.
        wins: games won alone.
        share: their share of all games, 0..1.
        could_be: the places that it may deserve, as far as the games tell (`dicegym.arena.luck`).
    """

    wins: int
    share: float
    could_be: Places


@dataclass(frozen=True, kw_only=True)
class OneTableResult(ContestResult[TableStanding]):
    """What the games at one table came to; `ContestResult` says what its other attributes are.

    Attributes:
        games: how many were played.
        standings: most wins first.
    """

    games: int

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        return self.headline(f"{self.games} game{'s' * (self.games != 1)}", f"seed {self.seed}")

    def tables(self) -> tuple[ReportTable]:
        """Return the ranking."""
        rows = [
            [str(row.place), row.name, str(row.wins), percent(row.share) if self.games else "-", str(row.could_be)]
            for row in self.standings
        ]
        return (("Wins", ["Place", "Player", "Wins", "Share", "Could be"], rows),)

    def words(self) -> list[str]:
        """Return what the ranking is worth, and what to try next."""
        if not self.games:
            return ["No game was played: too few are left who can play."]
        return [verdict([row.name for row in self.standings], [row.could_be for row in self.standings])]


def _hold(director: Director) -> OneTableResult:
    """Let all who are not struck play together; whoever fails is left out, and the others begin anew."""
    game, options = director.game, director.options
    games = options.games or game.spec.games_per_match
    while len(seated := tuple(director.entries)) >= max(2, game.spec.players[0]):
        table = table_for(game, len(seated))
        settled = settle(
            director, (Match(table, seated, director.seed, games, number=number) for number in range(options.seeds))
        )
        played = [found for _, found in settled if isinstance(found, PlayedMatch)]
        if len(played) < options.seeds:
            continue
        standings = _standings([entry.name for entry in seated], [one.row for one in played], games)
        return OneTableResult(
            **director.common(),
            standings=standings,
            matches=tuple(one.row for one in played),
            misplays=tuple(misplay for one in played for misplay in one.misplays),
            games=games * options.seeds,
        )
    left = tuple(TableStanding(1, entry.name, 0, 0.0, Places(1, len(seated))) for entry in seated)
    return OneTableResult(**director.common(), standings=left, games=0)


def _fits(game: Game, entries: int, options: ContestOptions) -> None:
    most = game.spec.players[1]
    if entries > most:
        raise ParameterError(
            f"{entries} entries do not fit one table of {game.spec.title}, where {most} can sit: name {most} at most, "
            "or hold a contest of another format"
        )


ONE_TABLE = Format(
    _hold,
    fewest=lambda game: max(2, game.spec.players[0]),
    matches=lambda game, entries, options: options.seeds,
    name="one_table",
    takes=frozenset({"games", "seeds", "less_luck"}),
    fits=_fits,
)


def one_table(
    game: Game,
    entries: Mapping[str, AgentSpec],
    games: int,
    seed: int | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> OneTableResult:
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
    games = whole_number("games", games, 1, 1 << 31, "the number of games")
    usual = Limits()
    limits = limits or Limits(max(usual.seconds, SECONDS_A_GAME * games), usual.memory)
    table = table_for(game, len(entries))
    options = ContestOptions(games)
    with Director(table, entries, seed, 1, progress, limits, ONE_TABLE, in_order=True, options=options) as director:
        return _hold(director)


def _standings(names: Sequence[str], matches: Sequence[MatchRow], games: int) -> tuple[TableStanding, ...]:
    """Return the ranking by wins."""
    wins = [sum(row.wins[i] for row in matches) for i in range(len(names))]
    ranked = sorted(range(len(names)), key=lambda number: (-wins[number], names[number]))
    leads = leads_of_shares(len(names), [(range(len(names)), row.shares, games) for row in matches]).of(ranked)
    played = games * len(matches)
    return tuple(
        TableStanding(1 + sum(other > wins[i] for other in wins), names[i], wins[i], wins[i] / played, could_be)
        for i, could_be in zip(ranked, deserved(leads), strict=True)
    )
