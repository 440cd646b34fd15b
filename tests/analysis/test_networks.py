"""A valuer made of a model's critic: what its protocol promises, on all shipped models that have one."""

from __future__ import annotations

import numpy as np
import pytest

import dicegym
from dicegym.analysis import analyse, networks, sources, valuer
from dicegym.analysis.networks import NetworkValuer
from dicegym.errors import ModelError, ParameterError
from dicegym.games.worth import BatchValuer
from dicegym.play.drive import Referee
from dicegym.players.roster import agents_folder, resolve

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

TABLES = [
    dicegym.game("yatzy", players=1),
    dicegym.game("liarsdice"),
    dicegym.game("liarsdice_spot_on"),
    dicegym.game("lucky"),
]
WITH_CRITIC = [game for game in TABLES if "network" in [source.name for source in sources(game)]]


def test_games_have_critics() -> None:
    assert len(WITH_CRITIC) >= 3


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("game", WITH_CRITIC, ids=repr)
def test_a_critic_keeps_the_promises_of_a_valuer(game: dicegym.Game) -> None:
    asked = valuer(game, "network")
    assert isinstance(asked, BatchValuer)
    assert asked.kind == "network"
    state = game.new_game(seed=2)[0]
    before = state.copy()
    seats = [asked.value(state, seat) for seat in range(game.players)]
    legal = game.legal(state)
    found = asked.action_values(state)
    assert np.array_equal(np.isnan(found.values), ~legal)
    assert (found.errors[legal] >= 0).all()
    again = asked.action_values(state)
    assert np.array_equal(found.values, again.values, equal_nan=True)  # dice are named, nothing is drawn
    chances = asked.policy(state)
    assert chances.sum() == pytest.approx(1)
    assert not chances[~legal].any()
    if asked.unit == "win rate":
        assert sum(seats) == pytest.approx(1)
        assert ((found.values[legal] >= 0) & (found.values[legal] <= 1)).all()
    elif game.spec.zero_sum and game.players > 1:
        assert sum(seats) == pytest.approx(0, abs=1e-6)
    first = int(np.flatnonzero(legal)[0])
    assert asked.action_value(state, first) == pytest.approx(found.values[first])
    assert state.tobytes() == before.tobytes()


@pytest.mark.parametrize("name", ["liarsdice", "liarsdice_spot_on"])
def test_a_critic_judges_by_what_the_player_may_know(name: str) -> None:
    game = dicegym.game(name)
    asked = valuer(game, "network")
    state = game.new_game(seed=2)[0]
    other = state.copy()
    seat = 1 - int(state["player"])
    other["key"] = 5
    other["hands"][seat] = 0
    other["hands"][seat, 0] = int(state["rolled"][seat])
    found, same = (asked.action_values(one).values for one in (state, other))
    assert np.array_equal(found, same, equal_nan=True)


def test_what_is_over_is_worth_what_it_came_to() -> None:
    game = dicegym.game("liarsdice")
    players = [dicegym.agent(game, "honest")] * 2
    referee = Referee(game, game.new_game(seed=1), players)
    states = [referee.states.copy()]
    for _ in referee.moves():
        states.append(referee.states.copy())
    asked = valuer(game, "network")
    winner = int(np.argmax(game.returns(referee.states[0])))
    assert asked.value(referee.states[0], winner) == 1
    assert np.isnan(asked.action_values(referee.states[0]).values).all()
    found = analyse(game, states, referee.actions, valuer=asked)
    for total in found.totals:
        assert total.start - total.cost + total.gained + total.luck == pytest.approx(total.result, abs=1e-9)


def test_a_model_of_another_game_is_refused() -> None:
    path = resolve(dicegym.game("liarsdice"), "ppo")
    with pytest.raises((ModelError, ParameterError)):
        NetworkValuer(str(path), dicegym.game("hog"))


@pytest.mark.parametrize("reward", ["margin", "first"])
def test_a_critic_of_other_rewards_says_nothing_of_results(reward: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = agents_folder("liarsdice") / "ppo.zip"
    said = networks.facts(path)
    said["settings"]["environment"] = {"reward": reward}
    monkeypatch.setattr(networks, "facts", lambda _: said)
    with pytest.raises(ModelError, match=f"trained with reward='{reward}'.*give one of reward='win'"):
        NetworkValuer(path)
