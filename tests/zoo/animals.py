"""All hostile bots in one table."""

from __future__ import annotations

from zoo.answers import ANSWERS
from zoo.endings import ENDINGS
from zoo.families import FAMILIES
from zoo.forgers import FORGERS
from zoo.hoarders import HOARDERS
from zoo.hostile import Hostile
from zoo.spies import SPIES
from zoo.vandals import VANDALS
from zoo.waiting import WAITING

ANIMALS: dict[str, Hostile] = {
    animal.name: animal for animal in (*WAITING, *FAMILIES, *HOARDERS, *ENDINGS, *ANSWERS, *FORGERS, *SPIES, *VANDALS)
}


QUICK_AT_PROCESS = "liarsdice"
"""The game of the quick run in plain processes."""


def animals(game: str, level: str, whole: bool = False) -> list[Hostile]:
    """Return the hostile bots of a game at an isolation level: all (``whole``), or those of the quick run.

    In the quick run each plays one game in a jail, and about half of them play in plain processes.
    """
    found = []
    for number, animal in enumerate(ANIMALS.values()):
        if game not in animal.games or (animal.jail and level != "jail"):
            continue
        share = animal.games[number % len(animal.games)] if level == "jail" else QUICK_AT_PROCESS
        if whole or game == share:
            found.append(animal)
    return found
