"""Cards of models with incomplete or invalid facts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from dicegym.errors import ModelError
from dicegym.learning import card as cards
from dicegym.learning.published_values import _model_claims
from dicegym.players.model_file import facts, replace_facts
from dicegym.players.roster import agents_folder

MODEL = agents_folder("hog") / "ppo.zip"
PARTS = ("score", "scores", "settings", "seconds", "versions", "command")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a model that must not be measured."""
    monkeypatch.setattr(cards, "evaluate", None)
    return Path(shutil.copy(MODEL, tmp_path))


@pytest.mark.parametrize(
    ("part", "said"),
    [
        *((part, None) for part in PARTS),
        *(("score", "x"), ("scores", 7), ("settings", []), ("settings", {"run": 1}), ("seconds", 10**400)),
        ("settings", {"run": {"seed": 1, "best_by": "mean", "evaluate_against": 5}}),
    ],
)
def test_a_model_that_does_not_say_how_it_was_trained_has_no_card(part: str, said: Any, model: Path) -> None:
    replace_facts(model, {part: said})
    with pytest.raises(ModelError, match="does not say how it was trained"):
        cards.card(model, 10)


def test_models_without_scores_claim_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hog").mkdir()
    copy = Path(shutil.copy(MODEL, tmp_path / "hog"))
    monkeypatch.setenv("DICEGYM_AGENTS", str(tmp_path))
    assert len(list(_model_claims("hog"))) == sum(one["games"] == 0 for one in facts(MODEL)["scores"])
    replace_facts(copy, {"scores": None})
    assert not list(_model_claims("hog"))


def test_texts_from_a_models_file_are_escaped(model: Path) -> None:
    usual = cards.page(facts(model), "m", [cards.best_score(model)])
    evil = "<img src=x>\n\n# [x](y) `z` | *a*"
    settings = facts(model)["settings"]
    about = {"algorithm": evil, "machine": evil, "versions": {evil: evil}}
    about["settings"] = settings | {"run": settings["run"] | {"seed": evil}}
    replace_facts(model, about)
    page = cards.page(facts(model), "m", [cards.best_score(model)])
    assert "<img" not in page.replace("\\<img", "")
    assert page.count("\n") == usual.count("\n")
    assert "\n# [x]" not in page
