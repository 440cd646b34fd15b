"""Outcomes of matches in a store: they are read as they were written, and damage is noticed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

import dicegym
from dicegym.arena.match import Match
from dicegym.arena.store.outcomes import MatchOutcome, add_match, is_whole, outcomes_between
from dicegym.arena.store.schema import AGENTS, MATCHES, SEATS, TABLES
from dicegym.arena.store.store import number_of_rules
from dicegym.sandbox.jobs import Failure, entry

GAME = dicegym.game("hog")
ENTRIES = entry(GAME, "ann", "bacon"), entry(GAME, "ben", "swap")
PLAYED = {
    "wins": [2, 1],
    "shares": [2.0, 1.0],
    "faults": [0, 3],
    "seats": [[0, 1], [1, 0], [0, 1]],
    "returns": [[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]],
    "incidents": [[1, 2, 5, "said \udc80 and \0"], [1, 3, 1, "nothing"]],
    "noted": [0, 4],
    "printed": ["", "hm \0"],
    "actions": [[4, 5], [6], [0, 10, 3]],
}
FAILED = Failure(1, "took too long", 2, 7)


@pytest.fixture
def connection() -> Iterator[sa.Connection]:
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        TABLES.create_all(connection)
        about = {"kind": "bot", "files": "{}"}
        agents = [{"name": one.name, "identity": one.identity, **about} for one in reversed(ENTRIES)]
        connection.execute(AGENTS.insert(), [*agents, {"name": "ann", "identity": "another", **about}])
        yield connection
    engine.dispose()


def match(number: int) -> Match:
    return Match(GAME, ENTRIES, 7, 3, number=number)


def kept(connection: sa.Connection, *matches: tuple[str, Match, MatchOutcome]) -> list[int]:
    rules = number_of_rules(connection, GAME)
    return [add_match(connection, rules, [2, 1], "batch", key, match, outcome) for key, match, outcome in matches]


def test_outcomes_come_back_as_they_went_in(connection: sa.Connection) -> None:
    matches = [("a", match(0), PLAYED), ("b", match(1), FAILED), ("c", match(2), PLAYED)]
    first, second, third = kept(connection, *matches)
    found: dict[int, Any] = outcomes_between(connection, first, third + 1, actions=True)
    assert found == {first: PLAYED, second: FAILED, third: PLAYED}
    assert outcomes_between(connection, second, third) == {second: FAILED}
    plain = {name: value for name, value in PLAYED.items() if name != "actions"}
    assert outcomes_between(connection, third, third + 1) == {third: plain}


def test_a_match_is_kept_once_however_often_it_is_handed_over(connection: sa.Connection) -> None:
    first = kept(connection, ("a", match(0), PLAYED), ("b", match(1), FAILED), ("a", match(0), PLAYED))
    assert first == [first[0], first[1], first[0]]
    assert kept(connection, ("c", match(2), PLAYED), ("b", match(1), FAILED))[1] == first[1]
    counts = [connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() for table in (MATCHES, SEATS)]
    assert counts == [3, 6]


def test_rows_say_who_played_what(connection: sa.Connection) -> None:
    number, failed = kept(connection, ("a", match(3), PLAYED), ("b", match(4), FAILED))
    seats = connection.execute(sa.select(SEATS).order_by(SEATS.c.match, SEATS.c.player)).all()
    assert [tuple(row) for row in seats] == [
        (number, 0, 2, 2, 2.0, 0, 0),
        (number, 1, 1, 1, 1.0, 3, 4),
        (failed, 0, 2, 0, 0.0, 0, 0),
        (failed, 1, 1, 0, 0.0, 0, 0),
    ]
    rows = connection.execute(sa.select(MATCHES).order_by(MATCHES.c.id)).all()
    seeds = [str(match(number).seed) for number in (3, 4)]
    assert [tuple(row)[1:7] for row in rows] == [("a", 1, "batch", seeds[0], 3, 3), ("b", 1, "batch", seeds[1], 4, 3)]
    assert [json.loads(row.places) for row in rows] == [[[[1, 2], 2], [[2, 1], 1]], []]
    assert [row.failure for row in rows] == [None, '[1, "took too long", 2, 7]']


def _changed(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(outcome: dict[str, Any]) -> None:
        *names, last = (int(name) if name.isdecimal() else name for name in path.split("."))
        place: Any = outcome
        for name in names:
            place = place[name]
        place[last] = value

    return change


BROKEN = {
    "wins of one player": _changed("wins", [0]),
    "more wins than games": _changed("wins.0", 4),
    "fewer wins than none": _changed("wins.1", -1),
    "larger shares than games": _changed("shares.0", 3.5),
    "smaller shares than none": _changed("shares.1", -0.5),
    "an incident of player -1": _changed("incidents.0.0", -1),
    "an incident that was not noted": _changed("noted.1", 0),
    "a seat twice": _changed("seats.1", [1, 1]),
    "returns of one player": _changed("returns.2", [1.0]),
    "a game less": lambda outcome: (outcome["seats"].pop(), outcome["returns"].pop()),
    "seats of a game less": lambda outcome: outcome["seats"].pop(),
}


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_not_whole_is_noticed(how: str) -> None:
    outcome = copy.deepcopy(PLAYED)
    assert is_whole(match(0), outcome)
    BROKEN[how](outcome)
    assert not is_whole(match(0), outcome)


def test_all_or_nothing_may_be_won() -> None:
    assert is_whole(match(0), {**PLAYED, "wins": [3, 0], "shares": [3.0, 0.0]})


@pytest.mark.parametrize(("path", "value"), [("incidents.0.0", 2), ("returns.0", ["x", 1]), ("usages", [7])])
def test_what_a_result_cannot_read_is_raised(path: str, value: Any) -> None:
    outcome = copy.deepcopy(PLAYED)
    _changed(path, value)(outcome)
    with pytest.raises((LookupError, TypeError, ValueError)):
        is_whole(match(0), outcome)


@pytest.mark.parametrize(("actor", "reason", "whole"), [(0, "x", True), (1, "x", True), (2, "x", False), (0, 3, False)])
def test_a_failure_is_whole_if_one_who_plays_has_failed(actor: int, reason: Any, whole: bool) -> None:
    assert is_whole(match(0), Failure(actor, reason)) == whole
