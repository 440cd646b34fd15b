"""Servers, pages and contests run for long: after a warm-up their memory does not grow with what they do.

One command runs all of it, in a few minutes: ``pytest -m slow tests/soak``.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("websockets")
pytest.importorskip("starlette")
from talk import serving
from web_pages import Visitor
from web_stores import held_store

from dicegym.arena import contest
from dicegym.web.application import create_app
from dicegym.web.web_settings import WebSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

SECONDS = 60.0
"""After which a soak ends, whatever it has done by then."""
OBJECTS = 300
"""Objects by which two looks may differ: caches that turn over, timers that have not run out."""
KILOBYTES = 1024
"""Memory by which they may: the allocator keeps pages that it does not need."""


class Look(NamedTuple):
    """What a process has."""

    done: int
    """Games, visitors or contests so far."""
    objects: int
    kilobytes: int


def look(done: int) -> Look:
    """Return what this process has when all that is garbage is gone."""
    for _ in range(3):
        gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (size,) = [int(line.split()[1]) for line in lines if line.startswith("RssAnon")]
    return Look(done, len(gc.get_objects()), size)


def soak(do: Callable[[], object], warm: int, most: int) -> list[Look]:
    """Do something ``warm`` times, then up to ``most`` times, and look four times meanwhile."""
    for _ in range(warm):
        do()
    looks, done, end = [look(0)], 0, time.monotonic() + SECONDS
    while done < most and time.monotonic() < end:
        do()
        done += 1
        if done % (most // 4) == 0:
            looks.append(look(done))
    return [*looks, look(done)]


def assert_flat(looks: list[Look]) -> None:
    first, *others = looks
    assert others[-1].done > 0
    assert others[-1].objects - first.objects < OBJECTS, looks
    assert min(one.kilobytes for one in others[-2:]) - first.kilobytes < KILOBYTES, looks


async def finished(folder: Path, warm: int, most: int) -> AsyncIterator[Look]:
    """Yield looks at a server whose agents play each other as fast as they can."""
    async with serving(folder, agents=("in_order", "at_once"), always=True, gather=0.0, ws=None) as server:
        while server.lobby.finished < warm:
            await asyncio.sleep(0.01)
        end = time.monotonic() + SECONDS
        for part in range(5):
            wanted = warm + part * most // 4
            while server.lobby.finished < wanted and time.monotonic() < end:
                await asyncio.sleep(0.01)
            server.told.clear()  # type: ignore[attr-defined]  # the lines that a test keeps
            yield look(server.lobby.finished - warm)


def test_a_server_is_flat_while_games_are_played(tmp_path: Path) -> None:
    async def looks() -> list[Look]:
        return [one async for one in finished(tmp_path, 300, 1200)]

    assert_flat(asyncio.run(looks()))


@pytest.fixture
def pages(tmp_path: Path) -> WebSettings:
    held_store(tmp_path / "arena.sqlite")
    return WebSettings(tmp_path / "web", str(tmp_path / "arena.sqlite"), (tmp_path / "runs",))


def test_pages_are_flat_while_visitors_come_and_go(pages: WebSettings) -> None:
    with Visitor(create_app(pages)) as asked:

        def visit() -> None:
            asked.cookies.clear()  # somebody else
            for path in ("/", "/play", "/watch", "/watch/contests/1", "/watch/games/1/1", "/rules/hog", "/enter"):
                assert asked.get(path).status_code in (200, 429)

        assert_flat(soak(visit, 60, 240))


def test_contests_are_flat_in_one_process(tmp_path: Path) -> None:
    seeds = iter(range(1_000_000))

    def hold() -> None:
        contest("hog", ["bacon", "swap", "always_roll"], next(seeds), 1, games=2, store=tmp_path / "arena.sqlite")

    assert_flat(soak(hold, 4, 20))
