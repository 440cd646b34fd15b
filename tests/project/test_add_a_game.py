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

from dicegym.games.parts import PARTS

DOCS = Path(__file__).resolve().parents[2] / "docs"
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

    import dicegym
    from dicegym.play.drive import play_game

    game = dicegym.game(SPEC)
    held, coin = dicegym.agent(game, "hold_at_20"), dicegym.agent(game, "haphazard")
    wins = [int(play_game(game, [held, coin], seed)["winner"]) == 0 for seed in range(100)]
    assert sum(wins) > 80
