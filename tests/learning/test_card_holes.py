"""What cards say of a model's holes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.games.worth import Bracket
from dicegym.learning import card
from dicegym.learning.card import EXPLOITED_SUFFIX, bracket_of, read_exploited
from dicegym.learning.evaluate import Score
from dicegym.players.model_file import facts, replace_facts
from dicegym.players.roster import agents_folder

MODEL = Path(dicegym.__file__).parents[1] / "agents" / "hog" / "ppo.zip"


@pytest.fixture
def few_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "agent_names", lambda game: ["swap"])
    monkeypatch.setattr(card, "bracket_of", lambda game, player, seconds, progress: Bracket(0.6, 0.7, f"{seconds:g} s"))


@pytest.mark.usefixtures("few_agents")
def test_a_card_says_what_can_be_won() -> None:
    page = card.card(MODEL, 100)
    assert "wins at least 0.6000, at most 0.7000 of games" in page
    assert "3 s." in page
    assert "best response" not in card.card(MODEL, 10)
    assert "5 s." in card.card(MODEL, 100, seconds=5)
    lucky = dicegym.game("lucky")
    assert bracket_of(lucky, dicegym.agent(lucky, "thrifty"), 1) is None  # nothing is known there


@pytest.mark.usefixtures("few_agents")
def test_a_card_tells_what_is_measured_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int, str]] = []

    def tell(done: int, total: int, text: str) -> None:
        told.append((done, total, text))

    card.card(MODEL, 100, progress=tell)
    assert told == []  # against swap it is exact
    told.clear()
    monkeypatch.setattr(card, "agent_names", lambda game: ["thrifty"])
    card.card(MODEL.parents[1] / "lucky" / "ppo.zip", 14, progress=tell)
    assert (0, 1, "games: 14 of 14, against thrifty") in told


@pytest.mark.usefixtures("few_agents")
@pytest.mark.parametrize("trust", [False, True])
def test_tables_that_need_trust_are_not_measured_without_it(
    trust: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, model = tmp_path / "mine.py", tmp_path / "foreign.zip"
    program.write_text("def final_strategy(a, b):\n    return 5\n")
    tables = [["bacon"], [str(program)], ["llm(m, base_url=http://127.0.0.1:9/v1)"]]
    shutil.copy(MODEL, model)
    settings = facts(MODEL)["settings"]
    replace_facts(model, {"settings": settings | {"run": settings["run"] | {"evaluate_against": tables}}})
    met: list[Any] = []

    def evaluate(game: Any, player: Any, opponent: Any, games: int, **more: Any) -> Score:
        met.append(opponent)
        return Score("win rate", "x", 0.5, 0.5, 0.5, 0)

    monkeypatch.setattr(card, "evaluate", evaluate)
    card.card(model, 10, trust=trust)
    assert met == ["swap", *(tables if trust else tables[:1])]


SHIPPED_NOTES = sorted(agents_folder("hog").parent.glob("*/*" + EXPLOITED_SUFFIX))


def test_what_was_found_of_a_shipped_model_is_of_its_present_file() -> None:
    models = [note.with_name(note.name.removesuffix(EXPLOITED_SUFFIX) + ".zip") for note in SHIPPED_NOTES]
    assert len(models) >= 7
    assert not [model for model in models if read_exploited(model) is None]
