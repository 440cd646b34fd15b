"""A question about a state, in any of its forms, is about that state; another one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.analysis.decisions import analyse
from dicegym.analysis.exploitability import exploitability
from dicegym.analysis.grades import grade
from dicegym.analysis.mcts import search
from dicegym.analysis.playing_on import fork
from dicegym.analysis.rollouts import RolloutValuer
from dicegym.analysis.valuers import hint, sources, valuer
from dicegym.engine.game import Game
from dicegym.envs.single import SingleAgentEnv
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.positions import position_id

ASKED: dict[str, Callable[[Game, Any], Any]] = {
    "analyse": lambda game, state: (
        analyse(game, [state, state], [5], valuer=RolloutValuer(game, "honest", 2)).decisions[0].best_value
    ),
    "draw": lambda game, state: dicegym.draw(game, state).svg(),
    "fork": lambda game, state: fork(game, state, 1, against="honest").tobytes(),
    "hint": lambda game, state: hint(game, state, RolloutValuer(game, "honest", 2)).choices,
    "position_id": position_id,
    "reset": lambda game, state: SingleAgentEnv(game, "honest").reset(options={"state": state})[0].tobytes(),
    "search": lambda game, state: search(game, state, 2, against="honest").best,
    "value": lambda game, state: RolloutValuer(game, "honest", 2).value(state, 0),
}
each_question = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)


@each_question
def test_a_state_its_record_and_an_array_of_it_are_the_same(ask: Callable[[Game, Any], Any]) -> None:
    game = dicegym.game("liarsdice")
    state = game.new_state(seed=1)
    assert ask(game, state) == ask(game, state.record) == ask(game, game.new_game(seed=1))


@each_question
@pytest.mark.parametrize("other", [{"players": 6}, {"dice": 2}, {"faces": 4}], ids=str)
def test_a_state_of_other_parameters_is_refused(ask: Callable[[Game, Any], Any], other: dict[str, int]) -> None:
    (name,) = other
    state = dicegym.game("liarsdice", **other).new_state(seed=1)
    for given in (state, state.record):
        with pytest.raises(ParameterError, match=f"whose {name} is {other[name]} does not fit"):
            ask(dicegym.game("liarsdice"), given)


@each_question
@pytest.mark.parametrize("given", [1, b"hog", [], dicegym.game("hog").new_state()], ids=repr)
def test_what_is_no_state_of_the_game_is_refused(ask: Callable[[Game, Any], Any], given: object) -> None:
    with pytest.raises(ParameterError, match="cannot be read as a state of Liar's Dice: give"):
        ask(dicegym.game("liarsdice"), given)


@pytest.mark.parametrize(
    ("values_of", "says"),
    [(dicegym.game("hog", goal=50), "goal is 100 does not fit .*goal=50"), (dicegym.game("yatzy"), "a state of Yatzy")],
    ids=repr,
)
def test_values_of_another_game_are_refused(values_of: Game, says: str) -> None:
    game, values = dicegym.game("hog"), RolloutValuer(values_of, games=2)
    state = game.new_state()
    for ask in (
        lambda: hint(game, state, values),
        lambda: grade("bacon", game, games=1, valuer=values),
        lambda: analyse(game, [state, state], [5], valuer=values),
    ):
        with pytest.raises(ParameterError, match=says):
            ask()


BY_NAME: dict[str, Callable[[Any], Any]] = {
    "exploitability": lambda game: exploitability("even", game, seconds=0.1).high,
    "fork": lambda game: fork(game, dicegym.game("liarsdice").new_state(), 1, against="honest").tobytes(),
    "grade": lambda game: grade("honest", game, games=1, valuer=RolloutValuer(game, "honest", 2)).decisions,
    "hint": lambda game: hint(game, dicegym.game("liarsdice").new_state(), RolloutValuer(game, "honest", 2)).choices,
    "search": lambda game: search(game, dicegym.game("liarsdice").new_state(), 2, against="honest").best,
    "sources": lambda game: [source.name for source in sources(game)],
    "valuer": lambda game: valuer(game, "rollouts").name,
}


@pytest.mark.parametrize("ask", BY_NAME.values(), ids=BY_NAME)
def test_a_game_is_found_by_its_name(ask: Callable[[Any], Any]) -> None:
    assert ask("liarsdice") == ask(dicegym.game("liarsdice"))
    with pytest.raises(UnknownNameError, match=r"there is no game 'liardice'\. Did you mean 'liarsdice'"):
        ask("liardice")


SEEDED: dict[str, Callable[[Any], Any]] = {
    "fork": lambda seed: fork("hog", dicegym.game("hog").new_state(), seed).tobytes(),
    "State.fork": lambda seed: dicegym.game("hog").new_state().fork(seed),
    "grade": lambda seed: grade("bacon", "hog", games=1, seed=seed).cost,
    "RolloutValuer": lambda seed: RolloutValuer("hog", "swap", 9, seed).value(dicegym.game("hog").new_state(), 0),
}


@pytest.mark.parametrize("ask", SEEDED.values(), ids=SEEDED)
def test_a_seed_is_a_whole_number(ask: Callable[[Any], Any]) -> None:
    assert ask(np.int32(7)) == ask(np.uint64(7)) == ask(7)
    for seed in (None, "7", 7.0, float("nan"), True, 1 << 64):
        with pytest.raises(ParameterError, match=r"^seed=.* cannot be used as"):
            ask(seed)
