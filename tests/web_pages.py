"""What is asked of every page in a browser."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from starlette.applications import Starlette

PICTURES = os.environ.get("DICEGYM_SCREENSHOTS")
"""A folder in which pictures of pages are kept, if one is named."""
_NUMBERS = itertools.count()
LARGEST = 100_000
"""Bytes that a page may have, with all that it loads."""


class Visitor(TestClient):
    """Somebody with a browser: keeps cookies, and says that forms come from the site's own pages.

    Args:
        app: the pages.
    """

    def __init__(self, app: Starlette, **options: Any) -> None:
        own = {"base_url": "http://127.0.0.1:8000", "headers": {"Sec-Fetch-Site": "same-origin"}}
        super().__init__(app, **own | options)


def barriers(page: Page) -> list[str]:
    """Return what keeps people with a screen reader or a keyboard out of a page, in words."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found]


def too_wide(page: Page) -> bool:
    """Return whether a page has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"))


def usable(page: Page, by_all: bool = True) -> None:
    """Assert that a page fits its window and, ``by_all``, keeps nobody out; keep a picture of it in `PICTURES`."""
    if PICTURES:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2].partition(" ")[0]
        name = f"{re.sub(r'[^0-9a-z_]+', '-', test)}-{next(_NUMBERS)}.png"
        page.screenshot(path=str(Path(PICTURES) / name), full_page=True)
    wrong = [*(barriers(page) if by_all else ()), *(["it is wider than its window"] if too_wide(page) else ())]
    assert not wrong, f"{page.url}: {wrong}"
