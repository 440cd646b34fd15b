"""What both files of tests ask of the zoo: a visit of each game, made once, and what must hold of it."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

import pytest

import dicegym
from zoo.animals import animals
from zoo.cage import why_not
from zoo.errand import Visit, send
from zoo.hostile import GAMES, Hostile, Pays
from zoo.spies import SPIES
from zoo.visit import HONEST

MOST_SECONDS = 600.0
"""After so many a visit ends, whatever a bot does."""


NEEDLESS = ("dicegym.analysis.*", "dicegym.envs.*", "dicegym.learning.*", "tests.*")
"""Kernels that no contest runs: most of all that are compiled."""


WHOLE = ("answers_twice", "closes_its_lines", "evil_answer", "exits_at_once", "kills_itself")
"""Bots of both games in which a whole contest is held, each struck or punished in another way."""


def visit(what: str, level: str, game: str, whole: bool = False) -> Visit:
    """Return what a visit showed of a game; skip the test where there can be none."""
    if why := why_not():
        pytest.skip(why)
    if level == "jail" and (why := _no_jail()):
        pytest.skip(why)
    together = what == "bots" and not whole and game in QUICK
    seen = _visit(what, level, QUICK if together else (game,), whole)
    return seen._replace(found=seen.found.get(game, {}))


@functools.cache
def _visit(what: str, level: str, games: tuple[str, ...], whole: bool) -> Visit:
    """Make a visit, once in a run.

    Those of the quick run share a cage: to start one, and to load all there, takes as long as a contest in it.
    """
    names = {"whole": list(WHOLE), "spies": [spy.name for spy in SPIES], "strangers": []}
    bots = {game: names.get(what, [animal.name for animal in animals(game, level, whole)]) for game in games}
    return send("zoo.visit", {"what": what, "level": level, "games": bots}, MOST_SECONDS, NEEDLESS)


def _no_jail() -> str:
    from dicegym.sandbox import jail

    return jail.probe("jail")


QUICK = GAMES[:2]
"""Verdicts know no game: `make test` asks for them in these, `make test-all` in all."""


LEVELS = ("jail", "process")
"""At the lesser level all is slow."""


def everybody(whole: bool = False) -> list[Any]:
    """Return (level, game, animal) as parameters of a test; slow are those that are not asked quickly."""
    return [
        pytest.param(
            level, game, one, id=f"{level}-{game}-{one.name}", marks=() if is_quick(level, game) else pytest.mark.slow
        )
        for level in LEVELS
        for game in GAMES
        for one in animals(game, level, whole)
    ]


def everywhere(whole: bool = False) -> list[Any]:
    """Return (level, game) of all visits, as parameters of a test."""
    return [
        pytest.param(level, game, marks=() if is_quick(level, game) else pytest.mark.slow)
        for level in LEVELS
        for game in GAMES
        if animals(game, level, whole)
    ]


def is_quick(level: str, game: str) -> bool:
    return level == "jail" and game in QUICK


def check_verdict(seen: Visit, game: str, animal: Hostile) -> None:
    """Assert that a bot got what it deserves, and nothing else."""
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
        assert " at 0x" not in reason  # which is another in each run
        assert re.search(animal.words(game), reason), reason
        assert animal.name not in reason.partition(" against ")[2]  # where its opponents are named


def check_others(seen: Visit) -> None:
    """Assert that the honest ones got what they got when all behaved, and paid for nothing."""
    assert seen.found, seen.cage.output[-2000:]
    hostile, meek = seen.found["hostile"], seen.found["meek"]
    assert not hostile["struck"].keys() & set(HONEST)
    assert not [name for name, *_ in hostile["misplays"] if name in HONEST]
    assert len(hostile["remarks"]) < 40  # nobody drowns them
    own = [[match for match in one["matches"] if set(match[0]) == set(HONEST)] for one in (hostile, meek)]
    assert own[0] == own[1]
    assert len(own[0]) == 1


def check_whole(seen: Visit) -> None:
    """Assert that a contest's own matches and ranking are for all others what they are without the hostile ones."""
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
    """Assert that nothing of the bots outlived the contest, and that nobody was called."""
    assert seen.cage.left == []
    assert seen.found["calls"] == []
    assert seen.cage.status == 0, seen.cage.output[-2000:]


def check_words(text: str) -> None:
    """Assert that nothing in a report moves a cursor, turns text around or changes a terminal."""
    assert not {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs") and letter != "\n"}


def check_world(seen: Visit) -> None:
    """Assert that all others got what is theirs, that nothing is left, and that the report harms no terminal."""
    check_others(seen)
    check_nothing_left(seen)
    check_words(seen.found["hostile"]["text"])
