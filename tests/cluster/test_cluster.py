"""A cluster of several nodes comes to the same as one machine, whatever becomes of its nodes, and leaves nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from zoo.cage import why_not
from zoo.errand import Visit, send

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")]
MOST_SECONDS = 550.0


def visit(**request: Any) -> Visit:
    """Make a visit; skip the test where there can be none."""
    if why := why_not():
        pytest.skip(why)
    return send("cluster.visit", request, MOST_SECONDS)


def left(seen: Visit) -> list[str]:
    """Return what a visit left but Ray's logs, files of processes that Ray killed, and closing connections."""
    return [one for one in seen.cage.left if not one.startswith(("/tmp/ray", "/tmp/pymp-", "/tmp/tmp", "tcp"))]


@pytest.mark.parametrize(
    "wanted",
    [
        {"game": "hog", "bots": ("ann.py", "cat.py"), "agents": 1, "games": 5, "nodes": 1, "losses": (4,)},  # a referee
        {"game": "hog", "agents": 1, "games": 50, "nodes": 2, "losses": (10,)},
        {"game": "hog", "agents": 8, "games": 100, "nodes": 3, "losses": (4, 9, 14, 19)},
        {"game": "lucky", "agents": 6, "games": 2, "nodes": 3, "losses": (4, 9, 14, 19)},
        {"game": "yatzy", "agents": 4, "games": 5, "nodes": 3, "losses": (4, 9, 14, 19)},
    ],
    ids=str,
)
def test_a_cluster_that_loses_referees_and_nodes_comes_to_the_same(wanted: dict[str, Any]) -> None:
    seen = visit(what="losing", **wanted)
    assert seen.found, seen.cage.output[-3000:]
    assert seen.found["there"] == seen.found["here"]
    assert seen.found["not lost"] == []
    assert set(seen.found["counted"].values()) == {1}
    assert left(seen) == []


def test_whoever_is_no_part_of_a_cluster_can_play_on_it(tmp_path: Path) -> None:
    """Not in a cage, where the only address is 127.0.0.1: there Ray's client does not start."""
    request = {"what": "losing", "game": "hog", "agents": 1, "games": 50, "nodes": 2, "losses": [10], "outside": True}
    command = [sys.executable, "-m", "cluster.visit", json.dumps({**request, "result": str(tmp_path / "found")})]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, check=True, timeout=MOST_SECONDS)
    found = json.loads((tmp_path / "found").read_text())
    assert found["there"] == found["here"]
    assert found["not lost"] == []


def test_what_ends_its_referee_each_time_is_named_and_given_up() -> None:
    seen = visit(what="deadly")
    assert seen.found, seen.cage.output[-3000:]
    assert "gave up Deadly of bacon: it is lost at most 5 times" in seen.found["error"]
    assert seen.found["done"] <= 1
    assert left(seen) == []


def test_a_command_that_is_killed_leaves_no_referee_and_goes_on() -> None:
    seen = visit(what="killed", patience=20)
    assert seen.found, seen.cage.output[-3000:]
    assert seen.found["left"] == []
    assert seen.found["again"] == seen.found["whole"]
    assert re.search(r" checks and matches done now, [1-9]\d* found in the store", seen.found["told"])
    assert left(seen) == []
