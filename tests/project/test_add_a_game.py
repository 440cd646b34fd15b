"""The page that shows how to add a game does what it says, with the files of its example."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rules_page import observation_of, section, table

import dicegym
from dicegym.games.parts import PARTS
from dicegym.registry import GAMES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXT = (DOCS / "add_a_game.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
INCLUDED = re.findall(r"^```\{literalinclude\} (\S+)", TEXT, re.MULTILINE)
DEMANDED = {"all": "all games", "finished": "finished games", "none": "none"}


@pytest.fixture(scope="module")
def examples() -> Iterator[None]:
    sys.path.insert(0, str(DOCS / "examples"))
    yield
    sys.path.remove(str(DOCS / "examples"))


def test_the_page_lists_the_parts_that_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)\.py` \| (.+) \|$", TEXT, re.MULTILINE)
    assert rows == [(part.name, part.file, DEMANDED[part.demanded]) for part in PARTS]


def test_the_page_shows_every_file_of_the_example() -> None:
    files = sorted((DOCS / "examples" / "pig").rglob("*.py"))
    assert sorted(DOCS / name for name in INCLUDED) == files


def test_the_steps_say_where_they_stand() -> None:
    assert re.findall(r"^## Step (\d)", TEXT, re.MULTILINE) == list("12345")
    for file in ("rules.py", "text.py", "adapter.py", "twins.py"):
        assert re.search(rf"^## Step \d: `{file}`", TEXT, re.MULTILINE), file


def places_listed() -> set[str]:
    """Return the paths that the last step names, ``<game>`` standing for the game's name."""
    last = TEXT.partition("## Step 5")[2]
    return {path.rstrip("/") for path in re.findall(r"`([\w./<>]+[/.][\w<>]*)`", last)}


def places_named_after(game: str) -> set[str]:
    """Return the files and folders of the tree that a game gives its name, ``<game>`` standing for it."""
    found = set()
    for room in ("agents", "dicegym", "docs", "tests", "training"):
        for path in (ROOT / room).rglob("*"):
            if game in (path.name, path.stem) and not {"__pycache__", "_build"} & set(path.parts):
                found.add(path.relative_to(ROOT).as_posix().replace(game, "<game>"))
    return found


@pytest.mark.parametrize("game", GAMES)
def test_the_last_step_lists_all_that_a_new_game_touches(game: str) -> None:
    listed = places_listed()
    assert places_named_after(game) == {path for path in listed if "<game>" in path}
    for path in listed:
        place = ROOT / path.replace("<game>", game)
        assert place.exists(), path
        if "<game>" not in path:
            called = dicegym.game(game).spec.title if path == "README.md" else game
            assert called.partition(",")[0] in place.read_text(encoding="utf-8"), path


def test_no_index_of_the_site_lists_games_by_hand() -> None:
    for page in ("index.md", "environments/index.md", "bots/index.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            assert not set(GAMES) & set(tree.splitlines()), page
    assert "include} list.inc" in (DOCS / "environments" / "index.md").read_text("utf-8")


def test_the_code_of_the_page_runs(examples: None, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "add_a_game"}
    for number, code in enumerate(BLOCKS):
        exec(compile(textwrap.dedent(code), f"add_a_game.md, block {number + 1}", "exec"), names)
    assert names["state"]["rolls"] <= 1
    assert [standing.name for standing in names["result"].standings] == ["hold_at_20", "haphazard"]
    assert names["score"].value > 0.8
    names["envs"].close()


def test_the_rules_page_of_the_example_says_what_its_code_does(examples: None) -> None:
    from pig import rules

    page, spec = rules.__doc__ or "", rules.SPEC
    parts = spec.features({"players": 2, "goal": 100})
    assert observation_of(page, {"goal": 100}) == parts
    assert f"``Box(0, 1, ({sum(parts.values())},))``" in section(page, "Observation")
    assert [row["action"] for row in table(section(page, "Actions"))] == [str(a) for a in range(spec.n_actions)]
    (row,) = table(section(page, "Parameters"))
    goal = spec.parameters[row["name"]]
    assert (row["default"], row["range"]) == (str(goal.default), f"{goal.low}-{goal.high}")
    assert {int(number) for number in re.findall(r"\bfault (\d+)", page)} == set(range(1, len(spec.faults)))
    assert spec.stage == "young"


def test_a_game_of_pig_is_the_race_that_was_solved(examples: None) -> None:
    """Holding at 20 against itself wins 0.5 from either side but for the first move, and beats a coin nearly always."""
    from pig.rules import SPEC

    from dicegym.play.drive import play_game

    game = dicegym.game(SPEC)
    held, coin = dicegym.agent(game, "hold_at_20"), dicegym.agent(game, "haphazard")
    wins = [int(play_game(game, [held, coin], seed)["winner"]) == 0 for seed in range(100)]
    assert sum(wins) > 80
