"""Trained best responses: their results, and how cards report them."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

import dicegym
from dicegym.errors import ParameterError
from dicegym.games.worth import Bracket
from dicegym.learning import card
from dicegym.learning.approximate_best_response import ITSELF, Exploited, best_response
from dicegym.learning.card import bracket_of
from dicegym.learning.configuration import override, read_config
from dicegym.learning.evaluate import Score
from dicegym.players import model_file
from dicegym.players.model_file import facts, replace_facts
from dicegym.players.roster import agents_folder

SMALL = (
    *("run.games=16", "run.torch_threads=1", "algorithm.n_steps=32", "algorithm.batch_size=128"),
    "network.net_arch=[16]",
)
FOUND = Exploited(Score("win rate", "m", 0.55, 0.53, 0.57, 5000), 2, 1000, 12.5, ITSELF, 1)


def test_a_best_response_is_trained_and_measured() -> None:
    with pytest.raises(ParameterError, match="played alone"):
        best_response(dicegym.game("yatzy", players=1), "in_order", steps=1)
    with pytest.raises(ParameterError, match="steps=0"):
        best_response("hog", "swap", steps=0)
    game = dicegym.game("hog", goal=20)
    told: list[str] = []
    found = best_response(
        game,
        "always_roll",
        steps=1024,
        games=200,
        overrides=SMALL,
        progress=lambda done, total, text: told.append(text),
    )
    again = best_response(game, "always_roll", steps=1024, games=200, overrides=SMALL)
    assert found._replace(seconds=0) == again._replace(seconds=0)
    assert found.steps >= 1024
    assert found.score.games == 200
    assert "exact win rate against always_roll" in told[-1]
    assert "from fresh networks" in found.words()


def test_the_result_of_a_best_response_is_described() -> None:
    assert "s, from its own networks) wins 0.5500 [0.5300, 0.5700] of 5,000 fresh games" in FOUND.words()
    seven = FOUND._replace(players=7, began_with="other.zip").words()
    assert "from other.zip) at tables of 7, filled with copies of it, wins" in seven
    assert "(equal strength: 0.1429)" in seven


def test_a_best_response_that_starts_from_its_target_says_so() -> None:
    """Not by their path on this machine: cards are shared."""
    game = dicegym.game("liarsdice")
    small = ["run.games=8", "run.torch_threads=1", "algorithm.n_steps=4", "algorithm.batch_size=32"]
    small += ["run.evaluate_games=8", "run.evaluate_every=32"]
    found = best_response(game, "taught", steps=32, start="taught", games=8, overrides=small)
    assert found.began_with == ITSELF


def test_a_best_response_that_starts_from_a_taught_model_has_a_new_critic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The taught model's critic has eight units, as imitation learns no values, and its file has none."""
    taught = model_file.facts(agents_folder("hog") / "taught.zip")["settings"]["network"]["net_arch"]
    assert taught == {"pi": [512, 512], "vf": [8]}
    wanted: list[str] = []

    def train(game: Any, folder: Path, config: None, overrides: list[str], progress: None) -> Any:
        wanted.extend(overrides)
        folder.mkdir()
        shutil.copy(MODEL, folder / "best.zip")
        return SimpleNamespace(model=SimpleNamespace(num_timesteps=64), count_seconds=lambda: 1.0)

    monkeypatch.setattr("dicegym.learning.approximate_best_response.train", train)
    found = best_response("hog", "bacon", steps=64, start="taught", games=2, overrides=["run.evaluate_games=7"])
    assert found.began_with == "taught"  # as it was named
    settings = override(read_config("hog"), wanted)
    assert settings.network.net_arch == {"pi": [512, 512], "vf": [512, 512]}
    assert settings.run.start_from == str(agents_folder("hog") / "taught.zip")
    assert settings.run.evaluate_games == 7  # overrides come last


@pytest.mark.parametrize("wrong", [{"games": 0}, {"seed": -1}])
def test_invalid_arguments_are_refused_before_training(wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.learning.approximate_best_response.train", None)
    with pytest.raises(ParameterError, match=str(*wrong.values())):
        best_response("hog", "swap", steps=1, **wrong)


# --- what cards say of a model's holes ----------------------------------------------------------------------------


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
    for seconds in (0, -1, math.nan, True):
        with pytest.raises(ParameterError, match="a time to look for the best response"):
            card.card(MODEL, 100, seconds=seconds)
    lucky = dicegym.game("lucky")
    assert bracket_of(lucky, dicegym.agent(lucky, "thrifty"), 1) is None  # no bounds there


@pytest.mark.usefixtures("few_agents")
def test_a_card_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
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
