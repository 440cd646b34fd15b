"""All entries at one table: a number of games in which everybody plays, and whoever wins most comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dicegym.arena.director import Director
from dicegym.arena.entries import AgentSpec, Disqualified
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.report import ReportTable, percent
from dicegym.arena.results import ContestResult
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.sandbox.jobs import Failure
from dicegym.sandbox.limits import Limits

SECONDS_A_GAME = 0.2
"""What an entry may think in a game, on average over all games; never less than the usual limit altogether."""


@dataclass(frozen=True)
class TableStanding:
    """One row of the ranking: the entry, its place (equal entries share one), games won alone, and their share."""

    place: int
    name: str
    wins: int
    share: float


@dataclass(frozen=True)
class OneTableResult(ContestResult):
    """What the games at one table came to.

    Attributes:
        title: the game's title.
        seed: names the games.
        games: how many were played.
        standings: most wins first.
        disqualified: who could not take part.
        misplays: what entries did wrong and the rules dealt with.
    """

    title: str
    seed: int
    games: int
    standings: tuple[TableStanding, ...]
    disqualified: tuple[Disqualified, ...] = ()
    misplays: tuple[Misplay, ...] = ()

    @property
    def heading(self) -> str:
        """One line that says what was played."""
        return f"{self.title}: {self.games} games, {len(self.standings)} players, seed {self.seed}"

    def tables(self) -> tuple[ReportTable]:
        """Return the ranking."""
        rows = [[str(row.place), row.name, str(row.wins), percent(row.share)] for row in self.standings]
        return (("Wins", ["Place", "Player", "Wins", "Share"], rows),)


def one_table(
    game: Game, entries: Mapping[str, AgentSpec], games: int, seed: int = 0, limits: Limits | None = None
) -> OneTableResult:
    """Play ``games`` games between all entries, seats drawn afresh for each; a bad entry is left out.

    Args:
        game: the game with its parameters; there are as many seats as entries, whatever it says.
        entries: agents as for `dicegym.agent` by name, in the order in which they are numbered.
        games: how many.
        seed: names all games and the entries' private randomness.
        limits: what an entry may use; default: `SECONDS_A_GAME`, but at least the default of `Limits`.

    Raises:
        ParameterError: fewer entries than the game needs, or more than it takes.
        UnknownNameError: there is no such agent.
    """
    games = whole_number("games", games, 1, 1 << 31, "the number of games")
    usual = Limits()
    limits = limits or Limits(max(usual.seconds, SECONDS_A_GAME * games), usual.memory)
    with Director(_table(game, len(entries)), entries, seed, 1, None, limits, in_order=True) as director:
        while len(seated := tuple(director.entries)) >= game.spec.players[0]:
            names = [entry.name for entry in seated]
            ((_, outcome),) = director.play([Match(_table(game, len(seated)), seated, director.seed, games)])
            if isinstance(outcome, Failure):
                director.struck[names[outcome.actor]] = outcome.reason
                continue
            standings = _standings(names, outcome["wins"], games)
            misplays = tuple(misplays_of(names, outcome))
            return OneTableResult(game.spec.title, director.seed, games, standings, director.disqualified, misplays)
    return OneTableResult(game.spec.title, director.seed, 0, (), director.disqualified)


def _table(game: Game, players: int) -> Game:
    """Return the game with so many seats."""
    return Game(game.spec, players, **game.parameters)


def _standings(names: Sequence[str], wins: Sequence[int], games: int) -> tuple[TableStanding, ...]:
    """Return the ranking by wins."""
    ranked = sorted(zip(names, wins, strict=True), key=lambda one: (-one[1], one[0]))
    return tuple(TableStanding(1 + sum(other > won for other in wins), name, won, won / games) for name, won in ranked)
