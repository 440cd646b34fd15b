"""What a game's folder holds is what `dicegym.games.parts` declares, and what is asked for is found or explained."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import dicegym
from dicegym import games
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, PartError, UnknownNameError
from dicegym.games.parts import (
    ADAPTER,
    CHANCE,
    CONTROLS,
    DUEL,
    PARTS,
    TEXT,
    TWINS,
    VALUES,
    find_examination,
    need,
    part,
)
from dicegym.registry import GAMES

pytestmark = pytest.mark.nojit

LIARS_DICE = {"Picture", "Controls", "Chance", "Values"}
OPTIONAL = {
    "hog": {"Picture", "Controls", "Duel", "Values"},
    "yatzy": {"Picture", "Controls", "Values"},
    "liarsdice": LIARS_DICE | {"Duel"},
    "liarsdice_spot_on": LIARS_DICE,
    "lucky": {"Picture", "Controls", "Values"},
}
"""The parts that no game needs, by the games that have them."""

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", GAMES)
def test_a_file_of_that_name_offers_what_the_protocol_says_and_what_is_demanded(name: str) -> None:
    folder, spec = ROOT / "dicegym" / "games" / name, games.spec(name)
    offered = [one for one in PARTS if part(name, one) is not None]
    assert {one.file for one in offered} == {one.file for one in PARTS if (folder / f"{one.file}.py").is_file()}
    assert {one.name for one in offered if one.demanded == "none"} == OPTIONAL[name]
    for one in PARTS:
        if one.demanded == "all" or (one.demanded == "finished" and spec.stage == "finished"):
            need(spec, one)


@pytest.mark.parametrize("kind", PARTS, ids=lambda kind: kind.name)
def test_a_part_is_declared_in_full(kind: object) -> None:
    (declared,) = [one for one in PARTS if one is kind]
    assert declared.protocol.__doc__
    assert f"``{declared.file}.py``" in declared.protocol.__doc__
    assert declared.offers or declared in (CONTROLS, TWINS, VALUES)  # of which nothing is demanded by its name


def test_every_game_with_a_part_is_found() -> None:
    assert all(part("hog", one) for one in (TEXT, ADAPTER, DUEL))
    assert part("yatzy", DUEL) is None
    assert find_examination(dicegym.game("hog")) is not None
    assert find_examination(dicegym.game("lucky")) is None, "its adapter seats opponents of smoke games alone"


def test_what_is_missing_is_said() -> None:
    with pytest.raises(PartError, match=r"no module dicegym\.games\.hog\.chance; write chance\.py with \w+"):
        need(dicegym.game("hog"), CHANCE)
    with pytest.raises(PartError, match=r"no module dicegym\.games\.yatzy\.exact"):
        need("yatzy", DUEL)
    with pytest.raises(UnknownNameError, match="hogg"):
        part("hogg", TEXT)


@pytest.mark.parametrize("plain", [False, True])
def test_parts_of_a_game_elsewhere_are_found_beside_its_rules(
    plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a package, and in a folder that is on the path itself, where modules elsewhere have the same names."""
    folder = tmp_path / ("" if plain else "elsewhere_a_game")
    folder.mkdir(exist_ok=True)
    module = "rules_of_a_game" if plain else "elsewhere_a_game.rules_of_a_game"
    (folder / "rules_of_a_game.py").write_text(
        "import dataclasses\nfrom dicegym.engine.loops import Kernels\nfrom dicegym.engine.spec import record\n"
        "from dicegym.games import spec\n"
        "def step(state, action): return 0\n"
        "hog = spec('hog')\n"
        f"SPEC = dataclasses.replace(hog, name='a game', title='A game', "
        f"state=record([('goal', 'i2'), ('memory', '?'), ('field_{plain}', '?')]), "
        "kernels=hog.kernels._replace(step=step))\n"
    )
    (folder / "adapter.py").write_text("ENTRY_FILES = ('a.py',)\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "text.py").write_text("")
    for path in (tmp_path, other):
        monkeypatch.syspath_prepend(path)
    before = set(sys.modules)
    try:
        game = Game(importlib.import_module(module).SPEC)
        assert not game.spec.registered
        assert repr(game) == f"dicegym.game({module}.SPEC, players=2, goal=100, memory=0)"
        with pytest.raises(PartError, match=r"write text\.py with action_name, scene"):
            game.action_name(0)
        assert part(game, ADAPTER) is None
        with pytest.raises(PartError, match=r"adapter does not define sit"):
            need(game, ADAPTER)
        with pytest.raises(ParameterError, match=rf"dicegym\.game\({module}\.SPEC, goal="):
            dicegym.game(game, goal=20)
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]
