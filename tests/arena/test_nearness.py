"""Matches of many entries are played in an order in which few processes have to be started."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from pathlib import Path

import pytest

import dicegym
from dicegym.arena.entries import entries_of
from dicegym.arena.formats.settling import nearest_first
from dicegym.arena.match import Match
from dicegym.sandbox.jobs import Entry

HOG = dicegym.game("hog")
BOT = "def final_strategy(score, opponent_score):\n    return 4\n"


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    folder = tmp_path_factory.mktemp("bots")
    for number in range(70):
        (folder / f"bot_{number:02}.py").write_text(BOT)
    return entries_of(HOG, folder).entries


def pairs(entries: list[Entry]) -> list[Match]:
    return [Match(HOG, pair, 1, 9) for pair in itertools.combinations(entries, 2)]


def starts(matches: list[Match], at_once: int) -> int:
    """Return how many processes a referee starts that keeps those of the entries which played last."""
    kept: OrderedDict[str, None] = OrderedDict()
    started = 0
    for match in matches:
        for entry in match.entries:
            started += entry.name not in kept
            kept[entry.name] = None
            kept.move_to_end(entry.name)
        while len(kept) > at_once:
            kept.popitem(last=False)
    return started


@pytest.mark.parametrize("missing", ["all", "some"])
def test_few_processes_are_started(bots: list[Entry], missing: str) -> None:
    jobs = pairs(bots)
    numbers = [number for number in range(len(jobs)) if missing == "all" or number % 7]
    order = nearest_first(jobs, numbers)
    assert sorted(order) == numbers
    one_by_one = starts([jobs[number] for number in numbers], 32)
    assert starts([jobs[number] for number in order], 32) < one_by_one / 6


def test_few_entries_and_larger_tables_are_played_as_they_come(bots: list[Entry]) -> None:
    few = pairs(bots[:32])
    assert nearest_first(few, range(len(few))) == list(range(len(few)))
    tables = [Match(HOG, (bots[i], bots[i + 1], bots[i + 2]), 1, 9) for i in range(60)]
    assert nearest_first(tables, range(60)) == list(range(60))


def test_entries_without_processes_do_not_count(bots: list[Entry], tmp_path: Path) -> None:
    """They may be met by anybody at any time."""
    trusted = entries_of(HOG, {f"trusted {number}": "bacon" for number in range(40)}).entries
    jobs = pairs(trusted)
    assert nearest_first(jobs, range(len(jobs))) == list(range(len(jobs)))
    mixed = pairs([*bots[:40], *trusted[:20]])
    order = nearest_first(mixed, range(len(mixed)))
    assert sorted(order) == list(range(len(mixed)))
    untrusted = [[one for one in mixed[number].entries if not one.trusted] for number in order]
    assert sum(len(some) for some in untrusted) == 40 * 39 + 40 * 20
