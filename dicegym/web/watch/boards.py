"""What a page shows of a contest, computed once for all who look at it."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dicegym.arena.pages.contests import contest_page, moment, page_title
from dicegym.arena.pages.page import ShownReport, shown_report
from dicegym.arena.pages.stored import places_to_rate, stored_report
from dicegym.arena.ratings import MatchPlaces, Rating, fit
from dicegym.arena.store.browsing import ContestProgress, is_held, progress_of
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored import StoredContest
from dicegym.errors import DicegymError

KEPT = 50
"""Contests whose pages are kept in memory."""
SECRET = ("seed",)
"""Facts of a contest that is being held which would tell its dice before they fall."""


class Board(NamedTuple):
    """What is shown of a contest, at some moment."""

    contest: StoredContest
    title: str
    heading: str
    facts: list[tuple[str, str]]
    report: ShownReport
    progress: ContestProgress
    held: bool
    """Whether some process has it just now."""
    seconds: float
    """What it took to compute."""
    ratings: Mapping[str, Rating]
    """By entry; empty while there are too few games."""
    against: Mapping[tuple[str, str], float]
    """Entry and opponent -> games in which the entry came in before the opponent, a shared place as half of one."""

    @property
    def status(self) -> str:
        """What is going on, in a word."""
        return status_of(self.contest.ended, self.held)


def status_of(ended: str | None, held: bool) -> str:
    """Return what is going on with a contest: it has ended, is running, or was stopped."""
    return "ended" if ended else "running" if held else "stopped"


class Boards:
    """The pages of contests that were asked for last."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Board] = {}
        self._lock = threading.Lock()
        self._own: dict[tuple[str, int], threading.Lock] = {}

    def board(self, reader: StoreReader, number: int) -> Board:
        """Return what there is to show of a contest; it is computed once for each of its states.

        Raises UnknownNameError if there is no such contest.
        """
        key = (reader.name, number)
        with self._lock:
            own = self._own.setdefault(key, threading.Lock())
        with own:  # others who ask for the same wait, and get what this one computes
            known, now, held = self._kept.get(key), progress_of(reader, number), is_held(reader, number)
            if known is None or known.progress != now:
                known = computed(reader, number, now)
            known = known._replace(held=held)
            with self._lock:
                self._kept.pop(key, None)
                self._kept[key] = known
                while len(self._kept) > KEPT:
                    gone = next(iter(self._kept))
                    del self._kept[gone]
                    self._own.pop(gone, None)
        return known


def computed(reader: StoreReader, number: int, progress: ContestProgress) -> Board:
    """Return what there is to show of a contest, ratings and all."""
    began = time.monotonic()
    contest = reader.contest(number)
    report = stored_report(reader, contest)
    title = page_title(report.heading.partition(":")[0], contest.format)
    if contest.ended is None:
        report = report._replace(
            heading=f"{contest.game}, {contest.format.replace('_', ' ')}",
            words=[],
            facts=[fact for fact in report.facts if fact[0] not in SECRET],
            remarks=[
                f"{one.name}, match {one.match}, game {one.game}: {one.reason}"
                for one in reader.misplays_in(number, MOST_FAULTS)
            ],
        )
    places = places_to_rate(reader, contest)
    ratings = None
    if places:
        with contextlib.suppress(DicegymError):  # too little is played yet
            ratings = fit(places)
    page = contest_page(title, report, [] if ratings is None else places, [], 0, ratings)
    dates = [("begun", moment(contest.began)), *([("ended", moment(contest.ended))] if contest.ended else [])]
    return Board(
        contest,
        title,
        page.report.heading,
        [*page.report.facts, *dates],
        shown_report(page),
        progress,
        False,
        time.monotonic() - began,
        {} if ratings is None else {row.name: row for row in ratings.rows},
        ahead(places),
    )


def ahead(places: Iterable[MatchPlaces]) -> dict[tuple[str, str], float]:
    """Return entry and opponent -> games in which the entry came in before the opponent, a shared place as half."""
    found: dict[tuple[str, str], float] = {}
    for match in places:
        for order, games in match.places:
            for (name, own), (other, their) in itertools.permutations(zip(match.entries, order, strict=True), 2):
                won = 1.0 if own < their else 0.5 if own == their else 0.0
                found[name, other] = found.get((name, other), 0.0) + won * games * match.times
    return found


MOST_FAULTS = 50
"""Faults of a contest that is being held which are listed."""
