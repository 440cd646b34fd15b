"""Playing in a real browser: by mouse, by keyboard alone, in two tabs, with the back button, and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from variants import one_always
from web_pages import LARGEST, barriers, too_wide

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

GOAL = 20
MOST_MOVES = 60
PHONE = {"width": 360, "height": 740}
MOVE = "#table .yours form button:not([type]):not([disabled])"


LOADED = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
  .reduce((sum, one) => sum + one.encodedBodySize, 0)"""
GONE_ON = """before => {
  const move = document.querySelector(".yours input[name=move]");
  const asked = document.querySelector(".asked input[name=move]");
  const now = asked ? asked.value + " asked" : move ? move.value : before;
  return document.querySelector(".ending") || now != before;
}"""


def sat_down(page: Page, url: str, tutor: str = "", **given: str) -> Page:
    """Begin a game of Hog by the form for it."""
    asked = {"game": "hog", "seed": "5", "seat": "0", "p-goal": str(GOAL), **given}
    page.set_default_timeout(15_000)
    page.goto(f"{url}/play/new?{urlencode(asked)}")
    page.get_by_label("Tutor").select_option(tutor)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector(".yours")
    return page


def number_of(page: Page) -> str:
    """Return which move the page is for, and whether the tutor asks about it."""
    number = page.locator("#table input[name=move]").first.get_attribute("value") or ""
    return f"{number} asked" if page.locator(".asked").count() else number


def reloaded_until(page: Page, selector: str) -> None:
    """Load the page again until it has something: without scripts it does not do so by itself while others think."""
    for _ in range(MOST_MOVES):
        if page.locator(selector).count():
            return
        page.wait_for_timeout(250)
        page.reload()
    raise AssertionError(f"{selector} never came: {page.inner_text('main')}")


def waited(page: Page, before: str) -> None:
    """Wait until the table has gone on, or the tutor asks."""
    page.wait_for_function(GONE_ON, arg=before)


@pytest.mark.parametrize("phone", one_always([False, True]))
def test_a_game_is_played_to_its_end_by_mouse_and_reviewed(
    running: Running, open_page: Callable[..., Page], shot: Callable[[Page, str], None], phone: bool
) -> None:
    options = {"viewport": PHONE, "has_touch": True, "color_scheme": "dark"} if phone else {}
    page = open_page(f"{running.url}/play", **options)
    assert barriers(page) == []
    assert not too_wide(page)
    shot(page, "all")
    sat_down(page, running.url)
    loaded = page.evaluate(
        "performance.getEntriesByType('resource').reduce((sum, one) => sum + one.encodedBodySize, 0)"
    )
    assert loaded + page.evaluate("performance.getEntriesByType('navigation')[0].encodedBodySize") < LARGEST
    assert barriers(page) == []
    shot(page, "begun")
    for time in range(MOST_MOVES):
        if page.locator(".ending").count():
            break
        before = number_of(page)
        page.locator(MOVE).nth(3).click()
        waited(page, before)
        if time == 1:
            assert "you" in page.locator("#said").inner_text().lower()
            assert not too_wide(page)
            shot(page, "going-on")
            before = number_of(page)
            page.locator("#undo").click()
            waited(page, before)
            page.wait_for_selector("text=You took back one move")
    assert "win" in page.locator(".ending").inner_text()
    assert barriers(page) == []
    shot(page, "over")
    page.get_by_role("link", name="How did I play?").click()
    page.wait_for_selector(".sums")
    assert page.locator(".chart svg").count() == 1
    assert barriers(page) == []
    assert not too_wide(page)
    shot(page, "review")
    page.get_by_role("link", name="See it again").click()
    page.wait_for_selector("h1")
    assert "seen again" in page.title()
    shot(page, "again")


def test_a_game_is_played_to_its_end_by_keyboard_alone(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, tutor="doubtful", rival="easy")
    for _ in range(MOST_MOVES):
        if page.locator(".ending").count():
            break
        before = number_of(page)
        for _ in range(60):
            focused = page.evaluate("document.activeElement.matches(`#reconsider, #insist, .yours form button`)")
            if focused:
                break
            page.keyboard.press("Tab")
        assert focused
        if page.locator("#insist").count():
            page.locator("#insist").focus()
        where = page.evaluate("document.activeElement.id")
        page.keyboard.press("Enter")
        waited(page, before)
        if page.locator(".yours").count() and where and where != "insist":
            page.wait_for_function("id => document.activeElement.id == id", arg=where)
    assert page.locator(".ending").count() == 1


@pytest.mark.slow
def test_two_tabs_reload_and_the_back_button_play_nothing_twice(
    running: Running, open_page: Callable[..., Page]
) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url)
    other = page.context.new_page()
    other.goto(page.url)
    before = number_of(page)
    page.locator(MOVE).first.click()
    waited(page, before)
    now = number_of(page)
    other.locator(MOVE).first.click()
    other.wait_for_selector(".notice")
    assert "not played again" in other.locator(".notice").inner_text()
    assert number_of(other) == now
    page.reload()
    assert number_of(page) == now
    page.goto(f"{running.url}/play")
    page.go_back()
    page.wait_for_selector(".yours")
    assert number_of(page) == now
    page.locator(MOVE).nth(1).dblclick()
    waited(page, now)
    page.wait_for_timeout(200)
    page.reload()
    assert number_of(page) == str(int(now) + 1)
    running.stop()
    running.start()
    page.reload()
    page.wait_for_selector(".yours")
    assert number_of(page) == str(int(now) + 1)


@pytest.mark.slow
def test_a_game_is_played_without_scripts(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play", java_script_enabled=False), running.url)
    for _ in range(MOST_MOVES):
        if page.locator(".ending").count():
            break
        if page.locator(MOVE).count() <= 4:  # somebody thinks, or the game has just ended
            page.reload()
            continue
        page.locator(MOVE).nth(4).click()
    assert page.locator(".ending").count() == 1
    page.locator("#undo").click()
    reloaded_until(page, ".yours")
    page.locator("#ask-hint").click()
    reloaded_until(page, ".hint")
