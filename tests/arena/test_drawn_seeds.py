"""Contests whose seed nobody gives: no entry can foresee their games, and whoever knows the seed can play them again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena import contest
from dicegym.arena.formats.one_table import one_table
from dicegym.cli import main
from dicegym.play.seeds import DRAWN_BITS, drawn_seed

HELD = {
    "round robin": lambda seed: contest("hog", ["haphazard", "bacon"], seed, 1),
    "groups": lambda seed: contest("lucky", ["idle", "thrifty", "investor"], seed, 1, games=7),
    "one table": lambda seed: one_table(dicegym.game("yatzy"), {"a": "haphazard", "b": "in_order"}, 3, seed),
}


@pytest.mark.parametrize("form", HELD)
def test_no_two_contests_without_a_seed_have_the_same_games(form: str) -> None:
    hold: Any = HELD[form]
    first, second = hold(None), hold(None)
    assert first.seed != second.seed
    again = hold(first.seed)
    assert again == first
    assert f"seed {first.seed}" in first.text(200)
    assert first.to_json()["seed"] == first.seed


def test_first_hands_do_not_follow_from_names(tmp_path: Path) -> None:
    file = tmp_path / "teller.py"
    file.write_text("def get_play(id, hand, history):\n    print(hand)\n    return 0 if history else 11\n")
    game = dicegym.game("liarsdice")
    hands = [one_table(game, {"teller": str(file), "even": "even"}, 10).printed["teller"] for _ in range(2)]
    assert all(len(text.splitlines()) >= 10 for text in hands)
    assert hands[0] != hands[1]


def test_drawn_seeds_are_large_and_differ() -> None:
    drawn = [drawn_seed() for _ in range(200)]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= seed < 1 << DRAWN_BITS for seed in drawn)
    assert max(drawn) > 1 << DRAWN_BITS - 5
    assert all(json.loads(json.dumps(seed)) == int(float(seed)) for seed in drawn)  # as other programs read them


def test_the_command_prints_its_seed_and_takes_it_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def held(*more: str) -> tuple[str, Any]:
        with pytest.raises(SystemExit) as end:
            main(
                ["tournament", "hog", "haphazard", "swap", "--workers", "1", "--json", str(tmp_path / "x.json"), *more]
            )
        assert end.value.code == 0
        return capsys.readouterr().out, json.loads((tmp_path / "x.json").read_text())

    text, plain = held()
    (seed,) = re.findall(r"seed (\d+)", text)
    assert plain["seed"] == int(seed)
    again, same = held("--seed", seed)
    assert again == text
    assert same["matches"] == plain["matches"]
    assert held()[0] != text
