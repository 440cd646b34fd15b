"""The PettingZoo environment of every registered game that has one."""

from __future__ import annotations

import functools
import importlib.util
import pickle
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, render_test, seed_test

import dicegym.pettingzoo
from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.envs.single import SingleAgentEnv
from dicegym.errors import IllegalActionError, ParameterError, StepError
from dicegym.games.positions import position_id
from dicegym.registry import ENVIRONMENTS, Environment

MULTI = [environment for environment in ENVIRONMENTS if environment.multi]
each_environment = pytest.mark.parametrize("environment", MULTI, ids=lambda environment: environment.id)


def convention(environment: Environment) -> Any:
    """The namespace that `from dicegym.pettingzoo import hog_v0` gives."""
    return getattr(importlib.import_module("dicegym.pettingzoo"), environment.module_name)


@each_environment
@pytest.mark.filterwarnings("ignore:.*not inheriting from.*")
def test_api(environment: Environment) -> None:
    api_test(convention(environment).env(), num_cycles=300)


@each_environment
def test_seed(environment: Environment) -> None:
    seed_test(convention(environment).env, num_cycles=200)


class Legal:
    """An action space that samples legal actions alone: an illegal one may end a game."""

    def __init__(self, env: Any, agent: str) -> None:
        self.env, self.space = env, env.action_space(agent)
        self.space.seed(0)

    def sample(self) -> Any:
        state, game = self.env.unwrapped.state_record, self.env.unwrapped.game
        return self.space.sample(game.legal(state).astype("int8"))


def legal_only(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(**settings: Any) -> Any:
        env = make(**settings)
        spaces = {agent: Legal(env, agent) for agent in env.possible_agents}
        env.action_space = spaces.__getitem__
        # PettingZoo's test seeds nothing, and a game that somebody wins early has fewer turns than it counts on.
        env.reset = functools.partial(env.reset, seed=0)
        return env

    return made


@each_environment
def test_max_cycles(environment: Environment) -> None:
    """An agent that had so many turns and is to move again ends it, as PettingZoo's own test says for games in turn."""
    env = convention(environment).env(max_cycles=4)
    rng = np.random.default_rng(0)
    in_turn = True
    for seed in range(5):
        env.reset(seed=seed)
        had = dict.fromkeys(env.agents, 0)
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            agent = env.agent_selection
            assert had[agent] < 4
            env.step(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"])))
            moved_on = env.agent_selection != agent
            in_turn = in_turn and moved_on
            # A turn is a decision, and a whole choice where all choose at once.
            had[agent] += moved_on or env.game.spec.joint_action is None
        assert all(env.terminations.values()) or had[env.agent_selection] == 4
    if in_turn:
        found = convention(environment)
        max_cycles_test(types.SimpleNamespace(env=legal_only(found.env), parallel_env=legal_only(found.parallel_env)))


@each_environment
@pytest.mark.filterwarnings("ignore:.*not inheriting from.*")
def test_parallel_api(environment: Environment) -> None:
    parallel_api_test(convention(environment).parallel_env(), num_cycles=200)
    made = pettingzoo.make("parallel", environment.full_id)
    if isinstance(made, SimultaneousEnv):
        return  # everybody is active in each step
    observations, _ = made.reset(seed=0)
    actions = {}
    for agent in made.agents:
        made.action_space(agent).seed(0)
        actions[agent] = made.action_space(agent).sample(observations[agent]["action_mask"])
    _, _, _, _, infos = made.step(actions)
    assert {info["active_agent"] for info in infos.values()} <= set(made.possible_agents)


@each_environment
def test_render(environment: Environment) -> None:
    render_test(
        convention(environment).env,
        custom_tests={"ansi": lambda text: isinstance(text, str), "human": lambda shown: shown is None},
    )


@each_environment
def test_each_environment_is_a_module_of_a_package(environment: Environment) -> None:
    name = f"dicegym.pettingzoo.{environment.module_name}"
    found = importlib.import_module(name)
    assert importlib.util.find_spec(name).name == name
    assert found is convention(environment)
    assert environment.module_name in dicegym.pettingzoo.__all__
    made = pettingzoo.make("aec", environment.full_id)
    assert isinstance(made, TurnEnv)
    assert pickle.loads(pickle.dumps(found.env))().game == found.raw_env().game == made.game
    with pytest.raises(AttributeError, match="it has env, raw_env and parallel_env"):
        _ = found.nv
    with pytest.raises(AttributeError, match="hog_v0"):
        _ = dicegym.pettingzoo.hgo_v0
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"{name}.env")


@each_environment
def test_what_reaches_each_agent_sums_to_the_engines_result(environment: Environment) -> None:
    env = convention(environment).env()
    rng = np.random.default_rng(0)
    env.reset(seed=1)
    for _ in range(8):
        collected = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            collected[agent] += reward
            if terminated or truncated:
                env.step(None)
            else:
                env.step(rng.choice(np.flatnonzero(observation["action_mask"])))
        assert list(collected.values()) == pytest.approx(env.game.returns(env.state_record).tolist())
        env.reset()


@each_environment
def test_environment_plays_the_engines_game(environment: Environment) -> None:
    env = convention(environment).env()
    rng = np.random.default_rng(2)
    for episode in range(4):
        env.reset(seed=6 if episode == 0 else None)
        states = env.game.new_game(6, episode)
        while not states[0]["over"]:
            mask = env.game.legal(states[0])
            observation, *_ = env.last()
            assert env.agent_selection == f"player_{states[0]['player']}"
            assert (observation["action_mask"] == mask).all()
            assert (observation["observation"] == env.game.observe(states[0], int(states[0]["player"]))).all()
            action = int(rng.choice(np.flatnonzero(mask)))
            env.step(action)
            env.game.step(states[0], action)
            assert env.state_record.tobytes() == states[0].tobytes()
        assert all(env.terminations.values())


def test_illegal_actions_by_the_rule_raised_or_terminating() -> None:
    env = TurnEnv("hog")
    env.reset(seed=0)
    env.step(12)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert env.infos["player_0"]["fault"] == "a number of dice outside -1..10"
    assert all(env.terminations.values())

    env = TurnEnv("hog", on_illegal="raise")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="not legal for player_0 now"):
        env.step(12)
    env.step(5)
    assert env.agent_selection == "player_1"

    env = TurnEnv("hog", on_illegal="terminate", illegal_reward=-3)
    env.reset(seed=0)
    env.step(5)
    env.step(-4)
    assert env.rewards == {"player_0": 0.0, "player_1": -3.0}
    assert all(env.terminations.values())
    collected = {}
    for agent in env.agent_iter():
        collected[agent] = env.last()[1]
        env.step(None)
    assert collected == {"player_0": 0.0, "player_1": -3.0}


def test_what_is_asked_too_early_or_of_nobody_is_said() -> None:
    env, parallel = TurnEnv("hog"), parallel_env("hog")
    for ask in (env.last, lambda: env.step(5), lambda: env.observe("player_0"), lambda: parallel.step({})):
        with pytest.raises(StepError, match="reset"):
            ask()
    env.reset(seed=1)
    with pytest.raises(ParameterError, match="unknown agent 'x'"):
        env.observe("x")
    with pytest.raises(ParameterError, match="max_cycles=0"):
        TurnEnv("hog", max_cycles=0)
    for game in ("hog", "lucky"):
        with pytest.raises(ParameterError, match="give max_cycles"):
            parallel_env(game, max_steps=3)


@each_environment
def test_a_game_begins_in_a_state_and_goes_on_as_from_there(environment: Environment) -> None:
    env, other = (TurnEnv(environment.game) for _ in range(2))
    rng = np.random.default_rng(2)

    def choose() -> int:
        return int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))

    env.reset(seed=2)
    for _ in range(6):
        env.step(choose())
    for state in (env.state_record, position_id(env.game, env.state_record)):
        other.reset(seed=9, options={"state": state})
        assert other.state_record.tobytes() == env.state_record.tobytes()
        assert other.agent_selection == env.agent_selection
        fresh = TurnEnv(environment.game)
        fresh.reset(options={"state": state})  # though no game of its seed has begun
        assert fresh.state_record.tobytes() == env.state_record.tobytes()
    for _ in range(20):
        if env.terminations[env.agent_selection]:
            break
        action = choose()
        env.step(action)
        other.step(action)
        assert other.rewards == env.rewards
    assert other.state_record.tobytes() == env.state_record.tobytes()
    with pytest.raises(ParameterError, match="state=7 cannot be read as a state of"):
        other.reset(options={"state": 7})


@each_environment
@pytest.mark.parametrize("actions", [None, 5, "player_0", ["player_0"], {}, {"player_9": 1}], ids=repr)
def test_actions_that_are_not_by_agent_are_refused(environment: Environment, actions: Any) -> None:
    env = parallel_env(environment.game)
    env.reset(seed=1)
    with pytest.raises(
        ParameterError,
        match=r"no action for player_\d, .*: give a dict such as|(is not a dict|not an agent here|is missing): give",
    ):
        env.step(actions)


@each_environment
@pytest.mark.parametrize("form", [TurnEnv, parallel_env])
def test_a_game_of_the_seed_begins_by_its_number(environment: Environment, form: Any) -> None:
    env = form(environment.game)
    played = getattr(env, "aec_env", env)
    for episode in (5, np.int64(5), 1 << 63):
        env.reset(seed=3, options={"episode": episode})
        assert played.state_record.tobytes() == played.game.new_state(3, int(episode)).record.tobytes()
    env.reset(options={"episode": 0})
    env.reset()
    assert played.state_record["key"] == played.game.new_state(3, 1).record["key"]


@pytest.mark.parametrize("form", [SingleAgentEnv, TurnEnv, parallel_env, SimultaneousEnv])
@pytest.mark.parametrize("options", ["episode", 7, [5], {"episode": -1}, {"episode": 0.5}, {"episode": 1, "state": 1}])
def test_options_that_name_no_beginning_are_refused(form: Any, options: Any) -> None:
    with pytest.raises(ParameterError, match=r"is not a dict: give one|episode=.* cannot be used|which name two games"):
        form("lucky").reset(options=options)


@each_environment
def test_both_forms_go_on_alike_from_a_state(environment: Environment) -> None:
    """The same observations, masks, rewards and records, decision by decision or round by round."""
    turns, steps = TurnEnv(environment.game), parallel_env(environment.game, flat=True)
    played = getattr(steps, "aec_env", steps)
    order = turns.game.spec.joint_action
    rng = np.random.default_rng(4)

    def play_round() -> dict[str, Any]:
        """Let the agent to move decide, or all agents where they choose at once; return the actions by agent."""
        choices: dict[str, Any] = {}
        for _ in turns.agents if order else [0]:
            agent = turns.agent_selection
            legal = turns.last()[0]["action_mask"]
            if order is None:
                choices[agent] = rng.choice(np.flatnonzero(legal))
                turns.step(choices[agent])
                continue
            choices[agent] = np.zeros(len(order.most), np.int64)
            choices[agent][rng.choice(np.flatnonzero(legal[: len(order.most)]))] = 1
            for action in order.actions(choices[agent].tolist()):
                turns.step(action)
        return choices

    def compare(observations: Any, infos: Any) -> None:
        for agent in observations:
            assert np.array_equal(observations[agent], turns.observe(agent)["observation"])
            mask = infos[agent]["action_mask"]
            if order is None:
                assert np.array_equal(mask, turns.observe(agent)["action_mask"])
            elif agent == turns.agent_selection:
                assert np.array_equal([of[1] for of in mask], turns.observe(agent)["action_mask"][: len(mask)])

    turns.reset(seed=2)
    for _ in range(4):
        play_round()
    state = turns.state_record
    if order is not None:
        turns.step(order.actions([0] * len(order.most))[0])
        with pytest.raises(ParameterError, match="seat 1 is to choose in the middle of a round"):
            steps.reset(options={"state": turns.state_record})
    turns.reset(seed=7, options={"state": state})
    for given in (position_id(turns.game, state), state):
        compare(*steps.reset(seed=7, options={"state": given}))
        assert played.state_record.tobytes() == state.tobytes()
    for _ in range(20):
        if any(turns.terminations.values()):
            break
        choices = play_round()
        observations, rewards, terminations, _, infos = steps.step(dict.fromkeys(steps.agents, 0) | choices)
        assert rewards == turns.rewards
        assert terminations == turns.terminations
        assert played.state_record.tobytes() == turns.state_record.tobytes()
        compare(observations, infos)


def test_a_refused_action_leaves_the_reward_that_waits() -> None:
    env = TurnEnv("hog", reward="margin", on_illegal="raise")
    env.reset(seed=0)
    while not env.last()[1]:
        env.step(5)
    waiting = env.last()[1]
    with pytest.raises(IllegalActionError):
        env.step(10**6)
    assert env.last()[1] == waiting


@pytest.mark.parametrize("flat", [False, True])
def test_what_last_has_told_stays_as_it_was(flat: bool) -> None:
    env = TurnEnv("hog", flat=flat)
    env.reset(seed=0)
    info = env.last()[4]
    before = {key: np.copy(value) for key, value in info.items()}
    for _ in range(5):
        env.step(2)
    assert all(np.array_equal(info[key], value) for key, value in before.items())
    env.infos["player_0"]["returns"] += 5
    assert not env.infos["player_1"]["returns"].any()
