"""A valuer made of a model's critic: what its protocol promises, of models that have played for a moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.analysis import analyse, networks
from dicegym.analysis.networks import NetworkValuer
from dicegym.errors import ModelError, ParameterError
from dicegym.games.worth import BatchValuer
from dicegym.play.drive import Referee
from dicegym.players.roster import agents_folder

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

TABLES = [
    dicegym.game("yatzy", players=1),
    dicegym.game("liarsdice"),
    dicegym.game("liarsdice_spot_on"),
    dicegym.game("lucky"),
]
each_table = pytest.mark.parametrize("game", TABLES, ids=repr)
Trained = Callable[[dicegym.Game], Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A function that returns the file of a model of a game, which has hardly learned."""
    from dicegym.envs.sb3 import SB3VecEnv
    from dicegym.players import model as models

    folder = tmp_path_factory.mktemp("models")

    def path_of(game: dicegym.Game) -> Path:
        path = folder / f"{game.name}.zip"
        if not path.exists():
            learner = models.algorithm("MaskablePPO")("MlpPolicy", SB3VecEnv(game, 4, seed=0), n_steps=8, batch_size=32)
            dicegym.save_model(learner.learn(32), path, game)
        return path

    return path_of


@pytest.mark.slow_after(2)
@each_table
def test_a_critic_keeps_the_promises_of_a_valuer(game: dicegym.Game, trained: Trained) -> None:
    asked = NetworkValuer(trained(game))
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
def test_a_critic_judges_by_what_the_player_may_know(name: str, trained: Trained) -> None:
    game = dicegym.game(name)
    asked = NetworkValuer(trained(game))
    state = game.new_game(seed=2)[0]
    other = state.copy()
    seat = 1 - int(state["player"])
    other["key"] = 5
    other["hands"][seat] = 0
    other["hands"][seat, 0] = int(state["rolled"][seat])
    found, same = (asked.action_values(one).values for one in (state, other))
    assert np.array_equal(found, same, equal_nan=True)


def test_what_is_over_is_worth_what_it_came_to(trained: Trained) -> None:
    game = dicegym.game("liarsdice")
    players = [dicegym.agent(game, "honest")] * 2
    referee = Referee(game, game.new_game(seed=1), players)
    states = [referee.states.copy()]
    for _ in referee.moves():
        states.append(referee.states.copy())
    asked = NetworkValuer(trained(game))
    winner = int(np.argmax(game.returns(referee.states[0])))
    assert asked.value(referee.states[0], winner) == 1
    assert np.isnan(asked.action_values(referee.states[0]).values).all()
    found = analyse(game, states, referee.actions, valuer=asked)
    for total in found.totals:
        assert total.start - total.cost + total.gained + total.luck == pytest.approx(total.result, abs=1e-9)


def test_a_model_of_another_game_is_refused(trained: Trained) -> None:
    path = trained(dicegym.game("liarsdice"))
    with pytest.raises((ModelError, ParameterError)):
        NetworkValuer(str(path), dicegym.game("hog"))


def test_a_model_that_ships_has_no_critic() -> None:
    with pytest.raises(ModelError, match="holds no critic, as models that ship do not"):
        NetworkValuer(agents_folder("liarsdice") / "ppo.zip")


@pytest.mark.parametrize("reward", ["margin", "first"])
def test_a_critic_of_other_rewards_says_nothing_of_results(
    reward: str, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = trained(dicegym.game("liarsdice"))
    said = networks.facts(path) | {"settings": {"environment": {"reward": reward}}}
    monkeypatch.setattr(networks, "facts", lambda _: said)
    with pytest.raises(ModelError, match=f"trained with reward='{reward}'.*give one of reward='win'"):
        NetworkValuer(path)
