"""`dicegym mcp`: the games for a client of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest
from command_line import Run


def test_a_client_starts_the_command_and_finds_its_tools() -> None:
    mcp = pytest.importorskip("mcp", reason="needs the extra mcp")  # here, as importing it takes each worker a second
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = StdioServerParameters(command=sys.executable, args=["-m", "dicegym", "mcp", "--hints"])

    async def names() -> set[str]:
        async with stdio_client(command) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            return {tool.name for tool in (await session.list_tools()).tools}

    found = asyncio.run(asyncio.wait_for(names(), 60))
    assert found == {"list_games", "new_game", "observe", "act", "hint"}


@pytest.mark.parametrize("hints", [[], ["--hints"]], ids=["plain", "hints"])
def test_the_command_serves_hints_where_it_is_told_to(
    hints: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which tools there are then is in tests/analysis/test_mcp_server.py."""
    served: list[object] = []

    def make_server(hints: bool) -> SimpleNamespace:
        served.append(hints)
        return SimpleNamespace(run=served.append)

    monkeypatch.setattr("dicegym.mcp_server.make_server", make_server)
    assert run("mcp", *hints) == (0, "", "")
    assert served == [bool(hints), "stdio"]
