"""Local agents at a server's tables: good ones, and ones that hang, die, print or answer nonsense."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dicegym

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
from stored_results import stored_results
from talk import Bot, eventually, run, serving

from dicegym.errors import AgentError
from dicegym.players.roster import is_strangers
from dicegym.sandbox import jail, landlock, seccomp
from dicegym.sandbox.remote import IsolatedPlayer
from dicegym.server import local_agents

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
    "raises": ("raise ValueError('no idea')", 'raised ValueError (says: "no idea")'),
    "exits": ("import os; os._exit(3)", "ended its process (exit status 3)"),
    "eats": ("standing['a'] = [0] * 10**9", "MemoryError"),
}


async def play_all(bot: Bot) -> None:
    while await bot.play():
        pass


async def results_against(folder: Path, *agents: str, **changes: Any) -> Any:
    """Return the stored games of anna with a server's agents, and the server's log."""
    async with serving(folder, agents=agents, **changes) as server:
        playing = asyncio.create_task(play_all(await Bot.named(server, "anna")))
        await server.wait_finished()
        results = stored_results(server.store)
    await playing
    return results, server.told


@pytest.mark.slow
@run
async def test_bad_agents_are_punished_by_the_rules_and_cost_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_agents, "MOST_FAILURES", 1)
    files = [bot_file(tmp_path, name, first) for name, (first, _) in BAD.items()]
    results, told = await results_against(tmp_path, *files, answer=0.8, games=len(BAD), gather=1)
    found: dict[str, list[str]] = {}
    for result in results:
        names = [place.name for place in result.places]
        assert result.places[names.index("anna")].total > 0
        for incident in result.incidents:
            found.setdefault(names[incident.seat], []).append(incident.reason)
    retired = {line.partition(" ")[0] for line in told if "is not seated any more" in line}
    assert retired == {"hangs", "exits"}, "agents whose process ends or stops"
    assert "anna" not in found
    for name, (_, reason) in BAD.items():
        assert len(found[name]) == 2, name
        again = "has failed too often" if name in ("hangs", "exits") else reason
        assert reason in found[name][0], (name, found[name])
        assert again in found[name][1], (name, found[name])


ATTACKS = """
import os, signal, socket
SERVER, RESULTS, PORT = {server}, {results!r}, {port}
def attack_server(): os.kill(SERVER, 0)
def attack_parent(): os.kill(os.getppid(), signal.SIGKILL)
def attack_all(): os.kill(-1, signal.SIGKILL)
def attack_results(): open(RESULTS, "rb").read(1)
def attack_beside(): open(os.path.join(os.path.dirname(RESULTS), "mine"), "w")
def attack_memory(): open(f"/proc/{{SERVER}}/environ", "rb").read(1)
def attack_port(): socket.create_connection(("127.0.0.1", PORT), 1)
def attack():
    for name, function in list(globals().items()):
        if name.startswith("attack_"):
            try:
                function()
            except (OSError, RuntimeError):
                continue
            raise ValueError(f"got through: {{name}}")
"""


def own_children() -> set[str]:
    """Return the ids of this process's children, including those of other tests."""
    return set(" ".join(one.read_text() for one in Path("/proc/self/task").glob("*/children")).split())


@pytest.mark.skipif(sys.platform != "linux", reason="what keeps bots apart is Linux's")
@pytest.mark.parametrize("level", ["jail", "process"])
@run
async def test_bots_do_not_reach_the_server(tmp_path: Path, level: str) -> None:
    if why := jail.probe(level):
        pytest.skip(why)
    if level == "process" and not (landlock.version() and seccomp.available()):
        pytest.skip("the kernel has not what a process needs to confine itself")
    results, before = str(tmp_path / "results.sqlite"), own_children()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        text = ATTACKS.format(server=os.getpid(), results=results, port=listening.getsockname()[1])
        (folder := tmp_path / "bots").mkdir()
        path = bot_file(folder, "evil", "attack()", before=text)
        async with serving(tmp_path, agents=(path,), games=1, isolation=level) as server:
            bot = await Bot.named(server, "anna")
            playing = asyncio.create_task(bot.play())
            await server.wait_finished()
            assert [result.incidents for result in stored_results(server.store)] == [()]
            assert any(line.startswith(f"isolation of bots' files: {level}: ") for line in server.told)
            children = own_children() - before
            assert children
        await playing
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bots", "results.sqlite"]
    assert [one.name for one in folder.iterdir() if one.name != "__pycache__"] == ["evil.py"]
    await eventually(lambda: not any(Path("/proc", number).exists() for number in children))


@run
async def test_a_bot_that_hangs_at_one_table_plays_on_at_others(tmp_path: Path) -> None:
    """Each table has its own process and memory; the time limit ends only one."""
    # With this seed the first dice sum up to 18 at one table and 15 at the other.
    first = "CALLS.append(sum(standing['currentPlayer']['dice']))\n    while CALLS[0] > 17 and len(CALLS) > 3: pass"
    path = bot_file(tmp_path, "moody", first, before="CALLS = []\n")
    async with serving(tmp_path, agents=(path,), games=2, gather=0, answer=1.0, seed=10) as server:
        bots = [await Bot.named(server, name) for name in ("anna", "bob")]
        playing = [asyncio.create_task(bot.play()) for bot in bots]
        await server.wait_finished()
        found = []
        for result in stored_results(server.store):
            assert "moody" in {place.name for place in result.places}
            found.append([(incident.turn, incident.reason) for incident in result.incidents])
        await asyncio.gather(*playing)
    found.sort()
    assert found[0] == []
    assert [turn for turn, _ in found[1]] == [4, 5]
    assert found[1][0][1].startswith("took more than 1 s")
    assert found[1][1][1] == "is not asked any more in this match"


@run
async def test_agents_that_print_and_remember_and_two_of_one_file(tmp_path: Path) -> None:
    first = "print('hello'); import sys; sys.stdout.write('{}'); sys.__stdout__.flush(); STATE.append(1)"
    path = bot_file(tmp_path, "loud", first, before="STATE = []\n")
    async with serving(tmp_path, agents=(path, path), games=2, always=True) as server:  # they play each other
        await server.wait_finished()
        assert [result.incidents for result in stored_results(server.store)] == [()] * 2
        assert set(server.store.ratings()) == {"loud", "loud-2"}


@run
async def test_an_illegal_answer_is_asked_again_ten_times(tmp_path: Path) -> None:
    path = bot_file(tmp_path, "illegal", "return {'type': 'SCORE_BOX', 'box': 99, 'dice': []}")
    ((result,), _) = await results_against(tmp_path, path, games=1)
    assert [incident.turn for incident in result.incidents] == [1, 2]
    assert all("too many errors" in incident.reason for incident in result.incidents)
    assert result.actions.count(-1) == 20


def test_an_agent_that_is_stopped_while_it_thinks_adds_nothing_to_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def think(*_: object) -> None:
        time.sleep(0.1)
        raise OSError("its process was ended")

    async def stop() -> None:
        agent = local_agents.LocalAgent("ann", "in_order", dicegym.game("yatzy"), 1.0, print)
        monkeypatch.setattr(agent, "_answer", think)
        agent.ask(1, 0, None, 1, lambda answer: pytest.fail("nobody is there any more"))
        await agent.stop()
        await asyncio.sleep(0.01)

    asyncio.run(stop())
    gc.collect()
    assert caplog.records == []


def test_a_bot_that_cannot_sit_down_leaves_no_process(tmp_path: Path) -> None:
    ended, seated = list[object](), list[object]()

    class Standing(IsolatedPlayer):
        def __init__(self) -> None:
            self.name = "bot"

        def join(self, *_: object) -> Any:
            raise AgentError("bot", "raised ValueError when it sat down")

    class Seats:
        def seat(self, *_: object) -> object:
            seated.append(Standing())
            return seated[-1]

        def end(self, entry: object, player: object) -> None:
            ended.append(player)

    game = dicegym.game("yatzy")
    one = local_agents.LocalAgent("bot", bot_file(tmp_path, "bot"), game, 1.0, print, jail.Isolation.NONE)
    one._hosts = Seats()  # type: ignore[assignment]  # all that is asked of one
    for _ in range(2):
        with pytest.raises(AgentError, match="sat down"):
            one._answer(1, 0, game.new_game(1)[0], 0)
    one._leave(1)
    assert (len(ended), len(seated)) == (1, 1)


@run
async def test_an_exported_model_plays_as_the_model_does_whether_it_sits_here_or_joins(tmp_path: Path) -> None:
    from dicegym.bots.export import export_source
    from dicegym.server.client import Join

    game = dicegym.game("yatzy", players=3)
    model = dicegym.agent(game, "ppo")
    path = tmp_path / "learned.py"
    path.write_text(export_source(model, game, "yatzy.py"))
    async with serving(tmp_path, agents=(str(path), "ppo"), players=3, games=1) as server:
        where = f"127.0.0.1:{server.ports['tcp']}"
        guest = Join("yatzy", where, model, "anna", games=1, log=lambda line: None)
        await asyncio.to_thread(guest.run)
        await server.wait_finished()
        results = stored_results(server.store)
    assert results
    for result in results:
        assert result.incidents == ()
        assert {place.name for place in result.places} == {"learned", "ppo", "anna"}
        state = game.new_game(result.seed, result.number)[0]
        for action in result.actions:
            row = state.copy().reshape(1)
            (chosen,) = model.act_rows(game, row, np.zeros(1, np.int64), row["player"].astype(np.int64))
            game.step(row[0], int(chosen))
            game.step(state, action)
            assert row[0].tobytes() == state.tobytes()
        assert state["over"]


@run
async def test_a_shipped_agent_that_crashes_costs_the_server_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trusted agents play in other processes too, since any program may crash."""
    (folder := tmp_path / "agents" / "yatzy").mkdir(parents=True)
    bot_file(folder, "brittle", "import os; os.abort()")
    monkeypatch.setenv("DICEGYM_AGENTS", str(folder.parent))
    monkeypatch.setattr("dicegym.players.roster.is_shipped", lambda *file: True)
    assert not is_strangers(dicegym.game("yatzy"), "brittle")
    ((result,), _) = await results_against(tmp_path, "brittle", games=1)
    assert "ended its process" in result.incidents[0].reason
