"""Games in words: every legal action comes back from its text, and what is no answer says why and plays nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import dicegym
from dicegym.engine.game import Game
from dicegym.envs.single import SingleAgentEnv
from dicegym.errors import ParameterError, StepError
from dicegym.games.hidden import open_fields
from dicegym.games.lucky.catalogue import DONE, PRICES, order_actions, order_limits
from dicegym.players.prompts import (
    ANSWER_SCHEMA,
    IllegalAnswerError,
    UnreadableAnswerError,
    observation_text,
    read_action,
    read_answer,
    rules_text,
    write_actions,
    write_answer,
)
from dicegym.registry import GAMES
from dicegym.text import TextEnv, TextInfo

MANY = 100_000


def states(game: Game, number: int, seed: int = 0) -> Iterator[Any]:
    """Yield so many records in which somebody is to move, of games of random actions."""
    generator = np.random.default_rng(seed)
    episode = 0
    while True:
        state = game.new_game(seed, episode)[0]
        episode += 1
        while not state["over"]:
            yield state
            if (number := number - 1) <= 0:
                return
            game.step(state, int(generator.choice(np.flatnonzero(game.legal(state)))))


def decisions(game: Game, state: Any, generator: np.random.Generator) -> Iterator[list[int]]:
    """Yield every legal action as a whole decision and, where decisions are orders, larger orders too."""
    if game.spec.joint_action is None:
        yield from ([action] for action in np.flatnonzero(game.legal(state)).tolist())
        return
    seat = int(state["player"])
    for action in np.flatnonzero(game.legal(state)).tolist():
        yield [action] if action == DONE else [action, DONE]
    if not state["order"][seat].any():
        for kind, most in enumerate(order_limits(state, seat)):
            yield from (order_actions([0] * kind + [count]) for count in range(1, most + 1))
        left, counts = int(state["money"][seat]), [0] * len(order_limits(state, seat))
        for kind in generator.permutation(len(counts)).tolist():
            limit = min(int(state["shop"][kind]), left // int(PRICES[kind]))
            counts[kind] = int(generator.integers(limit + 1))
            left -= counts[kind] * int(PRICES[kind])
        yield order_actions(counts)


def check_round_trip(game: Game, number: int) -> None:
    generator = np.random.default_rng(1)
    for state in states(game, number):
        before = state.tobytes()
        for actions in decisions(game, state, generator):
            assert read_action(game, state, write_actions(game, state, actions)) == actions
        assert state.tobytes() == before


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_action_is_read_back(name: str) -> None:
    check_round_trip(dicegym.game(name), 8)


@pytest.mark.parametrize("name", GAMES)
def test_actions_that_no_text_means_are_not_written(name: str) -> None:
    game = dicegym.game(name)
    state = game.new_game(1)[0]
    wrong = [[], [-1], [1000], [10**6], [1 << 62], *([[game.n_actions + 3]] if "liarsdice" in name else [])]
    for actions in wrong:
        with pytest.raises(ParameterError, match=r"actions=\[.*\] cannot be written"):
            write_answer(game, state, actions)
    while not state["over"]:
        game.step(state, int(np.flatnonzero(game.legal(state))[-1]))
    with pytest.raises(ParameterError, match="give those of one decision that is legal now"):
        write_actions(game, state, [5])
    for text in ("5", "nothing", "score yatzy", "3 4", "what?"):
        with pytest.raises((IllegalAnswerError, UnreadableAnswerError), match="the game is over"):
            read_action(game, state, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_every_legal_action_of_very_many_states_is_read_back(name: str) -> None:
    check_round_trip(dicegym.game(name), MANY)


@pytest.mark.parametrize("name", GAMES)
def test_an_observation_tells_all_that_a_seat_may_know_and_nothing_else(name: str) -> None:
    """One text never stands for two observations, and what is hidden leaves no trace in it."""
    game = dicegym.game(name)
    seen: dict[str, bytes] = {}
    for state in states(game, 30, seed=5):
        seat = int(state["player"])
        text = observation_text(game, state)
        observed = game.observe(state, seat).tobytes() + game.legal(state).tobytes()
        assert seen.setdefault(text, observed) == observed, text
        other = state.copy()
        other["key"] += 1
        for field in game.spec.private - open_fields(game):
            other[field][(seat + 1) % game.players] = state[field][seat]
        assert observation_text(game, other, seat) == text
        if game.spec.joint_action is None:
            listed = text.rpartition("Legal actions: ")[2].removesuffix(".").split(", ")
            assert len(listed) == game.legal(state).sum()
        assert "player" in observation_text(game, state, (seat + 1) % game.players)
    assert game.spec.title in rules_text(game)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "is not JSON"),
        ("roll 5", "is not JSON"),
        ('I roll five: {"action": "5"}', "is not JSON"),
        ('```json\n{"action": "5"}\n```', "is not JSON"),
        ('{"action": "5"} {"action": "6"}', "is not JSON"),
        ('{"action": "5", "action": "6"}', "key 'action' alone"),
        ('{"action": "5", "why": "it is best"}', "key 'action' alone"),
        ('{"Action": "5"}', "key 'action' alone"),
        ('[["action", "5"]]', "key 'action' alone"),
        ('"5"', "key 'action' alone"),
        ("{}", "key 'action' alone"),
        ('{"action": 5}', "is not a text"),
        ('{"action": null}', "is not a text"),
        ('{"action": {"number": "5"}}', "is not a text"),
        ('{"action": "  "}', "is not a text"),
        ('{"action": "' + "5" * 2000 + '"}', "2,014 characters"),
        ("[" * 900, "is not JSON"),
        (
            '{"action": "the best one"}',
            "'the best one' means nothing here: write a legal action as the rules show it, such as '10'",
        ),
    ],
)
def test_what_is_no_answer_says_why(answer: str, why: str) -> None:
    game = dicegym.game("hog")
    with pytest.raises(UnreadableAnswerError, match=why):
        read_answer(game, game.new_game(0)[0], answer)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("hog", "11", "11 dice cannot be rolled"),
        ("hog", "swap", "comes by itself"),
        ("yatzy", "score box 16", "there is no box 16: write a legal action"),
        ("liarsdice", "liar", "no bid to challenge yet"),
        ("liarsdice", "30 6", "more than can be bid"),
        ("liarsdice_spot_on", "gain one", "no bid to challenge yet"),
        ("lucky", "1x21", "costs 170"),
        ("lucky", "fast 3", "more than one decision"),
    ],
)
def test_what_the_rules_forbid_says_why(name: str, text: str, why: str) -> None:
    game = dicegym.game(name)
    with pytest.raises(IllegalAnswerError, match=why):
        read_action(game, game.new_game(0)[0], text)


def test_an_answer_is_what_its_schema_describes() -> None:
    (key,) = ANSWER_SCHEMA["required"]
    game = dicegym.game("hog")
    assert read_answer(game, game.new_game(0)[0], json.dumps({key: "bacon"})) == [1]
    assert not ANSWER_SCHEMA["additionalProperties"]


@pytest.mark.parametrize("name", GAMES)
def test_games_on_strings_are_those_on_numbers(name: str) -> None:
    game = dicegym.game(name)
    env = TextEnv(name)
    told = TextInfo(gym.wrappers.TimeLimit(SingleAgentEnv(name), 100_000))
    text, info = env.reset(seed=3)
    _, numbers = told.reset(seed=3)
    assert numbers["text"] == text
    assert numbers["seat"] == info["seat"]
    gained, generator, over = 0.0, np.random.default_rng(0), False
    while not over:
        state = env.env.state
        actions = [*decisions(game, state, generator)]
        chosen = actions[int(generator.integers(len(actions)))]
        text, reward, over, _, info = env.step(write_answer(game, state, chosen))
        gained += reward
        for action in chosen:
            _, _, ended, _, numbers = told.step(action)
        assert ended == over
        assert numbers["text"] == text
    assert gained == pytest.approx(info["returns"][info["seat"]])
    with pytest.raises(StepError):
        env.step('{"action": "5"}')


def test_an_answer_that_cannot_be_read_changes_nothing() -> None:
    env = TextEnv("hog", opponent="bacon", seat=0)
    text, _ = env.reset(seed=1)
    before = env.env.state.tobytes()
    for answer in ("roll 5", '{"action": "12"}'):
        with pytest.raises((UnreadableAnswerError, IllegalAnswerError)):
            env.step(answer)
    assert env.env.state.tobytes() == before
    assert env.step('{"action": "roll 5"}')[0] != text
    assert '{"action": "..."}' in env.prompt


def test_rewards_may_be_what_decisions_cost() -> None:
    env = TextEnv("hog", opponent="bacon", seat=0, reward="regret")
    env.reset(seed=1)
    costs = {}
    for number in ("-1", "4"):
        env.reset(seed=1, options={"episode": 0})
        costs[number] = -env.step(json.dumps({"action": number}))[1]
    assert 0 <= costs["4"] < costs["-1"] < 1


def test_what_cannot_be_told_in_words_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"reward='regrets' is unknown: give one of 'win', .*'regret'"):
        TextEnv("hog", reward="regrets")
    with pytest.raises(ParameterError, match="has no text: give a single-agent environment of dicegym"):
        TextInfo(gym.make("CartPole-v1"))
