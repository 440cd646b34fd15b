"""A cluster of several nodes comes to the same as one machine, whatever becomes of its nodes, and leaves nothing."""

from __future__ import annotations

import functools
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from zoo.cage import Caged, caged, why_not

import dicegym
from dicegym.engine import jit

pytest.importorskip("ray")
MOST_SECONDS = 300.0


class Visit(NamedTuple):
    cage: Caged
    found: dict[str, Any]


@functools.cache
def visit(**request: Any) -> Visit:
    """Make a visit, once in a run; skip the test where there can be none."""
    if why := why_not():
        pytest.skip(why)
    root = Path(dicegym.__file__).resolve().parents[1]
    cache = (str(Path(jit.CACHE_FOLDER).parent),) if jit.CACHE_FOLDER else ()
    kept = (str(root),) if Path(sys.prefix).is_relative_to(root) else (str(root), sys.prefix)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        command = [sys.executable, "-m", "cluster.visit", json.dumps(request | {"result": str(result)})]
        seen = caged(command, Path(folder), MOST_SECONDS, kept, cache)
        return Visit(seen, json.loads(result.read_text()) if result.exists() else {})


def left(seen: Visit) -> list[str]:
    """Return what a visit left but the logs that Ray keeps of every cluster, and connections that are closing."""
    return [one for one in seen.cage.left if not one.startswith(("/tmp/ray", "tcp"))]


def test_a_cluster_that_loses_nodes_comes_to_the_same() -> None:
    seen = visit(what="losing", game="hog", agents=2, games=50, nodes=2, losses=(12,))
    assert seen.found, seen.cage.output[-3000:]
    assert seen.found["there"] == seen.found["here"]
    assert seen.found["not lost"] == []
    assert set(seen.found["counted"].values()) == {1}
    assert left(seen) == []
