"""A league: the opponents of a learner in self-play.

Self-play against only the newest copy can run in circles: each copy beats the previous one, and the last loses to the
first. Fictitious play (Heinrich, Lanctot and Silver, "Fictitious self-play in extensive-form games", ICML 2015)
responds to the mean of all past selves instead. Prioritised fictitious self-play (Vinyals et al., "Grandmaster level in
StarCraft II using multi-agent reinforcement learning", Nature 575, 2019) plays most games against the past selves that
are still hard to beat. Scripted agents from the configuration are members too; they never leave.

A new past self is measured against all other members: by an exact win rate where the game has exact values, otherwise
by the same games for every pair, with seeds that training never uses. Its results set the priorities until the next
past self joins. The league follows from the settings and from who joined, so a resumed run has the same one.

With more than two players, a win rate is the share of first places at tables filled with one opponent, 1 / players at
equal strength; priorities convert it to duels (`dicegym.learning.evaluate.as_duel`). Two members then play both ways,
each against a table filled with the other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.escape import cell, one_line
from dicegym.files import read_text
from dicegym.learning.curves import write_csv
from dicegym.learning.evaluate import LEAGUE_SEED, as_duel, evaluate, rivals_of
from dicegym.learning.run_folder import LEAGUE_FILE
from dicegym.learning.training_settings import TrainingSettings
from dicegym.play.player import Player, RandomPlayer
from dicegym.players.pool import Pool

SELF = "self"
"""The name for all past selves among a run's opponents."""
SCRIPTED, PAST_SELF = "scripted", "past self"
HARDNESS, FLOOR = 2.0, 0.2
"""For priority "hard": a member's share is (1 - the learner's win rate against it) ** HARDNESS, as in AlphaStar. A
share FLOOR of all games ignores priorities, so that no member is forgotten."""
MOST_PLAYERS = 1_000
"""Largest table that `read_league` accepts."""
_FIXED = ("member", "kind", "joined", "share", "even")


class Result(NamedTuple):
    """The result of one member against another."""

    rate: float
    """Its share of first places at tables filled with the other."""
    games: int
    """0 if exact."""


@dataclass
class LeagueTable:
    """All members that ever joined a league, in order, and their results against each other."""

    even: float
    """The win rate at equal strength, 1 / players."""
    kinds: dict[str, str] = field(default_factory=dict)
    """`SCRIPTED` or `PAST_SELF`."""
    joined: dict[str, int] = field(default_factory=dict)
    """Steps of the learner at that time."""
    gone: set[str] = field(default_factory=set)
    results: dict[tuple[str, str], Result] = field(default_factory=dict)

    def add(self, name: str, kind: str, joined: int) -> None:
        """Add a member that joined after ``joined`` steps. Raises ParameterError for a name that is taken."""
        if name in self.kinds:
            raise ParameterError(f"there is a {name!r} in the league already: give it another name")
        self.kinds[name], self.joined[name] = kind, joined

    def record(self, a: str, b: str, result: Result) -> None:
        """Record the result of ``a`` against ``b``, and in games for two that of ``b``, which follows from it."""
        self.results[a, b] = result
        if self.even == 0.5:
            self.results[b, a] = Result(1 - result.rate, result.games)

    def write(self, folder: Path, shares: Mapping[str, float]) -> None:
        """Write ``league.csv`` for `read_league`; ``shares`` is each member's share of games."""
        names = list(self.kinds)
        cells_of = {name: cell(name) for name in names}
        head = [*_FIXED, *(f"{what}against {cells_of[name]}" for what in ("", "games ") for name in names)]
        rows = []
        for name in names:
            share = "" if name in self.gone else f"{shares.get(name, 0.0):.6f}"
            found = [self.results.get((name, other)) for other in names]
            rates = ["" if one is None else f"{one.rate:.6f}" for one in found]
            games = ["" if one is None else one.games for one in found]
            rows.append([cells_of[name], self.kinds[name], self.joined[name], share, self.even, *rates, *games])
        write_csv(folder / LEAGUE_FILE, head, rows)


def read_league(path: Path) -> tuple[LeagueTable, dict[str, float]]:
    """Return the table in a ``league.csv``, and the shares of the present members. Raises DamagedFileError."""
    instead = 'name the folder of a training against "self": `dicegym train` writes it there'
    text = read_text(path, instead)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        table, shares = LeagueTable(float(rows[0]["even"])), {}
        if not 1 / MOST_PLAYERS <= table.even <= 0.5:
            raise ValueError(f"{table.even} is not 1 / players")
        for row in rows:
            table.add(row["member"], row["kind"], int(row["joined"]))
            if row["share"]:
                shares[row["member"]] = float(row["share"])
            else:
                table.gone.add(row["member"])
        for row in rows:
            for other in table.kinds:
                if text := row[f"against {other}"]:
                    rate, games = float(text), int(row[f"games against {other}"])
                    if not 0 <= rate <= 1 or games < 0:
                        raise ValueError(f"{rate} of {games} games cannot be a result")
                    table.results[row["member"], other] = Result(rate, games)
    except (KeyError, TypeError, ValueError, IndexError, csv.Error, ParameterError) as error:
        raise DamagedFileError(path, f"is not the table of a league ({one_line(error, 100)})", instead) from None
    return table, shares


class League:
    """Scripted agents and past selves, with their results against each other.

    The weights in ``[opponents]`` divide games between the scripted agents and all past selves together (`SELF`);
    priorities divide them within each group. Without `SELF` weights hold as given, and nothing is measured.

    Args:
        game: the game.
        settings: of the training; used are its opponents and ``[self_play]``.

    Attributes:
        scripted: scripted agent -> weight. Without any, a random player fills in until the first past self joins.
        players: the present members by name, scripted agents first, then past selves by age.
        table: all members that ever joined, and their results.

    Raises:
        UnknownNameError, ParameterError: an opponent or its weight is invalid.
        AgentError, ModelError: an opponent cannot be loaded.
    """

    def __init__(self, game: Game, settings: TrainingSettings) -> None:
        self.game = game
        self.settings = settings.self_play
        usual = game.spec.default_opponent
        weights = dict(settings.opponents) or (dict(usual) if isinstance(usual, Mapping) else {usual: 1.0})
        self._self_weight = weights.pop(SELF, None)
        if self._self_weight is not None:
            finite_number(f"weight of {SELF!r}", self._self_weight, "a share of games", above=0)
        self._begins_alone = not weights
        pool = Pool.of(game, weights) if weights else Pool([RandomPlayer()], [1e-6])
        self.scripted = dict(zip(weights or ["uniform"], pool.weights, strict=True))
        self.players = dict(zip(self.scripted, pool.players, strict=True))
        self.table = LeagueTable(1 / game.players)
        for name in self.scripted:
            self.table.add(name, SCRIPTED, 0)
        # Exact values need a bot's file: its compiled twin, which plays in the batch, hides its draws.
        self._files = {name: rivals_of(game, name)[0] for name in weights} if self.learns_from_itself else {}

    @property
    def learns_from_itself(self) -> bool:
        """Whether past selves join; never in games for one."""
        return self._self_weight is not None and self.game.players > 1

    @property
    def past_selves(self) -> list[str]:
        """The names of the past selves that are present, by age."""
        return [name for name in self.players if name not in self.scripted]

    def join(self, name: str, player: Player, steps: int) -> None:
        """Add a past self, measure it against all others, and remove the easiest one if there are too many.

        Nothing is measured where only the newest is kept. Raises ParameterError if the name was ever here.
        """
        self.table.add(name, PAST_SELF, steps)
        self.players[name] = player
        for earlier, later in combinations(self.players, 2) if self.settings.keep > 1 else ():
            self._measure(later, earlier)
            if self.game.players > 2:  # one result does not determine the other
                self._measure(earlier, later)
        *older, _ = learned = self.past_selves
        if len(learned) > self.settings.keep:
            leaver = max(older, key=self.rate)  # never the newest; the oldest of equally easy ones
            del self.players[leaver]
            self.table.gone.add(leaver)

    def _measure(self, a: str, b: str) -> None:
        """Measure ``a`` against ``b`` unless the result is known."""
        if (a, b) not in self.table.results:
            mine, theirs = (self._files.get(name, self.players[name]) for name in (a, b))
            score = evaluate(self.game, mine, theirs, self.settings.games, seed=LEAGUE_SEED)
            self.table.record(a, b, Result(score.value, score.games))

    def rate(self, name: str) -> float:
        """Return the newest past self's win rate against a member, converted to duels; 0.5 if unknown."""
        learned = self.past_selves
        known = self.table.results.get((learned[-1], name)) if learned and learned[-1] != name else None
        return 0.5 if known is None else as_duel(known.rate, self.game.players)

    def weights(self) -> dict[str, float]:
        """Return the weight in the pool of each present member."""
        if not (learned := self.past_selves):
            return self.scripted
        found: dict[str, float] = {}
        hardness = HARDNESS if self.settings.priority == "hard" else 0.0
        groups = (self.scripted, sum(self.scripted.values())), (dict.fromkeys(learned, 1.0), self._self_weight or 0.0)
        for group, total in groups:
            wanted = {name: weight * (1 - self.rate(name)) ** hardness for name, weight in group.items()}
            floor = FLOOR if any(wanted.values()) else 1.0
            for name, weight in group.items():
                prior = wanted[name] / sum(wanted.values()) if floor < 1 else 0.0
                found[name] = total * (floor * (weight / sum(group.values())) + (1 - floor) * prior)
        return found

    def pool(self) -> Pool:
        """Return the current opponents of the batch."""
        first = int(self._begins_alone and len(self.players) > 1)
        return Pool(list(self.players.values())[first:], list(self.weights().values())[first:])

    def shares(self) -> dict[str, float]:
        """Return each present member's share of games."""
        weights = self.weights()
        return {name: weight / sum(weights.values()) for name, weight in weights.items()}
