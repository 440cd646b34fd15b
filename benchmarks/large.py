"""Contests of many entries: what they cost, what a second process gains, what storing them costs, and one entry more.

And stores of many matches: how soon they are listed and ranked.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.contest import REPEATS, scripted
from benchmarks.figures import Figure, Measure
from dicegym import arena
from dicegym.arena.match import Match
from dicegym.bots.bot_files import gather
from dicegym.engine.game import Game
from dicegym.errors import DependencyError
from dicegym.players.batch_players import situations
from dicegym.sandbox.jobs import entry
from dicegym.sandbox.sandbox import Sandbox

PURE_ENTRIES = 100
"""Entries of the contest between bots that are asked everything once: 4,950 pairs."""
MATCHED = 8
"""Bots in as many matches of which the time is taken."""
ENTRIES = 30
"""Entries of the contest that is stored: a course."""
STORED, FIELD, LARGE_FIELD = 1_000_000, 100, 1_000
"""Matches of a store, and the entries that have played them."""
RATED, RATED_FIELD = 5_000, 100
"""Matches that standings with intervals are made of, and the entries in them."""
MOST_SECONDS, LEAST_GAIN = ("at most", 60.0), ("at least", 1.7)
STORING, ONE_MORE = ("at most", 10.0), ("at most", 10.0)
RATING, LISTING = ("at most", 5.0), ("at most", 10.0)
"""Goals: seconds of the contest of pure bots, the gain of a second process, per cent, seconds."""


def copies(game: Game, folder: Path, number: int, pure: bool) -> list[Path]:
    """Return ``number`` entries in ``folder``: copies of the game's scripted agents, each with a line of its own.

    Args:
        game: the game.
        folder: where; made here.
        number: how many.
        pure: whether to copy those alone that say that they are pure; else all, without the line that says so.
    """
    says = "\nPURE = True"
    agents = [file for file in scripted(game.name) if says in file.read_text(encoding="utf-8") or not pure]
    folder.mkdir()
    found = []
    for i in range(number if agents else 0):
        source = agents[i % len(agents)]
        for file in gather(source):
            if file != source:
                shutil.copyfile(file, folder / file.relative_to(source.parent))
        text = source.read_text(encoding="utf-8")
        found.append(folder / f"{source.stem}_{i}.py")
        found[-1].write_text(f"{text if pure else text.replace(says, '')}\n# copy {i}\n", encoding="utf-8")
    return found


def seconds(game: Game, files: list[Path], workers: int | None = None, store: Path | None = None) -> float:
    """Hold a contest between files; return how long it took."""
    began = time.perf_counter()
    arena.contest(game, files, 0, workers, store=store)
    return time.perf_counter() - began


def compared(game: Game, files: list[Path]) -> tuple[float, float, float]:
    """Hold a contest with two processes, with one, and with two and a store.

    Returns its seconds, how many times as long it takes with one, and by how many per cent storing makes it longer.
    """
    with TemporaryDirectory(prefix="dicegym-bench-") as folder:
        both, one = seconds(game, files, 2), seconds(game, files, 1)
        stored = seconds(game, files, 2, Path(folder, "arena.sqlite"))
    return both, one / both, 100 * (stored / both - 1)


def one_more(game: Game, files: list[Path]) -> tuple[float, float]:
    """Hold a stored contest of all ``files`` but the last, then with that too, and all of it anew.

    Returns the seconds of the second, and what they are of the third's, in per cent.
    """
    with TemporaryDirectory(prefix="dicegym-bench-") as folder:
        store = Path(folder, "arena.sqlite")
        seconds(game, files[:-1], store=store)
        more = seconds(game, files, store=store)
        anew = seconds(game, files, store=Path(folder, "another.sqlite"))
    return more, 100 * more / anew


def match_milliseconds(game: Game, files: list[Path]) -> tuple[float, float]:
    """Play matches between bots whose processes have started; return the milliseconds of one, and the bytes stored.

    The bytes are those of the actions of one game.
    """
    entries = [entry(game, file.stem, file) for file in files]
    tables = [tuple(entries[(i + seat) % len(entries)] for seat in range(game.players)) for i in range(len(entries))]
    with Sandbox(game, 1) as sandbox:
        for _ in sandbox.run(Match(game, table, 0, 1) for table in tables):
            pass
        began = time.perf_counter()
        found = list(sandbox.run(Match(game, table, 1, game.spec.games_per_match) for table in tables))
        spent = time.perf_counter() - began
    played = [actions for _, outcome in found if isinstance(outcome, dict) for actions in outcome["actions"]]
    return 1e3 * spent / len(found), sum(len(str(list(one)).replace(" ", "")) for one in played) / max(1, len(played))


def measures(game: Game, folder: Path) -> Iterator[Measure]:
    """Yield the measures of contests of many entries, which are written to folders in ``folder``.

    They are kept apart as well as this machine can. Contests of games for more than two are left out, as it depends on
    the draw who plays whom.

    Raises DependencyError if what stores need is not installed.
    """
    if not scripted(game.name) or game.players < 2:
        return
    _need_stores()
    folder.mkdir()
    some = copies(game, folder / "some", max(game.players, MATCHED), pure=False)
    what = f"a match of {game.spec.games_per_match} games between bots that run already"
    bytes_of_game = _figure(game, "the actions of a game in a store", "bytes")
    yield Measure((_figure(game, what, "ms"), bytes_of_game), partial(match_milliseconds, game, some), repeats=REPEATS)
    if game.players != 2:
        return
    if situations(game):
        files = copies(game, folder / "pure", PURE_ENTRIES, pure=True)
        what = f"contest of {PURE_ENTRIES} PURE bots, {PURE_ENTRIES * (PURE_ENTRIES - 1) // 2:,} pairs"
        yield _measure(game, what, files, MOST_SECONDS)
    files = copies(game, folder / "course", ENTRIES + 1, pure=False)
    yield _measure(game, f"contest of {ENTRIES} bots", files[:-1])
    what = f"one bot more in a stored contest of {ENTRIES}"
    figures = (_figure(game, what, "s"), _figure(game, f"{what}, of playing it anew", "%", ONE_MORE))
    yield Measure(figures, partial(one_more, game, files), repeats=REPEATS)


def _need_stores() -> None:
    try:
        import scipy  # noqa: F401  # of the same extra
        import threadpoolctl  # noqa: F401

        from dicegym.arena.store import store  # noqa: F401
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "arena", "what it costs to store contests") from error


def _measure(game: Game, what: str, files: list[Path], goal: tuple[str, float] | None = None) -> Measure:
    figures = (
        _figure(game, f"{what}, on 2 processes", "s", goal),
        _figure(game, f"{what}: what the second process gains", "x", LEAST_GAIN),
        _figure(game, f"{what}: what storing adds", "%", STORING),
    )
    return Measure(figures, partial(compared, game, files), repeats=REPEATS)


def _figure(game: Game, what: str, unit: str, goal: tuple[str, float] | None = None) -> Figure:
    return Figure("contest", game.name, what, unit, goal=goal)


class StoredMatches:
    """A store of many matches, made when it is first needed."""

    def __init__(self, game: Game, folder: Path, matches: int, entries: int) -> None:
        self._game, self._file = game, folder / f"{matches}_of_{entries}.sqlite"
        self._matches, self._entries = matches, entries

    def make(self) -> None:
        """Write it."""
        from benchmarks.million import make_store

        if not self._file.exists():
            make_store(self._file, self._game, self._matches, self._entries)

    def seconds(self) -> tuple[float, float]:
        """List the contests, and the last matches; rank with intervals. Return how long each took."""
        from dicegym.arena.ratings import fit
        from dicegym.arena.store.reading import StoreReader

        self.make()
        began = time.perf_counter()
        with StoreReader(self._file) as reader:
            contest = reader.contest().id
            list(reader.matches(contest, last=50))
            reader.figures(contest)
            listed = time.perf_counter()
            fit(reader.match_places(contest))
        return listed - began, time.perf_counter() - listed

    def measure(self, goal: tuple[str, float] | None) -> Measure:
        """Return the measure of reading it."""
        what = f"{self._matches:,} stored matches of {self._entries:,} entries"
        figures = (
            _figure(self._game, f"{what}: list contests, the last matches and who won how many", "s"),
            _figure(self._game, f"{what}: standings with intervals", "s"),
            _figure(self._game, f"{what}: both", "s", goal),
        )

        def run() -> tuple[float, float, float]:
            listed, ranked = self.seconds()
            return listed, ranked, listed + ranked

        return Measure(figures, run, self.make, REPEATS)


def stored_measures(game: Game, folder: Path) -> Iterator[Measure]:
    """Yield the measures of stores of many matches, which are made in ``folder``.

    Raises DependencyError if what stores need is not installed.
    """
    _need_stores()
    yield StoredMatches(game, folder, RATED, RATED_FIELD).measure(RATING)
    yield StoredMatches(game, folder, STORED, FIELD).measure(LISTING)
    yield StoredMatches(game, folder, STORED, LARGE_FIELD).measure(None)
