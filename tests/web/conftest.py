"""A server of pages, and a real browser that looks at them."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from web_pages import Visitor

from dicegym.web.address import listen
from dicegym.web.application import create_app
from dicegym.web.context import Web
from dicegym.web.serving import PageServer
from dicegym.web.web_settings import WebSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 30.0
PHONE = {"width": 360, "height": 740}
PICTURES = os.environ.get("DICEGYM_SCREENSHOTS")
"""A folder in which pictures of pages are kept, if one is named."""


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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """What opens a page in a window of its own; options are those of Playwright's contexts."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def opened(url: str, **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(f"{page.url}: {said.text}") if said.type == "error" else None)
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints, complaints


@pytest.fixture
def shot(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """What keeps a picture of a page, if `PICTURES` names a folder."""

    def taken(page: Page, name: str) -> None:
        if PICTURES:
            page.screenshot(path=str(Path(PICTURES) / f"{request.node.name}-{name}.png"), full_page=True)

    return taken
