"""`dicegym mcp`: the games for a client of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Run

ABOUT = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
"""What a client says of itself first."""


@pytest.mark.skipif(find_spec("mcp") is None, reason="needs the extra llm")
def test_a_client_starts_the_command_and_finds_its_tools() -> None:
    """By lines of JSON: the library's own client is in tests/analysis/test_mcp_server.py."""
    command = [sys.executable, "-m", "dicegym", "mcp", "--hints"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        patience = threading.Timer(60, process.kill)
        patience.start()

        def say(method: str, **more: Any) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **more}) + "\n")
            process.stdin.flush()

        say("initialize", id=1, params=ABOUT)
        assert json.loads(process.stdout.readline())["id"] == 1
        say("notifications/initialized")
        say("tools/list", id=2, params={})
        found = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(60) == 0
        patience.cancel()
    assert found["id"] == 2
    assert {tool["name"] for tool in found["result"]["tools"]} == {"list_games", "new_game", "observe", "act", "hint"}


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
