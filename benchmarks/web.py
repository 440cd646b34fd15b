"""How fast the pages are: so many people at once play at a human pace, on a server in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import dicegym
from benchmarks.visitors import PageVisitor
from dicegym.errors import DependencyError, ParameterError

PLAYERS = 200
ARRIVING = 20.0
"""Seconds within which they come, and which are not measured."""
SLOWEST = 0.2
"""Seconds within which 99 of 100 answers should be there."""
ELSEWHERE = ("/", "/play", "/watch", "/rules", "/learn")
_PORT = re.compile(r"http://\S+:(\d+)/")


class PagesLoad(NamedTuple):
    """What was measured."""

    median: float
    """Seconds."""
    p95: float
    p99: float
    requests: float
    """A second."""
    failures: tuple[str, ...]
    slowest: dict[str, float]
    """The 99th percentile in seconds of each kind of request."""


def measure(
    games: Sequence[str], seconds: float = 30.0, players: int = PLAYERS, arriving: float = ARRIVING
) -> PagesLoad:
    """Return how long people wait for pages on this machine; their browsers run on it too.

    Each of them begins a game, thinks 1 to 5 seconds before each click (`visitors.THINKS`), and now and then looks at
    another page.

    Args:
        games: what they play, in turn.
        seconds: for how long it is measured.
        players: at once.
        arriving: seconds within which they come.

    Raises:
        DependencyError: the pages cannot be served here.
        ParameterError: they do not start.
    """
    try:
        import dicegym.web.application  # noqa: F401 - whether it can be imported
    except ImportError as error:
        raise DependencyError.for_extra(str(error.name), "web", "the pages") from error
    subprocess.run([sys.executable, "-m", "dicegym.web.readiness"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        code = "import sys; from dicegym.cli import main; sys.exit(main())"
        command = [sys.executable, "-P", "-c", code, "web", "--port", "0", "--folder", str(Path(folder) / "web")]
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = _PORT.search(line)
            if found is None:
                raise ParameterError(f"the pages did not start: {line.strip() or 'they said nothing'}")
            return asyncio.run(_measure(f"http://127.0.0.1:{found[1]}/", tuple(games), seconds, players, arriving))
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            process.kill()


def _environment() -> dict[str, str]:
    import os

    here = str(Path(dicegym.__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


async def _measure(address: str, games: tuple[str, ...], seconds: float, players: int, arriving: float) -> PagesLoad:
    visitors = [PageVisitor(address, games[number % len(games)], number, ELSEWHERE) for number in range(players)]
    for path in ELSEWHERE:
        await visitors[0].ask("GET", path, "first")
    tasks = []
    for visitor in visitors:
        tasks.append(asyncio.create_task(visitor.play()))
        await asyncio.sleep(arriving / players)
    for visitor in visitors:
        visitor.measures = True
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    waits = [wait for visitor in visitors for wait in visitor.waits]
    if len(waits) < 100:
        raise ParameterError(f"{len(waits)} answers came, too few to say anything: measure for longer")
    kinds = {what: _centiles([one for one, kind in waits if kind == what])[98] for what in {kind for _, kind in waits}}
    centiles = _centiles([one for one, _ in waits])
    failures = tuple(fault for visitor in visitors for fault in visitor.failures)
    return PagesLoad(centiles[49], centiles[94], centiles[98], len(waits) / seconds, failures, kinds)


def _centiles(values: list[float]) -> list[float]:
    return statistics.quantiles(values, n=100) if len(values) > 1 else values * 99
