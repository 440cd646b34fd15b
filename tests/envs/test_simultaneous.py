"""The parallel environment of every registered game in which all players choose at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import parallel_seed_test

from dicegym import games
from dicegym.engine.game import Game
from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.envs.simultaneous import SimultaneousEnv
from dicegym.errors import IllegalActionError, ParameterError, StepError
from dicegym.registry import ENVIRONMENTS, Environment

SIMULTANEOUS = [e for e in ENVIRONMENTS if e.multi and games.spec(e.game).joint_action is not None]
each_environment = pytest.mark.parametrize("environment", SIMULTANEOUS, ids=lambda environment: environment.id)


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


@each_environment
def test_the_registry_and_the_convention_make_it(environment: Environment) -> None:
    made = pettingzoo.make("parallel", environment.full_id)
    assert isinstance(made, SimultaneousEnv)
    assert made.action_space("player_0").nvec.tolist() == [most + 1 for most in made.game.spec.joint_action.most]
    assert made.metadata["is_parallelizable"]


@each_environment
def test_seed(environment: Environment) -> None:
    parallel_seed_test(lambda: parallel_env(environment.game, **environment.settings), num_cycles=30)


@each_environment
@pytest.mark.parametrize("players", [None, "fewest"])
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


@each_environment
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


@each_environment
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


@each_environment
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
        (none - 1, "has -1 of number 0"),
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


@each_environment
def test_the_table_is_shown(environment: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("ansi", "human"):
        env = parallel_env(environment.game, render_mode=mode)
        env.reset(seed=4)
        shown = env.render() or capsys.readouterr().out
        assert env.game.spec.title in shown
