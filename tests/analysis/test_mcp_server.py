"""The server of the Model Context Protocol, asked by the client of the official library."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from dicegym.errors import ParameterError, UnknownNameError
from dicegym.mcp_server import GameTable, make_server
from dicegym.registry import GAMES


def talk(hints: bool, *calls: tuple[str, dict[str, Any]]) -> tuple[set[str], list[Any]]:
    """Return the names of all tools, and what each call gives."""

    mcp = pytest.importorskip("mcp", reason="needs the extra llm")

    async def ask() -> tuple[set[str], list[Any]]:
        async with mcp.Client(make_server(hints)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            return tools, [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(ask())


def test_a_client_plays_and_is_told_why_not() -> None:
    begin = ("new_game", {"game": "hog", "opponent": "bacon", "seed": 1})
    tools, said = talk(
        False,
        ("list_games", {}),
        begin,
        ("observe", {"number": 1}),
        ("act", {"number": 1, "action": "eleven"}),
        ("act", {"number": 1, "action": "roll 5"}),
        ("act", {"number": 7, "action": "roll 5"}),
    )
    assert tools == {"list_games", "new_game", "observe", "act"}, "no hints unless they are wanted"
    games, begun, seen, unread, played, missing = said
    assert all(name in games.content[0].text for name in GAMES)
    told = json.loads(begun.content[0].text)
    assert told["number"] == 1
    assert seen.content[0].text == told["text"]
    assert unread.is_error
    assert "means nothing here" in unread.content[0].text
    assert not played.is_error
    assert json.loads(played.content[0].text)["text"] != told["text"]
    assert missing.is_error
    assert "there is no game 7" in missing.content[0].text


def test_hints_where_they_are_wanted() -> None:
    tools, said = talk(True, ("new_game", {"game": "hog", "seed": 1}), ("hint", {"number": 1}))
    assert "hint" in tools
    assert not said[1].is_error
    assert "exact" in str(said[1].content)


def test_a_game_that_is_over_takes_no_action() -> None:
    table = GameTable()
    table.new_game("hog", "cautious", seed=1)
    while not table.act(1, "10")["over"]:
        pass
    assert table.observe(1)
    with pytest.raises(ParameterError, match="game 1 is over: begin another one with new_game"):
        table.act(1, "10")


def test_opponents_are_names_and_old_games_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.mcp_server.MOST_GAMES", 3)
    table = GameTable()
    with pytest.raises(UnknownNameError, match="opponent in hog"):
        table.new_game("hog", "/tmp/bot.py")
    with pytest.raises(UnknownNameError, match="chess"):
        table.new_game("chess")
    for seed in range(4):
        table.new_game("hog", seed=seed)
    assert table.observe(2)
    with pytest.raises(ParameterError, match="no game 1"):
        table.observe(1)
