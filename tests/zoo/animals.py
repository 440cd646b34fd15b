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


def animals(game: str, level: str, slow: bool = False) -> list[Hostile]:
    """Return those that play a game at a level of isolation, in the quick run or, if ``slow``, those left out of it."""
    return [
        animal
        for animal in ANIMALS.values()
        if game in animal.games and (level == "jail" or not animal.jail) and animal.slow is slow
    ]
