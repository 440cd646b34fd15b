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
"""The game in which the quick run plays at the lesser level."""


def animals(game: str, level: str, whole: bool = False) -> list[Hostile]:
    """Return those that play a game at a level of isolation: all (``whole``), or a share of them for the quick run.

    There each plays in a jail at one game of its own, and about half of them play in plain processes.
    """
    found = []
    for number, animal in enumerate(ANIMALS.values()):
        if game not in animal.games or (animal.jail and level != "jail"):
            continue
        share = animal.games[number % len(animal.games)] if level == "jail" else QUICK_AT_PROCESS
        if whole or game == share:
            found.append(animal)
    return found
