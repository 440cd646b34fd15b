"""The rules of each game as a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from rules_page import page as rules_page
from rules_page import section, table
from starlette.testclient import TestClient
from variants import each_game
from web_pages import barriers, too_wide

import dicegym
from dicegym.registry import ENVIRONMENTS, GAMES

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page


def test_all_games_are_listed(client: TestClient) -> None:
    text = client.get("/rules").text
    for game in GAMES:
        assert f'href="/rules/{game}"' in text


@each_game
def test_a_page_has_all_of_the_rules(client: TestClient, name: str) -> None:
    text = client.get(f"/rules/{name}").text
    assert text.count("<h1>") == 1
    assert f"covers/{name}.svg" in text
    for title in ("Parameters", "Actions", "Observation", "Rewards"):
        assert f"<h3>{title}</h3>" in text
    for row in table(section(rules_page(name), "Actions")):
        assert f"<td><p>{row['action']}</p></td>" in text.replace(" ", "") or row["action"] in text
    for agent in dicegym.agent_names(dicegym.game(name)):
        assert f"<code>{agent}</code>" in text
    for one in ENVIRONMENTS:
        assert (f"<code>{one.full_id}</code>" in text) == (one.game == name)
    assert "style=" not in text
    assert not re.search(r"system-message|``|\|---", text), "everything was understood"


def test_unknown_games_are_told(client: TestClient) -> None:
    answer = client.get("/rules/chess")
    assert answer.status_code == 404
    assert GAMES[0] in answer.text


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES[:1])
def test_a_rules_page_in_a_browser(
    running: Running, open_page: Callable[..., Page], shot: Callable[[Page, str], None], game: str
) -> None:
    page = open_page(f"{running.url}/rules/{game}", viewport={"width": 360, "height": 740})
    assert barriers(page) == []
    assert not too_wide(page)
    shot(page, game)
