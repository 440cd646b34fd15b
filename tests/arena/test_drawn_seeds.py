"""Contests whose seed nobody gives: no entry can foresee its games, and whoever knows the seed can play them again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.director import Director
from dicegym.cli import main
from dicegym.games import game as make_game
from dicegym.play.seeds import DRAWN_BITS, draw_seed


@pytest.mark.parametrize("game", ["hog", "lucky", "liarsdice"])
def test_whoever_holds_a_contest_without_a_seed_is_given_another_each_time(game: str) -> None:
    entries = dicegym.agent_names(game)[:3]
    seeds = [Director(make_game(game), entries).seed for _ in range(3)]
    assert len(set(seeds)) == 3
    assert Director(make_game(game), entries, 0).seed == 0


@pytest.mark.slow
def test_first_hands_do_not_follow_from_names(tmp_path: Path) -> None:
    file = tmp_path / "teller.py"
    file.write_text("def get_play(id, hand, history):\n    print(hand)\n    return 0 if history else 11\n")
    game, entries = dicegym.game("liarsdice"), {"teller": str(file), "even": "even"}
    how: dict[str, Any] = {"format": "one_table", "games": 10, "limits": Limits(10), "workers": 1}
    first, second = contest(game, entries, **how), contest(game, entries, **how)
    assert all(len(found.printed["teller"].splitlines()) >= 10 for found in (first, second))
    assert first.printed != second.printed
    again = contest(game, entries, first.seed, **how)
    assert (again, again.printed) == (first, first.printed)
    assert f"seed {first.seed}" in first.text()


def test_drawn_seeds_are_large_and_differ() -> None:
    drawn = [draw_seed() for _ in range(200)]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= seed < 1 << DRAWN_BITS for seed in drawn)
    assert max(drawn) > 1 << DRAWN_BITS - 5
    assert all(seed == int(float(seed)) for seed in drawn)  # as programs read JSON that know one kind of number


def test_the_command_prints_its_seed_and_takes_it_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def held(*more: str) -> tuple[str, Any]:
        with pytest.raises(SystemExit) as end:
            main(["tournament", "hog", "haphazard", "swap", "--workers", "1", "-o", str(tmp_path / "x.json"), *more])
        assert end.value.code == 0
        return capsys.readouterr().out, json.loads((tmp_path / "x.json").read_text())

    text, plain = held()
    (seed,) = re.findall(r"seed (\d+)", text)
    assert plain["seed"] == int(seed)
    again, same = held("--seed", seed)
    assert again == text
    assert same["matches"] == plain["matches"]
