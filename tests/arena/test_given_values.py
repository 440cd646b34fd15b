"""Unusual arguments of contests and stores: other types, names that are not Unicode, huge numbers."""

from __future__ import annotations

import os
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import SMALL, disorderly

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.pages.stored_contest import build_page
from dicegym.arena.provenance import DATE_VARIABLE, make_provenance
from dicegym.arena.store.reading import StoreReader
from dicegym.errors import DamagedFileError, ParameterError, UnknownNameError

PAIR = ["bacon", "swap"]


def play(store: Path | None = None, entries: Any = PAIR, game: Any = SMALL, **how: Any) -> Any:
    return contest(game, entries, how.pop("seed", 1), executors=disorderly(), store=store, **how)


def test_equal_numbers_of_other_types_make_the_same_contest(tmp_path: Path) -> None:
    store = tmp_path / "arena.sqlite"
    first = play(store, games=3, seeds=2, limits=Limits(5.0, 1 << 29, start=0.5))
    alike = Limits(5, np.int64(1 << 29), start=Fraction(1, 2)), Limits(np.float32(5), 1 << 29, start=np.float64(0.5))
    for limits in alike:
        again = play(store, games=np.int64(3), seeds=np.uint8(2), limits=limits)
        assert again == first
        assert (again.stored.contest, again.stored.played) == (1, 0)


def test_files_of_any_name_are_stored(tmp_path: Path) -> None:
    folder = tmp_path / "bots"
    for name in (b"m\xfcller.py", b"two/\xfc/a.py", b"two/\xfc/b.py", b"ann.py"):
        path = os.path.join(os.fsencode(folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"def final_strategy(score, opponent_score):\n    return 4\n")
    found = play(tmp_path / "arena.sqlite", folder, games=1)
    with StoreReader(tmp_path / "arena.sqlite") as reader:
        assert sorted(one.name for one in reader.entries(1)) == ["ann", "m\\udcfcller"]
        assert [one.name for one in found.disqualified] == ["two"]
        assert reader.result(1) is not None


def test_numbers_beyond_all_are_of_nothing_that_is_stored(tmp_path: Path) -> None:
    store = tmp_path / "arena.sqlite"
    play(store, games=1)
    with StoreReader(store) as reader:
        for number in (2, 1 << 63, -(1 << 70)):
            with pytest.raises(UnknownNameError, match="no contest"):
                reader.contest(number)
            with pytest.raises(UnknownNameError, match="no match"):
                reader.match(number)
        assert len(list(reader.matches(1, last=1 << 70))) == 1


def test_a_seed_that_was_changed_is_damage(tmp_path: Path) -> None:
    import sqlite3

    store = tmp_path / "arena.sqlite"
    play(store, games=1)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE contests SET seed = 'x'")
    with pytest.raises(DamagedFileError, match="is damaged"):
        play(store, games=1, seed=None)


def test_luck_that_no_meter_knows_is_refused_before_anything_is_played() -> None:
    entries = dict.fromkeys("abc", "even")
    with pytest.raises(ParameterError, match=r"players=3.*leave out less_luck"):
        contest("liarsdice", entries, 1, format="one_table", less_luck=True, executors=pytest.fail)


@pytest.mark.parametrize("given", ["9" * 20, "9" * 5_000, "x"])
def test_a_date_beyond_all_costs_no_result(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game("hog")
    assert game.fingerprint  # NumPy's f2py reads the variable too, and is loaded with the kernels
    monkeypatch.setenv(DATE_VARIABLE, given)
    assert make_provenance(game, Limits(), (), "").date > "2020"


def test_a_page_names_its_store_as_a_shell_takes_it(tmp_path: Path) -> None:
    store = tmp_path / "two words.sqlite"
    play(store, games=1)
    with StoreReader(store) as reader:
        assert shlex.split(build_page(reader, reader.contest(1)).at) == ["--store", str(store)]
