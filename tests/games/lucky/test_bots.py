"""Bots of Lucky & Co's original interface: what they are given, how they are made, and what becomes of their orders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.engine.twin_kernels import list_twins
from dicegym.errors import AgentError
from dicegym.games.lucky.adapter import counts_of
from dicegym.games.lucky.catalogue import DONE, order_actions
from dicegym.play.drive import play_game
from dicegym.play.turn import Turn
from dicegym.players.roster import agent

Write = Callable[..., Path]
GAME = dicegym.game("lucky")
ORDERS = "    def get_orders(self, money, dice, index, shop):\n        "


def test_a_bot_is_given_what_the_text_says(write: Write) -> None:
    kinds = "type(shop).__name__, type(money).__name__, type(dice[0]).__name__"
    source = f"import json\nclass Echo(Bot):\n{ORDERS}print(json.dumps([money, dice, index, shop, {kinds}]))\n"
    player = agent(GAME, write(f"{source}        return []\n"))
    state = GAME.new_game()[0]
    state["money"] = state["left"] = [9, 8, 7, 6, 5, 4, 3]
    state["dice"][2, [1, 20]] = 3, 1
    state["shop"][[1, 20]] -= [3, 1]
    GAME.step(state, 0)  # an order that is nobody's business
    GAME.step(state, DONE)
    state["player"] = 4
    assert player.join(GAME, 4, 0)(Turn(GAME, state, 4)) == DONE
    shop = {str(die): 20 if die < 7 else 10 if die < 17 else 3 for die in range(22)} | {"1": 17, "20": 2}
    dice = [[], [], [1, 1, 1, 20], [], [], [], []]
    assert json.loads(player.printed.text) == [[9, 8, 7, 6, 5, 4, 3], dice, 4, shop, "dict", "tuple", "tuple"]


@pytest.mark.parametrize("orders", [[0, 0, 1], [0], [], [1, 0, 1], [6, 0], [0] * 6, [3, 21, 21, 21]])
def test_orders_reach_the_shop_whole_or_not_at_all(write: Write, orders: list[int]) -> None:
    state = GAME.new_game()[0]
    act = agent(GAME, write(f"class Fixed(Bot):\n{ORDERS}return {orders}\n")).join(GAME, 0, 0)
    faults = []
    while state["player"] == 0:
        faults.append(GAME.step(state, act(Turn(GAME, state, 0))))
    valid = sum([1, 3, 6, 9, 12, 16, 21][die] if die < 7 else 170 for die in orders) <= 5
    assert (faults[-1] == 0) == valid
    assert state["order"][0].tolist() == (counts_of(orders) if valid else [0] * 22)


def test_an_order_that_others_have_begun_is_completed_as_far_as_money_pays(write: Write) -> None:
    state = GAME.new_game()[0]
    act = agent(GAME, write(f"class Five(Bot):\n{ORDERS}return [0] * 5\n")).join(GAME, 0, 0)
    GAME.step(state, 1)  # of its 5 money 2 are left
    assert act(Turn(GAME, state, 0)) == order_actions([2] + [0] * 21)[0]


def test_a_bot_is_asked_once_a_round(write: Write) -> None:
    body = "print(len(dice[index]), end=' ')\n        return [0, 1] if money[index] > 4 else []\n"
    player, game = agent(GAME, write(f"class Counting(Bot):\n{ORDERS}{body}")), dicegym.game("lucky", 2, rounds=6)
    play_game(game, [player, agent(game, "idle")], 3)
    assert player.printed.count == 6


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def __init__(self):\n        pass", "TypeError.*while B"),
        ("def __init__(self, random):\n        1 / 0", r"ZeroDivisionError.*py, line 3"),
    ],
)
def test_bots_that_cannot_be_made_fail_when_they_sit_down(write: Write, body: str, reason: str) -> None:
    player = agent(GAME, write(f"class B(Bot):\n    {body}\n{ORDERS}return []\n"))
    with pytest.raises(AgentError, match=reason):
        player.join(GAME, 0, 0)


@pytest.mark.parametrize(
    "head",
    [
        "class B(Bot):",
        "from bot import Bot\nclass B(Bot):",
        "from lucky import Bot as Base\nclass B(Base):",
        "import lucky\nclass B(lucky.Bot):",
        "class A(Bot):\n    def get_orders(self, *_):\n        return [1]\nclass B(A):",
    ],
)
def test_ways_to_inherit_from_bot(write: Write, head: str) -> None:
    """The last of several classes plays."""
    player = agent(GAME, write(f"{head}\n{ORDERS}return [0]\n"))
    assert player.join(GAME, 0, 0)(Turn(GAME, GAME.new_game()[0], 0)) == 0


def test_a_class_can_be_named_and_helpers_imported(write: Write) -> None:
    write("class Base(Bot):\n    kind = 0\n", "helper.py")
    one, two = (
        f"class {name}(Base):\n    def get_orders(self, *_):\n        return [{die}]\n"
        for name, die in (("One", "self.kind"), ("Two", "1"))
    )
    file, turn = write(f"from helper import Base\n{one}{two}", "bot.py"), Turn(GAME, GAME.new_game()[0], 0)
    assert agent(GAME, f"{file.parent}:bot:One").join(GAME, 0, 0)(turn) == 0
    assert agent(GAME, file).join(GAME, 0, 0)(turn) == 1


RANDOM = """
class B(Bot):
    def __init__(self, random):
        self.dice = random
        assert type(random).__name__ == "Random" and random.__class__.__module__ == "random"
    def get_orders(self, money, dice, index, shop):
        return [0] * self.dice.randrange(5)
"""


@pytest.mark.parametrize("keep", [False, True])
def test_each_game_has_a_new_bot_with_its_own_generator(write: Write, keep: bool) -> None:
    """The same seed gives the same orders, whatever was played before or goes on beside it."""
    player = agent(GAME, write(RANDOM), keep=keep)
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
