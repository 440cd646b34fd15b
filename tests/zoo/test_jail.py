"""Hostile bots in jails, and those that need no jail in plain processes: each visit is made once, in a cage."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.sandbox import jail
from zoo.animals import ANIMALS, QUICK_AT_PROCESS, animals
from zoo.cage import NAMESPACES, why_not
from zoo.errand import Visit, send
from zoo.hostile import GAMES, Hostile, Pays
from zoo.spies import SPIES
from zoo.strangers import STRANGERS
from zoo.visit import HONEST

MOST_SECONDS = 600.0
"""A visit ends after this time, whatever a bot does."""
NEEDLESS = ("dicegym.analysis.*", "dicegym.envs.*", "dicegym.learning.*", "tests.*")
"""Kernels that no contest runs, which are most of the compiled ones."""
WHOLE = ("answers_twice", "closes_its_lines", "evil_answer", "exits_at_once", "kills_itself")
"""Bots of both games with a whole contest, each disqualified or punished in another way."""
QUICK = GAMES[:2]
"""The verdict does not depend on the game: `make test` tests these games, `make test-all` all."""
LEVELS = ("jail", "process")
"""Visits at the second level are slow tests."""


def visit(what: str, level: str, game: str, whole: bool = False) -> Visit:
    """Return the result of a visit for one game; skip the test if no visit is possible."""
    if why := why_not():
        pytest.skip(why)
    if level == "jail" and (why := jail.probe("jail")):
        pytest.skip(why)
    together = what == "bots" and not whole and game in QUICK
    seen = _visit(what, level, QUICK if together else (game,), whole)
    return seen._replace(found=seen.found.get(game, {}))


@functools.cache
def _visit(what: str, level: str, games: tuple[str, ...], whole: bool) -> Visit:
    """Make a visit, once per run.

    Visits of the quick run share a cage: starting one and loading everything takes as long as a contest in it.
    """
    names = {"whole": list(WHOLE), "spies": [spy.name for spy in SPIES], "strangers": []}
    bots = {game: names.get(what, [animal.name for animal in animals(game, level, whole)]) for game in games}
    return send("zoo.visit", {"what": what, "level": level, "games": bots}, MOST_SECONDS, NEEDLESS)


def everybody(whole: bool = False) -> list[Any]:
    """Return (level, game, animal) as parameters of a test; those outside the quick run are marked slow."""
    return [
        pytest.param(
            level, game, one, id=f"{level}-{game}-{one.name}", marks=() if is_quick(level, game) else pytest.mark.slow
        )
        for level in LEVELS
        for game in GAMES
        for one in animals(game, level, whole)
    ]


def everywhere(whole: bool = False) -> list[Any]:
    """Return (level, game) of all visits as parameters of a test."""
    return [
        pytest.param(level, game, marks=() if is_quick(level, game) else pytest.mark.slow)
        for level in LEVELS
        for game in GAMES
        if animals(game, level, whole)
    ]


def is_quick(level: str, game: str) -> bool:
    return level == "jail" and game in QUICK


def check_verdict(seen: Visit, game: str, animal: Hostile) -> None:
    """Assert that a bot was punished as expected, and not otherwise."""
    assert seen.found, seen.cage.output[-2000:]
    hostile, meek = seen.found["hostile"], seen.found["meek"]
    struck = hostile["struck"].get(animal.name, "")
    misplays = [reason for name, _, reason in hostile["misplays"] if name == animal.name]
    own = {tuple(match[0]): match[1:] for match in hostile["matches"] if animal.name in match[0]}
    if animal.pays is Pays.NOTHING:
        assert (struck, misplays) == ("", [])
        assert own == {tuple(match[0]): match[1:] for match in meek["matches"] if animal.name in match[0]}
        assert own
        assert "looked" not in animal.ask or "looked" in hostile["printed"][animal.name]
        return
    if animal.pays is Pays.LOADING or dicegym.game(game).spec.forfeit is None:
        assert struck
        assert misplays == []
    else:
        assert not struck
        assert misplays
    for reason in [struck] if struck else misplays[:1]:
        assert " at 0x" not in reason  # differs in each run
        assert re.search(animal.reason, reason), reason
        assert animal.name not in reason.partition(" against ")[2]  # this part names its opponents


def check_others(seen: Visit) -> None:
    """Assert that honest bots had the same results as without hostile ones, and no faults."""
    assert seen.found, seen.cage.output[-2000:]
    hostile, meek = seen.found["hostile"], seen.found["meek"]
    assert not hostile["struck"].keys() & set(HONEST)
    assert not [name for name, *_ in hostile["misplays"] if name in HONEST]
    assert len(hostile["remarks"]) < 40  # no bot floods them
    own = [[match for match in one["matches"] if set(match[0]) == set(HONEST)] for one in (hostile, meek)]
    assert own[0] == own[1]
    assert len(own[0]) == 1


def check_whole(seen: Visit) -> None:
    """Assert that the other bots' matches and ranking in a whole contest do not change by hostile ones."""
    assert seen.found, seen.cage.output[-2000:]
    hostile, meek = seen.found["hostile"], seen.found["meek"]
    others = [match for match in hostile["matches"] if not set(match["entries"]) & set(WHOLE)]
    assert others == meek["matches"]
    assert len(others) == 10  # of five
    assert not hostile["struck"].keys() - set(WHOLE)
    played = [row["name"] for row in hostile["standings"] if row["name"] in WHOLE]
    if not played:
        assert hostile["standings"] == meek["standings"]
    for row in meek["standings"]:
        assert row["name"] in {other["name"] for other in hostile["standings"]}


def check_nothing_left(seen: Visit) -> None:
    """Assert that no process or file outlived the contest, and that no bot connected to a listener."""
    assert seen.cage.left == []
    assert seen.found["calls"] == []
    assert seen.cage.status == 0, seen.cage.output[-2000:]


def check_words(text: str) -> None:
    """Assert that a report contains nothing that moves a cursor, reverses text or changes a terminal."""
    assert not {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs") and letter != "\n"}


def check_world(seen: Visit) -> None:
    """Assert that others were not affected, that nothing is left, and that the report harms no terminal."""
    check_others(seen)
    check_nothing_left(seen)
    check_words(seen.found["hostile"]["text"])


@pytest.mark.parametrize(("level", "game", "animal"), everybody())
def test_verdict(level: str, game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", level, game), game, animal)


@pytest.mark.parametrize(("level", "game"), everywhere())
def test_others_are_not_affected_and_nothing_is_left(level: str, game: str) -> None:
    check_world(visit("bots", level, game))


@pytest.mark.slow
@pytest.mark.parametrize(("level", "game", "animal"), everybody(whole=True))
def test_verdict_in_every_game(level: str, game: str, animal: Hostile) -> None:
    check_verdict(visit("bots", level, game, whole=True), game, animal)


@pytest.mark.slow
@pytest.mark.parametrize(("level", "game"), everywhere(whole=True))
def test_others_are_not_affected_by_all_of_them(level: str, game: str) -> None:
    check_world(visit("bots", level, game, whole=True))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["hog", "yatzy"])
def test_a_whole_contest_does_not_change_for_others(game: str) -> None:
    seen = visit("whole", "jail", game)
    check_whole(seen)
    check_nothing_left(seen)


# --- files -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_strangers_files_are_judged_one_by_one() -> None:
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
    seen = visit("spies", "jail", "hog")
    found = {name: words for name, words in seen.found.items() if name != "calls"}
    assert found.keys() == {spy.name for spy in SPIES}
    assert all(words.startswith("Found: ") for words in found.values()), found
    assert len(seen.found["calls"]) == 3


@pytest.mark.skipif(bool(why_not()), reason="needs namespaces")
def test_a_cage_ends_with_its_parent(tmp_path: Path) -> None:
    """However that ends, and with everything in the cage."""
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
