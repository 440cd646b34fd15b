"""The agents that ship with Yatzy, and what the adapter makes of bots written to its messages, good and bad."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls import counted

import dicegym
from dicegym import arena
from dicegym.arena.match import play_match
from dicegym.checks import check_agent
from dicegym.errors import AgentError
from dicegym.games.parts import INTERFACE, need
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.play.player import Player
from dicegym.play.turn import Turn
from dicegym.players.agent_info import describe_agent, game_of_file
from dicegym.players.pool import Pool
from dicegym.players.roster import agent, agents_folder

SOLO = dicegym.game("yatzy", players=1)
TWO = dicegym.game("yatzy")
FILES = sorted(agents_folder("yatzy").glob("[!_]*.py"))
SCRIPTED = [path.stem for path in FILES]
Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a bot's file and returns its path."""

    def bot(source: str) -> str:
        path = tmp_path / f"bot{len(list(tmp_path.iterdir()))}.py"
        path.write_text(source)
        return str(path)

    return bot


# --- the agents ------------------------------------------------------------------------------------------------------


def test_there_are_at_least_six() -> None:
    assert len(SCRIPTED) >= 6


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_explained_and_needs_numpy_at_most(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    explanation = ast.get_docstring(tree)
    assert explanation is not None
    assert len(explanation.splitlines()[0]) > 20
    assert 20 < len(describe_agent(TWO, path.stem)) < 200
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= {"numpy"} | sys.stdlib_module_names


@pytest.mark.slow_after(5)
@pytest.mark.parametrize("name", SCRIPTED)
def test_each_plays_legal_games_with_any_number_of_players(name: str) -> None:
    for players in (1, 6):
        check_agent(dicegym.game("yatzy", players=players), agent(TWO, name), games=1)


def test_the_game_names_agents_that_exist() -> None:
    assert Pool.of(TWO, TWO.spec.default_opponent).players
    assert agent(TWO, TWO.spec.baseline).pure


MEANS = {
    "haphazard": (0, 10),
    "in_order": (45, 55),
    "at_once": (90, 104),
    "gather": (162, 178),
    "ladder": (186, 202),
    "thrifty": (194, 210),
    "expectation": (218, 234),
    "planner": (243.5, 247.5),
    "winner": (248, 248.44),
}
"""Mean scores alone, measured over 1,000 games, with room for those of other games less their luck."""


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", SCRIPTED)
def test_mean_scores_alone(name: str) -> None:
    low, high = MEANS[name]
    player = agent(SOLO, name)
    games = 150 if low < 200 else 40  # the better one plays, the more of the rest is luck
    assert low < evaluate(SOLO, player, player, games, exact=False, less_luck=True).value < high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strong", "weak", "rate"),
    [
        ("in_order", "haphazard", 0.9),
        ("gather", "at_once", 0.9),
        ("planner", "gather", 0.8),
        ("planner", "ladder", 0.7),
    ],
)
def test_the_strong_beat_the_weak(strong: str, weak: str, rate: float) -> None:
    assert evaluate(TWO, agent(TWO, strong), agent(TWO, weak), 100).low > rate - 0.1


@pytest.mark.parametrize("name", SCRIPTED)
def test_none_calls_two_thousand_functions_for_a_move(name: str) -> None:
    """On average, `winner` calls 1,200 and all others at most 220; a clock would tell of the machine."""
    act, moves, made = agent(SOLO, name).join(SOLO, 0, 0), 0, 0

    def counting(turn: Turn) -> int:
        nonlocal moves, made
        with counted() as calls:
            action = act(turn)
        moves, made = moves + 1, made + calls.made
        return action

    for seed in range(3):
        play_game(SOLO, [dicegym.play.player.FunctionPlayer(counting)], seed)
    assert 10 < made / moves < 2_000


# --- the adapter -----------------------------------------------------------------------------------------------------

TOP_DOWN = """
def command(standing):
    mover = standing["currentPlayer"]
    row = next(row for row in standing["standing"] if row["playerName"] == mover["playerName"])
    return {"key": "SCORE_BOX", "box": row["score"].split(",").index("-") + 1, "dice": [0, 1, 2, 3, 4]}
"""


def test_a_bot_reads_standings_of_its_own_seat(write: Write) -> None:
    bot = agent(
        TWO, write("seen = []\ndef command(standing):\n    seen.append(standing)\n    return None\n"), keep=True
    )
    seen = bot._program.namespace["seen"]
    state = TWO.new_game(4)[0]
    TWO.step(state, 210)
    act = bot.join(TWO, 1, 0)
    assert act(Turn(TWO, state, 1)) == -1
    (standing,) = seen
    points = int(state["scores"][0, 0])
    assert standing == {
        "key": "STANDING",
        "roundNumber": 1,
        "standing": [
            {"playerName": "player_0", "rating": 1200, "score": f"{points}" + ",-" * 14},
            {"playerName": "player_1", "rating": 1200, "score": "-" + ",-" * 14},
        ],
        "currentPlayer": {"playerName": "player_1", "rollsLeft": 2, "dice": state["dice"].tolist()},
    }
    assert all(type(face) is int for face in standing["currentPlayer"]["dice"])


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ('{"type": "ROLL_DICE", "dice": [0, 1, 4]}', 256 + 19),
        ('{"key": "ROLL_DICE", "dice": (0, 1, 4)}', 256 + 19),
        ('{"type": "SCORE_BOX", "box": 1, "dice": [2, 3]}', 512 + 12),
        ("None", -1),
        ("5", -1),
        ('"ROLL_DICE"', -1),
        ("[]", -1),
        ("{}", -1),
        ('{"type": "ROLL_DICE", "dice": [0.0]}', -1),
        ('{"type": "SCORE_BOX", "box": 16}', -1),
        ("standing", -1),
        ("command", -1),
        ('{"type": "ROLL_DICE", "dice": []}', 256),
    ],
)
def test_answers(write: Write, answer: str, action: int) -> None:
    bot = agent(TWO, write(f"def command(standing):\n    return {answer}\n"))
    assert bot.join(TWO, 0, 0)(Turn(TWO, TWO.new_game()[0], 0)) == action


def played(*bots: Player, seed: int = 0) -> Any:
    """Play one game of ``bots`` as a match does; return its result."""
    return play_match(dicegym.game("yatzy", players=len(bots)), bots, seed, 1)


def test_a_bot_that_answers_nonsense_costs_itself_alone(write: Write) -> None:
    good, bad = (agent(TWO, write(text), keep=True) for text in (TOP_DOWN, "def command(standing):\n    return 7\n"))
    result = played(good, bad)
    assert result.faults == (0, 20)  # ten in each of two turns, then the server plays on
    assert result.wins in ((1, 0), (0, 1))
    reason = result.incidents[0].reason
    assert reason.startswith(
        f"{TWO.spec.faults[1]}: command(standing) returned 7 (invalid message 7: send a JSON object)"
    )
    assert "in round 1 with 2 rolls left and the dice [" in reason


def test_an_illegal_command_is_told_with_the_moment(write: Write) -> None:
    good = agent(TWO, write(TOP_DOWN), keep=True)
    bad = agent(TWO, write("def command(standing):\n    return {'type': 'ROLL_DICE', 'dice': [0]}\n"), keep=True)
    reasons = {incident.reason for incident in played(good, bad).incidents}
    asked = "command(standing) returned {'type': 'ROLL_DICE', 'dice': [0]}, in round 1 with 0 rolls left"
    assert any(reason.startswith(f"{TWO.spec.faults[2]}: {asked}") for reason in reasons)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise KeyError('x')", "raised KeyError (says: \"'x'\") in command(standing), in round 1 with 2 rolls left"),
        ("import sys; sys.exit()", "called sys.exit in command(standing)"),
        ("command(standing)", "RecursionError"),
        (
            "class Odd(dict):\n        def __contains__(self, name): raise ValueError\n    return Odd()",
            "raised ValueError",
        ),
    ],
)
def test_a_bot_that_raises_lets_the_server_play(write: Write, body: str, reason: str) -> None:
    good = agent(TWO, write(TOP_DOWN), keep=True)
    bad = agent(TWO, write(f"def command(standing):\n    {body}\n"), keep=True)
    result = played(good, bad)
    assert result.faults == (0, 2)
    assert reason in result.incidents[0].reason


def test_a_bot_that_changes_what_it_is_told_changes_nothing(write: Write) -> None:
    change = """
    standing["currentPlayer"]["dice"][:] = [6] * 5
    standing["standing"].clear()
    standing["currentPlayer"].clear()
"""
    honest, other = (agent(TWO, write(text), keep=True) for text in (TOP_DOWN, TOP_DOWN))
    rude = agent(TWO, write(TOP_DOWN.replace("    return", "    answer =") + change + "    return answer\n"), keep=True)
    assert played(honest, other) == played(honest, rude)


def test_a_bot_that_prints_pays_nothing(write: Write) -> None:
    bot = agent(TWO, write(TOP_DOWN.replace("    mover", "    print('hm')\n    mover", 1)), keep=True)
    result = played(bot, agent(TWO, write(TOP_DOWN), keep=True))
    assert result.faults == (0, 0)
    assert result.incidents == ()
    assert result.printed[0].startswith("hm\n")
    assert result.printed[1] == ""


def test_files_are_recognised(write: Write) -> None:
    assert game_of_file(write(TOP_DOWN)) == "yatzy"
    assert all(need(TWO, INTERFACE).recognises(path.read_text()) for path in FILES)
    assert not need(TWO, INTERFACE).recognises("def final_strategy(score, opponent_score):\n    return 4\n")
    with pytest.raises(AgentError, match="has no function command"):
        agent(TWO, write("def comand(standing):\n    return 4\n"))


@pytest.mark.slow
def test_check_and_tournament(write: Write, tmp_path: Path) -> None:
    assert arena.check("gather", TWO).ok
    report = arena.check(write("def command(standing):\n    return 1 / 0\n"), TWO)
    assert "ZeroDivisionError" in report.reason


@pytest.mark.parametrize("players", [1, 2, 5])
def test_pure_bots_play_rows_as_one_by_one(players: int) -> None:
    game = dicegym.game("yatzy", players=players)
    player = agent(game, "thrifty")
    states = game.new_states(5)
    for row in range(5):
        states[row] = game.new_game(row)[0]
    seats = states["player"].astype(np.int64)
    one_by_one = [player.join(game, 0, 0)(Turn(game, states[row], 0)) for row in range(5)]
    assert player.act_rows(game, states, np.arange(5), seats).tolist() == one_by_one
