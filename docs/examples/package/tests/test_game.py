"""The game keeps the promises that environments, contests and trainings rely on, and does what its page says."""

import pytest
from pig.rules import HOLD, ROLL, SPEC

import dicegym
from dicegym.checks import check_agent, check_game, forms

GAME = dicegym.game(SPEC)


@pytest.mark.parametrize("form", forms(SPEC), ids=repr)
def test_the_game_keeps_its_promises(form):
    check_game(form)


@pytest.mark.parametrize("name", dicegym.agent_names(GAME))
def test_agents_play(name):
    check_agent(GAME, dicegym.agent(GAME, name))


def test_a_turn_ends_with_a_1_or_a_hold():
    state = GAME.new_game(seed=1)[0]
    for _ in range(100):
        mover, total = int(state["player"]), int(state["total"])
        score = int(state["scores"][mover])
        action = HOLD if total >= 10 else ROLL
        assert GAME.step(state, action) == 0
        if state["over"]:
            break
        ended = action == HOLD or int(state["face"]) == 1
        assert (int(state["player"]) != mover) == ended
        assert int(state["scores"][mover]) == score + (total if action == HOLD else 0)
