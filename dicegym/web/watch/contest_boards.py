"""What a page shows of a contest, computed once for all its visitors."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from dicegym.arena.pages.contest_page import ContestPage, contest_page, moment, page_title
from dicegym.arena.pages.stored_contest import build_report, places_to_rate
from dicegym.arena.ratings import MatchPlaces, Rating, Ratings, fit
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import DicegymError
from dicegym.web.context import Web
from dicegym.web.watch.listed_rows import status_of
from dicegym.web.workers import Answer

PATIENCE = 0.7
"""Seconds that a page waits for what is being computed, before it says so."""
SHORTEST_PAUSE = 1.0
"""Least seconds between two looks at a running contest."""
SHARE = 8
"""A look may take one second in this many."""
SLACK = 0.05
KEPT = 200
"""Contests whose pages are kept in memory."""
SECRET = ("seed",)
"""Facts of a contest which would tell its dice before they fall."""


class Board(NamedTuple):
    """What is shown of a contest, at some moment."""

    contest: StoredContest
    title: str
    heading: str
    facts: list[tuple[str, str]]
    page: ContestPage
    held: bool
    """Whether some process runs it now."""
    secret: bool
    """Whether its seed is left out."""
    seconds: float
    """What it took to compute."""
    at: float
    """When it was computed, by the monotonic clock."""
    ratings: Mapping[str, Rating]
    """By entry; empty while there are too few games."""
    rated: bool
    """Whether the ratings are there; they take longest, and the ranking is shown before them."""
    against: Mapping[tuple[str, str], float]
    """Entry and opponent -> games in which the entry came in before the opponent, a shared place as half of one."""

    @property
    def old(self) -> bool:
        """Whether it may be computed anew: where that takes long, it is done seldom."""
        return time.monotonic() - self.at >= max(SHORTEST_PAUSE, SHARE * self.seconds) - SLACK

    @property
    def status(self) -> str:
        """What is going on, in a word."""
        return status_of(self.contest.ended, self.held)


class Boards:
    """The pages of contests that were asked for last. What takes long is computed by the server's workers.

    Args:
        web: the server.
    """

    def __init__(self, web: Web) -> None:
        self._web = web
        self._kept: dict[int, Board] = {}
        self._lock = threading.Lock()
        self._own: dict[int, threading.Lock] = {}

    def prepare(self, owner: str, numbers: Sequence[int]) -> Answer[None]:
        """Begin to compute the contests that are not: when the answer is ready, `kept` has them.

        Args:
            owner: the visitor.
            numbers: of the contests, which there are.

        Raises:
            TooBusyError: too much waits already.
        """
        key = ("boards", *numbers)
        return self._web.work.answer(owner, key, lambda answer: self._prepare(numbers), keep=False)

    def find(self, number: int) -> Board | None:
        """Return what was computed last of a contest; None: nothing yet."""
        with self._lock:
            return self._kept.get(number)

    def board(self, reader: StoreReader, number: int) -> Board:
        """Return what there is to show of a contest, computed here and now if need be; it may take seconds.

        It is computed once for each state of the contest, and while it runs no more often than that takes.

        Raises UnknownNameError for an unknown contest.
        """
        with self._lock:
            own = self._own.setdefault(number, threading.Lock())
        with own:  # others wait, and get what this one computes
            known, now, held = self.find(number), reader.contest(number), reader.is_held(number)
            secret = self._web.is_secret(now)
            if known is None or known.secret != secret or (known.contest != now and (now.ended or known.old)):
                early = None if known else lambda board: self._keep(number, board._replace(held=held))
                known = compute_board(reader, now, secret, early)
            known = known._replace(held=held)
            self._keep(number, known)
        return known

    def _keep(self, number: int, board: Board) -> None:
        with self._lock:
            self._kept.pop(number, None)
            self._kept[number] = board
            while len(self._kept) > KEPT:
                gone = next(iter(self._kept))
                del self._kept[gone]
                self._own.pop(gone, None)

    def _prepare(self, numbers: Sequence[int]) -> None:
        with self._web.store() as reader:
            if reader is not None:
                for number in numbers:
                    self.board(reader, number)


def compute_board(
    reader: StoreReader,
    contest: StoredContest,
    secret: bool,
    early: Callable[[Board], object] | None = None,
) -> Board:
    """Return what there is to show of a contest, ratings and all; without its seed if that is ``secret``.

    ``early`` is called with the same without its ratings, before these are computed.
    """
    began = time.monotonic()
    report = build_report(reader, contest)
    title = page_title(report.heading.partition(":")[0], contest.format)
    if secret:
        report = report._replace(
            heading=report.heading.replace(f", seed {contest.seed}", ""),
            facts=[fact for fact in report.facts if fact[0] not in SECRET],
        )
    if contest.ended is None:
        report = report._replace(
            heading=f"{contest.game}, {contest.format.replace('_', ' ')}",
            words=[],
            remarks=[
                f"{one.name}, match {one.match}, game {one.game}: {one.reason}"
                for one in reader.misplays_in(contest.id, MOST_FAULTS)
            ],
        )
    dates = [("begun", moment(contest.began)), *([("ended", moment(contest.ended))] if contest.ended else [])]

    def make_board(places: Sequence[MatchPlaces], ratings: Ratings | None, rated: bool) -> Board:
        page = contest_page(title, report, [] if ratings is None else places, [], 0, ratings)
        return Board(
            contest,
            title,
            page.report.heading,
            [*page.report.facts, *dates],
            page,
            False,
            secret,
            time.monotonic() - began,
            time.monotonic(),
            {} if ratings is None else {row.name: row for row in ratings.rows},
            rated,
            ahead(places),
        )

    if early is not None:
        early(make_board([], None, False))
    places = places_to_rate(reader, contest)
    ratings = None
    if places:
        with contextlib.suppress(DicegymError):  # too little is played yet
            ratings = fit(places)
    return make_board(places, ratings, True)


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
"""Faults of a running contest that are listed."""
