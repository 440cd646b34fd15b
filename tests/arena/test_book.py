"""The book of a contest, without players: what it finds and stores, and which matches belong to the contest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import dicegym
from dicegym.arena.match import Match
from dicegym.arena.provenance import EntryRecord, package_version
from dicegym.arena.storage import Settings
from dicegym.arena.store import book as books
from dicegym.arena.store.book import Book
from dicegym.arena.store.opening import BusyError
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.schema import CONTESTS, FIELDS, MATCHES, PLAYS
from dicegym.arena.store.store import ContestStore, live_file, lock_contest, remove
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.sandbox.jobs import Entry, Failure, entry
from dicegym.sandbox.limits import Limits

GAME = dicegym.game("hog")
ANN, BEN, CAT = (entry(GAME, name, agent) for name, agent in (("ann", "bacon"), ("ben", "swap"), ("cat", "ham")))
OUTCOME: dict[str, Any] = {
    "wins": [1, 0],
    "shares": [1.0, 0.0],
    "faults": [0, 1],
    "noted": [0, 1],
    "printed": ["", "hm"],
    "seats": [[0, 1]],
    "returns": [[1.0, -1.0]],
    "actions": [[4, 5, 6]],
    "incidents": [[1, 1, 2, "nothing"]],
}
PLAIN = {name: value for name, value in OUTCOME.items() if name != "actions"}


def match(number: int, *entries: Entry) -> Match:
    return Match(GAME, entries or (ANN, BEN), 7, 1, number=number)


def settings(label: str = "") -> Settings:
    return Settings(GAME, "round_robin", {}, Limits(), label)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ContestStore]:
    with ContestStore(tmp_path / "store.sqlite") as opened:
        yield opened


def entered(store: ContestStore, label: str = "", entries: Sequence[Entry] = (ANN, BEN), **options: Any) -> Book:
    found = Book(store, settings(label), 7, **options)
    found.enter([EntryRecord(one.name, f"given {one.name}", "bot", {}, False) for one in entries], entries)
    return found


def plays(store: ContestStore) -> list[tuple[int, int]]:
    with store.connection() as connection:
        return [tuple(row) for row in connection.execute(sa.select(PLAYS).order_by(PLAYS.c.contest, PLAYS.c.match))]


def test_each_outcome_is_stored_before_the_next_is_asked_for(store: ContestStore) -> None:
    book = entered(store)
    for number in range(3):
        assert book.outcome(match(number)) is None
        book.keep(match(number), OUTCOME)
        assert plays(store) == [(1, one + 1) for one in range(number + 1)]
    book.close()
    assert book.stored[1:] == (1, 0, 3, 1, 2, 0, ())


@pytest.mark.parametrize("together", [1, 2, 1000])
def test_what_is_found_is_the_contests_although_it_is_never_finished(
    store: ContestStore, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = entered(store)
    for number in range(5):
        first.keep(match(number), Failure(1, "late", 2, 3) if number == 2 else OUTCOME)
    first.close()
    monkeypatch.setattr(books, "AT_ONCE", together)
    second = entered(store, "other")
    found = [second.outcome(match(number)) for number in (3, 0, 2, 4)]
    assert found == [PLAIN, PLAIN, Failure(1, "late", 2, 3), PLAIN]
    assert len(plays(store)) == (5 if together == 1000 else 9)
    assert second.outcome(match(5)) is None
    second.close()
    assert plays(store)[5:] == [(2, number) for number in (1, 3, 4, 5)]
    assert second.stored[1:4] == (2, 4, 0)


def test_actions_are_read_where_somebody_asks_for_them(store: ContestStore) -> None:
    entered(store).keep(match(0), OUTCOME)
    found: Any = entered(store, "other", actions=True).outcome(match(0))
    assert [list(one) for one in found["actions"]] == OUTCOME["actions"]


def test_a_match_that_has_lost_a_part_is_refused(store: ContestStore) -> None:
    book = entered(store)
    book.keep(match(0), OUTCOME)
    book.close()
    with store.writing() as connection:
        connection.execute(MATCHES.update().values(games=1))
        connection.exec_driver_sql("DELETE FROM seats WHERE player = 1")
    again = entered(store)
    with pytest.raises(DamagedFileError, match="match 1 is not whole"):
        again.outcome(match(0))
    again.close()


def test_who_enters_and_leaves_is_counted_from_one_run_to_the_next(store: ContestStore) -> None:
    seen = []
    for entries in ((ANN, BEN), (BEN, CAT), (ANN, BEN, CAT)):
        book = entered(store, entries=entries)
        seen.append(book.stored[4:])
        book.close()
    assert seen == [(1, 2, 0, ()), (2, 1, 1, ()), (3, 1, 0, ())]
    with store.connection() as connection:
        assert {row.given for row in connection.execute(sa.select(FIELDS.c.given))} == {
            "given ann",
            "given ben",
            "given cat",
        }


def test_a_contest_is_found_by_its_settings_and_seed(store: ContestStore) -> None:
    entered(store).close()
    entered(store, "other").close()
    assert Book(store, settings()).seed == 7
    assert Book(store, settings(), 8).seed == 8
    for options, limits, label in (({}, Limits(), "third"), ({"games": 1}, Limits(), ""), ({}, Limits(9), "")):
        assert Book(store, Settings(GAME, "round_robin", options, limits, label)).seed != 7
    with store.connection() as connection:
        assert [row.run for row in connection.execute(sa.select(CONTESTS))] == [1, 1]
    third = Book(store, settings(), 8)
    third.enter([], [])
    assert third.stored.contest == 3, "another seed is another contest"
    third.close()


def test_who_comes_second_to_a_contest_leaves_what_is_told_of_it_and_may_wait(store: ContestStore) -> None:
    first, second = entered(store), Book(store, settings(), 7)
    first.show([])
    with pytest.raises(ParameterError, match=r"contest 1 of .* is being run by another process: wait for it"):
        second.enter([], [])
    second.close()
    (link := Path(store.name).parent / "link.sqlite").symlink_to(store.name)
    said = pytest.raises(ParameterError, match="is being run by another process")
    with ContestStore(link) as linked, contextlib.closing(Book(linked, settings(), 7)) as third, said:
        third.enter([], [])
    assert live_file(Path(store.name), 1).exists()
    first.close()
    assert not live_file(Path(store.name), 1).exists()
    second = entered(store)
    assert second.stored.run == 2
    second.close()
    assert not [path.name for path in Path(store.name).parent.iterdir() if "lock" in path.name]


def test_a_contest_that_is_removed_while_it_is_entered_is_said_to_be_gone(
    store: ContestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove_first(opened: ContestStore, contest: int) -> Any:
        remove(opened, contest)
        return lock_contest(opened, contest)

    monkeypatch.setattr(books, "lock_contest", remove_first)
    said = pytest.raises(ParameterError, match="contest 1 was removed just now: run the same command again")
    with contextlib.closing(Book(store, settings(), 7)) as book, said:
        book.enter([], [])
    monkeypatch.undo()
    entered(store).close()


def test_a_file_that_is_written_while_it_is_read_is_not_called_damaged(tmp_path: Path) -> None:
    """A reader that found no writer ignores the log, and would take pages of two states for damage."""
    path = tmp_path / "store.sqlite"
    with ContestStore(path) as store:
        entered(store).close()
    with StoreReader(path) as reader:
        assert len(reader.contests()) == 1
        with ContestStore(path) as store:
            entered(store, "other").close()
        with pytest.raises(BusyError, match="written while it was read: ask again"):
            reader.contests()
    with StoreReader(path) as reader:
        assert len(reader.contests()) == 2


def test_how_many_matches_are_planned_is_told_while_it_goes_on(store: ContestStore) -> None:
    book = entered(store)
    with StoreReader(Path(store.name)) as reader:
        assert (reader.contest(1).planned, reader.contest().version) == (0, package_version())
    book.plan(4)
    book.keep(match(0), OUTCOME)
    with StoreReader(Path(store.name)) as reader:
        found = reader.contest(1)
        assert (found.planned, found.played, found.entries, found.ended) == (4, 1, 2, None)
        assert reader.is_held(1)
    book.close()
    with StoreReader(Path(store.name)) as reader:
        assert not reader.is_held(1)
        assert [one.contest for one in reader.participations("hog", "ann")] == [1]
        assert [one.contest for one in reader.participations("lucky")] == []
        assert [one.id for one in reader.contests(with_match=1)] == [1]
        assert reader.contests(with_match=2) == []
