"""Both Liar's Dice games with dice of two to six faces: values from elsewhere, every form, and what is refused."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from oracles.liarsdice_values import opener_wins

import dicegym
from dicegym import arena
from dicegym.arena.storage import rules_of
from dicegym.engine.game import Game
from dicegym.errors import ModelError, ParameterError
from dicegym.games.bidding import chance, values
from dicegym.games.bidding.solving import solution
from dicegym.games.bidding.values import exploitability, sources
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, DUEL, list_solved_settings, need, solver
from dicegym.games.parts import VALUES as VALUES_OF_STATES
from dicegym.games.worth import SearchTime
from dicegym.players.batch_players import TwinPlayer, twin_numbers
from dicegym.players.roster import opponent

NAMES = ("liarsdice", "liarsdice_spot_on")
IDS = {"liarsdice": "dicegym/LiarsDice-v0", "liarsdice_spot_on": "dicegym/LiarsDiceSpotOn-v0"}
each_name = pytest.mark.parametrize("name", NAMES)


def small(name: str, faces: int, dice: int = 1) -> Game:
    return dicegym.game(name, players=2, dice=dice, faces=faces)


@each_name
def test_six_faces_go_unsaid_wherever_a_game_is_named(name: str) -> None:
    """Keys, models, replays and folders of solutions that were made before the parameter keep their names."""
    game = dicegym.game(name, players=2, faces=6)
    assert game == dicegym.game(name, players=2)
    assert hash(game) == hash(dicegym.game(name, players=2))
    assert repr(game) == f"dicegym.game({name!r}, players=2, dice=5)"
    assert game.parameters == {"dice": 5}
    assert game.all_parameters == {"dice": 5, "faces": 6}
    assert rules_of(game)[:3] == (name, 2, {"dice": 5})
    three = dicegym.game(name, players=2, faces=3)
    assert three.parameters == three.all_parameters == {"dice": 5, "faces": 3}
    assert three != game
    assert (three.n_actions, three.features) == (game.n_actions, game.features)
    assert three.fingerprint != game.fingerprint


@each_name
@pytest.mark.parametrize("faces", [1, 7, 2.5, 3.0, "3", None, True])
def test_other_numbers_are_refused(name: str, faces: Any) -> None:
    message = "the faces of a die: give a whole number from 2 to 6"
    with pytest.raises(ParameterError, match=message):
        dicegym.game(name, faces=faces)
    with pytest.raises(ParameterError, match=message):
        gym.make(IDS[name], faces=faces)


@each_name
def test_every_form_offers_the_faces_that_there_are(name: str) -> None:
    def faces_in(mask: np.ndarray) -> set[int]:
        return {int(action) % 6 + 1 for action in np.flatnonzero(mask[:180])}

    env, seen, over = gym.make(IDS[name], faces=3), set(), False
    _, info = env.reset(seed=1)
    while not over:
        seen |= faces_in(info["action_mask"])
        action = int(np.flatnonzero(info["action_mask"])[0])
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    assert seen == {1, 2, 3}

    observations, infos = gym.make_vec(IDS[name], num_envs=4, faces=3).reset(seed=1)
    assert set().union(*map(faces_in, infos["action_mask"])) == {1, 2, 3}
    assert not observations[:, 15:30].any()  # own dice of the faces 4 to 6

    from dicegym.pettingzoo import liars_dice_spot_on_v0, liars_dice_v0

    table = (liars_dice_v0 if name == "liarsdice" else liars_dice_spot_on_v0).env(players=3, faces=3)
    table.reset(seed=1)
    assert faces_in(table.observe(table.agent_selection)["action_mask"]) == {1, 2, 3}


@each_name
@pytest.mark.parametrize("faces", [2, 4])
def test_rolls_are_all_there_are(name: str, faces: int) -> None:
    for dice in (1, 3):
        found = chance.rolls(dice, faces)
        assert len(found) == comb(dice + faces - 1, dice)
        assert sum(likely for likely, _, _ in found) == pytest.approx(1)
        assert all(sum(counts) == dice and not any(counts[faces:]) for _, _, counts in found)
    game = dicegym.game(name, players=2, dice=1, faces=faces)
    state = game.new_game()[0]
    assert chance.outcomes(state, 0) == [(1 / faces, str(face)) for face in range(1, faces + 1)]


VALUES = {
    ("liarsdice", 2): (1 / 2, None),
    ("liarsdice", 3): (4 / 9, 300),
    ("liarsdice_spot_on", 2): (1 / 2, 300),
    ("liarsdice_spot_on", 3): (1 / 2, None),
}
"""How likely who opens wins with one die each, by linear programs that know nothing of dicegym.

Beside it: after how many steps the equilibrium is found already; None: solved as whoever asks has it solved.
"""
QUICK = [("liarsdice", 3), ("liarsdice_spot_on", 3)]
"""With two faces there is little to solve."""


@pytest.mark.parametrize(
    ("name", "faces"), [pytest.param(*one, marks=[pytest.mark.slow] * (one not in QUICK)) for one in VALUES]
)
def test_one_die_each_is_worth_what_linear_programs_say(name: str, faces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wins, steps = VALUES[name, faces]
    assert opener_wins(faces, spot_on=name == "liarsdice_spot_on") == pytest.approx(wins, abs=1e-9)
    game = small(name, faces)
    monkeypatch.setattr(solution, "AT_ONCE", steps or solution.AT_ONCE)
    values = solution.values_at_once.__wrapped__(game)
    assert values.exploitability < 3e-4
    assert values.hands.opens[1, 1] == pytest.approx(wins, abs=2e-4)
    assert [source.name for source in sources(game)] == ["equilibrium"]


@pytest.mark.slow
@pytest.mark.parametrize("faces", [2, 3])
def test_openspiel_solves_the_classic_game_whole(faces: int) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install -e '.[openspiel]'")
    from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

    from dicegym import openspiel  # noqa: F401 - registers the games

    game = pyspiel.load_game(f"dicegym_liarsdice(players=2,dice=1,faces={faces})")
    learned = cfr.CFRPlusSolver(game)
    for _ in range(20):
        learned.evaluate_and_update_policy()
    policy = learned.average_policy()
    assert exploitability.exploitability(game, policy) < 0.03
    won = expected_game_score.policy_value(game.new_initial_state(), [policy] * 2)
    assert won[0] == pytest.approx(2 * VALUES["liarsdice", faces][0] - 1, abs=0.02)


def best_reply(game: Game, player: TwinPlayer, seat: int) -> float:
    """Return what the best reply from ``seat`` to a player that draws nothing wins with one die each, by brute force.

    The replier sees its own die and the bids; all rolls of the other that led here are looked at together.
    """
    faces = game.all_parameters["faces"]

    def win(states: list[Any]) -> float:
        """Return how many of these games, which the replier cannot tell apart, it can win."""
        ended = sum(float(state["left"][seat] > 0) for state in states if state["over"])
        states = [state for state in states if not state["over"]]
        if not states:
            return ended
        if states[0]["player"] == seat:
            best = 0.0
            for action in np.flatnonzero(game.legal(states[0])):
                after = [state.copy() for state in states]
                for state in after:
                    game.step(state, int(action))
                best = max(best, win(after))
            return ended + best
        by_action: dict[int, list[Any]] = {}
        for state in states:
            action = player.act_rows(game, np.array([state]), np.array([0]), np.array([1 - seat]))[0]
            after = state.copy()
            game.step(after, int(action))
            by_action.setdefault(int(action), []).append(after)
        return ended + sum(win(group) for group in by_action.values())

    found = 0.0
    for own in range(faces):
        states = []
        for other in range(faces):
            state = game.new_game()[0]
            state["hands"] = 0
            state["hands"][seat, own] = state["hands"][1 - seat, other] = 1
            states.append(state)
        found += win(states)
    return found / faces**2


@pytest.mark.parametrize(("bot", "faces"), [("honest", 2), ("honest", 3), ("even", 3), ("timid", 2)])
def test_best_replies_win_what_brute_force_says(bot: str, faces: int) -> None:
    game = small("liarsdice", faces)
    player = opponent(game, bot)
    assert isinstance(player, TwinPlayer)
    found = exploitability(player, game, time=SearchTime(20))
    expected = max(0.5, np.mean([best_reply(game, player, seat) for seat in (0, 1)]))
    assert found.high - found.low < 1e-9
    assert found.low == pytest.approx(expected, abs=1e-9)


def test_searches_have_room_for_the_rolls_of_fewer_faces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two dice of three faces have six rolls, so a tree may have more points than with 21 rolls of six faces."""
    game, room = small("liarsdice", 3, dice=2), []

    class Measured(values.ResponseTree):
        def __init__(self, hand: Any, policy: Any, least: float, most: int) -> None:
            room.append(most * len(hand.rolls[1].chances))
            super().__init__(hand, policy, least, most)

    monkeypatch.setattr(values, "ResponseTree", Measured)
    exploitability(opponent(game, "even"), game, time=SearchTime(0))
    assert max(room) > (1 << values.ROUNDS[0][1]) - 6


@each_name
def test_what_knows_six_faces_alone_says_so(name: str) -> None:
    game = small(name, 3)
    assert solver(game) is None
    for dice in (3, 4, 5):
        found = need(name, VALUES_OF_STATES).solution(small(name, 3, dice))
        assert (found is not None) == ((name, dice) == ("liarsdice_spot_on", 3))
    assert not sources(small(name, 3, 5))
    if name == "liarsdice":
        assert list_solved_settings(game) == {"players": 2, "dice": 1, "faces": 6}
        assert list_solved_settings(small(name, 6)) == {"players": 2, "dice": 1}
        with pytest.raises(ParameterError, match=r"has no exact values: .* faces=6"):
            need(name, DUEL).tabulate(opponent(game, "even"), game)


@each_name
@pytest.mark.parametrize("faces", [2, 3, 5])
def test_twins_reckon_with_the_faces_that_there_are(name: str, faces: int) -> None:
    """None of them ever does what is not allowed, and models of six faces stay away."""
    game = dicegym.game(name, players=3, dice=3, faces=faces)
    names = ["even", "honest", "bluffer", "haphazard", "timid", "bayes"]
    for seed, trio in enumerate(zip(names, [*names[1:], names[0]], ["bayes"] * 6, strict=True)):
        state = game.new_game(seed)[0]
        players = [opponent(game, bot) for bot in trio]
        while not state["over"]:
            seat = np.array([state["player"]])
            action = int(players[seat[0]].act_rows(game, np.array([state]), np.array([0]), seat)[0])
            assert game.step(state, action) == 0, (trio, action)
    with pytest.raises(ModelError, match=r"-p faces=6"):
        dicegym.agent(dicegym.game(name, faces=faces), "ppo")


@each_name
def test_files_of_the_original_interface_play_with_six_faces_alone(name: str, tmp_path: Path) -> None:
    """Their compiled twins play in their place where there are any; of all others one sentence tells it."""
    game = dicegym.game(name, faces=3)
    assert isinstance(dicegym.agent(game, "even"), TwinPlayer)
    assert set(dicegym.agent_names(game)) == set(twin_numbers(game))
    own = tmp_path / ("player.py" if name == "liarsdice" else "player_bot.py")
    own.write_text(Path(dicegym.agent(dicegym.game(name), "even").source.file).read_text() + "\n# my own\n")  # type: ignore[attr-defined]
    refused = "is a bot of the original interface, which is written for faces=6, and cannot play"
    with pytest.raises(ParameterError, match=refused):
        dicegym.agent(game, str(own))
    with pytest.raises(ParameterError, match=refused):
        dicegym.agent(game, lambda me, hands, history: 0)
    with pytest.raises(ParameterError, match=refused):
        arena.contest(game, ["even", str(own)], seed=0, workers=1)
    table = dicegym.game(name, players=2, dice=1, faces=3)
    result = arena.contest(table, ["even", "honest"], seed=0, workers=1, games=4)
    assert not result.disqualified
    assert [one.name for one in result.standings] in (["even", "honest"], ["honest", "even"])
    assert dicegym.agent(dicegym.game(name), str(own)).name


@each_name
def test_people_read_and_type_the_faces_that_there_are(name: str) -> None:
    game = dicegym.game(name, players=2, faces=3)
    state = game.new_game(1)[0]
    seat = int(state["player"])
    place = Place(game, seat, ("you", "bot"))
    keyboard = need(game, CONTROLS)
    assert keyboard.read(place, state, "2 threes") == [8]
    with pytest.raises(ParameterError, match="no die shows a 4: bid a face of 1 to 3"):
        keyboard.read(place, state, "1 4")
    shown = keyboard.table(place, state, True)
    assert f"10 dice with faces 1 to 3{', threes wild,' if name == 'liarsdice_spot_on' else ''} on the table" in shown
    (form,) = keyboard.forms(place, state)
    assert [option.value for option in form.widgets[1].options] == ["1", "2", "3"]  # type: ignore[union-attr]
    wild = "threes wild" in game.scene(state, seat).title
    assert wild == (name == "liarsdice_spot_on")
    assert game.view(state, seat).faces == 3
