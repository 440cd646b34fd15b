"""Fields of agents: one of a kind among copies of another, both ways, and what follows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import dicegym
from dicegym.cli import main
from dicegym.errors import ParameterError
from dicegym.learning.evaluate import FRESH_SEED, evaluate
from dicegym.learning.population import Population, measure

TABLE = dicegym.game("liarsdice", players=4)


@pytest.fixture(scope="module")
def field() -> Population:
    return measure(TABLE, ["even", "honest", "timid"], games=60)


def test_every_two_meet_in_every_number(field: Population) -> None:
    assert len(field.scores) == 3 * 3  # of two kinds one, two and three of the first
    assert field.alone(0, 1)[2:] == evaluate(TABLE, "even", "honest", 60, seed=FRESH_SEED)[2:]
    assert field.alone(1, 0)[2:] == evaluate(TABLE, "honest", "even", 60, seed=FRESH_SEED)[2:]
    two = evaluate(TABLE, "even", ["even", "timid", "timid"], 60, seed=FRESH_SEED)
    rates = field.rates()
    assert rates[0, 2, 1] == min(two.value, 0.5)
    assert rates[0, 1, 2] == pytest.approx((1 - field.alone(1, 0).value) / 3)  # three of `even` share what is left


def test_standings_tell_who_lasts_and_how_sure_that_is(field: Population) -> None:
    rows = field.standings(alpha=2.0, resamples=200)
    assert {row.name for row in rows} == {"even", "honest", "timid"}
    assert sum(row.share for row in rows) == pytest.approx(1, abs=1e-5)
    assert [row.place for row in rows] == [1, 2, 3]
    for row in rows:
        assert 0 <= row.low <= row.share <= row.high <= 1
        others = [name for name in field.names if name != row.name]
        found = {name: field.alone(field.names.index(name), field.names.index(row.name)).value for name in others}
        assert (row.against, row.lost) == max(found.items(), key=lambda one: one[1])
        assert row.nash is None
    assert field.standings(alpha=2.0, resamples=200) == rows
    assert rows[0].high - rows[0].low > 0.005


def test_of_two_players_exact_values_leave_nothing_to_luck() -> None:
    found = measure("hog", ["bacon", "swap", "always_roll(5)"])
    rows = found.standings()
    assert all(row.low == row.share == row.high for row in rows)
    assert sum(row.nash or 0.0 for row in rows) == pytest.approx(1, abs=1e-5)
    assert all(row.skill is not None and row.skill <= 0.5 + 1e-6 for row in rows)
    won = found.alone(2, 0)
    assert won.value == pytest.approx(1 - found.alone(0, 2).value)
    assert (won.opponent, won.games) == ("bacon", 0)


def test_luck_cannot_take_more_than_there_is(field: Population) -> None:
    rates = field.rates([2.0] * len(field.scores))
    upper = np.triu_indices(3, 1)
    for k in (1, 2, 3):
        assert (rates[:, :, k - 1][upper] <= 1 / k + 1e-12).all()
        assert (rates[:, :, k - 1][upper] >= 0).all()


@pytest.mark.parametrize(
    ("agents", "arguments", "words"),
    [
        (["even"], {}, "name two or more"),
        (["even", "even"], {}, "called 'even'"),
        (["even", "honest"], {"games": 0}, "games"),
    ],
)
def test_what_is_no_field_is_refused(agents: list[str], arguments: dict[str, int], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        measure(TABLE, agents, **arguments)
    with pytest.raises(ParameterError, match="played alone"):
        measure(dicegym.game("yatzy", players=1), ["ladder", "planner"])


@pytest.mark.parametrize("arguments", [{"alpha": 0.0}, {"alpha": float("nan")}, {"population": 3}])
def test_populations_that_cannot_be_are_refused(field: Population, arguments: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(arguments))):
        field.standings(**arguments)


def test_the_command_shows_and_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["alpharank", "liarsdice", "even", "honest", "-p", "players=3", "--games", "20", "--alpha", "inf"]
    written = ["--json", str(tmp_path / "a.json"), "--csv", str(tmp_path / "a.csv")]
    with pytest.raises(SystemExit, match=r"^0$"):
        main([*asked, *written])
    shown = capsys.readouterr().out
    assert "First places of one of the row among 2 of the column (33.3% among equals)" in shown
    assert "First places of 2 of the row together against one of the column (66.7%)" in shown
    found = json.loads((tmp_path / "a.json").read_text())
    assert (found["players"], found["alpha"], found["population"]) == (3, None, 50)
    assert sum(one["share"] for one in found["agents"]) == pytest.approx(1)
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [(row["agent"], row["seats"], row["other"], row["other_seats"]) for row in rows] == [
        ("even", "1", "honest", "2"),
        ("honest", "1", "even", "2"),
    ]
    with pytest.raises(SystemExit, match=r"^0$"):
        main([*asked, "--workers", "2", "--json", str(tmp_path / "b.json")])
    assert json.loads((tmp_path / "b.json").read_text()) == found


def test_the_command_refuses_before_it_plays(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["alpharank", "liarsdice", "even", "honest", "--alpha", "-1"])
    assert "alpha" in capsys.readouterr().err
