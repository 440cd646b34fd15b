"""Pages in a real browser, which is started once: the first one, playing by mouse and by keyboard alone, and widgets.

Games are played in two tabs, with the back button and without scripts too. Widgets are dice that are kept by keys, a
bid that rises with its face, and a basket that nobody overdraws. Names and messages of others do nothing there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from variants import one_always
from web_pages import LARGEST, usable
from web_stores import ENTRIES, HOSTILE, renamed

from dicegym.arena.store.reading import StoreReader
from dicegym.escape import harmless
from dicegym.registry import GAMES

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

GOAL = 20
MOST_MOVES = 60
CALM = 450
"""Milliseconds after which Enter is taken for what has just come."""
POLL = 50
"""Milliseconds between two looks at a page that is waited for: a look at each frame would have it draw all the time."""
PHONE = {"width": 360, "height": 740}
FINGER = 38
"""Pixels that a finger needs; none of them is beside another one."""
SMALL = """least => [...document.querySelectorAll(
    ".play-form button, .play-form .choice, .play-form .die-toggle, .stepper input, .tools .button")]
  .map(one => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width && Math.min(box.width, box.height) < least).map(([one]) => one.outerHTML)"""
MOVE = "#table .yours form button:not([type]):not([disabled])"
SEEN = {"width": 390, "height": 844}
"""A phone on which a turn fits without scrolling."""


LOADED = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
  .reduce((sum, one) => sum + one.encodedBodySize, 0)"""
STOP_CLOCK = "() => { window.date_now = Date.now; const now = Date.now(); Date.now = () => now; }"
START_CLOCK = "() => { Date.now = window.date_now; }"
GONE_ON = """before => {
  const move = document.querySelector("#game input[name=move]");
  const asked = document.querySelector(".asked input[name=move]");
  const now = asked ? asked.value + " asked" : move ? move.value : before;
  return document.querySelector(".ending") || now != before;
}"""


def sat_down(page: Page, url: str, game: str = "hog", tutor: str = "", **given: str | int) -> Page:
    """Begin a game by the form for it."""
    asked = {"game": game, "seed": 5, "seat": 0} | ({"parameters-goal": GOAL} if game == "hog" else {}) | given
    page.set_default_timeout(15_000)
    page.goto(f"{url}/play/new?{urlencode(asked)}")
    page.get_by_label("Tutor").select_option(tutor)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(".yours .play-form" if game != "hog" else ".yours")
    page.wait_for_load_state("load")  # the form is there before the styles and scripts that make it work
    return page


def number_of(page: Page) -> str:
    """Return which move the page is for, and whether the tutor asks about it."""
    number = page.locator("#game input[name=move]").first.get_attribute("value") or ""
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
    page.wait_for_function(GONE_ON, arg=before, polling=POLL)


@pytest.mark.parametrize("phone", one_always([False, True]))
def test_a_game_is_played_to_its_end_by_mouse_and_reviewed(
    running: Running, open_page: Callable[..., Page], phone: bool
) -> None:
    options = {"viewport": PHONE, "has_touch": True, "color_scheme": "dark"} if phone else {}
    page = open_page(f"{running.url}/play", **options)
    usable(page)
    sat_down(page, running.url)
    assert page.evaluate(LOADED) < LARGEST
    for time in range(MOST_MOVES):
        if page.locator(".ending").count():
            break
        before = number_of(page)
        page.locator(MOVE).nth(3).click()
        waited(page, before)
        if time == 1:
            assert page.locator("#now").inner_text()
            assert "you" in page.locator("#said").inner_text().lower()
            usable(page, by_all=False)
            before = number_of(page)
            page.locator("#undo").click()
            waited(page, before)
            page.wait_for_selector("text=You took back one move")
    assert "win" in page.locator("#now").inner_text()
    usable(page)
    page.get_by_role("link", name="How did I play?").click()
    page.wait_for_selector(".decisions")
    assert page.locator(".chart svg").count() == 1
    page.locator(".chart a").last.click()
    page.wait_for_selector("tr.chosen:last-child")
    usable(page)
    page.get_by_role("link", name="See it again").click()
    page.wait_for_selector("h1")
    assert "seen again" in page.title()


def test_a_game_is_played_to_its_end_by_keyboard_alone(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, tutor="doubtful", against="easy")
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
        page.wait_for_timeout(CALM)
        page.keyboard.press("Enter")
        waited(page, before)
        if page.locator(".yours").count() and where and where != "insist":
            page.wait_for_function("id => document.activeElement.id == id", arg=where)
    assert page.locator(".ending").count() == 1


@pytest.mark.slow
def test_two_tabs_reload_and_the_back_button_play_nothing_twice(
    running: Running, open_page: Callable[..., Page]
) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, **{"parameters-goal": "100"})
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
    for _ in range(2 * MOST_MOVES):
        if page.locator(".ending").count():
            break
        if page.locator(MOVE).count() <= 4:  # somebody thinks, or the game has just ended
            page.wait_for_timeout(250)
            page.reload()
            continue
        page.locator(MOVE).nth(4).click()
    assert page.locator(".ending").count() == 1
    assert page.locator(".needs-scripts:visible").count() == 0
    page.get_by_role("link", name="See it again").click()
    assert page.locator(".picture svg:visible").count() == 1
    assert page.locator("ol li:visible").count() > 1
    assert page.locator("#replay:visible").count() == 0
    page.go_back()
    page.locator("#undo").click()
    reloaded_until(page, ".yours")
    page.locator("#ask-hint").click()
    reloaded_until(page, ".hint")


# --- widgets -----------------------------------------------------------------------------------------------


def sent(page: Page, do: Callable[[], None]) -> None:
    """Do what sends a form off, and wait until the person is to decide again."""
    before = page.locator(".yours input[name=move]").first.get_attribute("value")
    do()
    page.wait_for_function(
        "before => [...document.querySelectorAll('.yours input[name=move]')].some(one => one.value != before)",
        arg=before,
        polling=POLL,
    )


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("game", one_always(GAMES, 2))
def test_forms_fit_a_phone_and_a_finger(running: Running, open_page: Callable[..., Page], game: str) -> None:
    page = sat_down(open_page(f"{running.url}/play", viewport=SEEN, reduced_motion="reduce"), running.url, game, seed=4)
    usable(page)
    assert page.evaluate("document.querySelector('.felt').getBoundingClientRect().bottom") <= SEEN["height"]
    page.set_viewport_size(PHONE)
    usable(page, by_all=False)
    assert page.evaluate(SMALL, FINGER) == []
    page.evaluate("document.documentElement.style.fontSize = '200%'")  # as one who sets larger letters has it
    usable(page, by_all=False)


def test_dice_are_kept_and_rolled_by_keys_alone(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, "yatzy", seed=4)

    def faces() -> list[str]:
        return [str(one.get_attribute("aria-label")) for one in page.locator("[data-die]").all()]

    before = faces()
    page.locator("body").press("2")
    page.keyboard.press("5")
    page.keyboard.press("1")
    page.keyboard.press("1")
    assert [one.is_checked() for one in page.locator("[data-die]").all()] == [False, True, False, False, True]
    assert page.locator(".when-on:visible").count() == 2
    page.locator("body").press("r")
    page.wait_for_selector(".rolling")
    assert page.locator(".rolling").count() == 3
    page.wait_for_function("() => document.querySelector('#now').innerText.startsWith('You keep')")
    assert (faces()[1], faces()[4]) == (before[1], before[4])
    assert [one.is_checked() for one in page.locator("[data-die]").all()] == [False, True, False, False, True]
    page.locator("#play-keys summary").click()
    page.locator("#play-keys-on").uncheck()
    page.locator("h1").click()
    page.keyboard.press("2")
    assert page.locator("[data-die='2']").is_checked()


def test_a_bid_rises_with_its_face(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, "liarsdice", seed=4, seat=1)
    lowest = page.locator("#form-bid input[data-least]").first
    lowest.check()
    many = page.locator("#bid-quantity")
    least = int(lowest.get_attribute("data-least") or "0")
    assert int(many.input_value()) >= least
    many.fill(str(least))
    page.get_by_role("button", name="one less").click()
    assert many.input_value() == str(least)
    page.get_by_role("button", name="one more").click()
    assert many.input_value() == str(least + 1)
    page.locator("h1").click()
    page.keyboard.press("6")
    assert page.locator("#bid-face-6").is_checked()
    page.wait_for_timeout(CALM)
    page.locator("h1").click()
    before = number_of(page)
    page.evaluate(STOP_CLOCK)  # however slow the machine is, the second one comes too early
    page.keyboard.press("Enter")  # bids, and nothing else
    page.keyboard.press("Enter")
    waited(page, before)
    page.wait_for_function("() => document.activeElement.id == 'bid-send'")
    assert number_of(page) == str(int(before) + 1)
    page.keyboard.press("Enter")
    page.evaluate(START_CLOCK)
    assert number_of(page) == str(int(before) + 1)
    page.keyboard.press("l")
    page.wait_for_function("() => document.querySelector('#said').innerText.includes('You call liar')")


@pytest.mark.slow
def test_a_basket_adds_up_and_is_filled_again(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, "lucky", seed=4)
    total, more = page.locator("#order-die-sum"), page.locator("#form-order [data-step='1']")
    assert total.inner_text() == "You have 5 money."
    assert page.locator("[data-again]").count() == 1
    assert not page.locator("[data-again]").is_visible()
    more.nth(1).click()
    assert total.inner_text() == "3 money, 2 left."
    assert more.nth(1).get_attribute("aria-disabled") == "true"
    page.locator("#order-die-0").fill("5")
    assert "3 more than you have" in total.inner_text()
    page.locator("#order-send").click()
    assert page.locator(".yours").count() == 1  # the browser says why it is not sent
    page.locator("#order-die-0").fill("0")
    sent(page, page.locator("#order-send").click)
    page.get_by_role("button", name="As last time").click()
    assert page.locator("#order-die-1").input_value() == "1"


# --- contests ----------------------------------------------------------------------------------------------


def test_names_and_messages_of_others_do_nothing(
    contest_store: Path, running: Running, open_page: Callable[..., Page]
) -> None:
    names = dict(zip(ENTRIES, (HOSTILE[0], HOSTILE[4], HOSTILE[3]), strict=True))
    renamed(contest_store, Path(running.settings.store), names)
    page = open_page(running.url + "/watch/contests/1", viewport={"width": 360, "height": 740})
    agent = "/watch/agents/hog/agent?name=%3Cscript%3Edocument.title%3D%27run%27%3C%2Fscript%3E"
    for address in ("/watch/contests/1", "/watch/matches/1", "/watch/games/1/1?move=2", agent):
        page.goto(running.url + address)
        assert page.title() != "run"
        usable(page, by_all=False)
        assert page.locator("main script:not([type='application/json'])").count() == 0
        assert page.locator("img[src=x]").count() == 0
    with StoreReader(contest_store) as reader:
        (whole,) = reader.whole([reader.match(1)])
        game = next(one.number + 1 for one in whole.games if one.seats[0] == 0)  # the short name
    page.goto(running.url + f"/watch/games/1/{game}?move=1")
    assert harmless(HOSTILE[0])[:8] in page.locator("#players").inner_text()
