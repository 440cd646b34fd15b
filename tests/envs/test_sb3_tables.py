"""Games at tables of different sizes as one batch of Stable-Baselines3: row by row what a batch of each table plays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.monitor import Monitor

import dicegym
from dicegym.envs.sb3 import SB3VecEnv
from dicegym.envs.sb3_tables import MixedTablesVecEnv
from dicegym.envs.table_sizes import tables_of
from dicegym.errors import ParameterError
from dicegym.play.player import RandomPlayer
from dicegym.registry import GAMES


def sizes(name: str) -> list[int]:
    """Numbers of players of a game that may be mixed: the least, the most, and the least again."""
    low, high = dicegym.game(name).spec.players
    low = max(low, min(2, high))
    return [low, high, low]


def mixed(name: str, n: int = 8, seed: int | None = 7, **settings: Any) -> MixedTablesVecEnv:
    return MixedTablesVecEnv(name, n, sizes(name), seed, opponent=RandomPlayer(), **settings)


def legal(env: Any, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in get_action_masks(env)])


@pytest.mark.parametrize("name", GAMES)
def test_each_row_plays_what_it_plays_at_its_own_table(name: str) -> None:
    env = mixed(name, reward_scale=2.0)
    parts = [
        SB3VecEnv(name, n, 7 + first, 2.0, players=players, opponent=RandomPlayer())
        for players, n, first in zip(sizes(name), (3, 3, 2), (0, 3, 6), strict=True)
    ]
    assert [batch.game.players for batch in env.batches] == sizes(name)
    assert np.array_equal(env.reset(), np.concatenate([part.reset() for part in parts]))
    assert len(env.reset_infos) == 8
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = legal(env, rng)
        assert np.array_equal(env.action_masks(), np.concatenate([part.action_masks() for part in parts]))
        step, (a, b, c) = (
            env.step(actions),
            (part.step(actions[i:j]) for part, i, j in zip(parts, (0, 3, 6), (3, 6, 8), strict=True)),
        )
        for k in range(3):
            assert np.array_equal(step[k], np.concatenate([a[k], b[k], c[k]]))
        for mine, other in zip(step[3], [*a[3], *b[3], *c[3]], strict=True):
            assert mine.get("episode") == other.get("episode")
    seats = [seat for part in parts for seat in part.get_attr("seat")]
    assert env.get_attr("seat", [7, 3, 0]) == [seats[row] for row in (7, 3, 0)]
    assert env.get_attr("num_envs") == [3, 3, 3, 3, 3, 3, 2, 2]


def test_it_goes_on_where_it_was() -> None:
    env = MixedTablesVecEnv("liarsdice", 8, [2, 6], seed=7, opponent="even")  # which draws nothing
    env.reset()
    rng = np.random.default_rng(1)
    for _ in range(5):
        env.step(legal(env, rng))
    state = env.state_dict()
    again = MixedTablesVecEnv("liarsdice", 8, [2, 6], opponent="even")
    again.load_state_dict(state)
    for _ in range(30):
        actions = legal(env, rng)
        one, other = env.step(actions), again.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(one[:3], other[:3], strict=True))


def test_opponents_change_at_all_tables() -> None:
    env = MixedTablesVecEnv("liarsdice", 6, [2, 3], seed=0, opponent="even")
    env.reset()
    env.set_opponent("honest")
    assert [batch.seating.pool.players[0].name for batch in env.batches] == ["honest", "honest"]


def test_seeds_given_later_are_used_once_and_parameters_reach_the_game() -> None:
    env = MixedTablesVecEnv("liarsdice", 4, [2, 3], seed=3, opponent=RandomPlayer(), dice=2)
    assert {batch.game.parameters["dice"] for batch in env.batches} == {2}
    first = env.reset()
    later = env.reset()
    env.seed(3)
    assert np.array_equal(env.reset(), first)
    assert not np.array_equal(later, first)


def test_what_stable_baselines3_asks_of_it() -> None:
    env = mixed("liarsdice")
    env.reset()
    assert env.env_is_wrapped(Monitor) == [True] * 8
    assert env.has_attr("action_masks")
    assert not env.has_attr("no_such_attribute")
    assert [mask.sum() for mask in env.env_method("action_masks", indices=[7, 0])] == [
        env.action_masks()[row].sum() for row in (7, 0)
    ]
    with pytest.raises(ParameterError, match="cannot be set once games were made"):
        env.set_attr("max_episode_steps", 5)
    with pytest.raises(ParameterError, match="have no meaning here"):
        env.set_options({"seed": 1})


@pytest.mark.parametrize(
    ("tables", "more", "words"),
    [
        ([], {}, "seats nobody"),
        ([2, 3], {"players": 2}, "say in tables"),
        ([2, 9], {}, "players=9 cannot be used"),
        ([2, 3, 4, 5, 6], {}, "number of games at tables of 2, 3, 4, 5, 6"),
    ],
)
def test_what_cannot_be_is_told(tables: list[int], more: dict[str, int], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        MixedTablesVecEnv("liarsdice", 4, tables, **more)


def test_points_and_places_do_not_mix() -> None:
    game = dicegym.game("yatzy", players=1)
    assert tables_of(game, [1, 1]) == (game, game)
    with pytest.raises(ParameterError, match="leave out the 1"):
        tables_of(game, [1, 2])


def test_what_others_hide_stands_behind_with_zeros_for_who_is_not_there() -> None:
    env = MixedTablesVecEnv("liarsdice", 6, [2, 4], seed=0, privileged=True, opponent="even")
    small, large = (
        SB3VecEnv("liarsdice", 3, first, privileged=True, players=players, opponent="even")
        for first, players in ((0, 2), (3, 4))
    )
    seen = env.reset()
    assert env.privileged == large.privileged == 3 * small.privileged
    assert env.observation_space == large.observation_space
    known = small.observation_space.shape[0]
    assert np.array_equal(seen[:3, :known], small.reset())
    assert not seen[:3, known:].any()
    assert np.array_equal(seen[3:], large.reset())
    rng = np.random.default_rng(0)
    for _ in range(40):
        _, _, dones, infos = env.step(legal(env, rng))
        for row in np.flatnonzero(dones):
            assert infos[row]["terminal_observation"].shape == env.observation_space.shape
