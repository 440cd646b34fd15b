"""The content of a contest's page, computed once for all visitors."""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dicegym.arena.pages.contest_page import ContestPage, contest_page, moment, page_title
from dicegym.arena.pages.stored_contest import build_report, places_to_rate
from dicegym.arena.ratings import MatchPlaces, Rating, Ratings, fit
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
    held: bool
    """Whether a process runs the contest now."""
    secret: bool
    """Whether the seed is left out."""
    fresh_until: float
    """When it may be computed again, by the monotonic clock; slow computations are repeated less often."""
    ratings: Mapping[str, Rating]
    """Ratings by entry; empty while there are too few games."""
    rated: bool
    """Whether ratings were computed. They take longest, so the ranking is shown first."""

    @property
    def status(self) -> str:
        """The state of the contest: ended, running or stopped."""
        return status_of(self.contest.ended, self.held)


def status_of(ended: str | None, held: bool) -> str:
    """Return the state of a contest: ended, running or stopped."""
    return "ended" if ended else "running" if held else "stopped"


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
            known, now, held = self.find(number), reader.contest(number), reader.is_held(number)
            secret = self._web.is_secret(now)
            changed = (
                known is not None and known.contest != now and (now.ended or time.monotonic() >= known.fresh_until)
            )
            if known is None or not known.rated or known.secret != secret or changed:
                early = None if known else lambda board: self._keep(number, board._replace(held=held))
                known = compute_board(reader, now, secret, early)
            self._keep(number, known._replace(held=held))

    def _keep(self, number: int, board: Board) -> None:
        self._kept[number] = board  # replaced in one step, as requests read it meanwhile
        self._kept.move_to_end(number)
        if len(self._kept) > CACHED_BOARDS:
            self._kept.popitem(last=False)


def compute_board(
    reader: StoreReader,
    contest: StoredContest,
    secret: bool,
    early: Callable[[Board], object] | None = None,
) -> Board:
    """Return the board of a contest with ratings, without the seed if ``secret``.

    ``early`` is called with a board without ratings before they are computed.
    """
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

    def make_board(places: Sequence[MatchPlaces], ratings: Ratings | None, rated: bool) -> Board:
        page = contest_page(title, report, [] if ratings is None else places, [], 0, ratings)
        by_name = {} if ratings is None else {row.name: row for row in ratings.rows}
        now = time.monotonic()
        fresh_until = now + max(SHORTEST_PAUSE, SHARE * (now - began))
        return Board(contest, page, facts, False, secret, fresh_until, by_name, rated)

    if early is not None:
        early(make_board([], None, False))
    places, ratings = places_to_rate(reader, contest), None
    if places:
        with contextlib.suppress(DicegymError):  # too few games so far
            ratings = fit(places)
    return make_board(places, ratings, True)
