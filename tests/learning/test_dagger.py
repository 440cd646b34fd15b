"""Imitation: teachers, that the learner follows them, and that its runs are like others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import llvmlite.binding
import torch
from rough_yatzy import rough_table
from sb3_contrib import MaskablePPO

import dicegym
from dicegym.analysis.exploitability import best_reply
from dicegym.analysis.valuers import valuer
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.bidding.solving import solution
from dicegym.games.parts import solver_of
from dicegym.learning import dagger
from dicegym.learning.card import _teacher, card
from dicegym.learning.configuration import read_config
from dicegym.learning.dagger import DAgger, computes_bfloat16
from dicegym.learning.evaluate import evaluate
from dicegym.learning.teacher import Teacher
from dicegym.learning.train import train
from dicegym.players import model as models
from dicegym.players import model_file, sb3_models
from dicegym.players.model import PolicyPlayer

YATZY = dicegym.game("yatzy", players=1)
SMALL = [
    "run.games=16",
    "run.steps=512",
    "run.torch_threads=1",
    "run.evaluate_every=256",
    "run.checkpoint_every=256",
    "run.evaluate_games=10",
    "run.card_games=4",
    "algorithm.n_steps=16",
    "algorithm.batch_size=64",
    "algorithm.precision=float32",
    "network.net_arch=[64]",
]
TAUGHT = Path("yatzy_taught")


@pytest.fixture(scope="module", autouse=True)
def _rough() -> Iterator[None]:
    with rough_table():
        yield


def states(game: dicegym.Game, n: int, steps: int) -> np.ndarray:
    """Return records of games that are played at random."""
    env = SB3VecEnv(game, n, seed=1)
    env.reset()
    draw = np.random.default_rng(1)
    for _ in range(steps):
        masks = env.action_masks()
        env.step((draw.random(masks.shape) * masks).argmax(axis=1))
    return env.batch.states


@pytest.mark.parametrize("game", [YATZY, dicegym.game("hog", goal=20)], ids=lambda game: game.name)
def test_a_lesson_has_the_costs_of_actions_and_prefers_the_best(game: dicegym.Game) -> None:
    asked, rows = valuer(game, "exact"), states(game, 8, 5)
    teacher = Teacher(game, "exact", 0.01)
    policies, costs = teacher.lesson(rows)
    assert costs is not None
    for row, policy, cost in zip(rows, policies, costs, strict=True):
        values = asked.action_values(row).values
        legal = ~np.isnan(values)
        assert np.allclose(cost[legal], (np.nanmax(values) - values)[legal], atol=1e-4)
        assert np.isinf(cost[~legal]).all()
        assert (policy[~legal] == 0).all()
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert policy.argmax() == np.nanargmax(values)
        assert (np.diff(policy[np.argsort(cost)]) <= 0).all()
    stored = asked.action_values_rows(rows).values
    teacher._values = lambda states: stored
    again = [teacher.lesson(rows).costs for _ in range(2)]
    assert np.array_equal(again[0], again[1])
    assert np.isnan(stored).any() == bool(np.isinf(costs).any()), "a table of values stays as it was"


@pytest.fixture(scope="module")
def equilibrium() -> tuple[Teacher, np.ndarray]:
    """A teacher of an equilibrium, computed in a tenth of the steps, and records of its game."""
    game = dicegym.game("liarsdice", players=2, dice=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solution, "AT_ONCE", solution.AT_ONCE // 10)
        patch.setattr(solution, "values_at_once", solution.values_at_once.__wrapped__)  # other tests keep the whole one
        return Teacher(game, "equilibrium", 0.01), states(game, 200, 1)


def test_an_equilibrium_is_taught_as_a_mixed_strategy(equilibrium: tuple[Teacher, np.ndarray]) -> None:
    teacher, rows = equilibrium
    policies, costs = teacher.lesson(rows)
    assert costs is None
    assert teacher._valuer is not None
    assert np.allclose(policies, [teacher._valuer.policy(row) for row in rows], atol=1e-6)
    assert ((policies > 0.1) & (policies < 0.9)).any()
    lesson, draws = teacher.lesson(rows), np.random.default_rng(1)
    played = np.zeros_like(policies)
    for _ in range(1000):
        played[np.arange(len(rows)), lesson.draw_actions(draws.random(len(rows)))] += 1e-3
    assert np.abs(played - policies).max() < 0.09  # five and a half standard deviations
    assert (played[policies == 0] == 0).all()


@pytest.mark.slow
def test_a_learner_of_an_equilibrium_is_hard_to_exploit() -> None:
    game = dicegym.game("liarsdice", players=2, dice=1)
    settings: dict[str, Any] = {
        "teacher": "equilibrium",
        "greedy": 0.0,
        "mix": 0.9,
        "policy_kwargs": {"net_arch": [64]},
        "seed": 1,
    }
    learner = DAgger("MlpPolicy", SB3VecEnv(game, 256, seed=1), 5e-3, 8, 256, 4, **settings)
    learner.learn(10 * 8 * 256)
    assert best_reply(PolicyPlayer(learner, game, temperature=1), game).high < 0.53


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0, 1])
def test_a_learner_of_a_best_response_beats_its_target(memory: int) -> None:
    game = dicegym.game("hog", goal=20, memory=memory)
    bot = dicegym.agent(game, "always_roll(5)")
    duel = solver_of(game, bot)
    assert duel is not None
    lesson = Teacher(game, "reply(always_roll(5))", 0.01).lesson(game.new_game(1))
    assert lesson.costs is not None
    assert lesson.draw_actions(np.zeros(1))[0] == duel.best_table(bot, game, trials=0)[1].ravel()[0] + 1  # after -1
    env = SB3VecEnv(game, 256, seed=1, opponent="always_roll(5)")
    settings: dict[str, Any] = {"teacher": "reply(always_roll(5))", "policy_kwargs": {"net_arch": [64]}, "seed": 1}
    learner = DAgger("MlpPolicy", env, 3e-3, 8, 256, 2, **settings)
    learner.learn(15 * 8 * 256)
    best = duel.best_table(bot, game, trials=0)[0]
    assert duel.win_rate(PolicyPlayer(learner, game), bot, game) > best - 0.02


@pytest.mark.parametrize(
    ("game", "name", "error", "match"),
    [
        (dicegym.game("liarsdice"), "reply(even)", ParameterError, "not computed in .*name a source of values"),
        (YATZY, "reply(planner)", ParameterError, "not computed in .*name a source of values"),
        (dicegym.game("hog"), "reply(nobody)", UnknownNameError, "no agent of Hog 'nobody'"),
        (dicegym.game("hog"), "reply()", ParameterError, r"no agent to respond to: write \"reply\(AGENT\)\""),
        (dicegym.game("hog"), "reply(always_roll(5)", ParameterError, "no agent to respond to"),
        (dicegym.game("hog"), 5, ParameterError, "teacher=5 is not a name"),
        (dicegym.game("hog"), "rollouts", ParameterError, "too slow"),
        (YATZY, "exactly", UnknownNameError, "exact"),
    ],
)
def test_invalid_teachers_are_refused(game: dicegym.Game, name: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Teacher(game, name, 0.01)
    if name == "rollouts":
        with pytest.raises(error, match=match):
            DAgger("MlpPolicy", SB3VecEnv(game, 2, seed=1), teacher=name)  # before anything is played


def test_there_is_no_teacher_against_a_model_that_draws(tmp_path: Path) -> None:
    env = SB3VecEnv("hog", 2, seed=1, goal=20)
    model = MaskablePPO("MlpPolicy", env, n_steps=4, policy_kwargs={"net_arch": [4]}, seed=1)
    models.save_model(model, tmp_path / "draws.zip", "hog", temperature=1.0, goal=20)
    with pytest.raises(ParameterError, match=r"draws draws its actions.*always plays its best action"):
        Teacher(dicegym.game("hog", goal=20), f"reply({tmp_path}/draws.zip)", 0.01)


def test_another_game_has_a_new_teacher() -> None:
    settings: dict[str, Any] = {"teacher": "reply(always_roll(5))", "policy_kwargs": {"net_arch": [4]}, "seed": 1}
    learner = DAgger("MlpPolicy", SB3VecEnv("hog", 4, seed=1, goal=10), 1e-3, 4, 16, **settings)
    learner.learn(16)
    learner.set_env(SB3VecEnv("hog", 4, seed=1, goal=12))
    learner.learn(16)
    game = dicegym.game("hog", goal=12)
    assert learner._seat_teacher(learner.env.unwrapped).game == game
    for goal in (10, 20):
        with pytest.raises(ParameterError, match=f"records of Hog to {goal}: give records of Hog to 12"):
            Teacher(game, "reply(always_roll(5))", 0.01).lesson(dicegym.game("hog", goal=goal).new_game(1))


def test_a_teacher_against_an_absent_opponent_is_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"responds to bacon, which is not among .* opponents: always_roll\(5\)"):
        DAgger("MlpPolicy", SB3VecEnv("hog", 2, seed=1, goal=20, opponent="always_roll(5)"), teacher="reply(bacon)")


def test_another_algorithm_drops_the_arguments_of_the_games_own() -> None:
    found, own = (read_config("liarsdice", config) for config in (Path("equilibrium_taught"), None))
    assert (found.algorithm.name, found.algorithm.gamma, found.algorithm.ent_coef) == ("DAgger", None, None)
    assert own.algorithm.gamma is not None
    assert (found.self_play.games, found.game) == (own.self_play.games, own.game)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("softness", 0.0, ""),
        ("mix", 1.5, ""),
        ("greedy", -0.1, ""),
        ("explore", 2.0, ""),
        ("cost_weight", -1.0, ""),
        ("precision", "float16", ".*float32.*auto"),
        ("reply_trials", 1.5, ""),
        (
            "reply_trials",
            -1,
            "=-1 cannot be used as the number of further attempts at a better .*: give a whole",
        ),
    ],
)
def test_invalid_arguments_are_refused(name: str, value: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}{says}"):
        DAgger("MlpPolicy", SB3VecEnv(YATZY, 2, seed=1), **{name: value})


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_imitation_soon_plays_better_than_chance_ever_could(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dagger, "computes_bfloat16", lambda device: True)  # whatever this processor does
    env = SB3VecEnv(YATZY, 64, seed=1)
    learner = DAgger("MlpPolicy", env, 3e-3, 16, 128, 2, precision=precision, policy_kwargs={"net_arch": [64]}, seed=1)
    learner.learn(6 * 16 * 64)
    assert evaluate(YATZY, learner, games=40, less_luck=True).value > 130  # at random: 46, its rough teacher: 220


def test_the_teacher_acts_at_first_and_the_learner_later() -> None:
    def played(mix: float, rollouts: int) -> float:
        """Return the score in the last of ``rollouts`` rollouts of an untrained learner."""
        env = SB3VecEnv(YATZY, 32, seed=1)
        learner = DAgger("MlpPolicy", env, 0.0, 48, 512, mix=mix, policy_kwargs={"net_arch": [8]}, seed=1)
        learner.learn(rollouts * 48 * 32)
        return float(np.mean([one["r"] for one in learner.ep_info_buffer or ()]))

    assert played(1.0, 1) > 200
    assert played(0.01, 3) < 120


def test_exploration_is_uniform_over_legal_actions_in_sampled_games() -> None:
    env = SB3VecEnv("hog", 4096, seed=1, opponent="always_roll(5)")
    learner = DAgger("MlpPolicy", env, 0.0, 4, 64, greedy=0.5, explore=0.5, policy_kwargs={"net_arch": [8]}, seed=1)
    with torch.no_grad():
        learner.policy.action_net.bias[3] = 50.0  # its action without exploration
    masks = np.zeros((4096, env.action_space.n), np.bool_)
    masks[:, [0, 3, 7, 9]] = True
    drawn = torch.arange(4096) >= 2048
    actions = learner._choose(env.reset(), masks, drawn)
    assert (actions[:2048] == 3).all()
    counts = np.bincount(actions[2048:], minlength=10) / 2048
    assert counts[[0, 7, 9]] == pytest.approx(1 / 8, abs=0.03)
    assert counts[3] == pytest.approx(5 / 8, abs=0.04)
    assert counts[[0, 3, 7, 9]].sum() == 1


def test_a_state_weighs_more_where_the_learner_loses_more() -> None:
    def loss(weight: float) -> tuple[float, DAgger]:
        env = SB3VecEnv("hog", 64, seed=1, goal=20, opponent="always_roll(5)")
        settings: dict[str, Any] = {"teacher": "reply(always_roll(5))", "softness": 0.01, "cost_weight": weight}
        learner = DAgger("MlpPolicy", env, 0.0, 8, 512, policy_kwargs={"net_arch": [8]}, seed=1, **settings)
        learner.learn(8 * 64)
        return float(learner.logger.name_to_value["train/loss"]), learner

    (plain, learner), (weighted, _) = loss(0.0), loss(0.25)
    observations, masks, policies, costs = learner._lessons
    log_policy = torch.log_softmax(learner._logits(observations, masks), dim=1).detach()
    each = -(policies * log_policy).sum(dim=1)
    given = costs.gather(1, log_policy.argmax(dim=1, keepdim=True))[:, 0]
    assert plain == pytest.approx(each.mean().item(), rel=1e-4)
    assert weighted == pytest.approx((each * (1 + 0.25 * given / 0.01)).mean().item(), rel=1e-4)
    assert weighted > 1.5 * plain


def test_a_taught_model_says_so_and_continues_exactly(tmp_path: Path) -> None:
    steady = [*SMALL, "algorithm.learning_rate_end=0.001"]  # does not depend on the length of the run
    whole = train("yatzy", tmp_path / "whole", TAUGHT, steady)
    train("yatzy", tmp_path / "parts", TAUGHT, [*steady, "run.steps=256"])
    parts = train("yatzy", tmp_path / "parts", overrides=["run.steps=512"], resume=True)
    assert parts.model.num_timesteps == whole.model.num_timesteps == 512
    for resumed, one in zip(parts.model.policy.parameters(), whole.model.policy.parameters(), strict=True):
        assert torch.equal(resumed, one)
    assert (tmp_path / "parts/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()
    path = tmp_path / "whole/model.zip"
    assert model_file.facts(path)["taught_by"] == "exact"
    assert "| taught by | `exact` values, by imitation |" in card(path, 10)
    assert _teacher("reply(always_roll(4))") == "the best response to `always_roll(4)`"
    loaded, _ = sb3_models.load_model(path)
    assert isinstance(loaded, DAgger)
    loaded.save(tmp_path / "sb3.zip")  # as Stable-Baselines3 alone writes it
    assert isinstance(MaskablePPO.load(tmp_path / "sb3.zip", custom_objects={}).policy, type(loaded.policy))
    begun = train("yatzy", tmp_path / "next", TAUGHT, [*SMALL, f"run.start_from={path}", "run.steps=256"])
    assert "taught by `exact` values" in card(begun.folder / "model.zip", 10).split("| command")[0]


def test_a_shipped_configuration_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_config("yatzy", TAUGHT).algorithm.name == "DAgger"
    monkeypatch.chdir(tmp_path)
    Path("yatzy_taught").write_text("[run]\nsteps = 5 # mine\n")
    assert read_config("yatzy", TAUGHT).run.steps == 5
    with pytest.raises(ParameterError, match="yatzy_taught"):
        read_config("yatzy", Path("elsewhere/yatzy_taught"))


# --- precision ----------------------------------------------------------------------------------------------------


CPU = torch.device("cpu")


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that sets the instructions of this processor."""

    def has(*names: str) -> None:
        computes_bfloat16.cache_clear()
        monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: dict.fromkeys(names, True))

    yield has
    computes_bfloat16.cache_clear()


@pytest.mark.parametrize(
    ("has", "quick"),
    [
        (("avx2", "fma"), False),
        (("avx2", "avx512f", "avx512vnni"), False),
        (("avx512f", "avx512bf16"), True),
        (("amx-tile", "amx-bf16"), True),
        (("neon",), False),
        (("neon", "bf16"), True),
    ],
)
def test_bfloat16_is_used_where_the_processor_has_instructions_for_it(
    processor: Any, has: tuple[str, ...], quick: bool
) -> None:
    processor(*has)
    assert computes_bfloat16(CPU) is quick


def test_a_loaded_file_learns_in_the_precision_of_its_machine(processor: Any, tmp_path: Any) -> None:
    processor("avx2")
    env = SB3VecEnv("hog", 8, seed=1, goal=20, opponent="always_roll(5)")
    settings: dict[str, Any] = {"teacher": "reply(always_roll(5))", "policy_kwargs": {"net_arch": [8]}}
    learner = DAgger("MlpPolicy", env, 1e-3, 8, 64, precision="auto", seed=1, **settings)
    learner.learn(64)
    learner.save(tmp_path / "learner.zip")
    processor("amx-bf16")
    used: list[bool] = []
    again = DAgger.load(tmp_path / "learner.zip", env=env)
    again.policy.action_net.register_forward_hook(lambda *given: used.append(given[-1].dtype is torch.bfloat16))
    again.learn(64)
    assert used
    assert all(used)
