"""The check of a bot finds a fault at whatever stage of the game it comes: several a game, each at another one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from dicegym import arena
from dicegym.arena import CheckReport
from dicegym.games import game

HOG = """
def final_strategy(score, opponent_score):
    if {fault}:
        return undefined_name
    return 4
"""
CLASSIC = """
def get_play(me, hands, history):
    dice = dict(hand.split(":") for hand in hands.split(","))
    own, others = dice.get(me, ""), [hand for name, hand in dice.items() if name != me]
    plays = history.split(",") if history else []
    over = "x" not in hands
    if {fault}:
        return undefined_name
    return {play}
"""
SPOT_ON = """
from player import Player
class Bot(Player):
    def move(self, bids, player_dice, n_dice):
        own, others = len(player_dice), [number for seat, number in enumerate(n_dice) if seat != self.index]
        if {fault}:
            return undefined_name
        return {play}
"""
LUCKY = """
class Mine(Bot):
    rounds = 0
    def get_orders(self, money, dice, index, shop):
        self.rounds += 1
        own, others = money[index], [one for seat, one in enumerate(money) if seat != index]
        if {fault}:
            return undefined_name
        return {play}
"""
YATZY = """
def command(standing):
    mover, number = standing["currentPlayer"], standing["roundNumber"]
    rows = {{one["playerName"]: one["score"].split(",") for one in standing["standing"]}}
    me = mover["playerName"]
    own = rows.pop(me)
    (other,) = rows.values()
    total, their_total = (sum(int(points) for points in row if points != "-") for row in (own, other))
    if {fault}:
        return undefined_name
    return {play}
"""
CALLS = "22 if not plays else 0", "(1, 6) if not bids else 'Liar'"
RAISES = (
    "13 if not plays else int(plays[-1].split(':')[1]) + 10 if int(plays[-1].split(':')[1]) < 80 else 0",
    "(1, 2) if not bids else (bids[-1][0] * 2 + 1, 2) if bids[-1][0] < 20 else 'Liar'",
)
CHEAPEST = "[0] if own and shop[0] else []"
THRIFTY = "[1] * min(own // 3, shop[1], 2)"
SCORE = (
    "{'key': 'SCORE_BOX', 'box': own.index('-') + 1, "
    "'dice': [p for p in range(5) if mover['dice'][p] == own.index('-') + 1]}"
)
ROLL = f"{{'key': 'ROLL_DICE', 'dice': [0, 1, 2, 3, 4]}} if mover['rollsLeft'] else {SCORE}"

FAULTS = [
    ("hog", 2, HOG, "", fault)
    for fault in (
        "score >= 95",
        "opponent_score >= 95",
        "score == opponent_score == 50",
        "(score, opponent_score) == (0, 99)",
        "(score, opponent_score) == (99, 0)",
        "score > 90 and opponent_score > 90 and (score + opponent_score) % 7 == 0",
    )
]
FAULTS += [
    ("liarsdice", players, CLASSIC, play, fault)
    for players, play, fault in (
        (2, CALLS[0], "len(own) == 1"),
        (2, RAISES[0], "len(own) == 3 and not over"),
        (2, CALLS[0], "others == ['x'] and me == 'B'"),
        (2, CALLS[0], "len(own) == 1 and others == ['x']"),
        (2, RAISES[0], "len(own) == 2 and len(plays) > 4"),
        (3, CALLS[0], "over and not own"),
        (3, CALLS[0], "'' in others and own and not over"),
        (6, RAISES[0], "me == 'F' and len(own) == 2"),
    )
]
FAULTS += [
    ("liarsdice_spot_on", players, SPOT_ON, play, fault)
    for players, play, fault in (
        (2, CALLS[1], "own == 1"),
        (2, RAISES[1], "own == 3"),
        (2, CALLS[1], "others == [1] and self.index == 1"),
        (2, CALLS[1], "own == 1 and others == [1]"),
        (2, RAISES[1], "own == 2 and len(bids) > 4"),
        (2, CALLS[1], "bids and bids[-1][0] > sum(n_dice)"),
        (3, CALLS[1], "0 in others"),
        (6, RAISES[1], "self.index == 5 and own == 2"),
    )
]
FAULTS += [
    ("lucky", players, LUCKY, play, fault)
    for players, play, fault in (
        (7, "[]", "self.rounds == 150"),
        (7, THRIFTY, "not any(shop.values())"),
        (7, CHEAPEST, "own > 1000"),
        (7, CHEAPEST, "index == 6 and self.rounds == 3"),
        (7, THRIFTY, "shop[0] == 0"),
        (2, CHEAPEST, "self.rounds > 100 and own < max(others)"),
        (2, THRIFTY, "sum(dice[index]) >= 15"),
        (7, "[]", "max(map(sum, dice)) > 100"),
    )
]
FAULTS += [
    ("yatzy", 2, YATZY, play, fault)
    for play, fault in (
        (SCORE, "number == 15"),
        (ROLL, "number == 15 and mover['rollsLeft'] == 0"),
        (SCORE, "me == 'player_1' and number == 15"),
        (SCORE, "me == 'player_0' and number == 14"),
        (ROLL, "total > their_total"),
        (ROLL, "own.count('0') >= 5"),
    )
]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., CheckReport]:
    """Return a function that checks a bot, once each: faults of one game are put into the same few bots."""

    @functools.cache
    def check(name: str, players: int, text: str, play: str, fault: str) -> CheckReport:
        file = tmp_path_factory.mktemp(name) / "bot.py"
        file.write_text(text.format(fault=fault, play=play))
        return arena.check(file, game(name, players=players), debug=True)

    return check


def with_repeats_slow(faults: list[tuple[str, int, str, str, str]]) -> list[Any]:
    """Return the faults, those of Liar's Dice with spot on slow that come at a stage of the other game's too."""
    same = {"own == 3", "others == [1] and self.index == 1", "own == 1 and others == [1]", "own == 2 and len(bids) > 4"}
    return [pytest.param(*one, marks=[pytest.mark.slow] if one[-1] in same else []) for one in faults]


@pytest.mark.parametrize(
    ("name", "players", "text", "play", "fault"), with_repeats_slow(FAULTS), ids=lambda part: str(part)[:40]
)
def test_a_fault_is_found_at_whatever_stage_it_comes(
    name: str, players: int, text: str, play: str, fault: str, checked: Callable[..., CheckReport]
) -> None:
    assert "undefined_name" in checked(name, players, text, play, fault).reason
    report = checked(name, players, text, play, "False")
    assert report.ok
    assert f"passed all {report.questions} {'questions' if name == 'hog' else 'games'} of the test" in report.text()
