"""What is asked of every page in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

LARGEST = 100_000
"""Bytes that a page may have, with all that it loads."""


def barriers(page: Page) -> list[str]:
    """Return what keeps people with a screen reader or a keyboard out of a page, in words."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found]


def too_wide(page: Page) -> bool:
    """Return whether a page has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"))
