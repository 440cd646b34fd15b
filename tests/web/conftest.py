"""A server of pages, and a real browser that looks at them."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from web_pages import Visitor
from web_stores import held_store

from dicegym.web.address import listen
from dicegym.web.application import create_app
from dicegym.web.context import Web
from dicegym.web.serving import PageServer
from dicegym.web.web_settings import WebSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Error, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 30.0
PHONE = {"width": 360, "height": 740}


class Running:
    """A server of pages on a port of its own."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.port = 0
        self.start()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        listener = listen("127.0.0.1", self.port)
        self.port = listener.getsockname()[1]
        self._server = PageServer(self.settings)
        self.web: Web = self._server.app.state.web
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()
        until = time.monotonic() + SECONDS
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.01)

    @property
    def connections(self) -> int:
        return len(self._server.server_state.connections)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(SECONDS)


@pytest.fixture
def settings(tmp_path: Path) -> WebSettings:
    return WebSettings(tmp_path / "web", str(tmp_path / "arena.sqlite"), (tmp_path / "runs",))


@pytest.fixture
def client(settings: WebSettings) -> Iterator[TestClient]:
    with Visitor(create_app(settings)) as asked:
        yield asked


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """What asks an application that all such tests of a file share: none of them changes anything."""
    folder = tmp_path_factory.mktemp("read")
    with Visitor(create_app(WebSettings(folder / "web", str(folder / "arena.sqlite"), (folder / "runs",)))) as asked:
        yield asked


@pytest.fixture(scope="session")
def contest_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that nobody changes."""
    path = tmp_path_factory.mktemp("watched") / "arena.sqlite"
    held_store(path)
    return path


@pytest.fixture
def running(settings: WebSettings) -> Iterator[Running]:
    server = Running(settings)
    yield server
    server.stop()


@pytest.fixture(scope="module")  # its event loop would be in the way of tests of other modules that run one
def browser() -> Iterator[Browser]:
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"pages are looked at in a browser, and none of {', '.join(PROGRAMS)} is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def shared_page(browser: Browser) -> Page:
    """A page that tests of a file use one after the other: a process for each costs more than most of them do."""
    return browser.new_context().new_page()


USUAL = {"width": 1280, "height": 720}
EMULATED = {"viewport", "color_scheme", "reduced_motion"}
"""Options that an open page takes too."""


def emptied(page: Page) -> None:
    """Close the other pages of a window, and forget all that sites have left in it."""
    for other in page.context.pages:
        if other is not page:
            other.close()
    if page.url.startswith("http"):
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.goto("about:blank")
    page.context.clear_cookies()


@pytest.fixture
def open_page(browser: Browser, shared_page: Page) -> Iterator[Callable[..., Page]]:
    """What opens a page in a window that is as new, once in a test; options are those of Playwright's contexts."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def heard(said: ConsoleMessage) -> None:
        if said.type == "error":
            complaints.append(f"{said.location['url']}: {said.text}")

    def failed(error: Error) -> None:
        complaints.append(str(error))

    def opened(url: str, **options: Any) -> Page:
        if options.keys() <= EMULATED:
            page = shared_page
            page.set_default_timeout(SECONDS * 1000)
            page.set_viewport_size(options.get("viewport", USUAL))
            page.emulate_media(
                color_scheme=options.get("color_scheme", "light"),
                reduced_motion=options.get("reduced_motion", "no-preference"),
            )
        else:
            contexts.append(browser.new_context(**options))
            page = contexts[-1].new_page()
        page.on("pageerror", failed)
        page.on("console", heard)
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    for word, listener in (("pageerror", failed), ("console", heard)):
        with contextlib.suppress(KeyError, ValueError):  # this test did not use it
            shared_page.remove_listener(word, listener)
    emptied(shared_page)
    assert not complaints, complaints
