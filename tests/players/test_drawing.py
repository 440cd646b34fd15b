"""Models that draw: by which probabilities, by whose seed, and the same wherever they sit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_models import changed
from variants import each_game

import dicegym
from dicegym.analysis.exploitability import exploitability
from dicegym.analysis.playing_on import SLIP, likelihoods
from dicegym.bots.network import Layer, Network
from dicegym.engine.game import Game
from dicegym.envs.opponents import Opponents
from dicegym.errors import ModelError, ParameterError
from dicegym.games.hidden import list_hidden_fields
from dicegym.learning.blocks import results_of
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.players import model as models
from dicegym.players import model_file
from dicegym.players.model import (
    PolicyPlayer,
    probabilities,
    sample_actions,
    seeds_of,
    uniforms,
    usual_temperature,
)
from dicegym.players.model_file import MEMBER
from dicegym.players.roster import agents_folder, opponent
from dicegym.registry import GAMES


def network(game: Game, seed: int = 0) -> Network:
    """Return a network whose policy is mixed."""
    generator = np.random.default_rng(seed)
    return Network((Layer(generator.normal(size=(game.observation_size, game.n_actions)), np.zeros(game.n_actions)),))


def mixed(game: Game, temperature: float = 2.0) -> PolicyPlayer:
    return PolicyPlayer(network(game), game, "mixed", temperature=temperature)


def positions(game: Game, n: int) -> np.ndarray:
    """Return states of different games, none over, played on at random."""
    found = game.new_states(n)
    for row in range(n):
        state = game.new_game(row)[0]
        generator = np.random.default_rng(row)
        for _ in range(generator.integers(12)):
            before = state.copy()
            game.step(state, int(generator.choice(np.flatnonzero(game.legal(state)))))
            if state["over"]:
                state = before
                break
        found[row] = state
    return found


def test_models_draw_where_actions_reveal_what_is_hidden() -> None:
    drawn_in = {name for name in GAMES if usual_temperature(dicegym.game(name)) > 0}
    assert drawn_in == {"liarsdice", "liarsdice_spot_on"}
    assert list_hidden_fields(dicegym.game("lucky"))  # but nobody sees what others choose before choosing too
    assert usual_temperature(dicegym.game("liarsdice")) == 1
    assert usual_temperature(dicegym.game("hog")) == 0


def test_probabilities_are_those_of_softmax_over_legal_actions_and_are_drawn_so() -> None:
    scores = np.array([[0.0, np.log(3), 5.0, -1e9], [1.0, 1.0, 1.0, 1e9]])
    masks = np.array([[True, True, False, True], [True, False, True, False]])
    assert np.allclose(probabilities(scores, masks, 1.0), [[0.25, 0.75, 0, 0], [0.5, 0, 0.5, 0]])
    assert np.allclose(probabilities(scores, masks, 0.5)[0], [0.1, 0.9, 0, 0])
    assert np.array_equal(probabilities(scores, masks, 0.0), [[0, 1, 0, 0], [1, 0, 0, 0]])
    assert np.allclose(probabilities(scores, masks, 1e-9)[0], [0, 1, 0, 0])
    chances = np.array([[0.0, 0.25, 0.0, 0.75, 0.0]])
    edges = np.array([0.0, 0.24999, 0.25, np.nextafter(1.0, 0.0)])
    assert sample_actions(np.repeat(chances, 4, axis=0), edges).tolist() == [1, 1, 3, 3]
    thirds = np.full((1, 3), 1 / 3)
    assert sample_actions(thirds, np.array([np.nextafter(1.0, 0.0)])).tolist() == [2]


@each_game
def test_uniforms_are_spread_evenly_and_depend_on_all_but_the_key(name: str) -> None:
    game = dicegym.game(name)
    state = game.new_game()[0]
    states = game.new_states(4096)
    states[:] = state
    found = uniforms(game, np.arange(4096, dtype=np.uint64), states)
    assert found.min() >= 0
    assert found.max() < 1
    assert abs(found.mean() - 0.5) < 0.02
    assert np.histogram(found, 16, (0, 1))[0].min() > 180
    same, other_key, other = states[:1].copy(), states[:1].copy(), states[:1].copy()
    other_key["key"] += np.uint64(1)
    other["player"] += 1
    seed = np.zeros(1, np.uint64)
    assert uniforms(game, seed, same) == uniforms(game, seed, other_key) != uniforms(game, seed, other)


@each_game
def test_it_draws_the_same_in_rows_of_any_order_and_one_by_one(name: str) -> None:
    game = dicegym.game(name)
    player = mixed(game)
    states = positions(game, 64)
    seats = states["player"].astype(np.int64)
    rows = np.arange(64)
    together = player.act_rows(game, states, rows, seats)
    assert np.array_equal(player.act_rows(game, states, rows[::-1], seats[::-1]), together[::-1])
    seeds = seeds_of(states, seats).tolist()
    alone = []
    for row in rows.tolist():
        act = player.join(game, int(seats[row]), seeds[row])
        alone.append(act(dicegym.Turn(game, states[row], int(seats[row]))))
    assert alone == together.tolist()
    assert not np.array_equal(together, mixed(game, 0).act_rows(game, states, rows, seats))


@each_game
def test_it_draws_by_its_probabilities(name: str) -> None:
    game = dicegym.game(name)
    player = mixed(game, 4.0)
    n = 8_000
    states = game.new_states(n)
    states[:] = positions(game, 3)[2]
    states["key"] = np.random.default_rng(1).integers(0, 1 << 63, n, dtype=np.uint64)
    seats = states["player"].astype(np.int64)
    wanted = player.chances(game, states[:1])[0]
    found = np.bincount(player.act_rows(game, states, np.arange(n), seats), minlength=game.n_actions) / n
    assert wanted.sum() == pytest.approx(1)
    assert not wanted[~game.legal(states[0])].any()
    assert (np.abs(found - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / n) + 5 / n).all()


@each_game
def test_a_batch_plays_the_games_that_a_referee_plays(name: str) -> None:
    game = dicegym.game(name, **({"rounds": 12} if name == "lucky" else {}))  # nobody wins there by chance
    player = mixed(game)
    n = 2
    states = game.new_states(n)
    for row in range(n):
        states[row] = game.new_game(5, row)[0]
    table = Opponents(game, states)
    for row in range(n):
        table.sit(row, int(states["key"][row]), dict.fromkeys(range(game.players), player))
    assert not table.seating  # nobody is asked game by game
    table.play_out()
    for row in range(n):
        assert play_game(game, [player] * game.players, 5, row).tobytes() == states[row].tobytes()


def test_an_evaluation_is_the_same_in_parts() -> None:
    game = dicegym.game("liarsdice", dice=2)
    player, rival = mixed(game), mixed(game, 1.0)
    whole = results_of(game, player, [rival], 0, 40, 9).shares
    parts = [results_of(game, player, [rival], first, 10, 9).shares for first in (0, 10, 20, 30)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_files_say_how_they_play(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    game = dicegym.game("liarsdice")
    layers = torch.nn.Sequential(torch.nn.Linear(game.observation_size, game.n_actions))

    def saved(**how: Any) -> PolicyPlayer:
        return models.load(dicegym.save_model(layers, tmp_path / "m.zip", game, **how))

    assert saved().pure  # what a module's scores mean is not known
    found = saved(temperature=0.5)
    assert (found.temperature, found.pure, found.at_once) == (0.5, False, True)
    path = tmp_path / "m.zip"
    assert model_file.facts(path)["play"] == {"temperature": 0.5}
    assert models.load(path).temperature == 0.5
    assert models.load(path, temperature=0).pure
    asked = dicegym.agent(game, str(path), temperature=2)
    assert isinstance(asked, PolicyPlayer)
    assert asked.temperature == 2
    with pytest.raises(ParameterError, match="temperature=-1"):
        dicegym.agent(game, str(path), temperature=-1)
    with pytest.raises(ParameterError, match="bayes is a bot"):
        dicegym.agent(game, "bayes", temperature=1)


@pytest.mark.parametrize("said", [*({"temperature": value} for value in (10**400, -1, "hot", None)), 3])
def test_a_file_that_says_nonsense_of_how_it_plays_is_refused(tmp_path: Path, said: object) -> None:
    about = model_file.facts(agents_folder("hog") / "ppo.zip") | {"play": said}
    with pytest.raises(ModelError, match="has an invalid play="):
        models.load(changed(agents_folder("hog") / "ppo.zip", tmp_path / "m.zip", {MEMBER: json.dumps(about).encode()}))


def test_policies_are_drawn_by_default_where_dice_are_hidden() -> None:
    contrib = pytest.importorskip("sb3_contrib")
    from stable_baselines3 import DQN

    from dicegym.envs.sb3 import SB3VecEnv

    for name in ("liarsdice", "hog"):
        games = SB3VecEnv(name, 2, seed=0)
        policy = contrib.MaskablePPO("MlpPolicy", games, n_steps=2, batch_size=4, device="cpu")
        game = dicegym.game(name)
        assert models.temperature_for(policy, game) == usual_temperature(game)
        assert models.temperature_for(DQN("MlpPolicy", games, device="cpu", buffer_size=10), game) == 0


def test_exact_values_are_those_of_the_probabilities() -> None:
    game = dicegym.game("liarsdice", dice=1)
    best, even = mixed(game, 0), mixed(game, 2.0)
    found = exploitability(even, game)
    assert found.how.startswith("exact")
    assert found.low == pytest.approx(found.high)
    assert found.low < exploitability(best, game).low  # a mixed way to play gives less away
    hog = dicegym.game("hog", goal=20)  # whose tables hold one action each
    assert evaluate(hog, mixed(hog), mixed(hog, 0), 50).games == 50
    with pytest.raises(ParameterError, match="mixed draws its actions"):
        exploitability(mixed(hog), hog)
    rate = evaluate(game, even, best)
    assert rate.measure == "exact win rate"
    played = evaluate(game, even, best, 400, exact=False, less_luck=True)
    assert played.low - 0.02 < rate.value < played.high + 0.02
    assert played.saved is not None
    assert played.saved > 2


def test_likelihoods_are_exact() -> None:
    game = dicegym.game("liarsdice")
    player = mixed(game)
    states = game.new_states(1)
    states[0] = game.new_game(3)[0]
    chances = player.chances(game, states)[0]
    legal = game.legal(states[0]).sum()
    found = likelihoods(player, game, states, 4)
    assert found is not None
    assert found[0] == pytest.approx((1 - SLIP) * chances[4] + SLIP / legal)


def test_likelihoods_of_a_bot_that_does_not_say_how_it_draws_sum_to_one() -> None:
    game = dicegym.game("liarsdice")
    player, states = opponent(game, "haphazard"), game.new_game(3)
    found = [likelihoods(player, game, states, action) for action in np.flatnonzero(game.legal(states[0])).tolist()]
    chances = np.array(found)[:, 0]
    assert chances.sum() == pytest.approx(1)
    assert (chances > SLIP / len(chances) + 1e-9).sum() > 1  # it draws
