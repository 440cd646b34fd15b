"""Win rates of Hog, written from the rule text: a recursion over whole games, no array, no sweep."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def outcomes(number: int, sides: int) -> list[tuple[float, int, bool]]:
    """List (probability, points, Pig out) of rolling dice, by counting die after die."""
    sums: dict[int, float] = {0: 1.0}
    for _ in range(number):
        longer: dict[int, float] = {}
        for points, chance in sums.items():
            for face in range(2, sides + 1):
                longer[points + face] = longer.get(points + face, 0.0) + chance / sides
        sums = longer
    found = [(chance, points, False) for points, chance in sums.items()]
    return [*found, (1 - sum(sums.values()), 1, True)]


def slow_win_rate(a: np.ndarray, b: np.ndarray, goal: int) -> float:
    """The probability that ``a`` beats ``b``.

    A table is indexed by own and opponent's score and, if its player remembers, by its run and its exchanges modulo 2.
    """
    tables = (a, b)
    apart = a.ndim + b.ndim > 4  # else it does not matter who exchanged, which saves half of the states

    @cache
    def a_wins(scores: tuple[int, int], mover: int, odd: tuple[bool, bool], runs: tuple[int, int]) -> float:
        if max(scores) >= goal:
            return float(scores[0] > scores[1])
        own, other = scores[mover], scores[1 - mover]
        choices = tables[mover][own, other]
        number = int(choices[runs[mover], int(odd[mover])] if choices.ndim else choices)
        four = sum(scores) % 7 == 0
        if odd[0] != odd[1]:
            four = not four
        if number == -1:
            rolled = [(1.0, 1, False)]
            odd = (odd[0], not odd[1]) if apart and mover == 1 else (not odd[0], odd[1])
        elif number == 0:
            rolled = [(1.0, 1 + max(int(digit) for digit in str(other)), False)]
        else:
            rolled = outcomes(number, 4 if four else 6)
        total = 0.0
        for chance, points, pig_out in rolled:
            run = runs[mover]
            if pig_out:
                run_after = run + 1 if run < 3 else 3
            else:
                points = points * (1, 1, 2, 3)[run]  # noqa: PLW2901  # of this roll, from here on
                run_after = 0
            after = [own + points, other]
            text, other_text = f"{after[0]:02d}"[-2:], f"{after[1]:02d}"[-2:]
            if text == other_text[::-1]:
                after.reverse()
            if mover == 1:
                after.reverse()
            runs_after = (run_after, runs[1]) if mover == 0 else (runs[0], run_after)
            total += chance * a_wins((after[0], after[1]), 1 - mover, odd, runs_after)
        return total

    nobody = (False, False)
    return (a_wins((0, 0), 0, nobody, (0, 0)) + a_wins((0, 0), 1, nobody, (0, 0))) / 2
