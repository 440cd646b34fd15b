"""Bots of Lucky & Co's original interface: those that ship, and those that misbehave."""

from __future__ import annotations

import ast
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.checks import check_agent
from dicegym.engine.twin_kernels import list_twins
from dicegym.errors import AgentError
from dicegym.games.lucky.adapter import counts_of
from dicegym.games.lucky.catalogue import DONE, INVALID
from dicegym.play.drive import play_game
from dicegym.play.player import Player
from dicegym.play.turn import Turn
from dicegym.players.pool import Pool
from dicegym.players.roster import agent, agent_names, agents_folder

GAME = dicegym.game("lucky")
FILES = sorted(agents_folder("lucky").glob("[!_]*.py"))
SCRIPTED = [name for name in agent_names(GAME) if (agents_folder("lucky") / f"{name}.py").is_file()]


def test_there_are_at_least_seven() -> None:
    assert len(SCRIPTED) >= 7


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_explained_and_needs_only_what_the_controller_gives(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    explanation = ast.get_docstring(tree)
    assert explanation is not None
    assert len(explanation.splitlines()[0]) > 20
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            shared = {beside.stem for beside in path.parent.glob("_*.py")}
            supplied = {"bot"} | sys.stdlib_module_names - {"random"}
            assert {name.partition(".")[0] for name in names} <= supplied | shared


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.parametrize("players", [2, 7])
def test_each_plays_legal_games_the_same_every_time(name: str, players: int) -> None:
    check_agent(dicegym.game("lucky", players), agent(GAME, name), games=2 if players == 2 else 1)


def test_the_game_names_agents_that_exist() -> None:
    assert Pool.of(GAME, GAME.spec.default_opponent).players
    assert agent(GAME, GAME.spec.baseline).pure


def points(names: list[str], games: int, seats: int = 7) -> dict[str, float]:
    """Return each bot's mean tournament points over games of randomly drawn tables."""
    game = dicegym.game("lucky", seats)
    rng = random.Random(4)
    players = {name: agent(game, name) for name in names}
    total: Counter[str] = Counter()
    played: Counter[str] = Counter()
    for number in range(games):
        table = rng.sample(names, seats)
        money = play_game(game, [players[name] for name in table], 1, number)["money"].tolist()
        for name, own in zip(table, money, strict=False):
            total[name] += 7 - sum(other > own for other in money)
            played[name] += 1
    return {name: total[name] / played[name] for name in names}


def test_the_ranking_from_naive_to_strong() -> None:
    """Mean points (7 for a win) over 200 games of mixed tables; a standard error is about 0.15."""
    mean = points(SCRIPTED, 200)
    assert mean["idle"] < 1.5
    assert mean["idle"] < mean["haphazard"] < mean["thrifty"] < mean["compound"] < mean["investor"] < mean["strategist"]
    assert mean["gambler"] > mean["cheapest"]
    assert mean["strategist"] > 6


# --- what bots are given, and what becomes of their answers --------------------------------------------------


@pytest.fixture
def bot(tmp_path: Path) -> Callable[..., Player]:
    def made(source: str, **settings: Any) -> Player:
        file = tmp_path / "bot.py"
        file.write_text(source)
        return agent(GAME, file, **settings)

    return made


ECHO = """
import json
class Echo(Bot):
    def get_orders(self, money, dice, index, shop):
        print(json.dumps([money, dice, index, shop, type(shop).__name__, type(money).__name__, type(dice[0]).__name__]))
        return []
"""


def test_a_bot_is_given_what_the_text_says(bot: Callable[..., Player]) -> None:
    player = bot(ECHO)
    state = GAME.new_game()[0]
    state["money"] = state["left"] = [9, 8, 7, 6, 5, 4, 3]
    state["dice"][2, [1, 20]] = 3, 1
    state["shop"][[1, 20]] -= [3, 1]
    GAME.step(state, 0)  # an order that is nobody's business
    GAME.step(state, DONE)
    state["player"] = 4
    assert player.join(GAME, 4, 0)(Turn(GAME, state, 4)) == DONE
    shop = {str(die): 20 if die < 7 else 10 if die < 17 else 3 for die in range(22)} | {"1": 17, "20": 2}
    told = player.printed.text
    dice = [[], [], [1, 1, 1, 20], [], [], [], []]
    assert __import__("json").loads(told) == [[9, 8, 7, 6, 5, 4, 3], dice, 4, shop, "dict", "tuple", "tuple"]


@pytest.mark.parametrize(
    ("expression", "action"),
    [
        ("[]", DONE),
        ("[0]", 0),
        ("[0, 0, 0]", 23 + 22),
        ("(1, 0)", 0),
        ("[1]", 1),
        ("np.array([1])", INVALID),
        ("[np.int64(1)]", 1),
        ("None", INVALID),
        ("'0'", INVALID),
        ("{0: 1}", INVALID),
        ("5", INVALID),
        ("[True]", INVALID),
        ("[1.0]", INVALID),
        ("[22]", INVALID),
        ("[-1]", INVALID),
        ("[[0]]", INVALID),
        ("[0] * 21", INVALID),
        ("[10**30]", INVALID),
        ("['1']", INVALID),
        ("[21] * 3", 23 + 22 + 21),
        ("[Nasty()]", INVALID),
        ("np.array(3)", INVALID),
        ("[np.bool_(True)]", INVALID),
    ],
)
def test_answers(bot: Callable[..., Player], expression: str, action: int) -> None:
    source = f"""
import numpy as np
class Nasty:
    def __index__(self):
        raise KeyError("nasty")
class Answer(Bot):
    def get_orders(self, money, dice, index, shop):
        return {expression}
"""
    state = GAME.new_game()[0]
    assert bot(source).join(GAME, 0, 0)(Turn(GAME, state, 0)) == action


@pytest.mark.parametrize("orders", [[0, 0, 1], [0], [], [1, 0, 1], [6, 0], [0] * 6, [3, 21, 21, 21]])
def test_orders_reach_the_shop_whole_or_not_at_all(bot: Callable[..., Player], orders: list[int]) -> None:
    player = bot(f"class Fixed(Bot):\n    def get_orders(self, money, dice, index, shop):\n        return {orders}\n")
    state = GAME.new_game()[0]
    act = player.join(GAME, 0, 0)
    faults = []
    while state["player"] == 0:
        faults.append(GAME.step(state, act(Turn(GAME, state, 0))))
    valid = sum([1, 3, 6, 9, 12, 16, 21][die] if die < 7 else 170 for die in orders) <= 5
    assert (faults[-1] == 0) == valid
    assert state["order"][0].tolist() == (counts_of(orders) if valid else [0] * 22)


def test_a_bot_is_asked_once_a_round(bot: Callable[..., Player]) -> None:
    player = bot(
        "class Counting(Bot):\n"
        "    def get_orders(self, money, dice, index, shop):\n"
        "        print(len(dice[index]), end=' ')\n"
        "        return [0, 1] if money[index] > 4 else []\n"
    )
    game = dicegym.game("lucky", 2, rounds=6)
    play_game(game, [player, agent(game, "idle")], 3)
    assert player.printed.count == 6


def test_bots_change_nothing_by_changing_their_arguments(bot: Callable[..., Player]) -> None:
    player = bot(
        "class Vandal(Bot):\n"
        "    def get_orders(self, money, dice, index, shop):\n"
        "        shop.clear()\n"
        "        return [0]\n"
    )
    state = GAME.new_game()[0]
    before = state.tobytes()
    act = player.join(GAME, 0, 0)
    assert act(Turn(GAME, state, 0)) == 0
    assert state.tobytes() == before


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1", "no class that derives from Bot and has a method get_orders"),
        ("class Loner:\n    def get_orders(self, *_):\n        return []", "no class that derives from Bot"),
        ("class B(Bot:", "not Python"),
        ("import nothing_like_it", "nothing_like_it"),
    ],
)
def test_files_that_are_no_bots(bot: Callable[..., Player], source: str, reason: str) -> None:
    with pytest.raises(AgentError, match=reason):
        bot(source)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def __init__(self):\n        pass", "TypeError while B"),
        ("def __init__(self, random):\n        1 / 0", r"ZeroDivisionError.*bot.py, line 3"),
    ],
)
def test_bots_that_cannot_be_made_fail_when_they_sit_down(bot: Callable[..., Player], body: str, reason: str) -> None:
    player = bot(f"class B(Bot):\n    {body}\n")
    with pytest.raises(AgentError, match=reason.replace("TypeError while B", "TypeError.*while B")):
        player.join(GAME, 0, 0)


@pytest.mark.parametrize("body", ["1 / 0", "raise SystemExit", "import nothing_like_it", "return self.missing"])
def test_bots_that_raise_buy_nothing_and_the_game_goes_on(bot: Callable[..., Player], body: str) -> None:
    player = bot(f"class B(Bot):\n    def get_orders(self, money, dice, index, shop):\n        {body}\n")
    with pytest.raises(AgentError, match="in get_orders, round 1"):
        player.join(GAME, 0, 0)(Turn(GAME, GAME.new_game()[0], 0))
    game = dicegym.game("lucky", 2, rounds=5)
    with warnings.catch_warnings(action="ignore"):
        state = play_game(game, [player, agent(game, "thrifty")], 0)
    assert state["over"]
    assert state["money"][0] == 5
    assert not state["dice"][0].any()


FORMS = {
    "named without an import": "class B(Bot):",
    "from bot": "from bot import Bot\nclass B(Bot):",
    "from lucky": "from lucky import Bot as Base\nclass B(Base):",
    "module": "import lucky\nclass B(lucky.Bot):",
    "the last of several": "class A(Bot):\n    def get_orders(self, *_):\n        return [1]\nclass B(A):",
}


@pytest.mark.parametrize("head", FORMS.values(), ids=FORMS)
def test_ways_to_inherit_from_bot(bot: Callable[..., Player], head: str) -> None:
    player = bot(f"{head}\n    def get_orders(self, money, dice, index, shop):\n        return [0]\n")
    assert player.join(GAME, 0, 0)(Turn(GAME, GAME.new_game()[0], 0)) == 0


def test_a_class_can_be_named_and_helpers_imported(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("class Base(Bot):\n    kind = 0\n")
    (tmp_path / "bot.py").write_text(
        "from helper import Base\n"
        "class One(Base):\n    def get_orders(self, *_):\n        return [self.kind]\n"
        "class Two(Base):\n    def get_orders(self, *_):\n        return [1]\n"
    )
    turn = Turn(GAME, GAME.new_game()[0], 0)
    assert agent(GAME, f"{tmp_path}:bot:One").join(GAME, 0, 0)(turn) == 0
    assert agent(GAME, tmp_path / "bot.py").join(GAME, 0, 0)(turn) == 1


RANDOM = """
class B(Bot):
    def __init__(self, random):
        self.dice = random
        assert type(random).__name__ == "Random" and random.__class__.__module__ == "random"
    def get_orders(self, money, dice, index, shop):
        return [0] * self.dice.randrange(5)
"""


@pytest.mark.parametrize("keep", [False, True])
def test_each_game_has_a_new_bot_with_its_own_generator(bot: Callable[..., Player], keep: bool) -> None:
    """The same seed gives the same orders, whatever was played before or goes on beside it."""
    player = bot(RANDOM, keep=keep)
    states = [GAME.new_game(seed)[0] for seed in range(30)]

    def orders(seed: int) -> list[int]:
        act = player.join(GAME, 0, seed)
        found = []
        for state in states:
            found.append(act(Turn(GAME, state, 0)))
            state["played"] += 1
        return found

    first = [orders(seed) for seed in (1, 2, 1)]
    assert first[0] == first[2] != first[1]


def test_pure_bots_serve_many_games_at_once() -> None:
    """Their orders continue from what is ordered already, whichever game is asked about."""
    player = agent(GAME, "thrifty")
    states = GAME.new_states(20)
    for row in range(20):
        states[row] = GAME.new_game(row)[0]
        for _ in range(row % 3):
            GAME.step(states[row], 0)
    rows, seats = np.arange(20), np.zeros(20, np.int64)
    once = player.act_rows(GAME, states, rows, seats)
    assert (player.act_rows(GAME, states, rows[::-1], seats) == once[::-1]).all()
    assert once.tolist() == [(23, 0, 1)[row % 3] for row in range(20)]  # two of die 0, then one of die 1


def test_a_twin_completes_what_others_have_begun_to_order() -> None:
    """Searches ask it in the middle of an order: one that asked for more than the money left would be void."""
    game = dicegym.game("lucky", players=3)
    for number, twin in enumerate(list_twins(game.spec.module)):
        state = game.new_game(number)[0]
        for time in range(120):
            if state["over"]:
                break
            before = int(state["player"]), int(state["played"])
            for action in np.flatnonzero(game.legal(state))[:12] if time % 4 == 0 else ():
                begun = state.copy()
                faults = game.step(begun, int(action))
                while not faults and not begun["over"] and (begun["player"], begun["played"]) == before:
                    assert game.step(begun, twin.kernel(begun)) == 0, (twin.names, action)
            game.step(state, twin.kernel(state))
