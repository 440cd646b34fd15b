"""Write a store's contests as a folder of pages for any host of files; they also open from a disk.

Links are relative, and a content security policy in each page lets it load nothing but what lies beside it. Pages of
contests and of single games are those of `dicegym.arena`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import dicegym
from dicegym.arena.pages.contest_page import moment, page_title
from dicegym.arena.pages.contest_page import write_page as write_contest
from dicegym.arena.pages.stored_contest import build_page
from dicegym.arena.pages.template import make_environment
from dicegym.arena.replay.page import write_page as write_replay
from dicegym.arena.replay.stored_replays import find_replay
from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.stored_rows import StoredContest
from dicegym.errors import DicegymError, ParameterError
from dicegym.files import write_text
from dicegym.games import loadable
from dicegym.web.rules.rules_section import card_of

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
SHARED = ("style.css", "icon.svg")
"""Files of `dicegym web` that these pages use too."""
MOST_REPLAYS = 3
"""Games of each contest that have a page of their own."""


class Written(NamedTuple):
    """What `export` wrote."""

    folder: Path
    files: int
    size: int
    """In bytes."""
    left_out: tuple[str, ...]
    """Contests and games that have no page, and why."""


class _Export:
    """Pages in the making: the folder, and the files written so far."""

    def __init__(self, folder: Path, tell: Callable[[str], object]) -> None:
        self._folder, self._tell = folder, tell
        self._written: list[Path] = []
        self._left_out: list[str] = []
        self._contests: list[dict[str, Any]] = []
        self._replays: list[dict[str, str]] = []

    def write_store(self, reader: StoreReader, is_open: Callable[[StoredContest], bool]) -> None:
        """Write the standings of all contests that are closed, and some of their games."""
        for contest in reader.contests():
            known = contest.game in loadable()
            title = page_title(card_of(contest.game).title if known else contest.game, contest.format)
            if contest.ended is None or is_open(contest):
                self._left_out.append(f"contest {contest.id}: it is not closed, and its pages would tell its dice")
                continue
            self._tell(f"contest {contest.id}: {title}")
            path = self._place(f"contests/{contest.id}.html")
            write_contest(build_page(reader, contest)._replace(back="../index.html#contests"), path)
            self._written.append(path)
            note = f"{contest.entries} entries, {contest.played} matches, {moment(contest.ended)}"
            self._contests.append({"id": contest.id, "title": title, "note": note})
            self._replays += self._write_replays(reader, contest, title)

    def _write_replays(self, reader: StoreReader, contest: StoredContest, title: str) -> Iterator[dict[str, str]]:
        """Write the first games of matches between the best entries."""
        places = {row["name"]: row["place"] for row in reader.standings(contest.id)}
        matches = [match for match in reader.matches(contest.id) if match.failed is None and match.games]
        matches.sort(key=lambda match: (sum(places.get(name, len(places) + 1) for name in match.entries), match.id))
        for match in matches[:MOST_REPLAYS]:
            called = f"{match.id}.1"
            try:
                path = self._place(f"replays/{called}.html")
                write_replay(find_replay(reader, called), path, back="../index.html#replays")
            except DicegymError as error:
                self._left_out.append(f"game {called}: {error}")
                continue
            self._written.append(path)
            yield {"id": called, "title": f"{title}: {' - '.join(match.entries)}", "note": f"contest {contest.id}"}

    def finish(self) -> Written:
        """Write the files that all pages share and the first page; return what there is now."""
        for name in SHARED:
            self._put(f"files/{name}", (resources.files("dicegym.web") / "static" / name).read_text(encoding="utf-8"))
        menu = [("index.html#contests", "Standings"), ("index.html#replays", "Games")]
        shown = {"policy": POLICY, "version": dicegym.__version__, "menu": menu}
        page = _environment().get_template("static_pages.html")
        self._put("index.html", page.render(shown | {"contests": self._contests, "replays": self._replays}))
        size = sum(path.stat().st_size for path in self._written)
        return Written(self._folder, len(self._written), size, tuple(self._left_out))

    def _put(self, place: str, text: str) -> None:
        path = self._place(place)
        write_text(path, text)
        self._written.append(path)

    def _place(self, place: str) -> Path:
        path = self._folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def never_open(contest: StoredContest) -> bool:
    """Return False: without a server of pages no contest takes entries."""
    return False


def export(
    folder: Path,
    store: str,
    *,
    is_open: Callable[[StoredContest], bool] = never_open,
    tell: Callable[[str], object] = lambda line: None,
) -> Written:
    """Write the closed contests of a store, and some of their games, as pages that need no server.

    Args:
        folder: where the pages go; it is made, and files of an older export in it are replaced.
        store: the store of contests: a SQLite file or a URL.
        is_open: returns whether a contest still takes entries; its pages, which tell its dice, are left out.
        tell: called with a line about each part before it is written.

    Raises:
        ParameterError: ``folder`` is a file, or the store does not exist.
        OSError: files cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file: name a folder, which is made where it does not exist")
    with StoreReader(store) as reader:
        writing = _Export(folder, tell)
        writing.write_store(reader, is_open)
        return writing.finish()


@functools.cache
def _environment() -> Environment:
    import jinja2

    return make_environment(jinja2.PackageLoader("dicegym.web"))
