"""The demo as a visitor has it: pages on a disk and on a host of files, and a game played to its end."""

from __future__ import annotations

import functools
import gzip
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner
from web_pages import LARGEST, barriers, too_wide

import dicegym
from dicegym.arena.contest import contest
from dicegym.cli.app import app
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.play.turn import Turn
from dicegym.shipped import shipped_folder
from dicegym.web.export import write
from dicegym.web.export.write import POLICY, Written, export

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"width": 360, "height": 740}
NAMES = ("hog", "yatzy")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("demo")
    store = folder / "contests.sqlite"
    contest("hog", ["bacon", "swap", "always_roll(5)"], 7, workers=1, games=2, store=str(store))
    return export(folder / "pages", store=str(store), games=NAMES)


@pytest.fixture
def hosted(demo: Written) -> Iterator[str]:
    """Where a plain host of files has the demo, below a path."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *given: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(demo.folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{demo.folder.name}"
        server.shutdown()


class Links(HTMLParser):
    """Everything that a page links to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def test_pages_load_what_lies_beside_them_and_nothing_else(demo: Written) -> None:
    pages = sorted(demo.folder.rglob("*.html"))
    assert len(pages) == 1 + 2 * len(NAMES) + 1 + 3  # the first one, games with rules, a contest and its games
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "Content-Security-Policy" in text
        for link in Links(text).found:
            if link.startswith(("data:", "#")):
                continue
            assert "//" not in link
            assert not link.startswith("/")
            assert (page.parent / link.partition("#")[0]).is_file(), (page, link)
    own = [page for page in pages if page.parent.name not in ("contests", "replays")]
    assert all(f'content="{POLICY}"'.replace("'", "&#39;") in page.read_text(encoding="utf-8") for page in own)


def test_every_page_leads_back_to_the_first(demo: Written) -> None:
    pages = [page for page in demo.folder.rglob("*.html") if page.parent != demo.folder]
    assert {page.parent.name for page in pages} == {"play", "rules", "contests", "replays"}
    for page in pages:
        assert any(link.startswith("../index.html") for link in Links(page.read_text(encoding="utf-8")).found), page


def test_the_first_page_shows_what_each_game_looks_like(demo: Written, open_page: Callable[..., Page]) -> None:
    page = open_page((demo.folder / "index.html").as_uri())
    pictures = page.locator(".cards img")
    assert pictures.count() == len(NAMES)
    for number in range(len(NAMES)):
        pictures.nth(number).scroll_into_view_if_needed()  # a picture out of sight may wait
    page.wait_for_function(
        "() => [...document.querySelectorAll('.cards img')].every(one => one.complete && one.naturalWidth > 0)"
    )


def test_no_page_is_large_but_for_the_weights_of_models(demo: Written) -> None:
    for page in sorted((demo.folder / "play").glob("*.html")):
        parts = [page, *(page.parent / link for link in Links(page.read_text()).found if "/files/" in link)]
        assert sum(len(gzip.compress(part.read_bytes())) for part in parts) < LARGEST, page


def first_move(page: Page) -> str:
    """What sends off the first form of a page, as somebody would who reads nothing."""
    return "#moves form button.main:enabled, #moves form .choice-grid > button:enabled"


def play_to_the_end(page: Page, most: int) -> None:
    page.wait_for_selector("#moves form")
    for _ in range(most):
        if page.locator("#result").is_visible():
            return
        page.locator(first_move(page)).first.click()
    pytest.fail(f"the game is not over after {most} moves: {page.inner_text('main')[:600]}")


def test_a_game_from_a_disk_is_the_game_of_python(
    demo: Written, open_page: Callable[..., Page], shot: Callable[[Page, str], None]
) -> None:
    page = open_page((demo.folder / "index.html").as_uri())
    page.get_by_role("link", name=re.compile("Hog, as")).or_(page.locator('a[href="play/hog.html"]')).first.click()
    page.wait_for_selector("#moves form")
    page.locator("#settings > summary").click()
    page.get_by_label("Seed").fill("11")
    page.get_by_role("button", name="New game", exact=True).click()
    page.wait_for_selector("#facts:has-text('Seed 11,')")
    shot(page, "begun")
    play_to_the_end(page, 300)
    shot(page, "ended")
    actions = page.evaluate("dicegym.playing().actions")
    table = dicegym.game("hog")
    states = table.new_game(11)
    opponent = dicegym.agent("hog", "ppo").join(table, 1, 0)
    for action in actions:
        if states[0]["player"] == 1:
            asked = Turn(table, states[0], 1)
            assert opponent(asked) == action
        table.step(states[0], action)
    assert states[0]["over"]
    assert page.locator("#result-words").inner_text()
    page.get_by_role("button", name="Same game again").click()
    assert page.evaluate("dicegym.playing().seed") == 11
    page.locator(first_move(page)).first.click()
    done = page.evaluate("dicegym.playing().actions")
    page.reload()  # and goes on where it was
    page.wait_for_selector("#facts:has-text('Seed 11,')")
    assert page.evaluate("dicegym.playing().actions") == done


def test_a_telephone_plays_from_a_host_of_files_with_the_keyboard_alone(
    hosted: str, open_page: Callable[..., Page], shot: Callable[[Page, str], None]
) -> None:
    page = open_page(f"{hosted}/play/yatzy.html", viewport=PHONE, color_scheme="dark")
    page.wait_for_selector("#moves form")
    assert not too_wide(page)
    assert not barriers(page)
    page.get_by_label(re.compile("Die 2 shows")).focus()
    page.keyboard.press("Space")
    shot(page, "picked")
    page.locator("#roll-send").focus()
    page.keyboard.press("Enter")
    assert "1 roll left" in page.inner_text("#moves")
    assert page.evaluate("document.activeElement.id") == "roll-send"
    for _ in range(60):
        if page.locator("#result").is_visible():
            break
        page.locator("#moves .choice-grid > button:enabled").first.focus()
        page.keyboard.press("Enter")
    assert re.search(r"(win|wins|share).*\d+", page.inner_text("#result-words"))
    assert "Large Straight" in page.inner_text("#result-card")
    shot(page, "ended")
    assert not barriers(page)
    for place in ("index.html", "play/hog.html", "rules/hog.html", "rules/yatzy.html"):
        page.goto(f"{hosted}/{place}")
        if place.startswith("play"):
            page.wait_for_selector("#moves form")
        assert not barriers(page), place
        assert not too_wide(page), place


def test_pages_say_so_where_no_scripts_run(demo: Written, open_page: Callable[..., Page]) -> None:
    page = open_page((demo.folder / "play" / "hog.html").as_uri(), java_script_enabled=False)
    assert "The rules" in page.inner_text("main")
    page.get_by_role("link", name="The rules", exact=True).click()
    assert "Swine Swap" in page.inner_text("main")


def test_from_the_command_line(tmp_path: Path) -> None:
    ours = shipped_folder("agents") / "hog" / "ppo.zip"
    run = CliRunner().invoke(app, ["web", "--export", str(tmp_path / "d"), "--game", "hog", "--model", str(ours)])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "d" / "files" / "model-hog-hog-ppo.js").is_file()
    assert "index.html" in run.output


def test_what_cannot_be_written_is_said_before_anything_is(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    with pytest.raises(UnknownNameError, match="hogg"):
        export(folder, games=["hogg"])
    with pytest.raises(ParameterError, match="no store"):
        export(folder, store=str(tmp_path / "none.sqlite"), games=["hog"])
    with pytest.raises(ParameterError, match="add --game yatzy"):
        export(folder, games=["hog"], models=[shipped_folder("agents") / "yatzy" / "ppo.zip"])
    (tmp_path / "file").touch()
    with pytest.raises(ParameterError, match="no folder"):
        export(tmp_path / "file", games=["hog"])
    assert not folder.exists()


def test_a_game_that_nobody_plays_in_a_browser_is_refused_by_name_and_else_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a game of another package may be, whose bots have no twins."""
    monkeypatch.setattr(write.Demo, "_models", lambda *given: iter(()))
    monkeypatch.setattr(write.Demo, "_twins", lambda *given: iter(()))
    monkeypatch.setattr(write, "loadable", lambda: ["hog"])
    with pytest.raises(ParameterError, match="hog has nobody to play against"):
        export(tmp_path / "named", games=["hog"])
    assert not (tmp_path / "named").exists()
    written = export(tmp_path / "all")
    assert ["nobody to play against" in line for line in written.left_out] == [True]
    assert not list((tmp_path / "all").rglob("*hog*"))
