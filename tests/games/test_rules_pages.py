"""The page at the top of each game's ``rules.py`` says what the code does; `rules_page` says how it is read."""

from __future__ import annotations

import re

import pytest
from rules_page import observation_of, page, section, table
from variants import VARIANTS, each_game, each_variant

from dicegym import games
from dicegym.engine.game import Game
from dicegym.registry import ENVIRONMENTS

pytestmark = pytest.mark.nojit

SECTIONS = ("Parameters", "Actions", "Observation", "Rewards", "Version history")


@each_game
def test_the_page_is_complete(name: str) -> None:
    text = page(name)
    for title in SECTIONS:
        assert section(text, title).strip()
    assert re.match(r"\S.*\.$", text.splitlines()[0]), "the first line says what the game is"
    named = {int(number) for number in re.findall(r"\bfault (\d+)", text)}
    assert named == set(range(1, len(games.spec(name).faults)))


@each_game
def test_parameters(name: str) -> None:
    spec = games.spec(name)
    text = section(page(name), "Parameters")
    if not spec.parameters:
        assert "none" in text.lower()
        return
    rows = {row["name"]: row for row in table(text)}
    assert list(rows) == list(spec.parameters)
    for key, parameter in spec.parameters.items():
        assert rows[key]["default"] == str(parameter.default)
        assert rows[key]["range"] == f"{parameter.low}-{parameter.high}"
        assert rows[key]["meaning"]


@each_game
def test_actions(name: str) -> None:
    spec = games.spec(name)
    text = section(page(name), "Actions")
    assert f"``Discrete({spec.n_actions})``" in text.splitlines()[0]
    covered: list[int] = []
    for row in table(text):
        low, _, high = row["action"].partition("..")
        covered += range(int(low), int(high or low) + 1)
        assert row["meaning"]
    assert covered == list(range(spec.n_actions))


@each_variant
def test_observation(game: Game) -> None:
    """Names, order and lengths under every setting that the generic suites try."""
    assert list(observation_of(page(game.name), game.parameters).items()) == list(game.features.items())


@each_game
def test_observation_sizes_in_the_heading(name: str) -> None:
    heading = section(page(name), "Observation").splitlines()[0]
    default = games.game(name)
    assert f"``Box(0, 1, ({default.observation_size},))``" in heading
    promised = dict(re.findall(r"``\((\d+),\)`` with ``(\w+)``", heading))
    assert len(promised) == heading.count(",)``")
    for size, parameter in promised.items():
        assert games.game(name, **{parameter: 1}).observation_size == int(size)
    sizes = {variant.observation_size for variant in VARIANTS if variant.name == name}
    if len(sizes) <= 2:
        assert sizes == {default.observation_size, *map(int, promised)}


@each_game
def test_the_last_version_is_the_registered_one(name: str) -> None:
    versions = re.findall(r"^\s+(v\d+):", section(page(name), "Version history"), flags=re.MULTILINE)
    registered = {environment.id.rpartition("-")[2] for environment in ENVIRONMENTS if environment.game == name}
    assert registered == {versions[0]}, "the newest version stands first"
    assert versions == [f"v{number}" for number in reversed(range(len(versions)))]
