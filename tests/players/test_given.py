"""Functions, classes and models in memory stand wherever an agent is named."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import dicegym
from dicegym.bots.bot_player import LiveBot
from dicegym.errors import AgentError, ModelError, ParameterError
from dicegym.games.parts import INTERFACE, need
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.play.player import RandomPlayer
from dicegym.registry import ENVIRONMENTS, GAMES


def five_dice(score: int, opponent_score: int) -> int:
    return 5


def next_box(standing: dict[str, Any]) -> dict[str, Any]:
    names = [row["playerName"] for row in standing["standing"]]
    fields = standing["standing"][names.index(standing["currentPlayer"]["playerName"])]["score"].split(",")
    box = next(number for number, field in enumerate(fields, 1) if field.strip() == "-")
    return {"type": "SCORE_BOX", "key": "SCORE_BOX", "box": box, "dice": []}


def never_believes(me: str, hands: str, history: str) -> int:
    return 0 if history else 11


def doubts(bids: list[tuple[int, int]], player_dice: list[int], n_dice: list[int]) -> Any:
    return "Liar" if bids else (1, 1)


def buys_nothing(money: Any, dice: Any, index: int, shop: dict[int, int]) -> list[int]:
    return []


class Doubts:
    def __init__(self, index: int) -> None:
        self.index = index

    def move(self, bids: list[tuple[int, int]], player_dice: list[int], n_dice: list[int]) -> Any:
        return doubts(bids, player_dice, n_dice)


class BuysNothing:
    def __init__(self, random: Any) -> None:
        self.random = random

    def get_orders(self, money: Any, dice: Any, index: int, shop: dict[int, int]) -> list[int]:
        return []


ORIGINAL: dict[str, list[Any]] = {
    "hog": [five_dice],
    "yatzy": [next_box],
    "liarsdice": [never_believes],
    "liarsdice_spot_on": [doubts, Doubts],
    "lucky": [buys_nothing, BuysNothing],
}


SHORTER = {"lucky": {"rounds": 12}}
"""Games in which nobody who plays here ever wins."""


def first_legal(observation: np.ndarray, mask: np.ndarray) -> int:
    assert observation.dtype == np.float32
    return int(mask.argmax())


@pytest.mark.parametrize("name", GAMES)
def test_functions_of_the_original_interface_and_of_observations_play(name: str) -> None:
    game = dicegym.game(name, **SHORTER.get(name, {}))
    for bot in [*ORIGINAL[name], first_legal, lambda obs, action_mask: int(action_mask.argmax())]:
        player = dicegym.agent(game, bot)
        assert player.name in (getattr(bot, "__name__", ""), "lambda")
        state = play_game(game, [player] * game.players, 3)
        assert state["over"]
        score = evaluate(game, bot, first_legal, games=2, exact=False)
        assert score.games >= 2
    assert evaluate(game, bot, [first_legal], games=2, exact=False) == score


def test_a_function_plays_as_the_agent_it_is_the_same_as() -> None:
    game = dicegym.game("hog", goal=20)
    assert evaluate(game, five_dice).value == evaluate(game, "always_roll(5)").value == 0.5

    def pure(observation: np.ndarray, mask: np.ndarray) -> int:
        return 6

    assert not dicegym.agent(game, pure).pure
    pure.PURE = True  # type: ignore[attr-defined]  # as bots say so
    assert dicegym.agent(game, pure).pure
    for bot in (lambda turn: 6, lambda observation, mask: 6, pure):
        assert evaluate(game, bot, "bacon") == evaluate(game, "always_roll(5)", "bacon")


def environments_against(environment: Any, bot: Any) -> Iterator[Any]:
    """Yield every form of an environment that takes an opponent, begun."""
    for env in (
        gym.make(environment.full_id, opponent=bot),
        gym.make_vec(environment.full_id, num_envs=2, vectorization_mode="vector_entry_point", opponent=[bot]),
    ):
        env.reset(seed=1)
        yield env
    sb3 = pytest.importorskip("dicegym.envs.sb3")
    vec_env = sb3.SB3VecEnv(environment.game, 2, opponent={bot: 1.0})
    vec_env.reset()
    yield vec_env


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda one: one.full_id)
def test_environments_are_copied_and_pickled_with_what_plays_in_them(environment: Any) -> None:
    for bot in [*ORIGINAL[environment.game], first_legal]:
        for env in environments_against(environment, bot):
            others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
            masks = env.env_method("action_masks") if hasattr(env, "env_method") else env.unwrapped.action_masks()
            actions = np.argmax(masks, axis=-1)
            seen = [each.step(actions)[0] for each in (*others, env)]
            assert np.array_equal(seen[0], seen[2])
            assert np.array_equal(seen[1], seen[2])


def test_what_python_cannot_pickle_is_copied_all_the_same() -> None:
    env = gym.make("dicegym/Hog-v0", opponent=lambda score, opponent_score: 4)
    env.reset(seed=1)
    assert np.array_equal(copy.deepcopy(env).step(5)[0], env.step(5)[0])
    with pytest.raises(AttributeError, match="Can't pickle local object"):
        pickle.dumps(env)


def test_what_functions_do_wrong_is_said_with_their_line() -> None:
    def bad(score: int, opponent_score: int) -> int:
        return [][score]

    with pytest.raises(AgentError, match=r"'bad': raised IndexError.* in final_strategy\(0, 0\).*test_given\.py, line"):
        play_game(dicegym.game("hog"), [dicegym.agent("hog", bad)] * 2)
    with pytest.raises(AgentError, match="raised ZeroDivisionError"):
        play_game(dicegym.game("hog"), [dicegym.agent("hog", lambda observation, mask: 1 // 0)] * 2)


WRONG: list[Callable[..., int]] = [
    lambda: 1,
    lambda observation: 1,
    lambda mask, observation, *, turn: 1,
    lambda a, b, c, d, e: 1,
    functools.partial(first_legal, mask=None),
]


@pytest.mark.parametrize("function", WRONG, ids=range(len(WRONG)))
@pytest.mark.parametrize("name", GAMES)
def test_a_function_of_other_arguments_is_told_which_it_needs(name: str, function: Callable[..., int]) -> None:
    wanted = need(dicegym.game(name), INTERFACE).ARGUMENTS
    if name == "yatzy" and function in (WRONG[1], WRONG[4]):
        assert isinstance(dicegym.agent(name, function), LiveBot), "whatever the original's one argument is called"
        return
    with pytest.raises(ParameterError, match=rf"function of \({', '.join(wanted)}\), .* \(observation, mask\)"):
        dicegym.agent(name, function)


@pytest.mark.parametrize("name", GAMES)
def test_functions_may_leave_open_what_they_take(name: str) -> None:
    for function in (lambda *args: 1, lambda a=0, b=0, c=0, d=0, e=0: 1):
        assert isinstance(dicegym.agent(name, function), LiveBot)
    for wrong, words in ((RandomPlayer, r"RandomPlayer\(\)"), (5, "5 is not an agent")):
        with pytest.raises(ParameterError, match=words):
            dicegym.agent(name, wrong)  # type: ignore[arg-type]  # which is to be refused


def test_a_model_in_memory_is_an_agent() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from dicegym.envs.sb3 import SB3VecEnv

    model = sb3.PPO("MlpPolicy", SB3VecEnv("hog", 2, seed=0), n_steps=4, batch_size=8, seed=0, device="cpu")
    score = evaluate("hog", model)
    assert score.measure == "exact win rate"
    assert dicegym.agent("hog", model).name == "PPO"
    env = gym.make("dicegym/Hog-v0", opponent=model, seat=0)
    env.reset(seed=1)
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert all(
        np.array_equal(other.step(5)[0], env.unwrapped.game.observe(other.unwrapped.state, 0)) for other in others
    )
    with pytest.raises(ModelError, match="12 actions"):
        evaluate("lucky", model)
