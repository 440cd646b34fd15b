"""From a token to a place in a contest, in a browser; and what a bot that means harm finds in its jail."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient
from web_pages import usable

from dicegym.sandbox import jail
from dicegym.web.enter.course_contests import WebContests
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.runner import FOLDER, SubmissionService
from dicegym.web.enter.submission_tables import SubmissionStore
from dicegym.web.enter.tokens import Tokens

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(jail.probe("jail")), reason="bots are taken where a jail holds them"),
]
SECONDS = 120.0
BOT = """PURE = True


def final_strategy(score, opponent_score):
    if score + opponent_score == 0:
        print("<b>begin</b>")
    return 6
"""
HOSTILE = """import os

found = []
try:
    for number in range(40):
        os.fork() or os._exit(0)
    found.append("forked")
except BaseException as error:
    found.append("no fork")
for path, mode in (("SECRET", "rb"), ("DESK", "rb"), ("OTHER", "rb"), ("MARK", "wb")):
    try:
        open(path, mode).close()
        found.append("opened " + path)
    except OSError:
        found.append("not opened")
print("; ".join(found))


def final_strategy(score, opponent_score):
    return 5
"""


def checked(page: Page) -> None:
    """A page that everybody can use, on a telephone too."""
    size = page.viewport_size
    usable(page)
    page.set_viewport_size({"width": 360, "height": 740})
    usable(page)
    if size:
        page.set_viewport_size(size)


def test_a_bot_finds_its_place(running: Running, open_page: Callable[..., Page]) -> None:
    with SubmissionStore(running.settings.folder / FOLDER) as store:
        token = Tokens(store).add("ann")
        WebContests(store).add("Autumn", ContestPlan("hog", agents=("bacon",)))
    page = open_page(f"{running.url}/enter")
    checked(page)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Game").select_option("hog")
    page.get_by_label("Name (optional").fill("rusher")
    page.get_by_label("Source").fill(BOT)
    checked(page)
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("status").get_by_text("Passed.").wait_for(timeout=SECONDS * 1000)  # without any reload
    assert "<b>begin</b>" in page.locator(".told").first.inner_text()
    checked(page)
    page.get_by_role("button", name="Enter Autumn").click()
    page.get_by_role("link", name="Autumn").click()
    page.get_by_text("has run, and runs again when bots come").wait_for(timeout=SECONDS * 1000)
    row = page.get_by_role("row").filter(has_text="rusher")
    assert row.get_by_role("cell").first.inner_text() in ("1", "2")
    checked(page)
    page.get_by_role("link", name="Standings and matches").click()
    page.get_by_text("rusher (ann)").first.wait_for()
    page.emulate_media(color_scheme="dark")
    page.goto(f"{running.url}/enter/bots/1")
    checked(page)


def test_a_bot_that_means_harm_finds_nothing(client: TestClient) -> None:
    web = client.app.state.web  # type: ignore[attr-defined]  # Starlette's, which the type hides
    service = web.get(SubmissionService)
    headers = {"Authorization": f"Bearer {service.tokens.add('eve')}"}
    folder = web.settings.folder
    (folder / FOLDER / "versions" / "0").mkdir()
    other = folder / FOLDER / "versions" / "0" / "bot.py"
    other.write_text("somebody else's")
    text = HOSTILE.replace("SECRET", str(folder / "secret")).replace("MARK", str(folder / "mark"))
    text = text.replace("DESK", str(folder / FOLDER / "entering.sqlite")).replace("OTHER", str(other))
    made = client.post("/api/enter/bots?game=hog&name=eve", content=text.encode(), headers=headers)
    assert made.status_code == 201, made.text
    until = time.monotonic() + SECONDS
    while (found := client.get("/api/enter/bots/1", headers=headers).json()["version"])["report"] is None:
        assert time.monotonic() < until, found
        time.sleep(0.2)
    assert found["report"]["printed"].strip() == "no fork; not opened; not opened; not opened; not opened"
    assert not (folder / "mark").exists()
