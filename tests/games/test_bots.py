"""Bots in the original interfaces of the games: what becomes of their answers, and of what they do wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bidding_tables import bid, table

import dicegym
from dicegym import arena
from dicegym.errors import AgentError
from dicegym.games.liarsdice.rules import NO_PLAY
from dicegym.games.liarsdice_spot_on.rules import GAIN_ONE, LARGEST, LIAR, LOSE_TWO, N_ACTIONS, NO_MOVE
from dicegym.games.lucky.catalogue import DONE, INVALID
from dicegym.games.parts import INTERFACE, need
from dicegym.play.turn import Turn
from dicegym.players.agent_info import game_of_file
from dicegym.players.roster import agent, agents_folder

Write = Callable[..., Path]
HEADS = {
    "yatzy": "def command(standing):\n    @\n",
    "liarsdice": "def get_play(me, hands, history):\n    @\n",
    "liarsdice_spot_on": "class B(Player):\n    def move(self, bids, player_dice, n_dice):\n        @\n",
    "lucky": "class B(Bot):\n    def get_orders(self, money, dice, index, shop):\n        @\n",
}
"""How a bot's file begins, up to the body of what is asked."""
each_interface = pytest.mark.parametrize("name", HEADS)


def cases(rows: dict[str, dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(name, text, expected) for name, found in rows.items() for text, expected in found.items()]


# --- answers ---------------------------------------------------------------------------------------------------

NUMPY = "__import__('numpy')"
ROLL, SCORE = '{"type": "ROLL_DICE", "dice": %s}', '{"type": "SCORE_BOX", %s}'
ANSWERS: dict[str, dict[str, int]] = {
    "yatzy": {
        ROLL % "[0, 1, 4]": 256 + 19,
        '{"key": "ROLL_DICE", "dice": (0, 1, 4)}': 256 + 19,
        SCORE % '"box": 1, "dice": [2, 3]': 512 + 12,
        ROLL % "[]": 256,
    }
    | dict.fromkeys(
        ["None", "5", '"ROLL_DICE"', "[]", "{}", ROLL % "[0.0]", SCORE % '"box": 16', "standing", "command"], -1
    ),
    "liarsdice": {"0": LIAR, "False": LIAR, "' 0 '": LIAR, "23": bid(2, 3), "'23'": bid(2, 3), "23.9": bid(2, 3)}
    | {"105": bid(10, 5), "11": bid(1, 1), "306": bid(30, 6)}
    | dict.fromkeys(["True", "27", "20", "6", "-11", "-9", "311", "10 ** 30 + 3"], NO_PLAY),
    "liarsdice_spot_on": {"(1, 1)": 0, "(30, 6)": 179, "(31, 1)": N_ACTIONS, "(31, 6)": N_ACTIONS + 5}
    | {"'Liar'": LIAR, "'Spot on, lose two'": LOSE_TWO, "'Spot on, gain one'": GAIN_ONE}
    | {"(10 ** 30, 3)": N_ACTIONS + (LARGEST - 31) * 6 + 2, f"{NUMPY}.int64(7), 2": bid(7, 2)}
    | {"__import__('collections').namedtuple('Bid', 'q v')(7, 2)": bid(7, 2)}
    | dict.fromkeys(["'liar'", "'Spot on'", "''", "None", "25", "True", "{}"], NO_MOVE)
    | dict.fromkeys(["[2, 5]", "(2,)", "(2, 5, 1)", "(2.0, 5)", "(2, '5')", "(True, 5)", "(2, None)"], NO_MOVE)
    | dict.fromkeys(["(0, 5)", "(-3, 5)", "(2, 0)", "(2, 7)"], NO_MOVE),
    "lucky": {"[]": DONE, "[0]": 0, "(1, 0)": 0, "[1]": 1, f"[{NUMPY}.int64(1)]": 1}
    | {"[0, 0, 0]": 23 + 22, "[21] * 3": 23 + 22 + 21}
    | dict.fromkeys(["None", "'0'", "{0: 1}", "5", f"{NUMPY}.array([1])", f"{NUMPY}.array(3)"], INVALID)
    | dict.fromkeys(["[True]", "[1.0]", "['1']", f"[{NUMPY}.bool_(True)]", "[[0]]"], INVALID)
    | dict.fromkeys(
        ["[22]", "[-1]", "[0] * 21", "[10**30]", "[type('', (), {'__index__': lambda _: {}[0]})()]"], INVALID
    ),
}


@pytest.mark.parametrize(("name", "answer", "action"), cases(ANSWERS))
def test_answers(write: Write, name: str, answer: str, action: int) -> None:
    file = write(HEADS[name].replace("@", f"return {answer}"))
    if name.startswith("liarsdice"):
        game, state = table(name, [[1], [1]])
    else:
        game = dicegym.game(name)
        state = game.new_game()[0]
    assert agent(game, file).join(game, 0, 0)(Turn(game, state, 0)) == action


# --- what goes wrong -------------------------------------------------------------------------------------------

GOOD = {"yatzy": "haphazard", "liarsdice": "even", "liarsdice_spot_on": "even", "lucky": "thrifty"}
CONTESTS: dict[str, tuple[dict[str, int], int]] = {
    "yatzy": ({"players": 2}, 1),
    "liarsdice": ({"players": 2, "dice": 1}, 10),
    "liarsdice_spot_on": ({"players": 3, "dice": 2}, 20),
    "lucky": ({"players": 2, "rounds": 5}, 1),
}
EXACT_FAULTS = {"yatzy": (2, 20), "lucky": (5, 5)}
"""Of bots that fail, and of others. In Yatzy the server plays on after two turns, or ten errors in each of two."""


def contest(name: str, file: Path) -> Any:
    """Let a bot play against a good one that ships."""
    settings, games = CONTESTS[name]
    game = dicegym.game(name, **settings)
    others = [agent(game, GOOD[name], keep=True) for _ in range(game.players - 1)]
    return arena.play_match(game, [agent(game, file, keep=True), *others], 0, games)


RAISING = {
    "1 / 0": 'raised ZeroDivisionError (says: "division by zero")',
    "raise KeyError('x')": "raised KeyError (says: \"'x'\")",
    "import nothing_like_it": "raised ModuleNotFoundError",
    "exit(3)": "called sys.exit",
    "import sys; sys.exit()": "called sys.exit",
    "raise SystemExit": "called sys.exit",
    "return input()": "raised EOFError",
    "raise BaseException('rude')": 'raised BaseException (says: "rude")',
    "f = lambda: f(); f()": "raised RecursionError",
}
ASKED = {
    "yatzy": "command(standing), in round 1 with 2 rolls left",
    "liarsdice": "when asked ('A', 'A:",
    "liarsdice_spot_on": "move([",
    "lucky": "get_orders, round 1",
}
"""How the question is told."""
ODD = "class Odd(dict):\n        def __contains__(self, name): raise ValueError\n    return Odd()"
NEITHER = "neither a tuple (quantity from 1 on, face 1 to 6) of whole numbers nor one of 'Liar', 'Spot on, lose two'"
NO_PLAY_AT_ALL = "no play at all (taken as liar): returned 27, which is not a play: 0 is liar, and a bid is 10"
WRONG: dict[str, dict[str, str]] = {
    "yatzy": {ODD: "raised ValueError"}
    | {"return 7": "command(standing) returned 7 (invalid message 7: send a JSON object), in round 1 with 2 rolls left"}
    | {
        "return {'type': 'ROLL_DICE', 'dice': [0]}": "a roll when none is left: command(standing) returned "
        "{'type': 'ROLL_DICE', 'dice': [0]}, in round 1 with 0 rolls left and the dice ["
    },
    "liarsdice": {
        f"return {answer}": f"returned {answer}, which is not a number" for answer in ("None", "'two threes'", "(2, 3)")
    }
    | {"return float('nan')": "returned nan, which is not a number"}
    | {"return 27": NO_PLAY_AT_ALL, "return 53": "returned 53 when asked ("}
    | {f"return {play}": f"returned {play}, which is not a play: " for play in (20, 5, -5, 311)}
    | {"return 0": "liar before any bid: returned 0 when asked ("},
    "liarsdice_spot_on": {
        f"return {answer}": f", [2, 2, 2]) returned {answer}, which is {NEITHER}"
        for answer in ("'liar'", "[2, 5]", "(2, 5, 1)", "(2, '5')", "(0, 5)", "(2, 7)")
    }
    | {"return None if bids else 'Liar'": "a challenge before any bid (disqualified)"}
    | {"return 2, 5\n    def __init__(self): pass": "raised TypeError"},
    "lucky": {"return self.missing": "raised AttributeError", "return [0] * 9": "returned [0, 0, 0, 0, 0, 0, 0, 0, 0]"},
}


@pytest.mark.parametrize(("name", "body", "reason"), [*cases(dict.fromkeys(HEADS, RAISING)), *cases(WRONG)])
def test_who_does_wrong_costs_itself_alone_and_is_told_why(write: Write, name: str, body: str, reason: str) -> None:
    result = contest(name, write(HEADS[name].replace("@", body)))
    fails = reason.startswith(("raised", "called"))
    if name in EXACT_FAULTS:
        assert result.faults[0] == EXACT_FAULTS[name][not fails]
    else:
        assert result.faults[0] >= (18 if name == "liarsdice_spot_on" else 5 if fails else 1)
    assert not any(result.faults[1:])
    assert sum(result.shares) == pytest.approx(CONTESTS[name][1])
    assert {incident.player for incident in result.incidents} == {0}
    reasons = [incident.reason for incident in result.incidents]
    assert any(reason in one for one in reasons), reasons
    if body in RAISING:
        assert ASKED[name] in reasons[0]
        assert not name.startswith("liarsdice") or result.incidents[0].turn == 1


PLAIN = {
    "yatzy": """mover = standing["currentPlayer"]
    row = next(row for row in standing["standing"] if row["playerName"] == mover["playerName"])
    answer = {"key": "SCORE_BOX", "box": row["score"].split(",").index("-") + 1, "dice": [0, 1, 2, 3, 4]}
    @
    return answer""",
    "liarsdice": "@\n    return 0 if history else 25",
    "liarsdice_spot_on": "answer = 'Liar' if bids else (2, 5)\n        @\n        return answer",
    "lucky": "@\n        return [0]",
}
SPOIL = {
    "yatzy": "standing['currentPlayer']['dice'][:] = [6] * 5; standing['standing'].clear(); "
    "standing['currentPlayer'].clear()",
    "liarsdice": "pass",  # nothing but texts
    "liarsdice_spot_on": "bids.append(9); player_dice.clear(); n_dice[0] = 7",
    "lucky": "shop.clear()",
}
"""What changes all that a bot is given."""


@each_interface
def test_what_a_bot_prints_or_changes_stays_with_it(
    write: Write, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = HEADS[name].replace("@", PLAIN[name])
    plain = contest(name, write(body.replace("@", "pass")))
    loud = contest(name, write(body.replace("@", f"print('hm'); {SPOIL[name]}")))
    assert capsys.readouterr().out == ""
    assert loud.printed[0].startswith("hm\n")
    assert (loud.actions, loud.returns, loud.faults) == (plain.actions, plain.returns, plain.faults)
    assert not any(loud.faults)
    assert not loud.incidents
    assert plain.printed[0] == ""


# --- files -----------------------------------------------------------------------------------------------------


@each_interface
def test_files_are_recognised(write: Write, name: str) -> None:
    assert game_of_file(str(write(HEADS[name].replace("@", "return 0")))) == name
    recognises = need(dicegym.game(name), INTERFACE).recognises
    assert all(recognises(path.read_text()) for path in agents_folder(name).glob("[!_]*.py"))
    assert not recognises("def final_strategy(score, opponent_score):\n    return 4\n")


MOVE = "    def move(self, a, b, c): return 'Liar'\n"
NO_BOT: dict[str, dict[str, str]] = {
    "yatzy": {"def comand(standing):\n    return 4\n": "has no function command"},
    "liarsdice": {"def got_play(): pass": "no function get_play"},
    "liarsdice_spot_on": {
        f"class Bot:\n{MOVE}": "defines no class that derives from Player",
        "from player import Player\nclass Bot(Player):\n    pass\n": "defines no class that derives from Player",
        "": "defines no class",
        "from player import Nobody\n": "raised ImportError",
    },
    "lucky": {
        "x = 1": "no class that derives from Bot and has a method get_orders",
        "class Loner:\n    def get_orders(self, *_):\n        return []": "no class that derives from Bot",
        "class B(Bot:": "not Python",
        "import nothing_like_it": "nothing_like_it",
    },
}


@pytest.mark.parametrize(("name", "source", "reason"), cases(NO_BOT))
def test_files_without_a_bot_are_refused(write: Write, name: str, source: str, reason: str) -> None:
    with pytest.raises(AgentError, match=reason):
        agent(name, write(source))
