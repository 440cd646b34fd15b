"""Our games are games of OpenSpiel's, by its own test; its policies sit at our tables, and our agents at its."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.errors import AgentError, IllegalActionError, ParameterError
from dicegym.games.parts import CHANCE, part
from dicegym.games.yatzy.rules import record_of
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


@pytest.mark.parametrize(
    ("name", "whole"),
    [*((name, False) for name in GAMES), *(pytest.param(name, True, marks=pytest.mark.slow) for name in GAMES)],
)
def test_openspiel_finds_nothing_wrong_with_a_game(name: str, whole: bool) -> None:
    few = {"dice": 1} if name in WITH_CHANCE else {"players": 1} if name == "yatzy" else {}
    game = pyspiel.load_game(f"dicegym_{name}") if whole else of(name, **few)
    pyspiel.random_sim_test(game, num_sims=3 if whole else 1, serialize=True, verbose=False)


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


@pytest.mark.parametrize("name", [*WITH_CHANCE, "hog"])
@pytest.mark.parametrize("outcome", [-2, 99_999])
def test_an_outcome_that_chance_does_not_have_is_refused(name: str, outcome: int) -> None:
    state = of(name).new_initial_state()
    with pytest.raises(IllegalActionError, match="give one of 0 to"):
        state.apply_action(outcome)


@pytest.mark.parametrize("name", WITH_CHANCE)
def test_hands_are_those_that_chance_rolled(name: str) -> None:
    rng = np.random.default_rng(2)
    state, rolls = of(name, dice=2).new_initial_state(), []
    shown = [state.observation_string(seat).partition("left")[0].count("hand=()") for seat in range(2)]
    assert shown == [1, 1], "a chance node shows nobody the dice to come"
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


TYPES = {
    "hog": ("IMPERFECT_INFORMATION", "ZERO_SUM"),  # views show neither runs nor whether the dice are swapped
    "yatzy": ("PERFECT_INFORMATION", "ZERO_SUM"),
    "yatzy(players=1)": ("PERFECT_INFORMATION", "GENERAL_SUM"),  # points
    "liarsdice": ("IMPERFECT_INFORMATION", "ZERO_SUM"),
    "liarsdice_spot_on": ("IMPERFECT_INFORMATION", "ZERO_SUM"),
    "lucky": ("IMPERFECT_INFORMATION", "GENERAL_SUM"),  # orders are secret, and ties share points unevenly
}


@pytest.mark.parametrize(("name", "information", "utility"), [(name, *kinds) for name, kinds in TYPES.items()])
def test_a_game_is_typed_as_what_it_is(name: str, information: str, utility: str) -> None:
    game = pyspiel.load_game(f"dicegym_{name}")
    kind = game.get_type()
    assert str(kind.information).endswith(f".{information}")
    assert str(kind.utility).endswith(f".{utility}")
    assert kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert game.utility_sum() == (0.0 if utility == "ZERO_SUM" else None)
    assert not kind.provides_information_state_tensor


@pytest.mark.parametrize(("name", "information"), [(name, information) for name, (information, _) in TYPES.items()])
def test_information_is_imperfect_where_records_differ_that_look_the_same(name: str, information: str) -> None:
    """And perfect where a view tells the whole record."""
    name, _, parameters = name.partition("(")
    game, rng = of(name, **({"players": 1} if parameters else {})), np.random.default_rng(7)
    shown: dict[Any, set[bytes]] = {}
    for _ in range(20 if information[0] == "I" and name != "lucky" else 3):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                record = state.record
                record["key"] = 0  # which names the dice to come
                shown.setdefault(game.dicegym_game.view(record, 0), set()).add(record.tobytes())
            moved(state, rng)
    assert (max(map(len, shown.values())) > 1) == (information[0] == "I")
    if information[0] == "P":
        for view, (record,) in shown.items():
            assert record_of(game.dicegym_game, view).tobytes() == record


class Witness:
    """Writes down by itself what each seat has seen when it was asked or told, and what it then did."""

    def __init__(self, game: Any) -> None:
        self.ours = game.dicegym_game
        self.seen: list[tuple[Any, ...]] = [()] * game.num_players()
        self.told = 0

    def history(self, state: Any, seat: int) -> tuple[Any, ...]:
        """Return what ``seat`` has seen and done, what it sees now being the last."""
        event = self.ours.spec.public_event
        if event is not None and int(state.record[event]) > self.told:
            self.told = int(state.record[event])
            self.seen = [(*seen, self.ours.view(state.record, each)) for each, seen in enumerate(self.seen)]
        return (*self.seen[seat], self.ours.view(state.record, seat))

    def write(self, state: Any, seat: int, action: int) -> None:
        """Note what ``seat`` does in ``state``."""
        self.seen[seat] = (*self.history(state, seat), action)


def walk_information_states(game: Any, walks: int) -> Any:
    """Yield (state, seat, its history as a `Witness` has it) of all decisions and ends of random games."""
    rng = np.random.default_rng(5)
    for _ in range(walks):
        state, witness = game.new_initial_state(), Witness(game)
        while True:
            if not state.is_chance_node():
                for seat in range(game.num_players()):
                    yield state, seat, witness.history(state, seat)
            if state.is_terminal():
                break
            if state.is_chance_node():
                moved(state, rng)
                continue
            legal = state.legal_actions()
            early = int(rng.integers(2)) and len(legal) > 1  # small steps and early calls, so that ways meet again
            action = int(rng.choice([legal[0], legal[-1]] if early else legal))
            witness.write(state, state.current_player(), action)
            state.apply_action(action)


def assert_one_to_one(pairs: list[tuple[Any, Any]]) -> None:
    """Assert that equal things on the left are equal on the right, and the other way round."""
    assert len(set(pairs)) == len({left for left, _ in pairs}) == len({right for _, right in pairs})


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {}) for name in ("hog", "yatzy", "lucky")),
        ("liarsdice", {"dice": 1, "players": 3}),
        ("liarsdice", {"dice": 2}),
        ("liarsdice_spot_on", {"dice": 2}),
    ],
)
def test_information_states_are_equal_where_a_seat_has_seen_and_done_the_same(
    name: str, parameters: dict[str, int]
) -> None:
    game = of(name, **parameters)
    assert_one_to_one(
        [
            (state.information_state_string(seat), (seat, history))
            for state, seat, history in walk_information_states(game, 25 if name == "liarsdice" else 3)
        ]
    )


@pytest.mark.parametrize("name", GAMES)
def test_a_seat_remembers_its_choice_before_the_dice_fall(name: str) -> None:
    rng = np.random.default_rng(6)
    state = of(name).new_initial_state()
    while state.is_chance_node():
        moved(state, rng)
    seat, first, second = state.current_player(), state.clone(), state.clone()
    first.apply_action(state.legal_actions()[0])
    second.apply_action(state.legal_actions()[1])
    assert first.information_state_string(seat) != second.information_state_string(seat)


@pytest.mark.parametrize("name", GAMES)
def test_games_and_states_are_pickled_and_copied(name: str) -> None:
    rng = np.random.default_rng(3)
    game = of(name)
    state = game.new_initial_state()
    for _ in range(6):
        moved(state, rng)
    for copied in (pickle.loads(pickle.dumps((game, state))), copy.deepcopy((game, state)), (game, state.clone())):
        assert copied[0] == game
        assert str(copied[0]) == str(pyspiel.load_game(str(copied[0])))
        assert copied[0].get_type() == game.get_type()
        assert copied[0].dicegym_game == game.dicegym_game
        assert copied[1].get_game() == game
        assert (str(copied[1]), copied[1].history()) == (str(state), state.history())
        assert copied[1].record.tobytes() == state.record.tobytes()
        assert [copied[1].information_state_string(seat) for seat in range(2)] == [
            state.information_state_string(seat) for seat in range(2)
        ]
        moved(copied[1], rng)
    assert len(state.history()) == 6


def test_a_process_that_never_heard_of_dicegym_loads_what_was_pickled(tmp_path: Path) -> None:
    """And ends well: OpenSpiel lets go of what is registered when Python has ended, which must do no harm."""
    games = [of(name) for name in GAMES]
    solver = external_sampling_mccfr.ExternalSamplingSolver(of("liarsdice", dice=1))
    solver.iteration()
    player = openspiel.SpielPlayer(solver.average_policy(), "mccfr")
    begun = openspiel.load(dicegym.game("hog", goal=30)).new_initial_state()
    kept = tmp_path / "kept.pickle"
    kept.write_bytes(pickle.dumps([*games, solver, player, begun]))
    code = (
        "import pickle, sys; *games, solver, player, state = pickle.load(open(sys.argv[1], 'rb')); "
        "solver.iteration(); state.apply_action(0); "
        "print(*games, player.name, len(solver._infostates) > 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, kept], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*map(str, games), "mccfr", "True"]


# --- policies at our tables ----------------------------------------------------------------------------------


def test_a_solvers_policy_is_asked_in_its_own_information_states_and_saved_with_it() -> None:
    """Those that it has met; had a seat at our table other texts for them, it would meet none."""
    spiel = of("liarsdice", dice=1)
    solver = external_sampling_mccfr.ExternalSamplingSolver(spiel)
    for _ in range(5):
        solver.iteration()
    average, loaded = solver.average_policy(), pickle.loads(pickle.dumps(solver)).average_policy()
    asked, likeliest = Counter[bool](), list[int]()

    class Watching:
        def action_probabilities(self, state: Any, player_id: int) -> dict[int, float]:
            found: dict[int, float] = average.action_probabilities(state, player_id)
            assert loaded.action_probabilities(state, player_id) == found
            asked[state.information_state_string(player_id) in solver._infostates] += 1
            likeliest.append(max(found, key=lambda action: found[action]))
            return {action: float(action == likeliest[-1]) for action in found}

    class Checked(openspiel.SpielPlayer):
        def join(self, game: Any, seat: int, seed: int) -> Any:
            act = super().join(game, seat, seed)

            def checked(turn: dicegym.Turn) -> int:
                action = act(turn)
                assert action == likeliest[-1]
                return int(action)

            checked.follow = act.follow  # type: ignore[attr-defined]
            return checked

    for seed in range(10):
        play_game(spiel.dicegym_game, [Checked(Watching()), RandomPlayer()], seed)
    assert asked[True] > asked.total() / 4


def test_a_policy_that_asks_for_hidden_things_is_named() -> None:
    class Searching:
        def action_probabilities(self, state: Any, player_id: int) -> dict[int, float]:
            return {state.clone().legal_actions()[0]: 1.0}

    game = dicegym.game("liarsdice", dice=1)
    with pytest.raises(AgentError, match=r"agent 'seer': the policy fails: AttributeError"):
        openspiel.SpielPlayer(Searching(), "seer").join(game, 0, 0)(dicegym.Turn(game, game.new_game()[0], 0))


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
    for seat in (2, 0.5, True):
        with pytest.raises(ParameterError, match=f"seat={seat} cannot be used"):
            openspiel.PlayerBot(of("hog"), seat, "bacon")  # type: ignore[arg-type]
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


def test_without_openspiel_the_extra_is_named() -> None:
    code = "import sys; sys.modules['pyspiel'] = None; import dicegym.openspiel"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install -e '.[openspiel]'" in done.stderr
