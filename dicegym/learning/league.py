"""A league: whom a learner meets, so that it neither forgets old answers nor trains against straw men.

Self-play against the newest copy alone can run in circles: each copy beats the one before it, and the last loses to
the first. Fictitious play (Heinrich, Lanctot and Silver, "Fictitious self-play in extensive-form games", ICML 2015)
answers the mean of all past selves instead; prioritised fictitious self-play (Vinyals et al., "Grandmaster level in
StarCraft II using multi-agent reinforcement learning", Nature 575, 2019) gives most games to those among them who
are still hard to beat, and adds exploiters, who are trained against the present learner alone to show its holes.

    scripted     agents that the configuration names; they never leave
    past self    what the learner was, taken at intervals
    exploiter    made by the training script against the learner of that time

Whoever joins plays against everybody who is there: an exact win rate where the game has exact values, else the same
games for every pair, of seeds that training never sees. Past selves join as the learner of that moment, so the row of
the newest one says how the learner stands to each member, and that is what priorities are made of until the next one
joins. All of it is a function of the settings and of who joined, so a resumed run goes on with the same league.

With more than two players, a win rate is the share of first places at tables filled with one opponent, which is
1 / players among equals; priorities need it on the scale of duels (`dicegym.learning.evaluate.as_duel`). Of two members
either fills a table with the other one alone in a seat, since who does well among many of a kind need not be hurt by
many of the other. A training at tables of several sizes has one league, which plays at the table of its game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dicegym.engine.game import Game
from dicegym.engine.validate import finite_number
from dicegym.errors import ParameterError
from dicegym.learning.evaluate import LEAGUE_SEED, as_duel, evaluate, rivals_of
from dicegym.learning.league_table import LeagueTable, Result
from dicegym.learning.settings import Priority, SelfPlaySettings
from dicegym.play.player import Player, RandomPlayer
from dicegym.players.pool import Pool

SELF = "self"
"""The name among a run's opponents that stands for all past selves and exploiters together."""
SELDOM = 1e-6
"""The share of past selves that are to sit at tables of copies alone: a pool draws everybody."""
SCRIPTED, PAST_SELF, EXPLOITER = "scripted", "past self", "exploiter"

PRIORITIES: dict[Priority, Callable[[float, float], float]] = {
    "hard": lambda rate, exponent: (1 - rate) ** exponent,
    "even": lambda rate, exponent: rate * (1 - rate),
    "uniform": lambda rate, exponent: 1.0,
}
"""What a member's share is proportional to, given the learner's win rate against it: those who are hard to beat come
first, those who are about as strong, or nobody. The first two are those of AlphaStar."""


@dataclass(frozen=True)
class Member:
    """Somebody whom the learner meets."""

    name: str
    kind: str
    player: Player
    joined: int = 0
    """Steps of the learner by then."""
    weight: float = 1.0
    """Its share among its kin where priorities are equal."""


class LeagueState(NamedTuple):
    """A league at some time, as a checkpoint holds it."""

    members: list[Member]
    table: LeagueTable


class League:
    """Scripted agents, past selves and exploiters, with what is known of who beats whom.

    The shares that the opponents' section gives to each scripted agent, and to `SELF` for all others together, hold
    between the two groups; priorities hold within each. Without `SELF` shares are as given, and nothing is measured.

    Args:
        game: the game.
        opponents: weight by agent's name, `SELF` included; empty: the game's default opponents.
        settings: ``[self_play]``.
        trust: as for `dicegym.agent`.
        alike, distinct, copies: as for `Pool`; copies are past selves and exploiters.

    Raises:
        UnknownNameError, ParameterError: an opponent or its weight cannot be.
        AgentError, ModelError: an opponent cannot be loaded.
    """

    def __init__(
        self,
        game: Game,
        opponents: Mapping[str, float],
        settings: SelfPlaySettings,
        trust: bool = False,
        alike: float = 0.0,
        distinct: float = 0.0,
        copies: float = 0.0,
    ) -> None:
        self.game = game
        self.alike, self.distinct, self.copies = alike, distinct, copies
        self.settings = settings
        usual = game.spec.default_opponent
        weights = dict(opponents) or (dict(usual) if isinstance(usual, Mapping) else {usual: 1.0})
        self._self_weight = weights.pop(SELF, None)
        if self._self_weight is not None:
            nobody = bool(copies) and self._self_weight == 0  # elsewhere
            finite_number(f"weight of {SELF!r}", self._self_weight, "a share of games", above=None if nobody else 0)
        elif copies:
            raise ParameterError(
                f"run.copies={copies!r} cannot be: no past selves join this training. Add {SELF!r} to [opponents], "
                "with the weight it is to have in other games; 0 is none"
            )
        self._begins_alone = not weights
        """Whether somebody must sit there until the first past self joins, and nobody afterwards."""
        fixed = Pool.of(game, weights, trust) if weights else Pool([RandomPlayer()], [1e-6])
        self.fixed = list(fixed.players)
        self.members: list[Member] = []
        self.table = LeagueTable(1 / game.players)
        # Exact values ask a bot's file: its compiled twin, which plays in the batch, hides what it draws.
        self._files = {name: rivals_of(game, name, trust)[0] for name in weights} if self.learns_from_itself else {}
        for name, player, weight in zip(weights or ["uniform"], fixed.players, fixed.weights, strict=True):
            self.join(Member(name, SCRIPTED, player, weight=weight))

    @property
    def learns_from_itself(self) -> bool:
        """Whether past selves join; nobody does where nobody plays against anybody."""
        return self._self_weight is not None and self.game.players > 1

    @property
    def newest(self) -> Member | None:
        """The newest past self."""
        return next((member for member in reversed(self.members) if member.kind == PAST_SELF), None)

    def join(self, member: Member) -> None:
        """Take ``member`` in: it plays against everybody; if there are too many then, the easiest who learned leaves.

        Where one alone is kept, the newest, nothing has to be known of anybody, and nothing is measured.

        Scripted agents play when somebody joins who learned. Raises ParameterError if the name was ever here.
        """
        self.table.add(member.name, member.kind, member.joined)
        self.members.append(member)
        if member.kind == SCRIPTED:
            return
        for number, later in enumerate(self.members if self.settings.keep > 1 else ()):
            for earlier in self.members[:number]:
                self._measure(later, earlier)
                if self.game.players > 2:  # a table full of the one says nothing of a table full of the other
                    self._measure(earlier, later)
        while sum(one.kind != SCRIPTED for one in self.members) > self.settings.keep:
            leaver = self._easiest()
            self.members.remove(leaver)
            self.table.leave(leaver.name)

    def _measure(self, a: Member, b: Member) -> None:
        """Let ``a`` play against ``b`` unless that is known."""
        if self.table.result(a.name, b.name) is None:
            player, rival = self.measured(a), self.measured(b)
            score = evaluate(self.game, player, rival, self.settings.games, seed=LEAGUE_SEED)
            self.table.record(a.name, b.name, Result(score.value, score.games))

    def measured(self, member: Member) -> Player:
        """Return who is asked when a member is measured: of a scripted agent, its file where exact values ask that."""
        return self._files.get(member.name, member.player)

    def _easiest(self) -> Member:
        """Return who is to leave: whom the learner beats most, the oldest of those; the newest past self last."""
        newest = self.newest
        learned = [member for member in self.members if member.kind != SCRIPTED]
        order = {member.name: (member is not newest, self.rate(member), -member.joined) for member in learned}
        return max(learned, key=lambda member: order[member.name])

    def rate(self, member: Member) -> float:
        """Return the learner's win rate against ``member`` on the scale of duels; 0.5 if nothing is known."""
        newest = self.newest
        known = None if newest is None or newest is member else self.table.result(newest.name, member.name)
        if known is None:
            return 0.5
        return as_duel(known.rate, self.game.players)

    def weights(self) -> list[float]:
        """Return each member's weight in the pool, in the order of `members`."""
        scripted = [member for member in self.members if member.kind == SCRIPTED]
        learned = [member for member in self.members if member.kind != SCRIPTED]
        if not learned:
            return [member.weight for member in scripted]
        share: dict[str, float] = {}
        for group, total in (
            (scripted, sum(one.weight for one in scripted)),
            (learned, max(self._self_weight or 0.0, SELDOM * sum(one.weight for one in scripted))),
        ):
            f = PRIORITIES[self.settings.priority]
            wanted = [one.weight * f(self.rate(one), self.settings.exponent) for one in group]
            even = [one.weight / sum(one.weight for one in group) for one in group]
            floor = self.settings.floor if sum(wanted) > 0 else 1.0
            for one, mine, plain in zip(group, wanted, even, strict=True):
                prior = mine / sum(wanted) if floor < 1 else 0.0
                share[one.name] = total * (floor * plain + (1 - floor) * prior)
        return [share[member.name] for member in self.members]

    def pool(self) -> Pool:
        """Return the opponents of a batch as they are now."""
        first = int(self._begins_alone and len(self.members) > 1)  # or it sat at each table where all are to differ
        players = [member.player for member in self.members[first:]]
        learned = sum(member.kind != SCRIPTED for member in self.members)
        return Pool(players, self.weights()[first:], self.alike, self.distinct, self.copies, learned)

    def shares(self) -> dict[str, float]:
        """Return the part of all games that each member gets, by name."""
        weights = self.weights()
        return {member.name: weight / sum(weights) for member, weight in zip(self.members, weights, strict=True)}

    def state(self) -> LeagueState:
        """Return who is here and what is known: what `load_state` needs. Later changes do not change it."""
        return LeagueState(list(self.members), self.table.copy())

    def load_state(self, state: LeagueState) -> None:
        """Go on where `state` was taken."""
        self.members, self.table = list(state.members), state.table.copy()
