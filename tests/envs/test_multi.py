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
from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, render_test, seed_test

import dicegym.pettingzoo
from dicegym import games
from dicegym.engine.game import Game
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


@pytest.mark.slow_after(1)  # what is shown of each game is looked at elsewhere
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
def test_environment_plays_the_engines_game(environment: Environment) -> None:
    env = convention(environment).env()
    rng = np.random.default_rng(2)
    for episode in range(2):
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
                assert mask.dtype == np.int8
                assert np.array_equal(mask, turns.observe(agent)["action_mask"])
            elif agent == turns.agent_selection:
                assert np.array_equal([of[1] for of in mask], turns.observe(agent)["action_mask"][: len(mask)])

    turns.reset(seed=2)
    for _ in range(4):
        play_round()
    state = turns.state_record
    if order is not None:
        turns.step(order.actions([0] * len(order.most))[0])
        with pytest.raises(ParameterError, match="in the middle of a round: seat 1 is to choose"):
            steps.reset(options={"state": turns.state_record})
    TurnEnv(environment.game).reset(options={"state": state})  # though no game of its seed has begun
    turns.reset(seed=7, options={"state": state})
    assert turns.state_record.tobytes() == state.tobytes()
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


# --- where all choose at once -------------------------------------------------------------------------------------


SIMULTANEOUS = [e for e in ENVIRONMENTS if e.multi and games.spec(e.game).joint_action is not None]
each_simultaneous = pytest.mark.parametrize("environment", SIMULTANEOUS, ids=lambda environment: environment.id)


def some_choice(env: Any, seat: int, rng: np.random.Generator, slip: float = 0.0) -> np.ndarray:
    """A random whole choice that the rules allow, or now and then one that is too much."""
    game, order = env.game, env.game.spec.joint_action
    if rng.random() < slip:
        return np.array(order.most)
    limits = order.limits(env.state_record)[seat]
    choice = np.zeros(len(order.most), np.int64)
    for thing in rng.permutation(len(choice)):
        longer = choice.copy()
        longer[thing] += rng.integers(0, min(limits[thing], 3) + 1)
        if legal(env, game, order, seat, longer):
            choice = longer
    return choice


def legal(env: Any, game: Game, order: Any, seat: int, choice: np.ndarray) -> bool:
    """Whether a whole choice is legal for ``seat`` at the beginning of a round, when others choose nothing."""
    state = env.state_record
    while (mover := int(state["player"])) != seat:
        nothing(game, order, state)
        assert mover != state["player"]
    for action in order.actions(choice.tolist()):
        if game.step(state, action):
            return False
        if state["over"]:
            break
    return True


def nothing(game: Game, order: Any, state: Any) -> None:
    for action in order.actions([0] * len(order.most)):
        game.step(state, action)


@each_simultaneous
def test_the_registry_and_the_convention_make_it(environment: Environment) -> None:
    made = pettingzoo.make("parallel", environment.full_id)
    assert isinstance(made, SimultaneousEnv)
    assert made.action_space("player_0").nvec.tolist() == [most + 1 for most in made.game.spec.joint_action.most]
    assert made.metadata["is_parallelizable"]


@each_simultaneous
def test_seed_of_both_forms(environment: Environment) -> None:
    parallel_seed_test(lambda: parallel_env(environment.game, **environment.settings), num_cycles=30)


@each_simultaneous
@pytest.mark.parametrize("players", ["fewest", pytest.param(None, marks=pytest.mark.slow)])
def test_whole_choices_make_the_same_games_as_action_by_action(environment: Environment, players: str | None) -> None:
    """Byte by byte, illegal choices included, in games of several sizes."""
    few = {"players": games.spec(environment.game).players[0]} if players else {}
    whole = parallel_env(environment.game, **environment.settings, **few)
    by_actions = TurnEnv(environment.game, **environment.settings, **few)
    rng = np.random.default_rng(3)
    faults = ends = 0
    for episode in range(6):
        seed = 11 if episode == 0 else None
        observations, infos = whole.reset(seed=seed)
        by_actions.reset(seed=seed)
        for _ in range(40):
            choices = {agent: some_choice(whole, seat, rng, 0.1) for seat, agent in enumerate(whole.possible_agents)}
            for seat, agent in enumerate(whole.possible_agents):
                assert by_actions.agent_selection == agent
                assert (by_actions.observe(agent)["observation"] == observations[agent]).all()
                left = choices[agent].copy()
                while by_actions.agent_selection == agent and left.any():  # one at a time, in any order
                    thing = int(rng.choice(np.flatnonzero(left)))
                    left[thing] -= 1
                    one = np.eye(len(left), dtype=int)[thing]
                    by_actions.step(whole.game.spec.joint_action.actions(one.tolist())[0])
                if by_actions.agent_selection == agent and not by_actions.infos[agent]["fault"]:
                    by_actions.step(whole.game.spec.joint_action.actions([0] * len(left))[-1])
                assert seat == int(agent.rpartition("_")[2])
            observations, rewards, terminations, truncations, infos = whole.step(choices)
            assert whole.state_record.tobytes() == by_actions.state_record.tobytes()
            assert terminations == by_actions.terminations
            assert not any(truncations.values())
            assert rewards == by_actions.rewards
            faults += sum(bool(info["fault"]) for info in infos.values())
            if not whole.agents:
                ends += 1
                assert list(rewards.values()) == pytest.approx(whole.game.returns(whole.state_record).tolist())
                break
    assert faults > 10
    assert ends > 2


@each_simultaneous
def test_masks_say_what_may_be_chosen_alone(environment: Environment) -> None:
    env = parallel_env(environment.game, **environment.settings)
    rng = np.random.default_rng(5)
    _, infos = env.reset(seed=2)
    order = env.game.spec.joint_action
    for _ in range(6):
        for seat, agent in enumerate(env.possible_agents[:2]):
            for thing in rng.choice(len(order.most), 6, replace=False):
                mask = infos[agent]["action_mask"][thing]
                assert mask.shape == (order.most[thing] + 1,)
                alone = np.eye(len(order.most), dtype=int)[thing]
                found = [legal(env, env.game, order, seat, alone * number) for number in range(len(mask))]
                assert mask.tolist() == found
        *_, infos = env.step({agent: some_choice(env, seat, rng) for seat, agent in enumerate(env.agents)})


@each_simultaneous
def test_illegal_choices_by_the_rule_raised_or_terminating(environment: Environment) -> None:
    too_much = np.array(games.spec(environment.game).joint_action.most)
    none = too_much * 0

    def choices(env: Any) -> dict[str, np.ndarray]:
        return {agent: too_much if agent == "player_1" else none for agent in env.agents}

    env = parallel_env(environment.game)
    env.reset(seed=0)
    *_, infos = env.step(choices(env))
    assert infos["player_1"]["fault"] in env.game.spec.faults
    assert infos["player_0"]["fault"] == ""
    *_, infos = env.step(dict.fromkeys(env.agents, none))
    assert infos["player_1"]["fault"] == ""

    env = parallel_env(environment.game, on_illegal="raise")
    env.reset(seed=0)
    before = env.state_record.tobytes()
    with pytest.raises(IllegalActionError, match="player_1 is not legal now"):
        env.step(choices(env))
    assert env.state_record.tobytes() == before

    env = parallel_env(environment.game, on_illegal="terminate", illegal_reward=-3)
    env.reset(seed=0)
    _, rewards, terminations, _, infos = env.step(choices(env))
    assert rewards == {agent: -3.0 * (agent == "player_1") for agent in env.possible_agents}
    assert all(terminations.values())
    assert not env.agents


@each_simultaneous
def test_wrong_choices_and_steps_say_what_is_wrong(environment: Environment) -> None:
    env = parallel_env(environment.game)
    none = np.zeros(len(env.game.spec.joint_action.most), np.int64)
    with pytest.raises(StepError, match="reset"):
        env.step({})
    env.reset(seed=0)
    good = dict.fromkeys(env.agents, none)
    before = env.state_record.tobytes()
    for bad, match in [
        (none[:-1], "shape"),
        (none.astype(float), "float64"),
        ([[0], [0, 1]], "not a row"),
        (3, "shape"),
        (None, "object"),
        (none - 1, "has -1 at index 0"),
        (np.array(env.game.spec.joint_action.most) + 1, "give 0 to"),
    ]:
        with pytest.raises(ParameterError, match=match):
            env.step(good | {"player_1": bad})
    with pytest.raises(ParameterError, match="choice of player_1 is missing"):
        env.step({agent: none for agent in env.agents if agent != "player_1"})
    with pytest.raises(ParameterError, match="'somebody' is not an agent"):
        env.step(good | {"somebody": none})
    assert env.state_record.tobytes() == before
    with pytest.raises(ParameterError, match="max_cycles=0"):
        parallel_env(environment.game, max_cycles=0)
    with pytest.raises(ParameterError, match="is not a game of simultaneous choices"):
        SimultaneousEnv("hog")


@each_simultaneous
def test_the_table_is_shown(environment: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("ansi", "human"):
        env = parallel_env(environment.game, render_mode=mode)
        env.reset(seed=4)
        shown = env.render() or capsys.readouterr().out
        assert env.game.spec.title in shown
