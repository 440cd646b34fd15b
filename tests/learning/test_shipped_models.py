"""The trained models that come with dicegym: each loads, is as good as its card says, and is small."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from shipped_models import MODELS, each_model, each_ppo
from variants import FINISHED

pytest.importorskip("sb3_contrib")

import dicegym
from dicegym.learning.card import REGRET, RESPONSE, keep_copied
from dicegym.learning.curve_pictures import SUFFIX, draw_learned
from dicegym.learning.evaluate import CURVE_SEED, evaluate
from dicegym.players import model_file


@each_model
def test_model_loads_fits_the_rules_and_is_listed(path: Path) -> None:
    game = model_file.read_game(path)
    assert dicegym.agent(game, path.stem).name == path.stem
    assert path.stem in dicegym.agent_names(game)
    about = model_file.facts(path)
    taught = "taught_by" in about or "taught_by" in about.get("began_with", {})
    assert path.stat().st_size <= (5_000_000 if taught else 2_200_000)


@pytest.mark.slow_after(2)
@each_ppo
def test_model_is_as_good_as_its_card_says(path: Path) -> None:
    about = model_file.facts(path)
    claimed = about["score"]
    run = about["settings"]["run"]
    against = run.get("evaluate_against") or [None]
    how = {"less_luck": run.get("less_luck", False), "seed": CURVE_SEED}
    for part, opponent in zip(about.get("scores") or [claimed], against, strict=True):
        score = evaluate(model_file.read_game(path), str(path), opponent, part["games"] or 1, **how)
        assert part["low"] - 1e-9 <= score.value <= part["high"] + 1e-9


@each_model
def test_a_card_is_that_of_its_file(path: Path) -> None:
    card = path.with_suffix(".md").read_text()
    about = model_file.facts(path)
    score, seed, steps = about["score"], about["settings"]["run"]["seed"], about["timesteps"]
    for fact in (f"{score['value']:.4f}", about["command"], f"| seed | {seed} |", f"| steps | {steps:,} decisions"):
        assert fact in card
    assert "| time |" in card
    found = draw_learned(about)  # every model that ships tells how it was learned
    assert found is not None
    assert path.with_suffix(SUFFIX).read_text() == found.with_legend().svg() + "\n"
    assert f"]({path.with_suffix(SUFFIX).name})" in card
    anew = re.sub(rf"^({RESPONSE}.*\n\n|{REGRET}.*\n\n(\|.*\n)+\n)", "", card, flags=re.MULTILINE)
    assert not re.search(rf"{RESPONSE}|{REGRET}", anew)
    assert keep_copied(path, anew) == card


def test_every_game_has_a_model_and_that_of_hog_reaches_its_goal() -> None:
    """0.77 exactly against always_roll(5); the winner of the published contest had 0.759."""
    assert {path.parent.name for path in MODELS} >= {*FINISHED}
    scores = [model_file.facts(path)["score"]["value"] for path in MODELS if path.parent.name == "hog"]
    assert max(scores) >= 0.77


@each_model
def test_no_file_reveals_the_machine_that_made_it(path: Path) -> None:
    with zipfile.ZipFile(path) as members:
        data = json.loads(members.read("data")) if "data" in members.namelist() else {}
    assert data.get("tensorboard_log") is None
    texts = [value for value in data.values() if isinstance(value, str)] + [json.dumps(model_file.facts(path))]
    assert not [text for text in texts if re.search(r"(^|[\s\"'=])/(?!\s)\w+/", text)]
