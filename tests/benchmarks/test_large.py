"""The figures of contests of many entries, and of stores of many matches, with few of both."""

from __future__ import annotations

from pathlib import Path

import pytest

import dicegym
from benchmarks import large
from dicegym.errors import DependencyError
from dicegym.registry import GAMES

pytestmark = pytest.mark.slow

pytest.importorskip("sqlalchemy", reason="what stores need is not installed")

HOG = dicegym.game("hog")


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("pure", [True, False])
def test_copies_differ_and_say_what_they_are(name: str, pure: bool, tmp_path: Path) -> None:
    files = large.copies(dicegym.game(name), tmp_path / "copies", 25, pure)
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert len(set(texts)) == len(files)
    assert all(("\nPURE = True" in text) == pure for text in texts)
    if files:
        assert len(files) == 25
        assert dicegym.agent(dicegym.game(name), files[-1]).name == files[-1].stem


@pytest.mark.parametrize("name", ["hog", "lucky"])
def test_a_match_and_a_contest_take_time_and_room(name: str, tmp_path: Path) -> None:
    """The contest with one process, with two, and with a store."""
    game = dicegym.game(name)
    spent, room = large.match_milliseconds(game, large.copies(game, tmp_path / "copies", game.players, pure=False))
    assert (spent > 0, room > 10) == (True, True)
    if name == "hog":
        both, gain, storing = large.compared(HOG, large.copies(HOG, tmp_path / "pure", 3, pure=True))
        assert both > 0 < gain
        assert storing > -100


def test_one_more_costs_less_than_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = large.copies(HOG, tmp_path / "copies", 3, pure=False)
    held: list[tuple[int, str]] = []
    monkeypatch.setattr(
        large, "seconds", lambda game, files, store: held.append((len(files), store.name)) or 2.0 * len(files)
    )
    assert large.one_more(HOG, files) == (6.0, 100.0)
    assert held == [(2, "arena.sqlite"), (3, "arena.sqlite"), (3, "another.sqlite")]


def test_every_game_for_two_has_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "PURE_ENTRIES", 5)
    monkeypatch.setattr(large, "ENTRIES", 3)
    for name in GAMES:
        game = dicegym.game(name)
        whats = [figure.what for one in large.measures(game, tmp_path / name) for figure in one.figures]
        assert len(whats) == (0 if game.players < 2 else 2 if game.players > 2 else 10 if name == "hog" else 7)
        assert ("contest of 5 PURE bots, 10 pairs, on 2 processes" in whats) == (name == "hog")
        assert ("one bot more in a stored contest of 3, of playing it anew" in whats) == (game.players == 2)


def test_a_made_store_is_one_that_contests_write(tmp_path: Path) -> None:
    from benchmarks.million import make_store
    from dicegym.arena.ratings import fit
    from dicegym.arena.store.reading import StoreReader

    file = tmp_path / "made.sqlite"
    contest = make_store(file, HOG, 2_000, 5)
    with StoreReader(file) as reader:
        (found,) = reader.contests()
        assert (found.id, found.entries, found.played, found.planned) == (contest, 5, 2_000, 2_000)
        first, *_ = matches = list(reader.matches(contest))
        assert len(matches) == 2_000
        assert first.wins in ((0, 1), (1, 0))
        ((_, _, (game,), _),) = reader.whole([first])
        assert [value > 0 for value in game.returns] == [bool(won) for won in first.wins]
        won = {one.name: one.wins for one in reader.figures(contest)}
        assert sum(won.values()) == 2_000
        rated = fit(reader.match_places(contest))
    best, *_, worst = [row.name for row in rated.rows]
    assert won[best] > won[worst]
    again = tmp_path / "again.sqlite"
    make_store(again, HOG, 2_000, 5)
    with StoreReader(again) as reader:
        assert list(reader.matches(contest)) == matches


def test_reading_a_store_takes_time(tmp_path: Path) -> None:
    stored = large.StoredMatches(HOG, tmp_path, 300, 4)
    listed, ranked = stored.seconds()
    assert listed > 0 < ranked
    assert sum(file.suffix == ".sqlite" for file in tmp_path.iterdir()) == 1
    measure = stored.measure(large.LISTING)
    assert [figure.goal for figure in measure.figures] == [None, None, large.LISTING]
    assert len(measure.run()) == 3


def test_without_what_stores_need_the_bench_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def need() -> None:
        raise DependencyError("pip install -e '.[arena]'")

    monkeypatch.setattr(large, "_need_stores", need)
    for measures in (large.measures, large.stored_measures):
        with pytest.raises(DependencyError):
            list(measures(HOG, tmp_path / "hog"))
