"""Our games are games of OpenSpiel's, by its own test; its policies sit at our tables, and our agents at its."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.errors import AgentError, ParameterError
from dicegym.games.parts import CHANCE, part
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.play.player import RandomPlayer
from dicegym.registry import GAMES

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install -e '.[openspiel]'")

from open_spiel.python import policy  # noqa: E402 - not before it is known to be there
from open_spiel.python.algorithms import evaluate_bots, expected_game_score, external_sampling_mccfr  # noqa: E402

from dicegym import openspiel  # noqa: E402

SHORT = {"hog": {"goal": 20}, "lucky": {"players": 2, "rounds": 3}}
"""Parameters with which games end soon; OpenSpiel's test copies and replays each state many times."""
WITH_CHANCE = [name for name in GAMES if part(name, CHANCE) is not None]


def of(name: str, **parameters: int) -> Any:
    """Return the game ``name`` as OpenSpiel loads it by its text."""
    settings = ",".join(f"{key}={value}" for key, value in {**SHORT.get(name, {}), **parameters}.items())
    return pyspiel.load_game(f"dicegym_{name}({settings})")


@pytest.mark.parametrize("name", GAMES)
def test_openspiel_finds_nothing_wrong_with_a_game(name: str) -> None:
    parameters = {"dice": 1} if name in WITH_CHANCE else {}
    pyspiel.random_sim_test(of(name, **parameters), num_sims=1, serialize=True, verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_openspiel_finds_nothing_wrong_with_whole_games(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(f"dicegym_{name}"), num_sims=3, serialize=True, verbose=False)


def moved(state: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Let chance or the player to move do something in ``state``; return who did what."""
    player = state.current_player()
    outcomes = state.chance_outcomes() if state.is_chance_node() else [(a, 1.0) for a in state.legal_actions()]
    actions, chances = zip(*outcomes, strict=True)
    action = int(rng.choice(actions, p=np.array(chances) / sum(chances)))
    state.apply_action(action)
    return player, action


@pytest.mark.parametrize("name", GAMES)
def test_a_game_goes_as_ours_does(name: str) -> None:
    """Record by record: the same actions lead to what our engine makes of them, and the results are its own."""
    rng = np.random.default_rng(1)
    game = of(name)
    ours = game.dicegym_game
    state, decisions, before = game.new_initial_state(), 0, None
    while not state.is_terminal():
        if not state.is_chance_node():
            record, seat = state.record, state.current_player()
            assert state.legal_actions() == np.flatnonzero(ours.legal(record)).tolist()
            assert np.array_equal(state.observation_tensor(seat), ours.observe(record, seat))
            before, decisions = record, decisions + 1
        player, _ = moved(state, rng)
        if player >= 0:
            assert player == before["player"]
    assert decisions > 1
    assert state.returns() == pytest.approx(ours.returns(state.record).tolist(), abs=1e-6)


@pytest.mark.parametrize("name", WITH_CHANCE)
@pytest.mark.parametrize("dice", [1, 3])
def test_rolls_have_their_true_probabilities(name: str, dice: int) -> None:
    """By hand: each of the 6^dice ordered rolls is as likely, and a chance node knows them up to their order."""
    state = of(name, dice=dice).new_initial_state()
    while len(state.chance_outcomes()) < 6:  # who opens
        state.apply_action(0)
    counted = Counter("".join(map(str, sorted(roll))) for roll in product(range(1, 7), repeat=dice))
    listed = {state.action_to_string(action): chance for action, chance in state.chance_outcomes()}
    assert listed == pytest.approx({text: ways / 6**dice for text, ways in counted.items()})


@pytest.mark.parametrize("name", WITH_CHANCE)
def test_hands_are_those_that_chance_rolled(name: str) -> None:
    rng = np.random.default_rng(2)
    state, rolls = of(name, dice=2).new_initial_state(), []
    hands = 0
    while not state.is_terminal():
        if state.is_chance_node():
            player, action = state.current_player(), int(rng.choice([a for a, _ in state.chance_outcomes()]))
            rolls.append(state.action_to_string(player, action))
            state.apply_action(action)
            continue
        record = state.record
        shown = ["".join(str(face + 1) * record["hands"][seat, face] for face in range(6)) for seat in range(2)]
        assert [text for text in rolls if text.isdecimal()][-2:] == shown
        hands += int(record["n_bids"]) == 0
        moved(state, rng)
    assert hands > 1


def test_a_chance_node_shows_nobody_the_dice_to_come() -> None:
    state = of("liarsdice", dice=2).new_initial_state()
    assert {state.observation_string(seat).partition("left")[0].count("hand=()") for seat in range(2)} == {1}


def test_information_states_tell_what_a_seat_knows_apart_and_nothing_else() -> None:
    """The other's die changes nothing; the own die, and the way to the same bids, do."""
    game = of("liarsdice", dice=1)

    def after(*actions: int) -> str:
        state = game.new_initial_state()
        for action in actions:
            state.apply_action(action)
        return str(state.information_state_string(0))

    assert after(0, 0, 3, 5) == after(0, 4, 3, 5)
    assert len({after(0, 0, 3, 5), after(1, 0, 3, 5), after(0, 0, 2, 5), after(0, 0, 3, 4)}) == 4


def test_a_copy_of_a_state_goes_on_by_itself() -> None:
    rng = np.random.default_rng(3)
    state = of("hog").new_initial_state()
    for _ in range(5):
        moved(state, rng)
    kept, copied = str(state), state.clone()
    moved(copied, rng)
    moved(copied, rng)
    assert str(state) == kept
    assert len(copied.history()) == len(state.history()) + 2


# --- policies at our tables ----------------------------------------------------------------------------------


def test_a_uniform_policy_plays_as_our_random_player_does() -> None:
    game = dicegym.game("liarsdice", dice=1)
    player = openspiel.SpielPlayer(policy.UniformRandomPolicy(openspiel.load(game)))
    theirs = evaluate(game, player, "haphazard", games=600, exact=False)
    ours = evaluate(game, RandomPlayer(), "haphazard", games=600, exact=False)
    assert abs(theirs.value - ours.value) < 0.1


def test_a_solvers_policy_is_asked_in_its_own_information_states() -> None:
    """Those that it has met; had a seat at our table other texts for them, it would meet none."""
    spiel = of("liarsdice", dice=1)
    solver = external_sampling_mccfr.ExternalSamplingSolver(spiel)
    for _ in range(10):
        solver.iteration()
    asked: Counter[bool] = Counter()
    average = solver.average_policy()

    class Watching:
        def action_probabilities(self, state: Any, player_id: int) -> dict[int, float]:
            asked[state.information_state_string(player_id) in solver._infostates] += 1
            found: dict[int, float] = average.action_probabilities(state, player_id)
            return found

    game = spiel.dicegym_game
    for seed in range(20):
        play_game(game, [openspiel.SpielPlayer(Watching()), RandomPlayer()], seed)
    assert asked[True] > asked.total() / 4


def test_a_policy_that_asks_for_hidden_things_is_named() -> None:
    class Searching:
        def action_probabilities(self, state: Any, player_id: int) -> dict[int, float]:
            return {state.clone().legal_actions()[0]: 1.0}

    game = dicegym.game("liarsdice", dice=1)
    with pytest.raises(AgentError, match=r"agent 'seer': the policy fails: AttributeError"):
        openspiel.SpielPlayer(Searching(), "seer").join(game, 0, 0)(turn_of(game))


def turn_of(game: dicegym.Game) -> dicegym.Turn:
    return dicegym.Turn(game, game.new_game()[0], 0)


# --- our agents at OpenSpiel's tables ------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_our_agents_play_as_its_bots(name: str) -> None:
    game = of(name)
    agents = ["uniform" if name == "lucky" else dicegym.game(name).spec.baseline] * game.num_players()
    bots = [
        openspiel.PlayerBot(game, seat, RandomPlayer() if agent == "uniform" else agent)
        for seat, agent in enumerate(agents)
    ]
    results = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(4))
    assert len(results) == game.num_players()
    assert -1 <= min(results) <= max(results) <= 1


def test_a_bot_that_cannot_sit_there_is_refused() -> None:
    with pytest.raises(ParameterError, match="seat 2 is none of"):
        openspiel.PlayerBot(of("hog"), 2, "bacon")
    with pytest.raises(ParameterError, match=r"load it with dicegym\.openspiel\.load"):
        openspiel.PlayerBot(pyspiel.load_game("tic_tac_toe"), 0, "bacon")


# --- the value of a whole game -------------------------------------------------------------------------------


@cache
def value_of_random_play(opener: int, other: int, last: int, turn: int) -> float:
    """Independently: what the opener gains if both choose evenly among what is legal; ``last`` -1 is before any bid."""
    values = [value_of_random_play(opener, other, bid, 1 - turn) for bid in range(last + 1, 12)]
    if last >= 0:
        quantity, face = divmod(last, 6)
        true = [opener, other].count(face) > quantity
        loser = turn if true else 1 - turn
        values.append(-1.0 if loser == 0 else 1.0)
    return sum(values) / len(values)


@pytest.mark.slow
def test_the_whole_tree_has_the_value_that_arithmetic_gives() -> None:
    """One die each: OpenSpiel goes through all deals and bids, the function above through faces alone."""
    game = of("liarsdice", dice=1)
    state = game.new_initial_state()
    values = expected_game_score.policy_value(state, [policy.UniformRandomPolicy(game)] * 2)
    expected = np.mean([value_of_random_play(a, b, -1, 0) for a in range(6) for b in range(6)])
    assert values == pytest.approx([expected, -expected])


def test_a_process_that_used_the_bridge_ends_well() -> None:
    """OpenSpiel lets go of what is registered when Python has ended, which must do no harm."""
    code = "import pyspiel, dicegym.openspiel; pyspiel.load_game('dicegym_hog').new_initial_state()"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0


def test_without_openspiel_the_extra_is_named() -> None:
    code = "import sys; sys.modules['pyspiel'] = None; import dicegym.openspiel"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install -e '.[openspiel]'" in done.stderr
