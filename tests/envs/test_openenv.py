"""The games in OpenEnv: served and played by the real library."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("openenv", reason="needs the package openenv, whose dependencies exclude those of dicegym[llm]")
import uvicorn
from openenv.core.generic_client import GenericEnvClient

from dicegym.analysis.valuers import MARKS
from dicegym.openenv import make_app
from dicegym.text import TextEnv


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(make_app("hog", "bacon"), port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


def test_a_client_plays_a_game_and_learns_what_its_decisions_cost(address: str) -> None:
    own = TextEnv("hog", "bacon", reward="regret")
    text, _ = own.reset(seed=4)
    with GenericEnvClient(base_url=address).sync() as client:
        said = client.reset(seed=4)
        assert said.observation["text"] == text
        assert said.observation["prompt"] == own.prompt
        said = client.step({"action": "eleven"})
        assert "means nothing here" in said.observation["error"]
        assert said.observation["text"] == text, "nothing was played"
        assert said.reward == -MARKS[-1].cost
        turns = 0
        while not said.done:
            said = client.step({"action": "roll 5"})
            turn = own.answer('{"action": "roll 5"}')
            assert (said.observation["text"], said.done) == (turn.text, turn.over)
            assert said.reward == pytest.approx(turn.reward)
            turns += 1
        assert client.state()["step_count"] == turns + 1


def test_sessions_are_games_of_their_own(address: str) -> None:
    with GenericEnvClient(base_url=address).sync() as one, GenericEnvClient(base_url=address).sync() as other:
        began = [client.reset(seed=seed).observation["text"] for client, seed in ((one, 1), (other, 1))]
        assert began[0] == began[1]
        moved = one.step({"action": "roll 3"}).observation["text"]
        assert moved != began[0]
        assert other.step({"action": "roll 3"}).observation["text"] == moved
