"""Which modes the bench has, how they are chosen, and in which turn their measures run."""

from __future__ import annotations

import pytest
from short_benches import quiet

from benchmarks import (
    plans,
    start,
)
from benchmarks.figures import Figure, Measure
from benchmarks.loops import LOOPS
from benchmarks.modes import DEFAULT_MODES, LOOP_MODES, MODES
from benchmarks.options import Options
from benchmarks.run import in_turn
from dicegym.errors import UnknownNameError

pytestmark = pytest.mark.slow


def test_options_name_modes_and_games() -> None:
    assert Options().chosen_modes == DEFAULT_MODES
    assert set(Options(("all",)).chosen_modes) == set(MODES)
    assert Options(("aec", "batch")).chosen_modes == ("batch", "aec")
    assert [e.id for e in Options(games=("yatzy",)).environments] == ["Yatzy-v0", "YatzySolo-v0"]
    with pytest.raises(UnknownNameError):
        Options(("x",)).check()


def test_a_mode_is_declared_once_and_has_all_that_modes_have() -> None:
    assert list(plans.PLANS) == list(MODES)
    assert set(LOOPS) == set(start.FIRST_STEP) == set(LOOP_MODES)
    assert set(plans.ONE_SEAT) < set(LOOP_MODES)
    assert all(mode.measures and mode.name == name for name, mode in MODES.items())


def test_measures_run_in_turn_and_no_more_often_than_makes_sense() -> None:
    seen = []

    def measure(name: str, repeats: int | None = None) -> Measure:
        figure = Figure("speed", name, "x", "y")
        return Measure(
            (figure,), lambda: [seen.append(name) or len(seen)], lambda: seen.append(f"warm {name}"), repeats
        )

    found = in_turn([measure("a"), measure("b", 1)], 2, quiet)
    assert seen == ["warm a", "warm b", "a", "b", "a"]
    assert [figure.values for figure in found] == [[3.0, 5.0], [4.0]]
