"""The zoo: all its bots in jails, and in plain processes those that need no jail to be held."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zoo.animals import ANIMALS, QUICK_AT_PROCESS, animals
from zoo.cage import NAMESPACES, why_not
from zoo.hostile import GAMES, Hostile
from zoo.keeper import (
    check_nothing_left,
    check_verdict,
    check_whole,
    check_words,
    check_world,
    everybody,
    everywhere,
    visit,
)
from zoo.strangers import STRANGERS


@pytest.mark.parametrize(("level", "game", "animal"), everybody())
def test_verdict(level: str, game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", level, game), game, animal)


@pytest.mark.parametrize(("level", "game"), everywhere())
def test_nobody_else_pays_and_nothing_is_left(level: str, game: str) -> None:
    check_world(visit("bots", level, game))


@pytest.mark.slow
@pytest.mark.parametrize(("level", "game", "animal"), everybody(whole=True))
def test_verdict_in_every_game(level: str, game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", level, game, whole=True), game, animal)


@pytest.mark.slow
@pytest.mark.parametrize(("level", "game"), everywhere(whole=True))
def test_nobody_pays_for_all_of_them(level: str, game: str) -> None:
    check_world(visit("bots", level, game, whole=True))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["hog", "yatzy"])
def test_a_whole_contest_is_for_others_as_without_them(game: str) -> None:
    seen = visit("whole", "jail", game)
    check_whole(seen)
    check_nothing_left(seen)


# --- files -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_strangers_files_are_judged_one_by_one() -> None:
    import re

    seen = visit("strangers", "jail", "hog")
    assert seen.found, seen.cage.output[-2000:]
    struck = seen.found["hostile"]["struck"]
    assert len(struck) == sum(bool(one.reason) for one in STRANGERS)
    for one in STRANGERS:
        reasons = [reason for name, reason in struck.items() if name in (one.name, Path(one.name).stem)]
        assert len(reasons) == bool(one.reason)
        assert all(re.search(one.reason, reason) for reason in reasons), reasons
    assert seen.found["hostile"]["matches"] == seen.found["meek"]["matches"]
    check_words(seen.found["hostile"]["text"])
    check_nothing_left(seen)


# --- the zoo itself ----------------------------------------------------------------------------------------


def test_there_are_enough_of_all_kinds() -> None:
    assert len(ANIMALS) >= 100
    for game in GAMES:
        assert len(animals(game, "jail", whole=True)) >= 40
    assert {animal.name for game in GAMES for animal in animals(game, "jail")} == ANIMALS.keys()
    assert len(animals(QUICK_AT_PROCESS, "process")) >= 60


@pytest.mark.slow
def test_spies_find_what_is_there() -> None:
    """Without a referee: a search that finds nothing anywhere proves nothing."""
    from zoo.spies import SPIES

    seen = visit("spies", "jail", "hog")
    found = {name: words for name, words in seen.found.items() if name != "calls"}
    assert found.keys() == {spy.name for spy in SPIES}
    assert all(words.startswith("Found: ") for words in found.values()), found
    assert len(seen.found["calls"]) == 3


@pytest.mark.skipif(bool(why_not()), reason="needs namespaces")
def test_a_cage_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """However it ends, and with all that is in it."""
    mark = f"sleep 6{os.getpid()}.25"
    started = (
        "import sys; from pathlib import Path; from zoo.cage import caged; "
        f"caged(['sh', '-c', 'setsid {mark} & setsid setsid {mark} & {mark}'], Path(sys.argv[1]), 60)"
    )
    process = subprocess.Popen([sys.executable, "-c", started, tmp_path], env=os.environ | {"PYTHONPATH": "tests"})

    def running() -> int:
        texts = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                texts.append(file.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
            except OSError:
                continue
        return texts.count(mark)

    deadline = time.monotonic() + 20
    while running() < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running() == 3
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    while running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running() == 0
    assert NAMESPACES
