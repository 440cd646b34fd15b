"""What a seat may believe of what it does not see, and deals drawn from that.

Dice that others hide: each roll that its game's ``chance.py`` lists as unseen is weighed by how likely whoever saw it
would then have acted as it did (Bayes' rule, each roll counted through, nothing sampled). What others have chosen in
secret in the present round is taken back and chosen again by those who play the games on. Secret fields, which no seat
may know, are supposed to be as in a new game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.policies import choose_rows, likelihoods, policy_player, record_bytes, usual_policy
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hidden import hidden_fields
from dicegym.games.parts import CHANCE, SECRETS, part
from dicegym.play.player import Player


class Belief(NamedTuple):
    """What is believed of one draw of chance that somebody else saw."""

    draw: int
    """Its number, as the game's ``chance.py`` has it."""
    chances: np.ndarray
    """float64[outcomes]: how likely each outcome is."""
    names: tuple[str, ...]
    """The outcomes in words."""


class Beliefs:
    """What the seat to move may believe of a state, and states drawn from it.

    Args:
        game: the game.
        state: its record; of what is hidden from the seat to move nothing is read.
        players: by seat, who they are supposed to be.

    Attributes:
        seat: the seat to move.
        draws: a `Belief` for each hidden draw.
        weighed: whether all that others have done tells of what they hide: not what those who are supposed to sit there
            would never do, nor anything if it is not known what they would do.

    Raises:
        ParameterError: the game hides something, and nothing says what may be believed of it.
    """

    def __init__(self, game: Game, state: Any, players: Sequence[Player]) -> None:
        self.game = game
        self.seat = int(state["player"])
        self._players = players
        self._base = game.new_states(1)
        self._base[0] = state
        begun = game.new_game()
        for name in game.spec.secret:
            self._base[name] = begun[name]
        self.weighed = True
        chance = part(game, CHANCE)
        self.draws: list[Belief] = []
        self._settled: list[tuple[np.ndarray, np.ndarray]] = []
        self._in_secret = game.spec.joint_action is not None
        if self._in_secret:
            secrets = part(game, SECRETS)
            if secrets is None:
                raise _unknown(game)
            for other in range(game.players):
                if other != self.seat:
                    secrets.withdraw(self._base[0], other)
        elif chance is not None:
            for draw in chance.unseen(self._base[0], self.seat):
                self._add(chance, draw)
        elif hidden_fields(game):
            raise _unknown(game)

    def _add(self, chance: Any, draw: int) -> None:
        """Weigh the outcomes of one draw."""
        listed = chance.outcomes(self._base[0], draw)
        weights = np.array([probability for probability, _ in listed])
        settled = np.repeat(self._base, len(listed))
        for outcome in range(len(listed)):
            chance.settle(settled[outcome], draw, outcome)
        raw = record_bytes(settled)
        places = np.flatnonzero((raw != raw[0]).any(axis=0))
        hidden = raw[:, places].copy()
        for before, action in chance.decisions(self._base[0], draw):
            asked = self.game.new_states(len(listed))
            asked[:] = before
            record_bytes(asked)[:, places] = hidden
            seat = int(before["player"])
            found = likelihoods(self._players[seat], self.game, asked, action)
            if found is None or not (weights * found).sum() > 0:  # whoever is supposed to sit there would not do that
                self.weighed = False
            else:
                weights *= found
        self.draws.append(Belief(draw, weights / weights.sum(), tuple(name for _, name in listed)))
        self._settled.append((places, hidden))

    def deal(self, n: int, keys: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Return ``n`` states that the seat to move may be in.

        Args:
            n: how many.
            keys: uint64[n], of the games.
            generator: draws what is hidden.
        """
        states = self.game.new_states(n)
        states[:] = self._base[0]
        states["key"] = keys
        raw = record_bytes(states)
        for belief, (places, hidden) in zip(self.draws, self._settled, strict=True):
            edges = belief.chances.cumsum()
            drawn = edges.searchsorted(generator.random(n) * edges[-1], side="right").clip(max=len(edges) - 1)
            raw[:, places] = hidden[drawn]
        if self._in_secret:
            self._choose_again(states)
        return states

    def _choose_again(self, states: np.ndarray) -> None:
        """Let the seats before the one to move make their secret choices, which have been taken back."""
        faults = np.zeros(len(states), np.int64)
        states["player"] = 0
        acts: list[dict[int, Any]] = [{} for _ in self._players]
        while True:
            waiting = np.flatnonzero(states["player"] < self.seat)
            if len(waiting) == 0:
                return
            seats = states["player"][waiting].astype(np.int64)
            for seat in np.unique(seats).tolist():
                its = waiting[seats == seat]
                own = np.full(len(its), seat, np.int64)
                actions = choose_rows(self._players[seat], self.game, states, its, own, acts[seat])
                loops.step_rows(states, its, actions, faults)


def fork(game: Game, state: Any, seed: int = 0, *, against: Any = None, trust: bool = False) -> np.ndarray:
    """Return another game that the seat to move may be in, as far as it can know: for planning.

    The dice to come are fresh, and what is hidden from that seat is drawn anew, as it may believe by what others have
    done. ``state.copy()`` is the same game instead, in which all dice to come are those of the original.

    Args:
        game: the game.
        state: its record, in which somebody is to move. What that player may not know is not read: it may be zero.
        seed: names the dice; the same seed forks alike.
        against: who the others are supposed to be: an agent's name, a `dicegym.Player` or a valuer; default:
            `dicegym.analysis.policies.usual_policy`.
        trust: as of `dicegym.agent`.

    Returns:
        An array of one record, as `dicegym.Game.new_game` returns it.

    Raises:
        ParameterError: the game is over, or hides something of which nothing says what may be believed.
        UnknownNameError, AgentError, ModelError, DependencyError: the others cannot play; see `dicegym.agent`.
    """
    if state["over"]:
        raise ParameterError("the game is over: it has no dice to come that could be other ones")
    players: list[Player] = []
    if hidden_fields(game):
        players = [policy_player(game, usual_policy(game) if against is None else against, trust)] * game.players
    generator = np.random.default_rng(named_seed("fork", seed))
    keys = generator.integers(0, 1 << 64, 1, dtype=np.uint64)
    return Beliefs(game, state, players).deal(1, keys, generator)


def _unknown(game: Game) -> ParameterError:
    fields = ", ".join(sorted(hidden_fields(game)))
    kind = "Chance" if game.spec.joint_action is None else "SecretChoices"
    return ParameterError(
        f"{game.spec.title} hides {fields}, and nothing says what may be believed of it: write chance.py beside its "
        f"rules, as the protocol {kind} of dicegym.games.parts says"
    )
