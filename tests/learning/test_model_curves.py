"""The curve of a training in its model's file, and its picture."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from hostile_models import members_of, zipped
from small_runs import small

from dicegym.errors import ModelError
from dicegym.learning.card import page
from dicegym.learning.curve_pictures import SUFFIX, draw_learned, write_learned
from dicegym.learning.curves import (
    CURVE,
    MOST_POINTS,
    Evaluation,
    curve_fact,
    curve_in,
    facts_of_stages,
    read_evaluations,
)
from dicegym.learning.evaluate import Score
from dicegym.players import model as models
from dicegym.players import model_file
from dicegym.players.model_file import MEMBER

PLAYED = [*small("hog"), 'run.evaluate_against=["bacon","swap"]', "run.temperature=1"]
ONE = {"measure": "win rate", "opponent": "bacon", "games": 20}
SAID: dict[str, Any] = {"columns": [ONE], "points": [[0, 0.1, 0.1], [10, 0.4, [0.4, 0.3, 0.5]]]}


@pytest.fixture(scope="module")
def chain(training: Any, short_cards: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two trainings; the second started from the best model of the first."""
    folder = tmp_path_factory.mktemp("chain")
    training.train("hog", folder / "first", overrides=PLAYED)
    begun = [*PLAYED, f"run.start_from={folder}/first/best.zip", "run.steps=1024"]
    training.train("hog", folder / "second", overrides=begun)
    return folder


def rounded(score: Score) -> Score:
    return score._replace(value=round(score.value, 9), low=round(score.low, 9), high=round(score.high, 9))


def svg_words(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())


def test_a_models_file_has_all_evaluations_of_its_training(chain: Path) -> None:
    for name in ("best.zip", "model.zip"):  # also those that came after the best one was chosen
        curve = curve_in(model_file.facts(chain / "first" / name))
        assert [score.opponent for score in curve[0].scores] == ["bacon", "swap"]
        told = read_evaluations(chain / "first")
        assert [(steps, *map(rounded, scores)) for steps, _, scores in curve] == [
            (steps, *map(rounded, scores)) for steps, _, scores in told
        ]
        rows = [line.split(",") for line in (chain / "first/curve.csv").read_text().split()[1:]]
        assert [(one.steps, one.value) for one in curve] == [(int(row[0]), float(row[1])) for row in rows]
        assert len(rows) > 4


def test_cards_show_the_picture_of_the_curve(chain: Path) -> None:
    for name in ("best", "model"):
        card = (chain / "second" / f"{name}.md").read_text()
        assert f"]({name}.curve.svg)" in card
        words = svg_words(chain / "second" / f"{name}{SUFFIX}")
        for word in ("win rate", "decisions of the learner", "against bacon", "as good as the others"):
            assert any(word in one for one in words), word
        assert "Bands are 95 % intervals." in words
        assert "<polygon" in (chain / "second" / f"{name}{SUFFIX}").read_text()
    again = draw_learned(model_file.facts(chain / "second/best.zip"))
    assert again is not None
    assert again.with_legend().svg() + "\n" == (chain / "second/best.curve.svg").read_text()


def test_the_best_model_is_marked_and_hostile_names_are_escaped() -> None:
    """A training continues after its best evaluation, and so does its curve."""

    def drawn(**facts: Any) -> Any:
        found = draw_learned({"players": 2, **facts})
        assert found is not None
        return found

    curve = {CURVE: {"columns": [ONE], "points": [[n, 0.1, 0.1] for n in range(0, 101, 10)]}}
    for timesteps in (40, 100):
        assert (">this model<" in drawn(timesteps=timesteps, **curve).chart.svg()) == (timesteps == 40)
    hostile = {"measure": "<script>\x1b[2J", "opponent": "a\n</text><script>alert(1)</script>" + "b" * 500, "games": 1}
    curve = {CURVE: {"columns": [hostile] * 64, "points": [[5, *[9e15] * 65], [-5.5, True, *[-9e15] * 64]]}}
    assert not curve_in({CURVE: {"columns": [hostile] * 65, "points": [[5, *[9e15] * 66]]}})
    shown = drawn(players=10**400, timesteps=10**400, **curve).with_legend().svg()
    assert [one for one in ("<script", "\x1b", "b" * 101, "nan", "inf") if one in shown] == []


def without_curves(path: Path, target: Path) -> Path:
    """Copy a model's file without its evaluations."""
    about = model_file.facts(path)
    for one in facts_of_stages(about):
        one.pop(CURVE, None)  # type: ignore[attr-defined]
        one.pop("chosen", None)  # type: ignore[attr-defined]
    return zipped({**members_of(path), MEMBER: json.dumps(about).encode()}, target)


def test_files_without_a_curve_have_no_picture(chain: Path, tmp_path: Path) -> None:
    model = without_curves(chain / "second/best.zip", tmp_path / "mine.zip")
    assert models.load(model).name == "mine"
    assert draw_learned(model_file.facts(model)) is None
    assert SUFFIX not in page(model_file.facts(model), "mine", [Score(**model_file.facts(model)["score"])])
    (tmp_path / f"mine{SUFFIX}").write_text("that of another model")
    assert write_learned(model) is None
    assert not (tmp_path / f"mine{SUFFIX}").exists()


def put(where: str, value: Any) -> dict[str, Any]:
    """Return a curve with one value replaced."""
    said = json.loads(json.dumps(SAID))
    *way, last = [int(one) if one.isdigit() else one for one in where.split(".")]
    inner = said
    for one in way:
        inner = inner[one]
    inner[last] = value
    return said


WRONG: list[Any] = [
    None,
    5,
    [],
    "curve",
    {},
    {"columns": [], "points": [[0, 0.1]]},
    put("columns", 5),
    put("columns.0", 5),
    put("columns.0.games", math.inf),
    put("points", []),
    put("points", {"0": 1}),
    put("points", [[n, 0.1, 0.1] for n in range(MOST_POINTS + 1)]),
    put("points.1", 5),
    put("points.1", [10, 0.1]),
    put("points.1", [10, 0.1, 0.1, 0.1]),
    put("points.1.0", 10**30),
    put("points.1.0", "ten"),
    put("points.1.1", None),
    put("points.1.1", math.nan),
    put("points.1.1", math.inf),
    put("points.1.1", -1e300),
    put("points.1.1", 10**400),
    put("points.1.2", [0.1, 0.1]),
    put("points.1.2", [0.1, 0.1, "x"]),
    put("points.1.2", [[0.1], 0.1, 0.1]),
]


@pytest.mark.parametrize("said", WRONG, ids=lambda said: json.dumps(said)[:60])
def test_an_invalid_curve_is_ignored(said: Any, chain: Path, tmp_path: Path) -> None:
    assert curve_in({CURVE: said}) == ()
    source = chain / "second/best.zip"
    about = model_file.facts(source)
    for facts in ({**about, CURVE: said}, {**about, "began_with": {CURVE: said, "timesteps": "x"}}):
        path = zipped({**members_of(source), MEMBER: json.dumps(facts).encode()}, tmp_path / "m.zip")
        models.load(path)
        shown = page(model_file.facts(path), "m", [Score(**facts["score"])])
        assert (SUFFIX in shown) == (facts[CURVE] == about[CURVE])


def test_a_long_curve_keeps_its_best_and_its_last_evaluation() -> None:
    score = Score("win rate", "bacon", 0.1, 0.1, 0.1, 0)
    fact = curve_fact([Evaluation(n, 1.0 if n == 777 else n / 1e4, (score,)) for n in range(2501)])
    found = curve_in(json.loads(json.dumps(fact)))
    steps = [one.steps for one in found]
    assert len(steps) <= MOST_POINTS
    assert {0, 777, 2500} <= {*steps}
    assert curve_fact(found) == fact
    assert (curve_fact([]), curve_in({})) == ({}, ())


def test_an_interrupted_write_leaves_the_model_as_it_was(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m.zip"
    shutil.copy(chain / "first/best.zip", model)
    before = model.read_bytes()
    with pytest.raises(TypeError):
        model_file.replace_facts(model, {"note": object()})
    assert model.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["m.zip"]
    with pytest.raises(ModelError):
        model_file.replace_facts(tmp_path / "none.zip", {})
