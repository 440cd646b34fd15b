"""Local agents at a server's tables: good ones, and ones that hang, die, print and answer nonsense."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.errors import AgentError

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from talk import Bot, run, serving

from dicegym.server import agents

GOOD = """
def command(standing):
    {first}
    me = standing["currentPlayer"]["playerName"]
    (row,) = [row for row in standing["standing"] if row["playerName"] == me]
    return {{"type": "SCORE_BOX", "box": 1 + row["score"].split(",").index("-"), "dice": [0, 1, 2, 3, 4]}}
"""


def bot_file(folder: Path, name: str, first: str = "pass", before: str = "") -> Any:
    path = folder / f"{name}.py"
    path.write_text(before + GOOD.format(first=first))
    return str(path)


BAD = {
    "hangs": ("while True: pass", "took more than 0.8 s"),
    "raises": ("raise ValueError('no idea')", "raised ValueError: no idea"),
    "exits": ("import os; os._exit(3)", "ended its process (status 3"),
    "eats": ("standing['a'] = [0] * 10**9", "MemoryError"),
}


@run
async def test_bad_agents_cost_themselves_what_the_rules_say_and_nobody_else_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "MOST_FAILURES", 2)
    files = [bot_file(tmp_path, name, first) for name, (first, _) in BAD.items()]
    async with serving(tmp_path, agents=tuple(files), answer=0.8, games=len(BAD), gather=1) as server:
        bot = await Bot.named(server, "anna")

        async def play() -> None:
            while await bot.play():
                pass

        playing = asyncio.create_task(play())
        await server.finished()
        found = {}
        for result in server.store.results():
            names = [place.name for place in result.places]
            assert "anna" in names
            assert result.places[names.index("anna")].total > 0
            for incident in result.incidents:
                found.setdefault(names[incident.seat], []).append(incident.reason)
        retired = {line.partition(" ")[0] for line in server.told if "is not seated any more" in line}
        assert retired == {"hangs", "exits"}, "who ends or stops its process in vain again and again"
    await playing
    assert "anna" not in found
    for name, (_, reason) in BAD.items():
        assert len(found[name]) == 2, name
        assert all(reason in told for told in found[name]), (name, found[name])


@run
async def test_agents_that_print_and_remember_and_two_of_one_file(tmp_path: Path) -> None:
    first = "print('hello'); import sys; sys.stdout.write('{}'); sys.__stdout__.flush(); STATE.append(1)"
    path = bot_file(tmp_path, "loud", first, before="STATE = []\n")
    async with serving(tmp_path, agents=(path, path), games=2, always=True) as server:  # they play each other
        await server.finished()
        assert [result.incidents for result in server.store.results()] == [()] * 2
        assert set(server.store.ratings()) == {"loud", "loud-2"}


@run
async def test_an_illegal_answer_is_asked_again_ten_times(tmp_path: Path) -> None:
    files = (bot_file(tmp_path, "illegal", "return {'type': 'SCORE_BOX', 'box': 99, 'dice': []}"),)
    async with serving(tmp_path, agents=files, games=1) as server:
        bot = await Bot.named(server, "anna")
        playing = asyncio.create_task(bot.play())
        await server.finished()
        (result,) = server.store.results()
        assert [incident.turn for incident in result.incidents] == [1, 2]
        assert all("too many errors" in incident.reason for incident in result.incidents)
        assert result.actions.count(-1) == 20
    await playing


@run
async def test_an_agent_that_cannot_be_loaded_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\n")
    with pytest.raises(AgentError, match="no function command"):
        async with serving(tmp_path, agents=(str(path),)):
            pass


@run
async def test_an_exported_model_plays_as_the_model_does_whether_it_sits_here_or_joins(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from dicegym.bots.export import export_source
    from dicegym.server.channels import Address
    from dicegym.server.client import Join

    game = dicegym.game("yatzy")
    model = dicegym.agent(game, "ppo")
    path = tmp_path / "learned.py"
    path.write_text(export_source(model, game, "yatzy.py"))
    async with serving(tmp_path, agents=(str(path),), games=2) as server:
        where = Address("127.0.0.1", server.ports["tcp"])
        guest = Join("yatzy", where, lambda game: dicegym.agent(game, path), "anna", games=2, log=lambda line: None)
        await asyncio.to_thread(guest.run)
        await server.finished()
        results = list(server.store.results())
    assert len(results) == 2
    for result in results:
        assert result.incidents == ()
        assert {place.name for place in result.places} == {"learned", "anna"}
        state = game.new_game(result.seed, result.number)[0]
        for action in result.actions:
            row = state.copy().reshape(1)
            (chosen,) = model.act_rows(game, row, np.zeros(1, np.int64), row["player"].astype(np.int64))
            game.step(row[0], int(chosen))
            game.step(state, action)
            assert row[0].tobytes() == state.tobytes()
        assert state["over"]
