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

import copy
import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
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


class LeagueTable:
    """All members that ever joined a league, in order, and their results against each other.

    Args:
        even: the win rate at equal strength, 1 / players.
    """

    def __init__(self, even: float) -> None:
        self.even = even
        self.kinds: dict[str, str] = {}
        self.joined: dict[str, int] = {}
        self.gone: set[str] = set()
        self.results: dict[tuple[str, str], Result] = {}

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


@dataclass(frozen=True)
class Member:
    """An opponent of the learner."""

    name: str
    kind: str
    player: Player
    joined: int = 0
    """Steps of the learner at that time."""
    weight: float = 1.0
    """Its weight within its group, before priorities."""


class League:
    """Scripted agents and past selves, with their results against each other.

    The weights in ``[opponents]`` divide games between the scripted agents and all past selves together (`SELF`);
    priorities divide them within each group. Without `SELF` weights hold as given, and nothing is measured.

    Args:
        game: the game.
        settings: of the training; used are its opponents and ``[self_play]``.

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
        """Whether a random player fills in until the first past self joins."""
        fixed = Pool.of(game, weights) if weights else Pool([RandomPlayer()], [1e-6])
        self.fixed = list(fixed.players)
        self.members: list[Member] = []
        self.table = LeagueTable(1 / game.players)
        # Exact values need a bot's file: its compiled twin, which plays in the batch, hides its draws.
        self._files = {name: rivals_of(game, name)[0] for name in weights} if self.learns_from_itself else {}
        for name, player, weight in zip(weights or ["uniform"], fixed.players, fixed.weights, strict=True):
            self.join(Member(name, SCRIPTED, player, weight=weight))

    @property
    def learns_from_itself(self) -> bool:
        """Whether past selves join; never in games for one."""
        return self._self_weight is not None and self.game.players > 1

    def join(self, member: Member) -> None:
        """Add a member; measure a past self against all others, and remove the easiest one if there are too many.

        Nothing is measured where only the newest is kept. Raises ParameterError if the name was ever here.
        """
        self.table.add(member.name, member.kind, member.joined)
        self.members.append(member)
        if member.kind == SCRIPTED:
            return
        for number, later in enumerate(self.members if self.settings.keep > 1 else ()):
            for earlier in self.members[:number]:
                self._measure(later, earlier)
                if self.game.players > 2:  # one result does not determine the other
                    self._measure(earlier, later)
        while len(learned := [one for one in self.members if one.kind == PAST_SELF]) > self.settings.keep:
            # The easiest to beat, the first and oldest of equally easy ones; never the newest while there are others.
            leaver = max(learned, key=lambda one: (one is not learned[-1], self.rate(one)))
            self.members.remove(leaver)
            self.table.gone.add(leaver.name)

    def _measure(self, a: Member, b: Member) -> None:
        """Measure ``a`` against ``b`` unless the result is known."""
        if (a.name, b.name) not in self.table.results:
            mine, theirs = (self._files.get(one.name, one.player) for one in (a, b))
            score = evaluate(self.game, mine, theirs, self.settings.games, seed=LEAGUE_SEED)
            self.table.record(a.name, b.name, Result(score.value, score.games))

    def rate(self, member: Member) -> float:
        """Return the newest past self's win rate against ``member``, converted to duels; 0.5 if unknown."""
        newest = next((one for one in reversed(self.members) if one.kind == PAST_SELF), None)
        known = None if newest is None or newest is member else self.table.results.get((newest.name, member.name))
        return 0.5 if known is None else as_duel(known.rate, self.game.players)

    def weights(self) -> list[float]:
        """Return each member's weight in the pool, in the order of `members`."""
        scripted = [member for member in self.members if member.kind == SCRIPTED]
        learned = [member for member in self.members if member.kind != SCRIPTED]
        if not learned:
            return [member.weight for member in scripted]
        share: dict[str, float] = {}
        for group, total in ((scripted, sum(one.weight for one in scripted)), (learned, self._self_weight or 0.0)):
            hardness = HARDNESS if self.settings.priority == "hard" else 0.0
            wanted = [one.weight * (1 - self.rate(one)) ** hardness for one in group]
            even = [one.weight / sum(one.weight for one in group) for one in group]
            floor = FLOOR if sum(wanted) > 0 else 1.0
            for one, mine, plain in zip(group, wanted, even, strict=True):
                prior = mine / sum(wanted) if floor < 1 else 0.0
                share[one.name] = total * (floor * plain + (1 - floor) * prior)
        return [share[member.name] for member in self.members]

    def pool(self) -> Pool:
        """Return the current opponents of the batch."""
        first = int(self._begins_alone and len(self.members) > 1)
        return Pool([member.player for member in self.members[first:]], self.weights()[first:])

    def shares(self) -> dict[str, float]:
        """Return each member's share of games, by name."""
        weights = self.weights()
        return {member.name: weight / sum(weights) for member, weight in zip(self.members, weights, strict=True)}

    def state(self) -> tuple[list[Member], LeagueTable]:
        """Return a copy of the members and results, for `load_state`."""
        return list(self.members), copy.deepcopy(self.table)

    def load_state(self, state: tuple[list[Member], LeagueTable]) -> None:
        """Restore a copy from `state`."""
        self.members, self.table = list(state[0]), copy.deepcopy(state[1])
