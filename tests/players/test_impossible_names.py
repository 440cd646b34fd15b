"""Names that no file can have, and homes of nobody: an agent, an entry or a store of that name is missing, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

import dicegym
from dicegym.arena import contest
from dicegym.arena.store.reading import StoreReader
from dicegym.errors import DicegymError
from dicegym.players.agent_info import game_of_file
from dicegym.players.roster import find_model_file
from dicegym.shipped import is_shipped

HOG = dicegym.game("hog")
NAMES = ("~nobody-of-that-name/x{}", "~nobody-of-that-name{}", "a\0b{}", "c" * 300 + "{}", "d" * 300 + "/x{}")


@pytest.mark.parametrize("ending", ["", ".py", ".zip", ":f", ".zip:x"])
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_what_has_an_impossible_name_is_missing(name: str, ending: str) -> None:
    look_for(name.format(ending))


@pytest.mark.parametrize("name", ["circle", "circle.py", "circle.zip"])
def test_a_link_in_a_circle_leads_to_nobody(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(name)
    look_for(str(tmp_path / name))
    assert not is_shipped(tmp_path / name)


def look_for(named: str) -> None:
    for look in (
        lambda: dicegym.agent(HOG, named),
        lambda: contest(HOG, [named, "bacon"], 1, games=1),
        lambda: find_model_file(HOG, named),
        lambda: game_of_file(named),
        lambda: StoreReader(named),
    ):
        with pytest.raises(DicegymError):
            look()
