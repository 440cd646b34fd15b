"""`dicegym doctor --bench`: every form is stepped legally and counted, and files of rates are read or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dicegym import bench
from dicegym.bench import AT_A_TIME, FORMS, BenchResult, StepRate, run_bench
from dicegym.cli.doctor_command import FORMS as TOLD
from dicegym.engine.state import State
from dicegym.envs import multi
from dicegym.errors import DependencyError, UnknownNameError
from dicegym.registry import ENVIRONMENTS, Environment


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure for a moment alone."""
    monkeypatch.setattr(bench, "SECONDS", 1e-4)
    monkeypatch.setattr(bench, "ROUNDS", 2)


def test_every_form_gives_a_rate_a_round() -> None:
    lines: list[str] = []
    result = run_bench(games=["hog"], progress=lines.append)
    assert [rate.form for rate in result.rates] == [form for form in FORMS if form not in result.skipped]
    for rate in result.rates:
        assert rate.environment == "Hog-v0"
        assert rate.unit == FORMS[rate.form].unit
        assert len(rate.values) == 2
        assert min(rate.values) > 0
    assert lines[-1] == "round 2 of 2"
    assert TOLD.replace(" or ", ", ").split(", ") == [*FORMS], "the help names every form"
    for wrong, said in ((["bach"],), "'batch'"), (((), ["hogg"]), "hog"):
        with pytest.raises(UnknownNameError, match=said):
            run_bench(*wrong)
    assert {"processor", "Python", "numba"} <= result.machine.keys()


def test_games_for_one_have_no_multi_agent_forms() -> None:
    result = run_bench(["aec", "make"], ["yatzy"])
    assert [(rate.environment, rate.form) for rate in result.rates] == [
        ("Yatzy-v0", "aec"),
        ("Yatzy-v0", "make"),
        ("YatzySolo-v0", "make"),
    ]


@pytest.mark.parametrize("environment", [e for e in ENVIRONMENTS if e.multi], ids=lambda e: e.game)
@pytest.mark.parametrize("form", ["aec", "parallel", "state"])
def test_loops_choose_nothing_illegal(environment: Environment, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``on_illegal="raise"`` an illegal action ends the loop; a bare state returns its fault."""
    faults: list[int] = []
    if form == "state":
        step = State.step
        monkeypatch.setattr(State, "step", lambda state, action: faults.append(step(state, action)))
    else:
        name = "TurnEnv" if form == "aec" else "parallel_env"
        made: Callable[..., Any] = getattr(multi, name)
        monkeypatch.setattr(multi, name, lambda *given, **more: made(*given, **more, on_illegal="raise"))
    assert FORMS[form].loop(environment)() >= AT_A_TIME
    assert not any(faults)
    assert len(faults) == (AT_A_TIME if form == "state" else 0)


def test_a_form_whose_package_is_missing_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(environment: Environment) -> bench.Work:
        raise DependencyError("Stable-Baselines3 is not installed")

    monkeypatch.setitem(FORMS, "sb3", FORMS["sb3"]._replace(loop=lacking))  # type: ignore[index]
    result = run_bench(["sb3", "state"], ["hog"])
    assert [rate.form for rate in result.rates] == ["state"]
    assert "not installed" in result.skipped["sb3"]


def test_the_table_has_the_median_between_its_limits() -> None:
    result = BenchResult({}, [StepRate("Hog-v0", "make", "learner steps/s", [100.0, 400.0, 3000.0])], {})
    titles, rows = result.table()
    assert rows == [["Hog-v0", FORMS["make"].title, "400", "100", "3,000", "learner steps/s"]]
    assert len(titles) == len(rows[0])
    assert result.to_json()["rates"][0]["median"] == 400
