"""The content of a contest's page, computed once for all visitors."""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dicegym.arena.pages.contest_page import ContestPage, contest_page, moment, page_title
from dicegym.arena.pages.stored_contest import build_report, places_to_rate
from dicegym.arena.ratings import Rating, fit
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import DicegymError
from dicegym.web.context import Web
from dicegym.web.workers import Answer

SHORTEST_PAUSE = 1.0
"""Least seconds between two computations of a running contest."""
SHARE = 8
"""At most one second in this many is spent on one contest."""
CACHED_BOARDS = 200
MOST_FAULTS_LISTED = 50


class Board(NamedTuple):
    """The content of a contest's page at some moment."""

    contest: StoredContest
    page: ContestPage
    facts: Sequence[tuple[str, str]]
    """Its settings and dates."""
    secret: bool
    """Whether the seed is left out."""
    ratings: Mapping[str, Rating] | None
    """Ratings by entry, empty while there are too few games; None: not computed yet, as they take longest."""
    fresh_until: float
    """When it may be computed again, by the monotonic clock; slow computations are repeated less often."""


class Boards:
    """A cache of the latest contests' boards, which worker threads compute."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._kept: OrderedDict[int, Board] = OrderedDict()

    def prepare(self, owner: str, number: int) -> Answer[None]:
        """Start to compute the board of an existing contest; `find` returns it once the answer is ready.

        A board is computed once for each state of the contest, but not before `Board.fresh_until` of the last one.
        ``owner`` is the visitor.
        """
        return self._web.work.answer(owner, ("board", number), lambda answer: self._prepare(number), keep=False)

    def find(self, number: int) -> Board | None:
        """Return the latest board of a contest, or None."""
        return self._kept.get(number)

    def _prepare(self, number: int) -> None:
        with self._web.store() as reader:
            if reader is None:
                return
            known, now = self.find(number), reader.contest(number)
            secret = self._web.is_secret(now)
            if known is not None and known.ratings is not None and known.secret == secret:
                is_fresh = now.ended is None and time.monotonic() < known.fresh_until
                if is_fresh or known.contest == now:
                    return
            for board in compute_boards(reader, now, secret):
                if known is None or board.ratings is not None:
                    self._kept[number] = board  # replaced in one step, as requests read it meanwhile
                    self._kept.move_to_end(number)
            if len(self._kept) > CACHED_BOARDS:
                self._kept.popitem(last=False)


def compute_boards(reader: StoreReader, contest: StoredContest, secret: bool) -> Iterator[Board]:
    """Yield the board of a contest without ratings, then with ratings; if ``secret``, without the seed."""
    began = time.monotonic()
    report = build_report(reader, contest)
    title = page_title(report, contest.format, contest.label)
    if secret:  # the seed determines all dice
        heading = report.heading.replace(f", seed {contest.seed}", "")
        report = report._replace(heading=heading, facts=[fact for fact in report.facts if fact[0] != "seed"])
    if contest.ended is None:
        faults = reader.misplays_in(contest.id, MOST_FAULTS_LISTED)
        report = report._replace(
            heading=f"{contest.game}, {contest.format.replace('_', ' ')}",
            words=[],
            remarks=[f"{one.name}, match {one.match}, game {one.game}: {one.reason}" for one in faults],
        )
    dates = {"begun": contest.began, "ended": contest.ended}
    facts = [*report.facts, *((name, moment(date)) for name, date in dates.items() if date)]
    yield Board(contest, contest_page(title, report, [], [], 0, None), facts, secret, None, 0.0)
    places, ratings = places_to_rate(reader, contest), None
    if places:
        with contextlib.suppress(DicegymError):  # too few games so far
            ratings = fit(places)
    page = contest_page(title, report, [] if ratings is None else places, [], 0, ratings)
    by_name = {} if ratings is None else {row.name: row for row in ratings.rows}
    now = time.monotonic()
    yield Board(contest, page, facts, secret, by_name, now + max(SHORTEST_PAUSE, SHARE * (now - began)))
