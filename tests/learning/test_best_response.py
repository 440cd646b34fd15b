"""Best responses that are trained: what they make of a player, and how that is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pydantic")

from pydantic import TypeAdapter

import dicegym
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.learning.approximate_best_response import best_response
from dicegym.learning.card import EXPLOITED_SUFFIX, ITSELF, Exploited, page, read_exploited, write_exploited
from dicegym.learning.evaluate import Score
from dicegym.players import model as models
from dicegym.players import model_file
from dicegym.players.roster import agents_folder

SMALL = (
    *("run.games=16", "run.torch_threads=1", "algorithm.n_steps=32", "algorithm.batch_size=128"),
    "network.net_arch=[16]",
)
FOUND = Exploited(Score("win rate", "m", 0.55, 0.53, 0.57, 5000), 2, 1000, 12.5, ITSELF, 1, ((500, 0.5), (1000, 0.55)))


def test_a_best_response_is_trained_and_measured(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="played alone"):
        best_response(dicegym.game("yatzy", players=1), "in_order", steps=1)
    with pytest.raises(ParameterError, match="steps=0"):
        best_response("hog", "swap", steps=0)
    game = dicegym.game("hog", goal=20)
    output = tmp_path / "reply.zip"
    told: list[str] = []
    found = best_response(
        game,
        "always_roll",
        steps=1024,
        games=200,
        overrides=SMALL,
        output=output,
        progress=lambda done, total, text: told.append(text),
    )
    again = best_response(game, "always_roll", steps=1024, games=200, overrides=SMALL)
    assert found._replace(seconds=0) == again._replace(seconds=0)
    assert found.steps >= 1024
    assert found.score.games == 200
    assert max(rate for _, rate in found.curve) >= found.curve[0][1]
    assert models.load(output).temperature == 0
    assert "exact win rate against always_roll" in told[-1]
    assert "from fresh networks" in found.words()


def test_what_was_found_is_kept_beside_the_model_it_was_found_of(tmp_path: Path) -> None:
    model = tmp_path / "m.zip"
    shutil.copy(agents_folder("hog") / "ppo.zip", model)
    assert read_exploited(model) is None
    path = write_exploited(model, FOUND)
    assert path == tmp_path / f"m{EXPLOITED_SUFFIX}"
    assert read_exploited(model) == FOUND
    card = page(model_file.facts(model), "m", [FOUND.score], trained=FOUND)
    assert "from its own networks" in card
    assert "wins 0.5500" in card
    shutil.copy(agents_folder("yatzy") / "ppo.zip", model)
    assert read_exploited(model) is None  # another model since
    for text in ("{}", "[" * 50_000):
        path.write_text(text)
        with pytest.raises(DamagedFileError, match="best response"):
            read_exploited(model)
    seven = FOUND._replace(players=7, began_with="other.zip")
    assert "(equal strength: 0.1429)" in seven.words()
    assert "filled with copies of it" in seven.words()
    assert TypeAdapter(Exploited).validate_json(json.dumps(seven.to_json())) == seven


def test_a_best_response_that_begins_with_the_networks_of_its_target_says_so() -> None:
    """Not by where this machine has them: cards are handed on."""
    game = dicegym.game("liarsdice")
    small = ["run.games=8", "run.torch_threads=1", "algorithm.n_steps=4", "algorithm.batch_size=32"]
    small.append("run.evaluate_games=8")
    found = best_response(game, "taught", steps=32, start="taught", games=8, overrides=small)
    assert found.began_with == ITSELF


def test_a_best_response_that_begins_with_a_taught_model_judges_by_a_critic_of_its_own(tmp_path: Path) -> None:
    """Its settings give it eight units, as whoever is taught learns no values, and its file has none."""
    taught = model_file.facts(agents_folder("hog") / "taught.zip")["settings"]["network"]["net_arch"]
    assert taught == {"pi": [512, 512], "vf": [8]}
    small, output = [*SMALL[:4], "run.evaluate_games=20"], tmp_path / "reply.zip"
    found = best_response("hog", "bacon", steps=64, start="taught", games=20, overrides=small, output=output)
    assert found.began_with == "taught"  # as it was named
    assert model_file.facts(output)["settings"]["network"]["net_arch"] == {"pi": [512, 512], "vf": [512, 512]}
    assert model_file.facts(output)["score"]["value"] > 0.5  # its policy is that of the taught one at first
