"""Every transition of Yatzy, and what is seen of it, against a second implementation in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from oracles import dice as oracle_dice
from oracles.yatzy import ALL_HANDS, BOXES, UPPER, Yatzy, after_one_roll, most

import dicegym
from dicegym.engine.jit import COMPILED

pytestmark = pytest.mark.nojit

wanted_decisions = pytest.mark.parametrize(
    "wanted", [2_500, pytest.param(12_000, marks=pytest.mark.slow)] if COMPILED else [3_000]
)
KEEPS = [kept for n in range(5) for kept in combinations_with_replacement(range(1, 7), n)]
COUNTS_OF_KEEPS = np.array([[kept.count(face) for face in range(1, 7)] for kept in KEEPS])
SERVER_TURN = 1000
NONSENSE = (-1, -2, 225, 255, 288, 511, 512 + 15 * 32, 999, 1001, 2**31, 2**63 - 1, -(2**63))


def play_both(game: dicegym.Game, state: Any, oracle: Yatzy, action: int) -> tuple[int, bool]:
    """Play an action in the engine, and what the rules page says that it means in the oracle."""
    if 0 <= action < 210:
        legal = oracle.keep(KEEPS[action])
    elif 210 <= action < 225:
        legal = oracle.score(BOXES[action - 210])
    elif 256 <= action < 256 + 32:
        legal = oracle.reroll(place for place in range(5) if action - 256 & 2**place)
    elif 512 <= action < 512 + 15 * 32:
        box, places = divmod(action - 512, 32)
        legal = oracle.score(BOXES[box], [place for place in range(5) if places & 2**place])
    elif action == SERVER_TURN:
        oracle.help()
        legal = False
    else:
        legal = oracle.mistake()
    return game.step(state, action), legal


def difference(game: dicegym.Game, state: Any, oracle: Yatzy) -> str:
    """Say which field of the record differs from the oracle's game ('' if none)."""
    players = oracle.players
    scores = [[boxes.get(box, -1) for box in BOXES] for boxes in oracle.boxes]
    expected = {
        "over": oracle.over,
        "player": oracle.mover,
        "round_number": oracle.round,
        "dice": oracle.dice,
        "rolls_left": 3 - oracle.rolls,
        "scores": scores + [[-1] * 15] * (6 - players),
        "totals": [sum(boxes.values()) for boxes in oracle.boxes] + [0] * (6 - players),
        "upper": [sum(boxes.get(box, 0) for box in UPPER) for boxes in oracle.boxes] + [0] * (6 - players),
        "errors": oracle.errors,
        "helped": [min(times, 2) for times in oracle.times_helped] + [0] * (6 - players),
    }
    if oracle.over:
        for name in ("player", "errors", "dice", "rolls_left"):  # nobody is to move
            del expected[name]
    for name, value in expected.items():
        found = state[name].tolist()
        if found != value:
            return f"{name}: the kernels say {found}, the oracle {value} after {oracle}"
    pay = [np.float32(oracle.pay(seat)) for seat in range(players)]
    return "" if game.returns(state).tolist() == pay else f"returns: {game.returns(state)} instead of {pay}"


def legal_actions(oracle: Yatzy) -> set[int]:
    found = {210 + BOXES.index(box) for box in oracle.open_boxes()}
    if oracle.rolls < 3:
        shown = [oracle.dice.count(face) for face in range(1, 7)]
        found |= set(np.flatnonzero((shown >= COUNTS_OF_KEEPS).all(axis=1)).tolist())
    return found


@wanted_decisions
def test_random_games_agree(wanted: int) -> None:
    """Games of one to six, legal, illegal and wide actions, and players whom the server has to help."""
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    decisions = seed = 0
    while decisions < wanted:
        seed += 1
        players = rng.choice([1, 2, 2, 3, 4, 6])
        game = dicegym.game("yatzy", players=players)
        state = game.new_game(seed)[0]
        key = int(state["key"])

        def roll(seat: int, round_number: int, rolls: int, place: int, key: int = key) -> int:
            return oracle_dice.die(key, seat, round_number, 5 * rolls + place, 6)

        oracle = Yatzy(players, roll)
        wild = [rng.choice([0, 0.02, 0.3, 0.9]) for _ in range(players)]
        while not oracle.over:
            assert not (found := difference(game, state, oracle)), f"key {key}: {found}"
            legal = legal_actions(oracle)
            assert set(np.flatnonzero(game.legal(state)).tolist()) == legal
            me = oracle.mover
            action = rng.choice(sorted(legal))
            if rng.random() < wild[me]:
                choices = (range(225), range(256, 288), range(512, 992), NONSENSE, (SERVER_TURN,))
                action = rng.choice(rng.choices(choices, (4, 2, 3, 3, 0.1))[0])
            before, round_before, dice = dict(oracle.boxes[me]), oracle.round, list(oracle.dice)
            helped = oracle.times_helped[me]
            fault, was_legal = play_both(game, state, oracle, action)
            decisions += 1
            assert (fault == 0) == was_legal
            seen[f"fault {fault}"] += 1
            seen["kept places"] += was_legal and action < 210 and dice != oracle.dice
            seen["wide roll"] += was_legal and 256 <= action < 288
            seen["wide score"] += (
                was_legal and 512 <= action < 992 and sum(oracle.boxes[me].values()) > sum(before.values())
            )
            seen["tenth error"] += action != SERVER_TURN and oracle.times_helped[me] > helped
            seen["server plays on"] += oracle.times_helped[me] == 2 and len(oracle.boxes[me]) > round_before
            seen["bonus"] += oracle.over and any(
                oracle.total(s) > sum(oracle.boxes[s].values()) for s in range(players)
            )
        assert not (found := difference(game, state, oracle)), f"key {key}: {found}"
        assert not game.legal(state).any()
    # The comparison proves nothing about a rule that never applied.
    rules = [*(f"fault {number}" for number in range(7)), "kept places", "wide roll", "wide score", "tenth error"]
    rare = {rule: seen[rule] for rule in [*rules, "server plays on"] if seen[rule] < wanted // 4000 + 1}
    assert not rare, f"too few cases: {rare}"


def test_every_hand_scores_alike_in_every_box() -> None:
    game = dicegym.game("yatzy", players=1)
    start = game.new_game()[0]
    start["rolls_left"] = 0
    for hand in ALL_HANDS if COMPILED else ALL_HANDS[::9]:
        for box, name in enumerate(BOXES):
            state = start.copy()
            state["dice"] = hand
            assert game.step(state, 210 + box) == 0
            assert state["scores"][0, box] == most(name, hand), (hand, name)


def test_what_is_in_sight_is_the_mean_over_all_throws() -> None:
    """The observation's means of playing for one box, against all throws written out."""
    game = dicegym.game("yatzy", players=1)
    begin = list(game.features).index("in sight")
    start = sum(list(game.features.values())[:begin])
    state = game.new_game()[0]
    for box, name in enumerate(BOXES) if COMPILED else [(14, "Yatzy")]:
        values: dict[tuple[int, ...], float] = {hand: float(most(name, hand)) for hand in ALL_HANDS}
        highest = max(values.values())
        for left in range(3):
            state["rolls_left"] = left
            for hand in ALL_HANDS[:: 23 if COMPILED else 50]:
                state["dice"] = hand[::-1]
                seen = game.observe(state, 0)[start + box]
                assert seen == pytest.approx(values[hand] / highest, abs=1e-6), (name, left, hand)
            values = after_one_roll(values) if left < 2 else {}
