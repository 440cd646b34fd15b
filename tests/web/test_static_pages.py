"""A store's contests as pages on a disk and on a host of files."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import Run
from web_pages import barriers, too_wide

from dicegym.arena.running import contest
from dicegym.arena.store.store import ContestStore
from dicegym.errors import ParameterError
from dicegym.web.static_pages import POLICY, Written, export

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "contests.sqlite")
    contest("hog", ["bacon", "swap", "always_roll(5)"], 7, workers=1, games=2, store=path)
    return path


@pytest.fixture(scope="module")
def pages(store: str, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return export(tmp_path_factory.mktemp("pages"), store)


@pytest.fixture
def hosted(pages: Written) -> Iterator[str]:
    """The address of the pages on a plain host of files, below a path."""

    class QuietHandler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *given: object) -> None:
            pass

    handler = functools.partial(QuietHandler, directory=str(pages.folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{pages.folder.name}"
        server.shutdown()


class Links(HTMLParser):
    """Everything that a page links to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def test_pages_load_what_lies_beside_them_and_nothing_else(pages: Written) -> None:
    found = sorted(pages.folder.rglob("*.html"))
    assert len(found) == 1 + 1 + 3  # the first one, a contest and its games
    assert pages.files == len([path for path in pages.folder.rglob("*") if path.is_file()])
    assert not pages.left_out
    for page in found:
        text = page.read_text(encoding="utf-8")
        assert "Content-Security-Policy" in text
        for link in Links(text).found:
            if link.startswith(("data:", "#")):
                continue
            assert "//" not in link
            assert not link.startswith("/")
            assert (page.parent / link.partition("#")[0]).is_file(), (page, link)
        if page.parent != pages.folder:
            assert any(link.startswith("../index.html") for link in Links(text).found), page
    assert f'content="{POLICY}"'.replace("'", "&#39;") in (pages.folder / "index.html").read_text(encoding="utf-8")


def test_a_telephone_reads_them_from_a_host_of_files(
    pages: Written, hosted: str, open_page: Callable[..., Page], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(f"{hosted}/index.html", viewport=PHONE, color_scheme="dark")
    shot(page, "index")
    one_of_a_kind = {path.parent: path for path in sorted(pages.folder.rglob("*.html"))}
    for path in one_of_a_kind.values():
        page.goto(f"{hosted}/{path.relative_to(pages.folder)}")
        assert not barriers(page), path
        assert not too_wide(page), path
    page.goto(f"{hosted}/index.html")
    page.locator('a[href="contests/1.html"]').click()
    assert "bacon" in page.inner_text("main")


def test_they_open_from_a_disk(pages: Written, open_page: Callable[..., Page]) -> None:
    page = open_page((pages.folder / "index.html").as_uri())
    page.locator('a[href^="replays/"]').first.click()
    assert "bacon" in page.inner_text("body") or "swap" in page.inner_text("body")


def test_an_empty_store_gives_a_page_that_says_so(tmp_path: Path) -> None:
    ContestStore(str(tmp_path / "empty.sqlite")).close()
    export(tmp_path / "pages", str(tmp_path / "empty.sqlite"))
    assert "No contests yet." in (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")


def test_a_contest_that_is_not_closed_is_left_out_as_its_pages_tell_its_dice(store: str, tmp_path: Path) -> None:
    written = export(tmp_path / "pages", store, is_open=lambda contest: contest.id == 1)
    assert [line.partition(":")[0] for line in written.left_out] == ["contest 1"]
    assert [path.name for path in (tmp_path / "pages").rglob("*.html")] == ["index.html"]


def test_from_the_command_line(store: str, tmp_path: Path, run: Run) -> None:
    status, out, err = run("web", "--export", tmp_path / "p", "--store", store)
    assert status == 0, err
    assert (tmp_path / "p" / "contests" / "1.html").is_file()
    assert "index.html" in out


def test_wrong_input_is_refused_before_anything_is_written(store: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no store"):
        export(tmp_path / "pages", str(tmp_path / "none.sqlite"))
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match="is a file"):
        export(tmp_path / "file", store)
    assert not (tmp_path / "pages").exists()
