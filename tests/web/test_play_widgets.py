"""Widgets in a real browser: dice by keys, a bid that rises with its face, and a basket that nobody overdraws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from variants import one_always
from web_pages import barriers, too_wide

from dicegym.registry import GAMES

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

PHONE = {"width": 360, "height": 740}
FINGER = 44
"""Pixels that a finger needs."""
SMALL = """least => [...document.querySelectorAll(
    ".play-form button, .play-form .choice, .play-form .die-toggle, .play-form input[type=number], .play-form summary")]
  .map(one => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width && Math.min(box.width, box.height) < least).map(([one]) => one.outerHTML)"""


def sat_down(page: Page, url: str, game: str, **given: int) -> Page:
    """Begin a game without a tutor."""
    asked = "&".join(f"{name}={value}" for name, value in {"seed": 4, "seat": 0, **given}.items())
    page.goto(f"{url}/play/new?game={game}&{asked}")
    page.get_by_label("Tutor").select_option("")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector(".yours .play-form")
    page.wait_for_load_state("load")  # the form is there before the styles and scripts that make it work
    return page


def sent(page: Page, do: Callable[[], None]) -> None:
    """Do what sends a form off, and wait until the person is to decide again."""
    before = page.locator(".yours input[name=move]").first.get_attribute("value")
    do()
    page.wait_for_function(
        "before => [...document.querySelectorAll('.yours input[name=move]')].some(one => one.value != before)",
        arg=before,
    )


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("game", one_always(GAMES, 2))
def test_forms_fit_a_phone_and_a_finger(running: Running, open_page: Callable[..., Page], game: str) -> None:
    page = sat_down(open_page(f"{running.url}/play", viewport=PHONE, reduced_motion="reduce"), running.url, game)
    assert barriers(page) == []
    assert not too_wide(page)
    assert page.evaluate(SMALL, FINGER) == []
    page.evaluate("document.documentElement.style.fontSize = '200%'")  # as one who sets larger letters has it
    assert not too_wide(page)


def test_dice_are_kept_and_rolled_by_keys_alone(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, "yatzy")

    def faces() -> list[str]:
        return [str(one.get_attribute("aria-label")) for one in page.locator("[data-die]").all()]

    before = faces()
    page.locator("body").press("2")
    page.keyboard.press("5")
    page.keyboard.press("1")
    page.keyboard.press("1")
    assert [one.is_checked() for one in page.locator("[data-die]").all()] == [False, True, False, False, True]
    assert page.locator(".when-on:visible").count() == 2
    sent(page, lambda: page.keyboard.press("Enter"))
    assert (faces()[1], faces()[4]) == (before[1], before[4])
    assert [one.is_checked() for one in page.locator("[data-die]").all()] == [False, True, False, False, True]
    assert page.evaluate("document.activeElement.closest('.play-form') !== null")
    page.locator("#play-keys summary").click()
    page.locator("#play-keys-on").uncheck()
    page.locator("h1").click()
    page.keyboard.press("2")
    assert page.locator("[data-die='2']").is_checked()


def test_a_bid_rises_with_its_face(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, "liarsdice", seat=1)
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


@pytest.mark.slow
def test_a_basket_adds_up_and_is_filled_again(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play"), running.url, "lucky")
    total, more = page.locator("#order-die-sum"), page.locator("#form-order [data-step='1']")
    assert total.inner_text() == "You have 5 money to spend."
    assert page.locator("[data-again]").count() == 1
    assert not page.locator("[data-again]").is_visible()
    more.nth(1).click()
    assert total.inner_text() == "Together 3 money, 2 left."
    assert more.nth(1).get_attribute("aria-disabled") == "true"
    page.locator("#order-die-0").fill("5")
    assert "3 more than you have" in total.inner_text()
    page.locator("#order-send").click()
    assert page.locator(".yours").count() == 1  # the browser says why it is not sent
    page.locator("#order-die-0").fill("0")
    sent(page, page.locator("#order-send").click)
    page.get_by_role("button", name="As last time").click()
    assert page.locator("#order-die-1").input_value() == "1"


@pytest.mark.slow
def test_forms_are_filled_in_without_scripts(running: Running, open_page: Callable[..., Page]) -> None:
    page = sat_down(open_page(f"{running.url}/play", java_script_enabled=False), running.url, "yatzy")
    page.locator("[data-die='3']").check(force=True)
    page.locator("#roll-send").click()
    page.locator("#form-roll", has_text="1 roll left").wait_for()  # the next page takes its time
    assert page.locator(".needs-scripts:visible").count() == 0
