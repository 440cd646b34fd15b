"""Trainers side by side: who has a row, what its figures are, and that the plain loop learns."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from benchmarks import report, trainer_table, trainers
from benchmarks.figures import Figure, Skipped
from benchmarks.options import Options
from benchmarks.plain_ppo import PlainPPO
from benchmarks.run import run_bench
from benchmarks.training import FreeVecEnv
from benchmarks.training_setup import TrainingSetup
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.configuration import read_config
from dicegym.learning.training_settings import AlgorithmSettings, NetworkSettings, TrainingSettings
from dicegym.registry import GAMES

pytestmark = pytest.mark.slow

TINY = TrainingSetup(games=8, single=2, rollout=64, batch_size=32, epochs=1, configurations=False)


class _Timed:
    """A trainer whose rounds take what a test says."""

    def __init__(self, seconds: float) -> None:
        self._round = trainers.TrainedRound(1200, seconds / 4, seconds / 2, seconds / 4)

    def round(self) -> trainers.TrainedRound:
        return self._round


def test_every_trainer_is_compared_on_each_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"MaskablePPO": iter((12.0, 8.0)), "FastMaskablePPO": iter((6.0, 3.0))}  # on one thread, on two
    makers = {name: lambda *_, times=times: _Timed(next(times)) for name, times in seconds.items()}
    monkeypatch.setattr(trainers, "_makers", lambda: (makers, []))
    (measure,) = trainers.measures("hog", TINY, (2, 1))
    assert [measure.run(), measure.run()][0] == measure.run()  # what is trained is made once
    figures = {
        (figure.what, figure.unit): (value, figure.goal)
        for figure, value in zip(measure.figures, measure.run(), strict=True)
    }
    speeds = {what: value for (what, unit), (value, _) in figures.items() if unit == "steps/s"}
    assert speeds == {
        "MaskablePPO, 1 thread": 100.0,
        "FastMaskablePPO, 1 thread": 200.0,
        "MaskablePPO, 2 threads": 150.0,
        "FastMaskablePPO, 2 threads": 400.0,
    }
    fast = "FastMaskablePPO, 2 threads"
    assert figures[fast, "times MaskablePPO"][0] == pytest.approx(400 / 150)
    assert figures[fast, "times MaskablePPO"][1] == ("at least", 2.5)
    assert figures[fast, "times one thread"] == (2.0, ("at least", 1.6))
    assert figures["MaskablePPO, 2 threads", "times one thread"] == (1.5, None)
    assert [figures[fast, unit][0] for unit in trainer_table.SHARES] == [25.0, 50.0, 25.0]
    assert ("MaskablePPO, 1 thread", "times MaskablePPO") not in figures
    assert (fast.replace("2 threads", "1 thread"), "times one thread") not in figures


@pytest.mark.parametrize("make", ["MaskablePPO", trainers.PLAIN])
def test_a_round_says_where_its_time_went(make: str) -> None:
    common = next(trainers.commons("hog", TINY))
    env = SB3VecEnv(common.game, TINY.games, seed=0)
    with trainers._torch_threads(1):
        one = trainers._makers()[0][make](env, common.settings).round()
    assert one.steps == TINY.rollout
    assert min(one.rollout, one.update, one.environment) > 0
    assert one.speed == pytest.approx(TINY.rollout / one.seconds)


def test_a_run_shows_them_and_says_who_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainers, "ALGORITHMS", ("MaskablePPO", "NobodysPPO"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = run_bench(Options(modes=("training",), games=("hog",), repeats=1, setup=TINY), lambda text: None)
    told = {skipped.what: skipped.why for skipped in result.skipped}
    assert "there is no algorithm 'NobodysPPO'" in told["training by NobodysPPO"]
    assert "not installed" in told["training by pufferlib"]
    shown = report.plain(result)
    assert "Trainers side by side" in shown
    assert f"{trainers.PLAIN}, 1 thread" in shown
    assert "8 games x 8 steps, batches of 32, 1 epoch, 64-64 Tanh" in shown


def test_a_peer_that_is_here_is_told_of_by_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(trainers, "version", lambda name: "7.0")
    assert Skipped("training by pufferlib", "pufferlib 7.0 is here, whose trainer knows no masks of legal actions") in (
        trainers.missing()
    )


@pytest.mark.parametrize("game", GAMES)
def test_settings_are_the_benchs_own_and_those_of_the_configuration(game: str) -> None:
    alike, own = trainers.commons(game, TrainingSetup())
    assert alike.text() == "alike: 256 games x 64 steps, batches of 2,048, 4 epochs, 64-64 Tanh"
    settings = read_config(game)
    assert own.settings.network == settings.network
    assert own.settings.run.games == settings.run.games
    assert dict(settings.game).items() <= (dict(own.game.parameters) | {"players": own.game.players}).items()
    assert own.settings.algorithm == settings.algorithm  # all of them say rollouts, batches and epochs
    assert f"{settings.run.games:,} games x {settings.algorithm.n_steps} steps" in own.text()


def test_a_row_has_goals_and_figures_of_before_beside_it() -> None:
    def figure(unit: str, value: float, **more: Any) -> Figure:
        return Figure("trainers", "hog", "FastMaskablePPO, 1 thread", unit, [value], "alike", **more)

    figures = [figure(trainer_table.SPEED, 200.0), figure(trainer_table.BESIDE_FIRST, 1.5, goal=("at least", 2.5))]
    ((_, titles, (row,)),) = trainer_table.tables("", figures, [figure(trainer_table.SPEED, 100.0)])
    told = dict(zip(titles, row, strict=True))
    assert (told["before"], told["times"], told["steps/s"]) == ("100", "2.00", "200")
    assert told["goal"] == "at least 2.5, missed (times MaskablePPO)"


class _Guess(FreeVecEnv):
    """Pays for one action of those that are legal, and fails if another one is chosen; episodes are of one step."""

    def __init__(self, n_actions: int, legal: list[int], paid: int) -> None:
        super().__init__(16, 3, n_actions)
        mask = np.zeros(n_actions, np.bool_)
        mask[legal] = True
        self._legal, self._paid, self._masks = legal, paid, list(np.tile(mask, (16, 1)))
        self._dones[:] = True

    def step_async(self, actions: np.ndarray) -> None:
        assert np.isin(actions, self._legal).all()
        self._rewards = (actions == self._paid).astype(np.float32)


def test_the_plain_loop_learns_and_breaks_no_mask() -> None:
    settings = TrainingSettings(
        algorithm=AlgorithmSettings(n_steps=8, batch_size=32, n_epochs=4, learning_rate=1e-2),
        network=NetworkSettings(net_arch={"pi": [8], "vf": []}),
    )
    env = _Guess(5, [1, 2, 4], 2)
    loop = PlainPPO(env, settings)
    observations, masks = loop._observations[0], loop._masks[0]
    for _ in range(15):
        advantages = loop.collect()
        assert advantages.shape == (8, 16)
        loop.update(advantages)
    chances = loop._log_policy(observations, masks).exp().detach().numpy()
    assert chances[:, 2].min() > 0.9
    assert not chances[:, [0, 3]].any()
    again = PlainPPO(env, replace(settings, network=NetworkSettings(net_arch=[4, 4])))
    assert [layer.out_features for layer in again.value if hasattr(layer, "out_features")] == [4, 4, 1]


def test_the_plain_loops_advantages_are_those_of_stable_baselines() -> None:
    from stable_baselines3.common.buffers import RolloutBuffer

    settings = TrainingSettings(
        algorithm=AlgorithmSettings(n_steps=8, batch_size=32, n_epochs=1, gamma=0.9, gae_lambda=0.7)
    )
    env = FreeVecEnv(16, 3, 5)
    generator = np.random.default_rng(0)
    loop = PlainPPO(env, settings)
    env._dones = generator.random(16) < 0.5
    advantages = loop.collect().numpy()
    buffer = RolloutBuffer(8, env.observation_space, env.action_space, "cpu", 0.7, 0.9, 16)
    buffer.rewards, buffer.values = loop._rewards.numpy(), loop._values.numpy()
    buffer.episode_starts = loop._begins[:-1].numpy()
    last = loop.value(loop._observations[0]).detach()[:, 0]  # the observations never change
    buffer.compute_returns_and_advantage(last, env._dones.astype(np.float32))
    np.testing.assert_allclose(advantages, buffer.advantages, atol=1e-6)
