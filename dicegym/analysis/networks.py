"""A valuer made of a trained model's critic: what states are worth by the network that was trained beside its policy.

Models of PPO, MaskablePPO and A2C have a critic. The models that ship have none, as they hold their policies alone.
`dicegym.players.model.load_model` reads the weights as data; it needs the extra ``train``. A critic estimates the
rewards to come for the seat that is about to move; the valuer adds what that seat has earned so far. Critics are
mostly trained against weaker opponents, so they overestimate every seat. Where returns sum to zero, the valuer asks
for all seats and subtracts the same excess from each. For two players the return, from -1 to 1, becomes a win rate.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.analysis.beliefs import Beliefs
from dicegym.analysis.playing_on import results
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.envs.privileged import Privileged
from dicegym.errors import ModelError, one_line
from dicegym.games.worth import ActionValues, ValueKind, ValueUnit
from dicegym.players.drawing import DRAWN, probabilities
from dicegym.players.model import PolicyPlayer, check_fit, facts, load_model, privileged_of
from dicegym.players.model_file import temperature_in
from dicegym.players.sb3_plain import has_critic, weights_of

CRITICS = ("PPO", "MaskablePPO", "FastMaskablePPO", "A2C")
"""Algorithms whose models have a critic."""
RESULT = "win"
"""The reward that a critic must have been trained for, as values are of results."""
DRAWS = 64
"""States after each action that are looked at: hidden dice and dice to come drawn anew in each."""


class NetworkValuer:
    """What states are worth by the critic of a model.

    Args:
        path: the model's file.
        game: the game; default: what it was trained on.
        draws: states after each action that are looked at.
        seed: names their dice.

    Raises:
        ModelError: the model has no critic, or another game's. Models that ship have none.
        DependencyError: PyTorch is missing.
    """

    name = "network"
    kind: ValueKind = "network"
    sees_all = False

    def __init__(
        self, path: str | os.PathLike[str], game: Game | None = None, draws: int = DRAWS, seed: int = 0
    ) -> None:
        about = facts(path)
        if about.get("algorithm") not in CRITICS:
            algorithm = one_line(about.get("algorithm"), 40)
            raise ModelError(f"{path} is a {algorithm} model, which has no critic: give one of {', '.join(CRITICS)}")
        if not has_critic(weights_of(path)):
            raise ModelError(
                f"{path} holds no critic, as models that ship do not: give one that your own training or "
                "dicegym.save_model wrote"
            )
        model, its_game = load_model(path, game)
        self.game = its_game if game is None else game
        check_fit(str(path), its_game, self.game)
        settings = about.get("settings") or {}
        self._scale = float((settings.get("run") or {}).get("reward_scale") or 1.0)
        if (paid := _paid(about)) != RESULT:
            raise ModelError(
                f"{path} was trained with reward={paid!r}, so its critic says nothing of results: "
                f"give one of reward={RESULT!r}"
            )
        self.unit: ValueUnit = (
            "points" if self.game.players == 1 else "win rate" if self.game.players == 2 else "return"
        )
        self._critic = _critic(path, model)
        self._hidden = Privileged(self.game) if privileged_of(model) else None
        if self._hidden is not None and self._hidden.size != privileged_of(model):
            raise ModelError(f"the critic of {path} saw what other numbers of players hide")
        self._player = PolicyPlayer(model, self.game, Path(path).stem, temperature=temperature_in(path))
        self._draws, self._seed = draws, seed
        self.sure = f"estimates by the critic of {Path(path).stem}, whose own errors are not known"

    def value(self, state: Any, seat: int) -> float:
        """Return what the critic says; see `dicegym.games.worth.Valuer`."""
        states = self.game.new_states(1)
        states[0] = state
        return float(self.values_rows(states)[0, seat])

    def values_rows(self, states: np.ndarray) -> np.ndarray:
        """Return `value` of every state for every seat: float64[states, players]."""
        n, players = len(states), self.game.players
        rows = np.arange(n)
        observations = np.zeros((n, self.game.observation_size), np.float32)
        masks = np.zeros((n, self.game.n_actions), np.bool_)
        gained = np.zeros((n, players), np.float32)
        found = np.zeros((n, players))
        for seat in range(players):
            seats = np.full(n, seat)
            loops.observe_rows(states, rows, seats, observations, masks, gained)
            seen = observations
            if self._hidden is not None:
                seen = np.concatenate([observations, self._hidden.of(states, seats)], axis=1)
            found[:, seat] = gained[:, seat] + self._critic.scores(seen)[:, 0] / self._scale
        if self.game.spec.zero_sum and players > 1:
            found -= found.mean(axis=1, keepdims=True)
        if self.unit == "win rate":
            found = (found.clip(-1, 1) + 1) / 2
        over = states["over"].astype(bool)
        if over.any():
            found[over] = gained[over] if self.unit == "return" else results(self.game, states[over])
        return found

    def action_values(self, state: Any) -> ActionValues:
        """Return the mean of what the critic says after each legal action; errors are those of the dice alone."""
        size = self.game.n_actions
        values, errors = np.full(size, np.nan), np.full(size, np.nan)
        if not state["over"]:
            actions = np.flatnonzero(self.game.legal(state)).tolist()
            for action, found in zip(actions, self._after(state, actions), strict=True):
                values[action] = found.mean()
                errors[action] = found.std(ddof=1) / np.sqrt(len(found))
        return ActionValues(values, errors)

    def action_values_rows(self, states: np.ndarray) -> ActionValues:
        """Return `action_values` of every state, none of which is over."""
        found = [self.action_values(state) for state in states]
        return ActionValues(np.stack([one.values for one in found]), np.stack([one.errors for one in found]))

    def action_value(self, state: Any, action: int) -> float:
        """Return the same of one action; nan when the game is over."""
        return float("nan") if state["over"] else float(self._after(state, [action])[0].mean())

    def policy(self, state: Any) -> np.ndarray:
        """Return the probabilities that the model's policy gives to legal actions, also if it plays the best alone."""
        chances = np.zeros(self.game.n_actions)
        if not state["over"]:
            scores = self._player.scores(self.game.observe(state, int(state["player"]))[None])
            chances[:] = probabilities(scores, self.game.legal(state)[None], self._player.temperature or DRAWN)[0]
        return chances

    def _after(self, state: Any, actions: list[int]) -> list[np.ndarray]:
        """Return what is said of the states after each action, for who moved: float64[draws] each."""
        mover = int(state["player"])
        beliefs = Beliefs(self.game, state, [self._player] * self.game.players)
        generator = np.random.default_rng(named_seed("network", self._seed))
        keys = generator.integers(0, 1 << 64, self._draws, dtype=np.uint64)
        dealt = beliefs.deal(self._draws, keys, generator)
        states = self.game.new_states(self._draws * len(actions))
        for number in range(len(actions)):
            states[number * self._draws : (number + 1) * self._draws] = dealt
        faults = np.zeros(len(states), np.int64)
        played = np.repeat(np.array(actions, np.int64), self._draws)
        loops.step_rows(states, np.arange(len(states)), played, faults)
        return np.split(self.values_rows(states)[:, mover], len(actions))


def _critic(path: Any, model: Any) -> Any:
    """Return what computes the values of a model. Raises ModelError if it has none."""
    import torch

    from dicegym.players.torch_policy import TorchPolicy

    policy = model.policy
    try:
        parts = (policy.vf_features_extractor, policy.mlp_extractor.value_net, policy.value_net)
    except AttributeError:
        raise ModelError(f"{path} has no critic of its own: give a model of PPO, MaskablePPO or A2C") from None
    return TorchPolicy(torch.nn.Sequential(*parts))


def _paid(about: Mapping[str, Any]) -> str:
    """Return for which reward a model was trained."""
    return str(((about.get("settings") or {}).get("environment") or {}).get("reward", RESULT))
