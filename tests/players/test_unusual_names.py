"""Names that no file can have, and numbers that no agent takes: whatever looks for them raises an error in words."""

from __future__ import annotations

from pathlib import Path

import pytest

import dicegym
from dicegym.arena import contest
from dicegym.arena.store.reading import StoreReader
from dicegym.errors import DicegymError, ParameterError
from dicegym.players.agent_info import game_for
from dicegym.players.pool import Pool
from dicegym.players.roster import find_model_file
from dicegym.shipped import is_shipped

HOG = dicegym.game("hog")
NAMES = ("~nobody-of-that-name/x{}", "~nobody-of-that-name{}", "a\0b{}", "c" * 300 + "{}", "d" * 300 + "/x{}")


def look_for(named: str) -> None:
    for look in (
        lambda: dicegym.agent(HOG, named),
        lambda: contest(HOG, [named, "bacon"], 1, games=1),
        lambda: find_model_file(HOG, named),
        lambda: game_for(named),
        lambda: StoreReader(named),
    ):
        with pytest.raises(DicegymError):
            look()


@pytest.mark.parametrize("ending", ["", ".py", ".zip", ":f", ".zip:x"])
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_what_has_an_impossible_name_is_missing(name: str, ending: str) -> None:
    look_for(name.format(ending))


@pytest.mark.parametrize("name", ["\0", f"always_roll(0x{'f' * 4000})", f"always_roll({1 << 63})"])
def test_what_no_agent_takes_is_missing(name: str) -> None:
    look_for(name)


@pytest.mark.parametrize("name", ["circle", "circle.py", "circle.zip"])
def test_a_link_in_a_circle_leads_to_nobody(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(name)
    look_for(str(tmp_path / name))
    assert not is_shipped(tmp_path / name)


@pytest.mark.parametrize("weights", [{"bacon": 1e308, "swap": 1e308}, {"bacon": 1e300}])
def test_weights_whose_sum_is_beyond_all_floats_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="sum of weights"):
        Pool.of(HOG, weights)
