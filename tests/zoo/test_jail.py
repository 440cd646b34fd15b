"""The zoo in jails: all its bots."""

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
    QUICK_GAMES,
    check_nothing_left,
    check_others,
    check_verdict,
    check_whole,
    check_words,
    everybody,
    visit,
)
from zoo.strangers import STRANGERS

LEVEL = "jail"


@pytest.mark.parametrize(("game", "animal"), everybody(LEVEL))
def test_verdict(game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", LEVEL, game), game, animal)


@pytest.mark.parametrize("game", QUICK_GAMES)
def test_nobody_else_pays(game: str) -> None:
    check_others(visit("bots", LEVEL, game))


@pytest.mark.parametrize("game", QUICK_GAMES)
def test_nothing_is_left(game: str) -> None:
    check_nothing_left(visit("bots", LEVEL, game))


@pytest.mark.parametrize("game", QUICK_GAMES)
def test_nothing_in_a_report_harms_a_terminal(game: str) -> None:
    check_words(visit("bots", LEVEL, game).found["hostile"]["text"])


@pytest.mark.slow
@pytest.mark.parametrize(("game", "animal"), everybody(LEVEL, whole=True))
def test_verdict_in_every_game(game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", LEVEL, game, whole=True), game, animal)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_nobody_pays_for_all_of_them(game: str) -> None:
    seen = visit("bots", LEVEL, game, whole=True)
    check_others(seen)
    check_nothing_left(seen)
    check_words(seen.found["hostile"]["text"])


@pytest.mark.slow
@pytest.mark.parametrize("game", ["hog", "yatzy"])
def test_a_whole_contest_is_for_others_as_without_them(game: str) -> None:
    seen = visit("whole", LEVEL, game)
    check_whole(seen)
    check_nothing_left(seen)


# --- files -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_strangers_files_are_judged_one_by_one() -> None:
    import re

    seen = visit("strangers", LEVEL, "hog")
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
        assert len(animals(game, LEVEL, whole=True)) >= 40
    assert {animal.name for game in GAMES for animal in animals(game, LEVEL)} == ANIMALS.keys()
    assert len(animals(QUICK_AT_PROCESS, "process")) >= 60


@pytest.mark.slow
def test_spies_find_what_is_there() -> None:
    """Without a referee: a search that finds nothing anywhere proves nothing."""
    from zoo.spies import SPIES

    seen = visit("spies", LEVEL, "hog")
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
