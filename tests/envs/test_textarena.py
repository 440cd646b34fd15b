"""The games in TextArena, made and played by the real library."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.errors import ParameterError, StepError
from dicegym.players.prompts import write_answer
from dicegym.registry import GAMES


@pytest.fixture(scope="module")
def ta() -> Any:
    """The library with our games: not imported while tests are collected, as it takes most of a second."""
    library = pytest.importorskip("textarena", reason="needs the extra llm")
    import_module("dicegym.textarena")

    return library


@pytest.mark.parametrize("name", GAMES)
def test_a_game_is_played_by_strings_and_pays_what_it_returns(name: str, ta: Any) -> None:
    env = ta.make(f"dicegym-{name}-v0", **({"rounds": 6} if name == "lucky" else {}))
    env.reset(num_players=2, seed=3)
    game = dicegym.game(name, players=2, **({"rounds": 6} if name == "lucky" else {}))
    state, done, generator = game.new_state(3), False, np.random.default_rng(0)
    while not done:
        seat, text = env.get_observation()
        assert seat == state.player
        assert f"You are player {seat}, and it is your turn." in text
        chosen = [int(generator.choice(state.legal_actions()))]
        if game.spec.joint_action is not None and chosen[0] != game.n_actions - 1:
            chosen.append(game.n_actions - 1)
        done, _ = env.step(write_answer(game, state.record, chosen))
        for action in chosen:
            state.step(action)
    rewards, info = env.close()
    assert rewards == dict(enumerate(state.returns()))
    assert not any(one["invalid_move"] for one in info.values())


def test_an_answer_that_is_no_action_costs_the_game(ta: Any) -> None:
    env = ta.make("dicegym-hog-v0")
    with pytest.raises(ParameterError, match="call reset"):
        env.get_observation()
    env.reset(num_players=2, seed=0)
    seat, _ = env.get_observation()
    done, info = env.step("I roll five dice.")
    assert done
    assert "is not JSON" in info["reason"]
    rewards, told = env.close()
    assert rewards == {seat: -1.0, 1 - seat: 0.0}
    assert told[seat]["invalid_move"]
    with pytest.raises(StepError):
        env.step('{"action": "5"}')
