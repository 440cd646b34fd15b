"""How final scores are spread: by throws written out, by games, and what a table of values must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.yatzy import exact
from dicegym.games.yatzy.rules import FIRST_BOX
from dicegym.games.yatzy.solving import alone, distributions
from dicegym.games.yatzy.tables import SETS

GAME = dicegym.game("yatzy", players=1)
ALL = (1 << 15) - 1
OPEN = (0, 4, 6, 14)
"""Boxes, from 0, that are open in the positions below."""
CLOSED = ALL - sum(1 << box for box in OPEN)


@pytest.fixture(autouse=True)
def values(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Solve for a few boxes alone, which takes no time."""
    found = alone.new_values()
    alone.solve(found, CLOSED)
    monkeypatch.setattr(alone, "values", lambda progress=None: found)
    return found


def begun(seed: int, still_open: tuple[int, ...]) -> np.ndarray:
    states = GAME.new_game(seed)
    for box in set(range(15)).difference(still_open):
        states["scores"][0, 0, box] = 0
    states["round_number"] = 16 - len(still_open)
    return states


def written_out(box: int) -> np.ndarray:
    """Mix the ends of all throws when ``box`` alone is open, each decision being the optimal player's own."""
    player, state = exact.OptimalPlayer(), begun(0, (box,))

    def after(faces: tuple[int, ...], left: int) -> Iterator[tuple[float, int]]:
        state["dice"], state["rolls_left"] = faces, left
        (action,) = player.act_rows(GAME, state, np.arange(1), np.zeros(1, np.int64)).tolist()
        if action >= FIRST_BOX:
            played = state.copy()
            GAME.step(played[0], action)
            yield 1.0, int(played["totals"][0, 0])
            return
        missing = 5 - len(SETS[action])
        for thrown, number in Counter(tuple(sorted(t)) for t in product(range(1, 7), repeat=missing)).items():
            for end, chance in ends(tuple(sorted(SETS[action] + thrown)), left - 1).items():
                yield chance * number / 6**missing, end

    known: dict[tuple[tuple[int, ...], int], dict[int, float]] = {}

    def ends(faces: tuple[int, ...], left: int) -> dict[int, float]:
        if (faces, left) not in known:
            total: dict[int, float] = {}
            for chance, points in after(faces, left):
                total[points] = total.get(points, 0) + chance
            known[faces, left] = total
        return known[faces, left]

    chances = np.zeros(51)
    for throw in product(range(1, 7), repeat=5):
        for points, chance in ends(tuple(sorted(throw)), 2).items():
            chances[points] += chance * 6**-5
    return np.trim_zeros(chances, "b")


@pytest.mark.slow
@pytest.mark.parametrize("box", OPEN)
def test_one_open_box_written_out(box: int) -> None:
    assert distributions.of_scores(closed=ALL - (1 << box)) == pytest.approx(written_out(box), abs=1e-12)


@pytest.mark.slow
def test_yatzy_alone_is_made_as_often_as_is_known() -> None:
    chances = distributions.of_scores(closed=ALL - (1 << 14))
    assert chances[50] == pytest.approx(0.0460286, abs=1e-7)
    assert np.flatnonzero(chances).tolist() == [0, 50]


@pytest.mark.parametrize("n", [600, pytest.param(5000, marks=pytest.mark.slow)])
def test_games_are_spread_as_computed(values: np.ndarray, n: int) -> None:
    chances = distributions.of_scores(closed=CLOSED)
    player = exact.OptimalPlayer()
    states, rows = GAME.new_states(n), np.arange(n)
    for i in range(n):
        states[i] = begun(i, OPEN)[0]
    while len(rows):
        actions = player.act_rows(GAME, states, rows, np.zeros(len(rows), np.int64))
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            GAME.step(states[row], action)
        rows = rows[~states["over"][rows]]
    found = np.bincount(states["totals"][:, 0], minlength=len(chances)) / n
    assert len(found) <= len(chances)
    assert (abs(found - chances) <= 5 * (chances / n) ** 0.5 + 1e-3).all()
    assert chances @ np.arange(len(chances)) == pytest.approx(values[CLOSED, 0], abs=1e-9)
    assert chances.sum() == pytest.approx(1)


def test_threads_change_nothing_and_progress_ends_at_the_end() -> None:
    steps: list[tuple[int, int, str]] = []
    one = distributions.of_scores(closed=CLOSED, threads=1, progress=lambda *step: steps.append(step))
    assert np.array_equal(one, distributions.of_scores(closed=CLOSED, threads=3))
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert steps[-1][0] == steps[-1][1] > 0


def test_a_table_of_other_values_is_played_by(values: np.ndarray) -> None:
    """Optimal values, given as any table, are the optimum; who looks no further than its turn scores less."""
    best = distributions.of_scores(closed=CLOSED)
    same = distributions.of_scores(values, closed=CLOSED)
    assert same == pytest.approx(best, abs=1e-12)
    greedy = distributions.of_scores(np.zeros_like(values), closed=CLOSED)
    assert greedy @ np.arange(len(greedy)) < best @ np.arange(len(best)) - 0.5


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"table": np.zeros((3, 4))}, r"\(3, 4\)"),
        ({"table": np.full((1 << 15, 64), np.nan)}, "finite"),
        ({"closed": -1}, "closed=-1"),
    ],
)
def test_what_cannot_be_spread(arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        distributions.of_scores(**arguments)  # type: ignore[arg-type]  # the wrong ones
    with pytest.raises(ParameterError, match="players=1"):
        exact.distribution(dicegym.game("yatzy"))


@pytest.mark.slow
def test_the_whole_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    chances = exact.distribution(GAME)
    scores = np.arange(len(chances))
    assert chances @ scores == pytest.approx(exact.optimum(GAME), abs=1e-9)
    assert (chances @ (scores - chances @ scores) ** 2) ** 0.5 == pytest.approx(38.5, abs=0.05)
