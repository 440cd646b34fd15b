"""All entries at one table: a number of games in which everybody plays, and whoever wins most comes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dicegym.arena.entries import Disqualified, Reporter, Spec, admit
from dicegym.arena.incidents import Misplay, misplays_of
from dicegym.arena.match import Match
from dicegym.arena.report import Report, percent, plain_text
from dicegym.engine.game import Game
from dicegym.engine.spec import Parameter
from dicegym.errors import AgentError
from dicegym.sandbox.jobs import Entry, Failure, entry
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import Sandbox

SECONDS_A_GAME = 0.2
"""What an entry may think in a game, on average over all games; never less than the usual limit altogether."""


@dataclass(frozen=True)
class Place:
    """One line of the ranking: the entry, its place (equal entries share one), games won alone, and their share."""

    place: int
    name: str
    wins: int
    share: float


@dataclass(frozen=True)
class TableResult:
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
    standings: tuple[Place, ...]
    disqualified: tuple[Disqualified, ...] = ()
    misplays: tuple[Misplay, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def report(self) -> Report:
        """Return the ranking, to be shown."""
        rows = [[str(one.place), one.name, str(one.wins), percent(one.share)] for one in self.standings]
        heading = f"{self.title}: {self.games} games, {len(rows)} players, seed {self.seed}"
        ranking = ("Wins", ["Place", "Player", "Wins", "Share"], rows)
        return Report(heading, (ranking,), self.disqualified, self.misplays)

    def text(self) -> str:
        """Return the report as plain text."""
        return plain_text(self.report())


def one_table(
    game: Game, entries: Mapping[str, Spec], games: int, seed: int = 0, limits: Limits | None = None
) -> TableResult:
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
    games = Parameter(1, 1, 1 << 31, "the number of games").check("games", games)
    seed = Parameter(0, -(1 << 63), (1 << 64) - 1, "the seed of a contest").check("seed", seed)
    table = _table(game, len(entries))
    found: list[Entry] = []
    struck: dict[str, str] = {}
    for name, spec in entries.items():
        try:
            found.append(entry(table, name, spec))
        except AgentError as error:
            struck[name] = error.reason
    usual = Limits()
    limits = limits or Limits(max(usual.seconds, SECONDS_A_GAME * games), usual.memory)
    with Sandbox(table, 1, limits) as sandbox:
        admit(sandbox, table, found, seed, struck, Reporter(None, len(found)))
        outcome, names = None, []
        while outcome is None:
            seated = tuple(one for one in found if one.name not in struck)
            if len(seated) < table.spec.players[0]:
                break
            names = [one.name for one in seated]
            job = Match(_table(game, len(seated)), seated, seed, games)
            for _, result in sandbox.run([job]):
                if isinstance(result, Failure):
                    struck[names[result.actor]] = result.reason
                else:
                    outcome = result
    disqualified = tuple(Disqualified(name, reason) for name, reason in sorted(struck.items()))
    if outcome is None:
        return TableResult(game.spec.title, seed, 0, (), disqualified)
    return TableResult(
        game.spec.title,
        seed,
        games,
        _standings(names, outcome["wins"], games),
        disqualified,
        tuple(misplays_of(names, outcome)),
    )


def _table(game: Game, players: int) -> Game:
    """Return the game with so many seats."""
    return Game(game.spec, players, **game.parameters)


def _standings(names: list[str], wins: list[int], games: int) -> tuple[Place, ...]:
    """Return the ranking by wins."""
    ranked = sorted(zip(names, wins, strict=True), key=lambda one: (-one[1], one[0]))
    return tuple(Place(1 + sum(other > won for other in wins), name, won, won / games) for name, won in ranked)
