"""Observations for critics: what others hide stands behind what the seat knows, and nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

import dicegym
from dicegym.engine.game import Game
from dicegym.envs.privileged import Privileged, private_parts
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.players.asymmetric import AsymmetricPolicy
from dicegym.registry import GAMES


def sighted(game: Game) -> Game:
    """Return the game in which a seat sees all that it could know."""
    return dicegym.game(game.name, players=game.players, **{**game.parameters, **game.spec.sighted})


HIDING = [name for name in GAMES if dicegym.game(name).spec.private]
each_hiding = pytest.mark.parametrize("name", HIDING)


def test_the_games_with_hidden_dice_have_private_parts_and_others_none() -> None:
    """Bids are public, dice are not; Yatzy has no secrets between seats."""
    assert {"hog", "liarsdice", "liarsdice_spot_on"} <= set(HIDING)
    assert all(private_parts(sighted(dicegym.game(name))) for name in HIDING)
    assert "own dice" in private_parts(dicegym.game("liarsdice"))
    assert not {"bids", "dice left", "bid face"} & set(private_parts(dicegym.game("liarsdice")))
    for name in set(GAMES) - set(HIDING):
        with pytest.raises(ParameterError, match="leave privileged out"):
            SB3VecEnv(name, 2, privileged=True)
    with pytest.raises(ParameterError, match="it has one player"):
        Privileged(dicegym.game("yatzy", players=1))
    with pytest.raises(ParameterError, match="max_episode_steps"):
        SB3VecEnv("liarsdice", 2, privileged=True, max_episode_steps=5)


@each_hiding
def test_games_are_the_same_and_the_others_private_parts_stand_behind(name: str) -> None:
    """Observations begin alike, rewards and ends are the same, and the rest is what the others see of themselves."""
    plain, more = (SB3VecEnv(name, 8, seed=3, privileged=privileged) for privileged in (False, True))
    game = plain.batch.game
    seen, wide = np.asarray(plain.reset()), np.asarray(more.reset())
    generator = np.random.default_rng(1)
    ended = 0
    for _ in range(30):
        np.testing.assert_array_equal(seen, wide[:, : game.observation_size])
        showing = sighted(game)
        parts = private_parts(showing)
        shown_itself = set(parts) <= set(game.features)
        for row in range(8):
            state, seat = more.batch.states[row].copy(), int(more.batch.seats[row])
            for parameter, value in game.spec.sighted.items():
                state[parameter] = value
            told: list[np.ndarray] = []
            for left in range(int(shown_itself), game.players):
                looked = showing.observe(state, (seat + left) % game.players)
                pieces = np.split(looked, np.cumsum(list(showing.features.values()))[:-1])
                told += [piece for name, piece in zip(showing.features, pieces, strict=True) if name in parts]
            np.testing.assert_array_equal(np.concatenate(told), wide[row, game.observation_size :])
        masks = plain.action_masks()
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])
        (next_seen, rewards, dones, infos), (next_wide, same, over, told_of) = plain.step(actions), more.step(actions)
        seen, wide = np.asarray(next_seen), np.asarray(next_wide)
        np.testing.assert_array_equal(rewards, same)
        np.testing.assert_array_equal(dones, over)
        for row in np.flatnonzero(dones).tolist():
            ended += 1
            last = told_of[row]["terminal_observation"]
            np.testing.assert_array_equal(last[: game.observation_size], infos[row]["terminal_observation"])
            assert last.shape == more.observation_space.shape
            assert not last[game.observation_size :].any()
    assert ended or name == "lucky"
    assert more.privileged == wide.shape[1] - seen.shape[1] > 0


@pytest.mark.parametrize("name", [name for name in GAMES if dicegym.game(name).spec.sighted])
def test_what_shows_a_seat_more_changes_observations_alone(name: str) -> None:
    game = dicegym.game(name)
    more = sighted(game)
    ours, theirs = game.batch(16, seed=2), more.batch(16, seed=2)
    for time in range(100):
        np.testing.assert_array_equal(ours.masks, theirs.masks)
        actions = ours.random_actions(time)
        ours.step(actions)
        theirs.step(actions)
        for field in ours.states.dtype.names or ():
            if field not in game.spec.sighted:
                np.testing.assert_array_equal(ours.states[field], theirs.states[field])


def test_in_hog_the_critic_is_shown_the_runs_and_exchanges_of_both_where_players_remember_nothing() -> None:
    game = dicegym.game("hog")
    states = game.batch(2).states
    states["runs"][0], states["exchanges"][0] = (2, 0), (0, 1)
    own, other = [0, 0, 1, 0, 1, 0], [1, 0, 0, 0, 0, 1]
    before = states.copy()
    assert Privileged(game).of(states, np.array([0, 0]))[0].tolist() == own + other
    assert Privileged(game).of(states, np.array([1, 1]))[0].tolist() == other + own
    assert (states == before).all()
    states["memory"] = 1
    assert Privileged(dicegym.game("hog", memory=1)).of(states, np.array([0, 0]))[0].tolist() == other


@each_hiding
def test_the_policy_never_depends_on_what_others_hide(name: str) -> None:
    """Neither its logits, nor the gradients of its loss: the critic alone has any of the privileged numbers."""
    games = SB3VecEnv(name, 4, seed=1, privileged=True)
    model = MaskablePPO(
        AsymmetricPolicy, games, n_steps=8, batch_size=16, device="cpu", policy_kwargs={"privileged": games.privileged}
    )
    size = games.batch.game.observation_size
    seen = torch.as_tensor(np.asarray(games.reset()))
    other = seen.clone()
    other[:, size:] = torch.rand(other[:, size:].shape)
    policy: Any = model.policy

    def logits(observations: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = policy.get_distribution(observations).distribution.logits
        return found

    assert torch.equal(logits(seen), logits(other))
    assert torch.equal(logits(seen), logits(seen[:, :size]))
    assert not torch.equal(policy.predict_values(seen), policy.predict_values(other))
    seen.requires_grad_()
    values, chances, entropy = policy.evaluate_actions(seen, torch.zeros(4, dtype=torch.long))
    assert entropy is not None
    of_policy = torch.autograd.grad((chances - entropy).sum(), seen, retain_graph=True)[0]
    assert of_policy[:, :size].any()
    assert not of_policy[:, size:].any()
    assert torch.autograd.grad(values.sum(), seen)[0][:, size:].any()
    of_critic = [weight for key, weight in policy.named_parameters() if "value" in key]
    for one in torch.autograd.grad(logits(seen).sum(), of_critic, allow_unused=True):
        assert one is None
    model.learn(32)
