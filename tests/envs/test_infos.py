"""What is told at every step and at every end: the same in all forms of an environment, as Gymnasium has it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from variants import covering

from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError
from dicegym.games import spec
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.registry import ENVIRONMENTS, Environment

ENV_IDS = [environment.full_id for environment in ENVIRONMENTS]
each_environment = pytest.mark.parametrize("env_id", ENV_IDS)
MULTI = [environment for environment in ENVIRONMENTS if environment.multi]
each_multi = pytest.mark.parametrize("environment", MULTI, ids=lambda one: one.id)


def shown(value: Any) -> str:
    """Return the name of a test's parameter."""
    return str(getattr(value, "id", value))


KEYS = {"action_mask", "seat", "fault", "returns"}
NO_ACTION = -7
"""No action of any game."""


def nth(mask: np.ndarray, number: int) -> int:
    """A legal action, the same for the same mask and number; 0 where nothing is legal."""
    legal = np.flatnonzero(mask)
    return int(legal[number % len(legal)]) if len(legal) else 0


def length(env_id: str, seed: int) -> int:
    """How many steps the first game of a seed takes."""
    env = gym.make(env_id)
    _, info = env.reset(seed=seed)
    steps, over = 0, False
    while not over:
        *_, over, _, info = env.step(nth(info["action_mask"], steps))
        steps += 1
    return steps


def forms(info: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The shape and dtype of everything that is told."""
    return {name: (np.shape(value), np.asarray(value).dtype.kind) for name, value in info.items()}


@each_environment
@pytest.mark.parametrize("on_illegal", ["rule", "terminate"])
def test_info_has_the_same_keys_and_forms_at_every_step(env_id: str, on_illegal: str) -> None:
    """What Minari's collector asks of infos that it records, under a cap and with illegal actions too."""
    env = gym.make(env_id, on_illegal=on_illegal, max_episode_steps=4, disable_env_checker=True)
    ends = set()
    for episode in range(4):
        _, info = env.reset(seed=episode)
        reference, over, steps = forms(info), False, 0
        assert set(info) == KEYS
        while not over:
            action = NO_ACTION if episode % 2 and steps == 2 else nth(info["action_mask"], steps)
            *_, terminated, truncated, info = env.step(action)
            assert forms(info) == reference
            assert bool(info["fault"]) == (action == NO_ACTION)
            assert (info["returns"] == env.unwrapped.game.returns(env.unwrapped.state)).all()
            mask = info["action_mask"]
            assert (mask.dtype, env.unwrapped.action_masks().dtype) == (np.int8, np.bool_)
            assert mask.any() != terminated
            assert (mask == env.unwrapped.action_masks()).all()
            over, steps = terminated or truncated, steps + 1
        ends.add((terminated, truncated))
    assert (False, True) in ends


def meant(info: dict[str, Any], row: int) -> dict[str, Any]:
    """What a batch's info tells of one game."""
    names = [name for name in info if not name.startswith("_") and info[f"_{name}"][row]]
    return {name: meant(value, row) if isinstance(value := info[name], dict) else value[row] for name in names}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def careful(turn: Turn) -> int:
    """The middle one of the legal actions."""
    legal = np.flatnonzero(turn.mask)
    return int(legal[len(legal) // 2])


PURE = FunctionPlayer(careful, "careful", pure=True)
POOL = {PURE: 1, RandomPlayer(): 2, FunctionPlayer(lambda turn: int(np.flatnonzero(turn.mask)[-1]), "last"): 1}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "terminate": {"on_illegal": "terminate"},
    "margin": {"reward": "margin", "opponent": PURE, "seat": "alternate"},
    "first": {"reward": "first", "opponent": RandomPlayer(), "seat": 0},
    "pool": {"opponent": POOL},
}


@pytest.mark.parametrize(("env_id", "mode", "name"), covering(ENV_IDS, list(AutoresetMode), [*SETTINGS]))
def test_a_batch_is_what_gymnasiums_own_batch_of_single_environments_is(
    env_id: str, mode: AutoresetMode, name: str
) -> None:
    """The same games, seats, opponents, rewards, ends and infos in every mode."""
    n, seed = 3, 40
    cap = min(length(env_id, seed), 60)
    chosen = {key: value for key, value in SETTINGS[name].items() if key != "reward" or "Solo" not in env_id}
    settings = {"num_envs": n, "max_episode_steps": cap, **chosen}
    own = gym.make_vec(env_id, autoreset_mode=mode if name == "default" else mode.value, **settings)
    assert own.metadata["autoreset_mode"] is mode
    theirs = gym.make_vec(env_id, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **settings)
    told = [env.reset(seed=seed) for env in (own, theirs)]
    steps, over, kinds = np.zeros(n, np.int64), np.zeros(n, np.bool_), set()
    for time in range(2 * cap + 8):
        assert (told[0][0] == told[1][0]).all()
        infos = [step[-1] for step in told]
        assert all(same(meant(infos[0], row), meant(infos[1], row)) for row in range(n)), (time, infos)
        actions = np.array([nth(mask, steps[row]) for row, mask in enumerate(infos[0]["action_mask"])])
        if steps[1] == cap - 1 and name == "terminate":
            actions[1] = NO_ACTION  # the last that the cap allows is refused
        told = [env.step(actions) for env in (own, theirs)]
        for mine, their in zip(told[0][1:4], told[1][1:4], strict=True):
            assert (mine == their).all()
        steps = np.where(over, 0, steps + 1) if mode == AutoresetMode.NEXT_STEP else steps + 1
        over = told[0][2] | told[0][3]
        kinds |= set(zip(told[0][2].tolist(), told[0][3].tolist(), strict=True))
        if mode == AutoresetMode.DISABLED and over.any():
            told = [env.reset(options={"reset_mask": over.copy()}) for env in (own, theirs)]
        if mode != AutoresetMode.NEXT_STEP:
            steps[over] = 0
    assert kinds & {(True, True), (False, True), (True, False)}
    assert (True, True) in kinds or cap == 60 or name not in ("default", "terminate")


CAPS: list[dict[str, Any]] = [{"max_steps": 7}, {"max_cycles": 2}, {"on_illegal": "terminate"}]


def masks_of(env: Any, agent: str) -> list[np.ndarray]:
    """Everything that says what an agent may do."""
    found = [env.infos[agent]["action_mask"]] if env.flat else [env.observe(agent)["action_mask"]]
    if agent == env.agent_selection:
        observation, *_, info = env.last()
        found.append(info["action_mask"] if env.flat else observation["action_mask"])
    return found


@pytest.mark.parametrize(("environment", "settings", "flat"), covering(MULTI, CAPS, [True, False]), ids=shown)
def test_who_is_not_to_move_has_an_empty_mask(environment: Environment, settings: dict[str, Any], flat: bool) -> None:
    env = TurnEnv(environment.game, flat=flat, **environment.settings | settings)
    env.reset(seed=1)
    keys = {"fault", "returns", "action_mask"} if flat else {"fault", "returns"}
    steps = 0
    for agent in env.agent_iter():
        over = env.terminations[agent] or env.truncations[agent]
        for one in env.agents:
            assert set(env.infos[one]) == keys
            legal = [mask.any() for mask in masks_of(env, one)]
            assert all(found == (one == agent and not over) for found in legal)
        if over:
            env.step(None)
            continue
        refuse = "on_illegal" in settings and steps == 4
        env.step(NO_ACTION if refuse else nth(env.game.legal(env.state_record), steps))
        steps += 1
    assert env.agents == []


@each_multi
def test_masks_and_infos_of_the_parallel_form(environment: Environment) -> None:
    env = parallel_env(environment.game, max_cycles=5, **environment.settings)
    observations, infos = env.reset(seed=1)
    reference = {agent: set(info) for agent, info in infos.items()}
    kept = []
    while env.agents:
        game, state = env.unwrapped.game, env.unwrapped.state_record
        if isinstance(env, SimultaneousEnv):
            actions = {agent: np.zeros(env.action_space(agent).shape, np.int64) for agent in env.agents}
        else:
            actions = dict.fromkeys(env.agents, nth(game.legal(state), len(kept)))
        observations, _, _, truncations, infos = env.step(actions)
        assert {agent: set(info) for agent, info in infos.items()} == reference
        kept.append((infos, {agent: info.get("active_agent") for agent, info in infos.items()}))
    assert len(kept) == 5
    assert all(truncations.values())
    for agent in env.possible_agents:
        last = infos[agent]["action_mask"] if isinstance(env, SimultaneousEnv) else observations[agent]["action_mask"]
        assert not np.concatenate([np.ravel(mask) for mask in last]).any()
    assert all(
        info["active_agent"] == named[agent] for told, named in kept for agent, info in told.items() if named[agent]
    )


@each_multi
@pytest.mark.parametrize("cap", ["max_steps", "max_cycles"])
def test_a_game_that_ends_at_the_cap_is_terminated_and_truncated(environment: Environment, cap: str) -> None:
    env = TurnEnv(environment.game, max_steps=1 << 40, **environment.settings)
    played: list[int] = []
    env.reset(seed=3)
    while not any(env.terminations.values()):
        played.append(nth(env.game.legal(env.state_record), len(played)))
        env.step(played[-1])
    least = min(env._had) if cap == "max_cycles" else len(played)
    capped = TurnEnv(environment.game, **environment.settings, **{cap: least})
    capped.reset(seed=3)
    for action in played:
        if any(capped.truncations.values()):
            break
        capped.step(action)
    assert all(capped.truncations.values())
    assert cap == "max_cycles" or all(capped.terminations.values())


SIMULTANEOUS = [one for one in ENVIRONMENTS if one.multi and spec(one.game).joint_action is not None]


@pytest.mark.parametrize("environment", SIMULTANEOUS, ids=lambda one: one.id)
def test_cycles_of_a_game_in_which_all_choose_at_once_are_rounds_in_both_forms(environment: Environment) -> None:
    turns = TurnEnv(environment.game, max_cycles=3)
    rounds = parallel_env(environment.game, max_cycles=3)
    order = rounds.game.spec.joint_action
    one = np.eye(len(order.most), dtype=int)[0]
    for _ in range(2):  # they are counted anew
        for env in (turns, rounds):
            env.reset(seed=5)
        for number in range(3):
            for agent in turns.agents:  # an order of one die, which takes two decisions
                for action in order.actions(one.tolist()):
                    assert not any(turns.truncations.values())
                    assert turns.agent_selection == agent
                    turns.step(action)
            _, _, terminations, truncations, _ = rounds.step(dict.fromkeys(rounds.agents, one))
            assert all(truncations.values()) == any(truncations.values()) == (number == 2)
            assert not any(terminations.values())
        assert all(turns.truncations.values())
        assert not rounds.agents
        assert turns.state_record.tobytes() == rounds.state_record.tobytes()


# --- attributes of a batch ----------------------------------------------------------------------------------------


ASKED = ["seat", "game", "on_illegal", "action_space", "observation_space", "action_masks"]


@pytest.mark.parametrize(("env_id", "name"), covering(ENV_IDS, ASKED))
def test_a_batch_answers_as_gymnasiums_own_does(env_id: str, name: str) -> None:
    ours: Any = gym.make_vec(env_id, num_envs=3, vectorization_mode="vector_entry_point")
    theirs: Any = gym.make_vec(env_id, num_envs=3, vectorization_mode="sync")
    for envs in (ours, theirs):
        envs.reset(seed=5)
    for method in ("call", "get_attr"):
        found, expected = getattr(ours, method)(name), getattr(theirs, method)(name)
        assert type(found) is tuple
        assert len(found) == 3
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other) if isinstance(other, np.ndarray) else one == other
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


def test_methods_answer_for_each_game_or_once_for_all() -> None:
    envs = BatchEnv("yatzy", 3, render_mode="ansi")
    envs.reset(seed=0)
    assert envs.call("render") == envs.render()
    assert [text.splitlines()[0] for text in envs.render()] == ["Yatzy, round 1 of 15"] * 3
    assert [state["key"] for state in envs.get_attr("state")] == envs._states["key"].tolist()
    envs.call("set_opponent", "haphazard")
    assert envs.pool.players[0].name == "haphazard"
    with pytest.raises(AttributeError, match="no_such"):
        envs.call("no_such")


@pytest.mark.parametrize("name", ["reset", "step", "close"])
def test_what_acts_on_the_whole_batch_is_not_called_game_by_game(name: str) -> None:
    with pytest.raises(ParameterError, match=f"call {name}\\(\\) of the batch"):
        BatchEnv("hog", 2).call(name)
