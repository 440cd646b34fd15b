"""Every transition of Hog, and what is seen of it, against a second implementation in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from oracles import dice as oracle_dice
from oracles.hog import Hog

import dicegym
from dicegym.engine.jit import COMPILED

pytestmark = pytest.mark.nojit

wanted_decisions = pytest.mark.parametrize(
    "wanted", [5_000, pytest.param(100_000, marks=pytest.mark.slow)] if COMPILED else [2_000]
)
ILLEGAL = (-2, 11, 12, 127, -128, 2**31, 2**62, -(2**63) + 1)


def difference(state: Any, game: Hog) -> str:
    """Say which field of the record differs from the oracle's game ('' if none)."""
    turns = [len(log) for log in game.log]
    last = [log[-1] if log else (0, []) for log in game.log]
    over = game.winner is not None
    expected = {
        "over": over,
        "winner": game.winner if over else -1,
        "player": game.mover,
        "scores": game.scores,
        "runs": [min(run, 3) for run in game.runs],  # beyond three they make no difference
        "exchanges": game.exchanges,
        "turns": turns,
        "chosen": [number for number, _ in last],
        "rolled": [faces + [0] * (10 - len(faces)) for _, faces in last],
    }
    if over:  # nobody is to move
        del expected["player"]
    for name, value in expected.items():
        found = state[name].tolist()
        if found != value:
            return f"{name}: the kernels say {found}, the oracle {value} after {game}"
    return ""


@wanted_decisions
def test_random_games_agree(wanted: int) -> None:
    """Games to several goals, under players of several habits, illegal numbers included; half of them begin late."""
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    decisions = 0
    seed = 0
    while decisions < wanted:
        seed += 1
        goal = rng.choice([10, 11, 50, 100, 100, 100, 101, 250, 999])
        play = dicegym.game("hog", goal=goal)
        state = play.new_game(seed)[0]
        key = int(state["key"])
        game = Hog(goal)
        if seed % 2:
            game.scores = [rng.randrange(goal), rng.randrange(goal)]
            state["scores"] = game.scores
        habits = [rng.choice([range(-1, 11), [-1, 1, 2], [0, 10], [8, 9, 10, 10, -1, 0], [1, 2, 3]]) for _ in (0, 1)]

        def roll(seat: int, turn: int, number: int, sides: int, key: int = key) -> int:
            return oracle_dice.die(key, seat, turn, number, sides)

        while game.winner is None:
            number = rng.choice(habits[game.mover]) if rng.random() > 0.002 else rng.choice(ILLEGAL)
            before, sides, run = list(game.scores), game.sides(), game.runs[game.mover]
            me = game.mover
            legal = game.play(number, roll)
            fault = play.step(state, number + 1)
            decisions += 1

            assert (fault == 0) == legal
            assert not (found := difference(state, game)), f"key {key}: {found}"
            assert (np.flatnonzero(play.legal(state)) - 1).tolist() == game.legal_numbers()
            pay = [0, 0] if game.winner is None else [1 - 2 * game.winner, 2 * game.winner - 1]
            assert play.returns(state).tolist() == pay

            seen["illegal"] += not legal
            seen["Free bacon"] += number == 0
            seen["exchange"] += number == -1
            seen["four-sided"] += legal and number > 0 and sides == 4
            seen["turned over"] += legal and number > 0 and sum(game.exchanges) % 2
            seen["Pig out"] += legal and game.runs[me] > 0
            seen[f"times {min(run, 3)}"] += legal and game.runs[me] == 0
            seen["swap"] += before[1 - me] != game.scores[1 - me]
            seen["swap to the loser"] += legal and game.winner == 1 - me
    # The comparison proves nothing about a rule that never applied.
    rules = ["illegal", "Free bacon", "exchange", "four-sided", "turned over", "Pig out", "swap", "swap to the loser"]
    rules += [f"times {run}" for run in range(4)]
    rare = {rule: seen[rule] for rule in rules if seen[rule] < wanted // 4_000}
    assert not rare, f"too few cases: {rare}"


def test_pairs_of_scores_agree() -> None:
    """A fifth of all pairs below the goal, with the numbers whose result follows from the scores, and one die."""
    play = dicegym.game("hog")
    start = play.new_game()[0]
    rng = random.Random(2)
    for own in range(100) if COMPILED else range(0, 100, 9):
        for opponent in range(own % 5, 100, 5 if COMPILED else 9):
            for number in (-1, 0, 1):
                state, key = start.copy(), rng.randrange(2**63)
                state["key"] = key
                mover, runs, exchanges = rng.randrange(2), [rng.randrange(5), 0], [rng.randrange(3), rng.randrange(3)]
                ordered = [own, opponent] if mover == 0 else [opponent, own]
                game = Hog(100, list(ordered), list(runs), list(exchanges), mover=mover)
                state["player"], state["scores"], state["exchanges"] = mover, ordered, exchanges
                state["runs"] = np.minimum(runs, 3)
                game.play(number, lambda *die, key=key: oracle_dice.die(key, *die))
                assert play.step(state, number + 1) == 0
                assert not (found := difference(state, game)), f"from {ordered}, number {number}: {found}"
