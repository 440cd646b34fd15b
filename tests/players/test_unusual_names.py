"""Names that no file can have, and numbers that no agent takes: one error in words, whoever is asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dicegym
from dicegym.errors import DicegymError, ParameterError
from dicegym.players.agent_info import game_for
from dicegym.players.pool import Pool
from dicegym.players.roster import agent_name, agents_folder, find_model_file

LONG = "a" * 300
NAMES = [LONG, f"{LONG}.py", f"{LONG}.zip", f"x/{LONG}", "~nobody/x.zip", "~nobody/x.py", "~nobody-here", "\0"]


@pytest.mark.parametrize("name", [*NAMES, f"always_roll(0x{'f' * 4000})", f"always_roll({1 << 63})"])
def test_a_name_of_nothing_is_an_error_of_ours(name: str) -> None:
    for ask in (
        lambda: dicegym.agent("hog", name),
        lambda: game_for(name),
        lambda: find_model_file(dicegym.game("hog"), name),
    ):
        with pytest.raises(DicegymError):
            ask()


@pytest.mark.parametrize("weights", [{"bacon": 1e308, "swap": 1e308}, {"bacon": 1e300}])
def test_weights_whose_sum_is_beyond_all_floats_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="sum of weights"):
        Pool.of(dicegym.game("hog"), weights)


def test_a_training_in_a_folder_called_as_its_game_goes_by_its_model_too(tmp_path: Path) -> None:
    for folder in (tmp_path / "hog", tmp_path / "mine"):
        folder.mkdir()
        shutil.copy(agents_folder("hog") / "ppo.zip", folder / "best.zip")
    assert [agent_name("hog", str(tmp_path / name)) for name in ("hog", "mine")] == ["hog-best", "mine"]
    assert dicegym.agent("hog", tmp_path / "hog").name == "hog-best"
