"""Every transition of Lucky & Co against a second implementation in plain Python with exact fractions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from oracles import dice as oracle_dice
from oracles.lucky import CEILING, Lucky, stock

import dicegym
from dicegym.engine.game import Game
from dicegym.engine.jit import COMPILED
from dicegym.games.lucky import prospects

pytestmark = pytest.mark.nojit

wanted_decisions = pytest.mark.parametrize(
    "wanted", [4_000, pytest.param(30_000, marks=pytest.mark.slow)] if COMPILED else [2_500]
)
wanted_situations = pytest.mark.parametrize(
    "situations", [400, pytest.param(6_000, marks=pytest.mark.slow)] if COMPILED else [150]
)
DONE, INVALID = 22, 441


def counts(dice: list[int]) -> list[int]:
    return [dice.count(die) for die in range(22)]


def difference(state: Any, game: Lucky) -> str:
    """Say which field of the record differs from the oracle's game ('' if none)."""
    empty = 7 - game.players
    expected = {
        "over": game.over,
        "player": game.mover,
        "played": game.played,
        "money": game.money + [0] * empty,
        "points": game.scored + [0] * empty,
        "left": [game.left(seat) for seat in range(game.players)] + [0] * empty,
        "dice": [counts(dice) for dice in game.dice] + [[0] * 22] * empty,
        "order": [counts(order) for order in game.orders] + [[0] * 22] * empty,
        "rolled": [[faces[face] for face in range(1, 7)] for faces in game.faces] + [[0] * 6] * empty,
        "shop": [game.shop[die] for die in range(22)],
    }
    for name, value in expected.items():
        found = state[name].tolist()
        if found != value:
            return f"{name}: the kernels say {found}, the oracle {value} after {game}"
    return ""


def both_play(play: Game, state: Any, game: Lucky, action: int, draw: Any) -> None:
    """Play one action, ordinary, wide or nonsense, in both; compare."""
    more, die = divmod(action - 23, 22)
    if action == DONE:
        legal = True
        game.complete(draw)
    elif 0 <= action < INVALID:
        legal = game.add(action, 1, draw) if action < DONE else game.add(die, more + 2, draw)
    else:
        legal = False
        game.void(draw)
    fault = play.step(state, action)
    assert (fault == 0) == legal
    assert not (found := difference(state, game)), found


def choose(rng: random.Random, habit: str, game: Lucky) -> int:
    addable = game.addable()
    if rng.random() < 0.01:
        return rng.choice([-1, -(2**63), 2**63 - 1, 442, INVALID, INVALID, rng.randrange(23), rng.randrange(23, 441)])
    if not addable or rng.random() < 0.15:
        return DONE
    if habit == "wide":
        die, count = rng.choice(addable), rng.choice([2, 2, 3, 5, 20])
        return 23 + (count - 2) * 22 + die
    if habit == "dear":
        return max(addable)
    if habit == "cheap":
        return min(addable)
    return rng.choice(addable)


@wanted_decisions
def test_random_games_agree(wanted: int) -> None:
    """Whole games of all sizes under players of several habits, illegal actions included."""
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    decisions = seed = 0
    while decisions < wanted:
        seed += 1
        players, rounds = rng.choice([2, 3, 5, 7, 7]), rng.choice([1, 3, 30, 500])
        lead = rng.choice([1, 20, 200, 200, 100_000])
        play = dicegym.game("lucky", players, rounds=rounds, lead=lead)
        state = play.new_game(seed)[0]
        game = Lucky(players, rounds, lead, seen=seen)
        habits = [rng.choice(["wide", "dear", "cheap", "any", "any"]) for _ in range(players)]
        draw = partial(oracle_dice.draw, int(state["key"]))
        for _ in range(wanted // 20):
            both_play(play, state, game, choose(rng, habits[game.mover], game), draw)
            decisions += 1
            if game.over:
                break
            assert np.flatnonzero(play.legal(state)).tolist() == [*game.addable(), DONE]
        assert play.returns(state).tolist() == pytest.approx([float(value) for value in game.returns()])
        seen["end by lead"] += game.over and game.played < rounds
        seen["end by rounds"] += game.over and game.played == rounds
    # The comparison proves nothing about a rule that never applied.
    rules = ["void order", "nobody gets it", "again", "all again", "power", "fraction", "shield"]
    rules += [*(f"attack {die}" for die in range(12, 17)), "less than the attack", "end by lead", "end by rounds"]
    rare = {rule: seen[rule] for rule in rules if seen[rule] < wanted // 3_000}
    assert not rare or not COMPILED, f"too few cases: {rare}"


def deal(rng: random.Random, players: int) -> list[list[int]]:
    """Return dice such as make trouble: tiny and huge fractions, thieves, powers."""
    shop = stock()
    dice: list[list[int]] = [[] for _ in range(players)]
    kinds = rng.choice([[0, 7], [0, 1, 7, 8, 14], [3, 7, 8, 14, 16], [0, 7, 8, 19, 20, 21, 16], list(range(22))])
    few = rng.random() < 0.5
    for die in kinds:
        for _ in range(rng.randint(1, 4) if few else shop[die]):
            if shop[die]:
                shop[die] -= 1
                dice[rng.randrange(players)].append(die)
    return [sorted(owned) for owned in dice]


@wanted_situations
def test_single_rounds_with_any_dice_agree(situations: int) -> None:
    """One round from situations that play hardly reaches: the arithmetic of fractions, powers and thieves."""
    rng = random.Random(2)
    seen: Counter[str] = Counter()
    for number in range(situations):
        players = rng.choice([2, 2, 3, 7])
        play = dicegym.game("lucky", players)
        state = play.new_game(number)[0]
        game = Lucky(players, dice=deal(rng, players), seen=seen)
        for dice in game.dice:
            for die in dice:
                game.shop[die] -= 1
        game.money = [rng.choice([0, 5, 1000, 2**53 - 3]) for _ in range(players)]
        state["dice"][:players] = [counts(dice) for dice in game.dice]
        state["shop"] = [game.shop[die] for die in range(22)]
        state["money"][:players] = state["left"][:players] = game.money
        draw = partial(oracle_dice.draw, int(state["key"]))
        for _ in range(players):
            both_play(play, state, game, DONE, draw)
    rare = {
        rule: seen[rule] for rule in ("ceiling", "power", "stolen fraction", "shield", "all again") if seen[rule] < 10
    }
    assert not rare or not COMPILED, f"too few cases: {rare}"


@pytest.mark.parametrize("seed", range(2))
def test_the_whole_part_of_any_product_is_exact(seed: int) -> None:
    """Sums, exponents and powers far beyond what dice can show often."""
    from dicegym.games.lucky.scoring import add_points, new_limbs, quotient, reduced, whole_part

    rng = random.Random(seed)
    near = 0
    for _ in range(1_200 if COMPILED else 60):
        power = rng.choice([1, 1, 1, 2, 3, 4, 6, 8, 9, 24, 54])
        span = rng.choice([3, 12, 40]) // (1 if power < 9 else 3)
        parts = []
        for _ in range(rng.randint(1, 7)):
            total, twos, threes, fives = rng.randint(1, 6000), rng.randint(-span, span), rng.randint(-span, span), 0
            if twos < 0 and threes < 0:
                fives = rng.randint(0, span)
            form = (*reduced(total, twos, threes), fives, power)
            exact = (Fraction(total) * Fraction(2) ** twos * Fraction(3) ** threes * 5**fives) ** power
            assert whole_part(*form) == min(int(exact), CEILING)
            near += 2**40 < exact < 2**53
            if exact < CEILING:
                parts.append((form, exact))
        if parts:
            down_2 = max(max(-power * form[1], 0) for form, _ in parts)
            down_3 = max(max(-power * form[2], 0) for form, _ in parts)
            limbs = new_limbs(down_2, down_3)
            for form, _ in parts:
                add_points(limbs, *form, down_2, down_3)
            assert quotient(limbs, down_2, down_3) == int(sum(exact for _, exact in parts))
    assert near > 20 or not COMPILED


def test_money_on_scales_is_what_the_formulas_say() -> None:
    """Tables stand for logarithms and divisions: the same to the last bit, and so at the end of the table."""
    most = len(prospects.ON_SCALES)
    for amount in [*range(most + 2), 5000, 1 << 20, 1 << 53]:
        out = np.zeros(5, np.float32)
        prospects.observe_money(np.int64(amount), 0, out)
        wanted = [prospects.logarithm(np.int64(amount)), *(amount / (amount + c) for c in (10, 50, 250, 1250))]
        assert out.tolist() == np.array(wanted, np.float32).tolist()
        prospects.observe_rivals_money(np.int64(amount), 0, out)
        assert out[:3].tolist() == np.array([wanted[0], wanted[2], wanted[3]], np.float32).tolist()
