"""Whether the results that a store has saved follow from its matches: each contest is run again from what is stored.

Nothing is played: the contest's own format asks for its matches and checks, and the store answers. What no match shows
is taken as it was saved: when, by which versions and in which isolation the contest was run, what was said of the
entries' files, and which of them could not be loaded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.compare.comparing import hold_stored
from dicegym.arena.compare.comparison import FORMAT as COMPARE
from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.director import Director
from dicegym.arena.entries import Disqualified, Field
from dicegym.arena.match import Match
from dicegym.arena.provenance import EntryRecord
from dicegym.arena.results import ContestResult
from dicegym.arena.running import FORMATS
from dicegym.arena.store.book import StoredOutcomes, prepare_result
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.schema import PLAYS
from dicegym.arena.store.stored_rows import StoredContest, StoredEntry, StoredRules
from dicegym.arena.store.verifying import game_of_rules
from dicegym.arena.work_keys import limits_in
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DependencyError, DicegymError, one_line
from dicegym.games.parts import Progress
from dicegym.sandbox.jail import Choice, Isolation
from dicegym.sandbox.jobs import Entry, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

TOLERANCE = 1e-9
"""By which figures of one machine may differ from those of another."""
LONGEST = 80
"""Letters of a value that are shown."""
TAKEN = ("date", "dicegym", "python", "numpy", "isolation")
"""Where a result comes from, as far as no match shows it."""


class ResultVerdict(NamedTuple):
    """What is found out about the saved result of a contest."""

    id: int
    """The contest's number."""
    wrong: str = ""
    """What does not follow from the matches, in words; empty: nothing."""
    unknown: str = ""
    """Why that is unknown here, in words; empty: it was found out."""


def result_verdicts(reader: StoreReader, progress: Progress | None = None) -> Iterator[ResultVerdict]:
    """Yield what is found out about the result of each contest that has ended, by their numbers.

    Args:
        reader: of the store.
        progress: told of contests.

    Raises DamagedFileError for what dicegym does not write.
    """
    ended = [contest for contest in reader.contests() if contest.ended is not None]
    for done, contest in enumerate(ended, 1):
        yield _verdict(reader, contest)
        if progress is not None:
            progress(done, len(ended), "results verified")


class _MissingError(DicegymError):
    """A job of a contest is not in the store."""


class _Nobody:
    """Does no job: a match that is asked for twice counts, and is missing."""

    def __init__(self, game: Game, limits: Limits | None, isolation: str) -> None:
        self.limits = limits or Limits()
        self.isolation = Choice(Isolation.NONE, "")
        self._asked: set[tuple[object, ...]] = set()

    def __enter__(self) -> _Nobody:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobOutcome]]:
        """Leave out matches that are asked for once, as an entry may have been disqualified before."""
        for job in jobs:
            names = tuple(entry.name for entry in job.entries)
            asked = *names, job.number if isinstance(job, Match) else -1
            if not isinstance(job, Match) or asked in self._asked:
                raise _MissingError(f"a {job.facts['kind']} of {', '.join(names)}, which counts, is not stored")
            self._asked.add(asked)
        yield from ()


def _verdict(reader: StoreReader, contest: StoredContest) -> ResultVerdict:
    verdict, told = ResultVerdict(contest.id), reader.result(contest.id)
    described = {"fingerprint": contest.fingerprint}
    game = game_of_rules(StoredRules(contest.game, contest.players, contest.parameters, described))
    if told is None:
        return verdict._replace(wrong="it has ended without a result")
    if game is None:
        return verdict._replace(unknown="its rules are not those of this version")
    if contest.format not in FORMATS and contest.format != COMPARE:
        return verdict._replace(unknown=f"dicegym has no format {one_line(contest.format, LONGEST)}")
    try:
        if told["options"].get("less_luck"):
            return verdict._replace(unknown="only its players can say what luck did")
        return verdict._replace(wrong=_wrong(reader, contest, game, told))
    except DamagedFileError:
        raise
    except DependencyError as error:  # of this machine, not of what was saved
        return verdict._replace(unknown=one_line(error))
    except DicegymError as error:
        return verdict._replace(wrong=one_line(error))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        said = one_line(f"{type(error).__name__}: {error}", LONGEST)
        return verdict._replace(wrong=f"its result has another form than dicegym writes ({said})")


def _wrong(reader: StoreReader, contest: StoredContest, game: Game, told: Mapping[str, Any]) -> str:
    """Return what was saved of a contest that does not follow from its matches, in words; empty if nothing."""
    there = [entry for entry in reader.entries(contest.id) if not entry.withdrawn]
    limits, compares = limits_in(contest.limits), contest.format == COMPARE
    options = ContestOptions() if compares else ContestOptions(**told["options"])
    if not compares and options.deciding != contest.options:
        return "its options are not those of its result"
    form = None if compares else FORMATS[contest.format]
    field, book = _field(game, there, told), StoredOutcomes(reader.name, reader.connection, contest.seed, limits)
    derived: ContestResult
    with Director(
        game, field, contest.seed, limits=limits, form=form, options=options, executors=_Nobody, book=book
    ) as director:
        derived = hold_stored(director, contest.options, told) if form is None else form.hold(director)
    return _difference(reader, contest, _as_saved(derived, told), told) or _wrong_links(
        reader, contest, there, director.struck, book.used
    )


def _field(game: Game, there: Iterable[StoredEntry], told: Mapping[str, Any]) -> Field:
    """Return the entries as they are stored, without their programs."""
    records = {one["name"]: EntryRecord(**one) for one in told["entries"]}
    entries, known = [], {}
    for one in there:
        from_file = one.kind == "model" or (one.kind == "bot" and not game.added_parameters)
        content = one.identity if from_file else ""
        entries.append(Entry(one.name, Path(one.name), (), one.identity, content))
        beside = one.name in records and records[one.name].beside_referee
        known[one.name] = EntryRecord(one.name, one.given, one.kind, dict(one.files), beside)
    starts = {row["name"]: row["start"] for row in told["standings"] if told["options"].get("seeding")}
    entries.sort(key=lambda entry: (starts.get(entry.name, len(starts) + 1), entry.name))
    broken = [Disqualified(one["name"], one["reason"]) for one in told["disqualified"] if one["name"] not in known]
    lost = {one.name: records[one.name] for one in broken if one.name in records}
    return Field(entries, broken, tuple(one for _, one in sorted({**lost, **known}.items())), ())


def _as_saved(derived: ContestResult, told: Mapping[str, Any]) -> ContestResult:
    """Return a result with what no match shows, as it was saved."""
    assumed = {name: told[name] for name in TAKEN}
    before = len(told["remarks"]) - len(derived.remarks)
    came_from = derived.provenance and replace(derived.provenance, **assumed)
    return replace(derived, provenance=came_from, remarks=(*told["remarks"][: max(0, before)], *derived.remarks))


def _difference(reader: StoreReader, contest: StoredContest, derived: ContestResult, told: Mapping[str, Any]) -> str:
    """Return where the result, the report and the standings differ from what follows, in words."""
    derived_form, report = prepare_result(derived), reader.report(contest.id)
    standings = [row["figures"] for row in derived_form.standings]
    for what, saved, follows in (
        ("standings", reader.standings(contest.id), standings),
        ("result", told, derived_form.result),
        ("report", None if report is None else report.to_json(), derived_form.report),
    ):
        found = _first_difference(_plain(saved), _plain(follows))
        if found:
            return f"in its {what}{found}"
    return ""


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _first_difference(saved: Any, follows: Any, where: str = "") -> str:
    """Return in words where plain values differ first; empty if nowhere."""
    if isinstance(saved, dict) and isinstance(follows, dict):
        pairs = [(name, saved.get(name), follows.get(name)) for name in sorted({*saved, *follows})]
    elif isinstance(saved, list) and isinstance(follows, list) and len(saved) == len(follows):
        pairs = [(str(number), *two) for number, two in enumerate(zip(saved, follows, strict=True), 1)]
    else:
        numbers = all(type(one) in (int, float) for one in (saved, follows))
        same = math.isclose(saved, follows, rel_tol=TOLERANCE, abs_tol=TOLERANCE) if numbers else saved == follows
        place = f" at {where}" if where else ""
        return "" if same else f"{place}: {_short(saved)} is saved, and {_short(follows)} follows"
    found = (_first_difference(one, other, f"{where}.{name}" if where else name) for name, one, other in pairs)
    return next(filter(None, found), "")


def _short(value: Any) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), LONGEST)


def _wrong_links(
    reader: StoreReader,
    contest: StoredContest,
    there: Iterable[StoredEntry],
    struck: Mapping[str, str],
    used: set[int],
) -> str:
    """Return what is wrong with the disqualified entries, and with which matches are the contest's, in words."""
    for entry in there:
        if entry.reason != struck.get(entry.name):
            return f"{one_line(entry.name, LONGEST)} is struck for {entry.reason!r}, not {struck.get(entry.name)!r}"
    with reader.connection() as connection:
        own = set(connection.execute(sa.select(PLAYS.c.match).where(PLAYS.c.contest == contest.id)).scalars())
    if lacking := used - own:
        return f"match {min(lacking)} counts, and is not listed among its matches"
    if not struck and (more := own - used):  # else some were begun in vain
        return f"match {min(more)} is listed among its matches, and does not count"
    return ""
