"""Published values are recomputed, and wrong ones are reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rough_yatzy import MEANS, rough_table

import dicegym
import dicegym.learning.published_values as claims_module
from dicegym.analysis.solving import solve
from dicegym.arena.results import ranking
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.solution import recompute_exploitability
from dicegym.games.hog import original_contest
from dicegym.games.solved import Claim
from dicegym.learning.published_values import claims_of, verify
from dicegym.registry import GAMES

Run = Callable[..., tuple[int, str, str]]


def test_games_and_models_claim_what_is_published() -> None:
    texts = {name: [claim.what for claim in claims_of(name)] for name in GAMES}
    assert texts["yatzy"][0] == "mean score of best play, alone"
    assert "exact win rate of ppo against always_roll(5)" in texts["hog"]
    assert any("Pig" in text for text in texts["hog"])
    assert len(texts["liarsdice"]) == 5
    assert len(texts["liarsdice_spot_on"]) == 2
    for name in GAMES:
        for claim in claims_of(name):
            assert claim.tolerance > 0 or claim.at_most
            assert claim.source


def test_yatzy_is_worth_what_its_table_says() -> None:
    """The real table is checked below, with all published values."""
    with rough_table():
        verdict = next(verify(["yatzy"]))
    assert verdict.found == sum(MEANS)
    assert (verdict.holds, verdict.word) == (False, "WRONG")


@pytest.fixture
def of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep only the last claim of each game, which needs tables: the others take long to compute."""
    monkeypatch.setattr(claims_module, "claims_of", lambda name: claims_of(name)[-1:])


@pytest.mark.usefixtures("of_tables")
def test_a_value_without_its_tables_is_skipped() -> None:
    (verdict,) = verify(["liarsdice_spot_on"])
    assert verdict.word == "skipped"
    assert "dicegym values solve liarsdice_spot_on -p dice=2 --to 0.00088" in verdict.remark


@pytest.mark.usefixtures("of_tables")
def test_tables_less_accurate_than_published_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command has its own default accuracy; the bound is recomputed from the tables."""
    monkeypatch.setenv("DICEGYM_TABLES", str(tmp_path))
    game = dicegym.game("liarsdice_spot_on", players=2, dice=2)
    done = solve(game, goal=0.03)
    assert done.quality is not None
    assert 0.00088 < done.quality <= 0.03
    (verdict,) = verify(["liarsdice_spot_on"])
    assert verdict.word == "skipped"
    found = recompute_exploitability(game, 0.03)
    assert found == pytest.approx(done.quality)


def test_the_matches_of_the_original_contest_rank_as_arena_ranks() -> None:
    won = original_contest.count_matches()
    merits = {str(row.entry): (won[row.entry], row.rate) for row in original_contest.RANKING}
    standings = ranking(merits, {name: {} for name in merits})
    assert [(one.place, one.name) for one in standings] == [
        (place, str(row.entry)) for place, row in enumerate(original_contest.RANKING, 1)
    ]
    assert original_contest.count_agreeing() == 17


def test_the_command_fails_if_a_value_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken() -> float:
        raise ParameterError("it cannot be")

    listed = [
        Claim("a right value", 1.0, 1e-9, "a proof", lambda: 1.0 + 5e-10),
        Claim("a missing value", 1.0, 1e-9, "a proof", lambda: None, "solve it"),
    ]
    monkeypatch.setattr(claims_module, "claims_of", lambda name: listed)
    status, out, _ = run("values", "verify", "hog")
    assert status == 0
    assert "2 values, 1 computed, 0 wrong" in out
    assert "skipped: hog, a missing value: `solve it` makes the tables first" in out
    for away in (2e-9, -2e-9):
        listed.append(Claim("a wrong value", 1.0, 1e-9, "a guess", lambda away=away: 1 + away))
    status, out, _ = run("values", "verify", "hog", "-o", tmp_path / "verdicts.json")
    assert status == 1
    assert "4 values, 3 computed, 2 wrong" in out
    verdicts = [one["verdict"] for one in json.loads((tmp_path / "verdicts.json").read_text())]
    assert verdicts == ["ok", "skipped", "WRONG", "WRONG"]
    status, _, err = run("values", "verify", "chess")
    assert (status, "chess" in err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_every_published_value_holds(name: str) -> None:
    wrong = [verdict for verdict in verify([name]) if not verdict.holds]
    assert not wrong
