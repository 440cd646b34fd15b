"""The learner while it learns: begun with another's networks, annealed, seen as a player."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm

from dicegym.engine.game import Game
from dicegym.errors import ParameterError, one_line
from dicegym.learning.critics import but_critic, other_critic
from dicegym.learning.model_curve import CURVE, readable
from dicegym.learning.settings import AlgorithmSettings
from dicegym.players import model as models
from dicegym.players.model import PolicyPlayer
from dicegym.players.roster import model_file
from dicegym.players.sb3 import has_critic, weights_of

STAGE = ("command", "timesteps", "seconds", "taught_by", "began_with")
"""What a model says of the one whose networks it began with."""

_ANY_CRITIC = (
    ". It was taught, and its value network (vf) never learned: with other layers for vf a new one begins beside its "
    "policy, as who learns by rewards needs one of about the policy's sizes"
)


def anneal(model: BaseAlgorithm, settings: AlgorithmSettings, done: float) -> None:
    """Let the entropy bonus change linearly, which the algorithms themselves do for the learning rate alone.

    Args:
        model: the learner, whose bonus is set.
        settings: with the bonus at the beginning and at the end; without the latter it stays.
        done: the part of the training that is over, from 0 to 1.
    """
    if settings.ent_coef is not None and settings.ent_coef_end is not None:
        model.__dict__["ent_coef"] = (1 - done) * settings.ent_coef + done * settings.ent_coef_end


def start_from(
    model: BaseAlgorithm, named: str, game: Game, own_critic: bool = False
) -> tuple[dict[str, Any], np.ndarray]:
    """Let ``model`` take over the networks of another one, a file or a trained agent of ``game``.

    With ``own_critic`` it keeps its value network. So it does if that of the other one was left out of its file, as in
    models that ship, or if the other one was taught, which teaches no values, and has a value network of other layers.

    Returns:
        What the file says of its training, for the facts of what becomes of it; and the inputs that its networks
        do not ignore (bool[what it observes]).

    Raises:
        ModelError: the file is no model of the game.
        UnknownNameError: there is no such agent, or it is a bot.
        ParameterError: its networks do not fit.
    """
    path = model_file(game, named, "run.start_from")
    models.check_fit(str(path), models.trained_on(path), game)
    facts = models.facts(path)
    weights = weights_of(path)
    taught = bool(facts.get("taught_by"))
    if own_critic or not has_critic(weights) or (taught and other_critic(weights, model)):
        weights = but_critic(weights, model)
    _widen_critic(weights, model)
    try:
        model.policy.load_state_dict(weights)
    except (RuntimeError, AttributeError) as error:
        settings = facts.get("settings")
        wanted = settings.get("network") if isinstance(settings, dict) else None
        raise ParameterError(
            f"run.start_from={named!r} has other networks than [network] says: set [network] to "
            f"{one_line(wanted or 'those of that model')}{_ANY_CRITIC if taught else ''}"
        ) from error
    stage = {name: facts[name] for name in STAGE if name in facts} | {"path": named}
    if (curve := readable(facts)) is not None:  # what is none is nothing to carry on
        stage[CURVE] = curve.to_json()
    return stage, models.heeded(model)


class LearnerNetworks(NamedTuple):
    """Those of a learner at some time, as its file would hold them."""

    weights: dict[str, torch.Tensor]
    heeded: np.ndarray
    """bool[what they observe]: inputs that they do not ignore."""

    @classmethod
    def of(cls, model: BaseAlgorithm, met: np.ndarray) -> LearnerNetworks:
        """Return a copy of the networks of ``model``, which ignore inputs that were never ``met``."""
        with models.ignoring(model, ~met):
            weights = {name: value.detach().clone() for name, value in model.policy.state_dict().items()}
        return cls(weights, met.copy())


def _widen_critic(weights: dict[str, Any], model: BaseAlgorithm) -> None:
    """Let a critic that saw less take no notice, at first, of what that of ``model`` sees beyond."""
    name = "mlp_extractor.value_net.0.weight"
    wanted = model.policy.state_dict().get(name)
    found = weights.get(name)
    more = 0 if found is None or wanted is None else wanted.shape[1] - found.shape[1]
    if 0 < more <= models.privileged_of(model):
        weights[name] = torch.nn.functional.pad(torch.as_tensor(found), (0, more))


def as_player(
    model: BaseAlgorithm, game: Game, met: np.ndarray, name: str = "learner", temperature: float | None = None
) -> PolicyPlayer:
    """Return the learner as it is now (a copy), ignoring inputs that it never ``met`` (bool[what it observes]).

    It plays at ``temperature`` (``[run] temperature``), as its file will; None: as is usual in the game.
    """
    heat = models.temperature_for(model, game) if temperature is None else temperature
    with models.ignoring(model, ~met):
        return PolicyPlayer(model, game, name, temperature=heat)
