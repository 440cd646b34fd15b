"""`dicegym mcp`: the games for a client of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import sys

import pytest


@pytest.mark.parametrize("hints", [[], ["--hints"]], ids=["plain", "hints"])
def test_a_client_starts_the_command_and_finds_its_tools(hints: list[str]) -> None:
    mcp = pytest.importorskip("mcp", reason="needs the extra mcp")  # here, as importing it takes each worker a second
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(command=sys.executable, args=["-m", "dicegym", "mcp", *hints])

    async def names() -> set[str]:
        async with stdio_client(command) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            return {tool.name for tool in (await session.list_tools()).tools}

    found = asyncio.run(asyncio.wait_for(names(), 60))
    assert found >= {"list_games", "new_game", "observe", "act"}
    assert ("hint" in found) == bool(hints)
