"""The first page: in a browser, on a telephone, without scripts, and as others try to misuse it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient
from web_pages import barriers, too_wide

from dicegym.web.app import SECTIONS

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("scripts", [True, False])
def test_the_first_page_names_all_sections(
    running: Running, open_page: Callable[..., Page], shot: Callable[[Page, str], None], scripts: bool
) -> None:
    page = open_page(running.url, viewport={"width": 360, "height": 740}, java_script_enabled=scripts)
    for section in SECTIONS:
        assert page.locator(f"main a[href='{section.path}']").inner_text().startswith(section.title)
    if scripts:
        assert barriers(page) == []
        assert not too_wide(page)
        shot(page, "home")


def test_unknown_pages_say_so(client: TestClient) -> None:
    answer = client.get("/nothing")
    assert answer.status_code == 404
    assert "<h1>" in answer.text
    assert "gone" in client.get("/api/nothing").json()["error"]


def test_pages_run_no_script_but_their_own(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("headers", [{"Origin": "http://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_forms_of_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/", headers=headers).status_code == 403
