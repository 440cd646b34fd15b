"""The Stable-Baselines3 environment of every registered game, and models as players."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hostile_models import changed

from dicegym.engine import thread_team
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED
from dicegym.engine.thread_team import ThreadTeam
from dicegym.registry import Environment

pytest.importorskip("sb3_contrib")
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import A2C, DQN, PPO

import dicegym
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ModelError, ParameterError
from dicegym.play.player import FunctionPlayer
from dicegym.play.turn import Turn
from dicegym.players import model as models
from dicegym.players import model_file, sb3_models
from dicegym.registry import ENVIRONMENTS, GAMES

each_environment = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.id)
GAME = GAMES[0]
MIDDLE = FunctionPlayer(lambda turn: int(np.flatnonzero(turn.mask)[turn.mask.sum() // 2]), "middle", pure=True)

ON_POLICY = {"n_steps": 16, "device": "cpu", "seed": 1}
OFF_POLICY = {"learning_starts": 32, "buffer_size": 500, "batch_size": 16, "device": "cpu", "seed": 1}


def algorithms() -> dict[str, Any]:
    return {
        "MaskablePPO": (MaskablePPO, ON_POLICY | {"batch_size": 32, "n_epochs": 1}),
        "PPO": (PPO, ON_POLICY | {"batch_size": 32, "n_epochs": 1}),
        "A2C": (A2C, ON_POLICY),
        "DQN": (DQN, OFF_POLICY),
    }


each_training = pytest.mark.parametrize(
    ("name", "label"),
    [  # every game by one algorithm, and every algorithm on one game
        pytest.param(name, label, marks=[] if name == GAME or label == "MaskablePPO" else [pytest.mark.slow])
        for label in algorithms()
        for name in GAMES
    ],
)


@functools.cache
def trained(name: str, label: str) -> Any:
    """Return a briefly trained model of an algorithm on a game."""
    algorithm, options = algorithms()[label]
    return algorithm("MlpPolicy", SB3VecEnv(name, 4, seed=0, opponent=MIDDLE), **options).learn(64)


def some_states(game: Game, n: int = 200) -> np.ndarray:
    """Turns of random games, with their records."""
    batch = game.batch(n, seed=3)
    for time in range(7):
        batch.step(batch.random_actions(time).copy())
    return batch.states.copy()


@each_environment
def test_vec_env_reports_what_the_batch_environment_plays(environment: Environment) -> None:
    n = 3
    settings = {"opponent": MIDDLE, **environment.settings}
    vec = SB3VecEnv(environment.game, n, seed=11, **settings)
    plain = gym.make_vec(environment.full_id, num_envs=n, autoreset_mode="SameStep", opponent=MIDDLE)
    seen, (expected, info) = vec.reset(), plain.reset(seed=11)
    assert (seen == expected).all()
    rng = np.random.default_rng(0)
    returns, lengths, ended = np.zeros(n), np.zeros(n), 0
    while ended < 2 * n:
        masks = np.stack(vec.env_method("action_masks"))
        assert (masks == info["action_mask"]).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        seen, rewards, dones, infos = vec.step(actions)
        expected, rewards_0, terminated, _, info = plain.step(actions)
        assert (seen == expected).all()
        assert (rewards == rewards_0.astype(np.float32)).all()
        assert (dones == terminated).all()
        returns += rewards_0
        lengths += 1
        for row in range(n):
            assert bool(infos[row]) == bool(dones[row])
            if dones[row]:
                ended += 1
                assert (infos[row]["terminal_observation"] == info["final_obs"][row]).all()
                assert infos[row]["TimeLimit.truncated"] is False
                assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
                assert infos[row]["episode"]["l"] == lengths[row]
                returns[row] = lengths[row] = 0


def test_what_is_written_into_infos_is_not_seen_in_later_steps() -> None:
    vec = SB3VecEnv("hog", 3, seed=0)
    vec.reset()
    _, _, _, before = vec.step(np.array([2, 2, 2]))
    assert before == [{}, {}, {}]
    before[1]["mine"] = 1
    _, _, _, after = vec.step(np.array([2, 2, 2]))
    assert after == [{}, {}, {}]
    assert before == [{}, {"mine": 1}, {}]
    assert len({id(info) for info in after}) == 3


def test_returns_and_faults_are_told_at_every_end() -> None:
    vec = SB3VecEnv("hog", 64, seed=0, on_illegal="terminate", max_episode_steps=9)
    vec.reset()
    kinds = set()
    for step in range(40):
        actions = np.full(64, 6)
        actions[:8] = 99 if step % 5 == 4 else 6  # no action of the game
        _, _, _, infos = vec.step(actions)
        for row, info in enumerate(infos):
            if info:
                refused = actions[row] == 99
                kinds.add((refused, info["TimeLimit.truncated"]))
                assert info["fault"] == ("illegal action" if refused else "")
                paid = -1.0 if refused else 0.0
                assert info["returns"][info["seat"]] == pytest.approx(info["episode"]["r"] - paid)
    assert kinds == {(False, False), (False, True), (True, False)}


def test_a_few_games_are_shared_out_where_helpers_are_awake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.engine.thread_team.FEW_ROWS", 16)
    one, two = (SB3VecEnv("yatzy", 40, seed=3, threads=threads) for threads in (1, 2))
    assert (one.reset() == two.reset()).all()
    monkeypatch.setattr(thread_team, "_free", [])
    ended = 0
    for step in range(60):
        monkeypatch.setattr(ThreadTeam, "awake", lambda team, awake=step % 3 > 0: awake)
        actions = one.action_masks().argmax(axis=1)
        (*arrays, infos), (*same, told) = one.step(actions), two.step(actions)
        assert all((a == b).all() for a, b in zip(arrays, same, strict=True))
        assert [info.get("episode") for info in infos] == [info.get("episode") for info in told]
        ended += sum(map(bool, infos))
    assert ended == 40
    assert bool(thread_team._free) == COMPILED  # a helper was at work


def test_a_batch_has_the_attributes_and_seeds_of_a_vec_env() -> None:
    vec, scaled = (
        SB3VecEnv("hog", 3, seat="alternate"),
        SB3VecEnv("hog", 3, seed=7, seat="alternate", reward_scale=0.25),
    )
    vec.seed(7)
    for number in range(2):  # a seed is used once
        assert (vec.reset() == scaled.reset()).all()
        assert number or [info["seat"] for info in vec.reset_infos] == [0, 0, 0]
        assert [info["action_mask"].dtype for info in vec.reset_infos] == [np.int8] * 3
        assert (np.stack([info["action_mask"] for info in vec.reset_infos]) == vec.action_masks()).all()
        for _ in range(40):
            (seen, rewards, _, infos), (same, quarter, _, told) = (one.step(np.full(3, 6)) for one in (vec, scaled))
            assert (seen == same).all()
            assert np.array_equal(rewards * 0.25, quarter)
            assert [info.get("episode") for info in infos] == [info.get("episode") for info in told]
    assert vec.get_attr("illegal_reward") == [-1.0] * 3
    assert vec.has_attr("action_masks")
    assert not vec.has_attr("no_such_attribute")
    with pytest.raises(ParameterError, match="cannot be set later: make another SB3VecEnv"):
        vec.set_attr("illegal_reward", -2.0)
    with pytest.raises(ParameterError, match="some games only"):
        vec.env_method("reset", indices=[0])
    with pytest.raises(ParameterError, match="are not supported"):
        vec.set_options({"seat": 1})
    with pytest.raises(ParameterError, match="same-step"):
        SB3VecEnv("hog", 3, autoreset_mode="NextStep")


@each_training
def test_every_algorithm_chooses_legally_alone_as_among_many_and_as_in_the_library(name: str, label: str) -> None:
    model = trained(name, label)
    assert model.num_timesteps >= 64
    game = dicegym.game(name)
    player = models.PolicyPlayer(model, game)
    states = some_states(game)
    seats = states["player"].astype(np.int64)
    together = player.act_rows(game, states, np.arange(len(states)), seats)
    act = player.join(game, 0, 0)
    alone = [act(Turn(game, state, int(seat))) for state, seat in zip(states, seats, strict=True)]
    assert together.tolist() == alone
    observations = np.stack([game.observe(state, int(seat)) for state, seat in zip(states, seats, strict=True)])
    masks = np.stack([game.legal(state) for state in states])
    assert masks[np.arange(len(masks)), together].all()
    masked = {"action_masks": masks} if label == "MaskablePPO" else {}
    if masked or masks.all():
        library = model.predict(observations, deterministic=True, **masked)[0]
        assert (library == together).mean() > 0.99  # float32 there, float64 here: near ties may differ


@pytest.mark.parametrize("algorithm", [MaskablePPO, DQN])
def test_inputs_can_be_ignored_for_a_while(algorithm: Any) -> None:
    model = algorithm("MlpPolicy", SB3VecEnv("hog", 4, seed=1), policy_kwargs={"net_arch": [62, 62]}, device="cpu")
    game = dicegym.game("hog")
    ignored = np.arange(game.observation_size) % 5 == 0
    seen = np.random.default_rng(0).random((20, game.observation_size), np.float32)
    other = np.where(ignored, 1 - seen, seen).astype(np.float32)
    before = models.PolicyPlayer(model, game).policy.scores(seen)
    with sb3_models.ignore_inputs(model, ignored):
        player = models.PolicyPlayer(model, game)
    assert np.array_equal(player.policy.scores(seen), player.policy.scores(other))
    assert not np.allclose(before, player.policy.scores(seen))
    assert np.array_equal(models.PolicyPlayer(model, game).policy.scores(seen), before)
    with pytest.raises(KeyboardInterrupt), sb3_models.ignore_inputs(model, ignored):
        raise KeyboardInterrupt
    assert np.array_equal(models.PolicyPlayer(model, game).policy.scores(seen), before)


def test_sb3_contribs_evaluation_plays_the_batch() -> None:
    model = MaskablePPO("MlpPolicy", SB3VecEnv("yatzy", 8, seed=0, players=1), n_steps=8, batch_size=32)
    returns, lengths = evaluate_policy(
        model, SB3VecEnv("yatzy", 8, seed=1, players=1), n_eval_episodes=8, return_episode_rewards=True
    )
    assert len(returns) == len(lengths) == 8
    assert all(0 <= points <= 374 for points in returns)
    assert all(15 <= length <= 45 for length in lengths)


def test_models_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    game, path = dicegym.game("hog"), tmp_path / "learned.zip"
    models.save(trained("hog", "PPO"), game, path, {"note": "kept"})
    about = model_file.facts(path)
    assert (about["game"], about["algorithm"], about["note"]) == ("hog", "PPO", "kept")
    assert [file.name for file in tmp_path.iterdir()] == ["learned.zip"]
    with pytest.raises(ModelError, match="goal=50"):
        models.load(path, dicegym.game("hog", goal=50))
    for changes, load, match in (
        ({"fingerprint": "0" * 16}, models.load, "was trained on other rules"),
        ({"algorithm": "SAC"}, sb3_models.load_model, "algorithm 'SAC'"),
        ({"parameters": None}, models.load, "incomplete"),
    ):
        other = {model_file.MEMBER: json.dumps({**about, **changes}).encode()}
        with pytest.raises(ModelError, match=match):
            load(changed(path, tmp_path / "other.zip", other), game)
    with pytest.raises(ModelError, match=r"observations \(62,\)"):
        models.PolicyPlayer(trained("hog", "PPO"), dicegym.game("hog", memory=1))
    with pytest.raises(ModelError, match="cannot play"):
        models.load(path, game).join(dicegym.game("hog", goal=50), 0, 0)
