"""The page that shows how to add a game does what it says, with the files of its example."""

from __future__ import annotations

import itertools
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from oracles import dice
from rules_page import observation_of, section, table

import dicegym
import dicegym.values
from dicegym.games.parts import PARTS
from dicegym.play.drive import play_game
from dicegym.registry import GAMES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TEXT = (DOCS / "add_a_game.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
INCLUDED = re.findall(r"^```\{literalinclude\} (\S+)", TEXT, re.MULTILINE)
ORDER = ("all", "finished", "none").index
DEMANDED = {"all": "all games", "finished": "finished games", "none": "none"}


@pytest.fixture(scope="module")
def examples() -> Iterator[None]:
    sys.path.insert(0, str(DOCS / "examples"))
    yield
    sys.path.remove(str(DOCS / "examples"))


def test_the_page_lists_the_parts_that_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)\.py` \| `(\w.+)` \| .+ \| (.+) \|$", TEXT, re.MULTILINE)
    parts = {file: list(group) for file, group in itertools.groupby(PARTS, lambda part: part.file)}
    assert rows[1:] == [
        (file, "`, `".join(part.name for part in group), DEMANDED[min((part.demanded for part in group), key=ORDER)])
        for file, group in parts.items()
    ]


def test_the_page_shows_every_file_of_the_example_in_its_steps() -> None:
    assert sorted(DOCS / name for name in INCLUDED) == sorted((DOCS / "examples" / "pig").rglob("*.py"))
    assert re.findall(r"^## Step (\d)", TEXT, re.MULTILINE) == list("12345")
    for file in ("rules.py", "text.py", "adapter.py", "twins.py"):
        assert re.search(rf"^## Step \d: .*`{file}`", TEXT, re.MULTILINE), file
    for page in ("index.md", "environments/index.md", "bots/index.md"):  # none lists games by hand
        listed = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
        assert not set(GAMES) & {line for tree in listed for line in tree.splitlines()}, page
    assert "include} list.inc" in (DOCS / "environments" / "index.md").read_text("utf-8")


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


@pytest.mark.slow
def test_the_code_of_the_page_runs(examples: None, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "add_a_game"}
    for number, code in enumerate(BLOCKS):
        exec(compile(textwrap.dedent(code), f"add_a_game.md, block {number + 1}", "exec"), names)
    assert names["state"]["rolls"] <= 1
    assert [standing.name for standing in names["result"].standings] == ["hold_at_20", "haphazard"]
    assert names["score"].value > 0.8


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


def test_the_better_bot_wins_games_of_the_example(examples: None) -> None:
    """Holding at 20 beats a coin nearly always."""
    from pig.rules import SPEC

    game = dicegym.game(SPEC)
    held, coin = dicegym.agent(game, "hold_at_20"), dicegym.agent(game, "haphazard")
    wins = [int(play_game(game, [held, coin], seed)["winner"]) == 0 for seed in range(100)]
    assert sum(wins) > 80


def test_a_turn_that_holds_at_20_scores_nothing_as_often_as_it_must(examples: None) -> None:
    """The chance is known exactly: from a turn total of t a 1 ends it, and any other face goes on from t + face."""
    from pig.rules import HOLD, ROLL, SPEC

    @cache
    def nothing(total: int) -> float:
        return 0 if total >= 20 else (1 + sum(nothing(total + face) for face in range(2, 7))) / 6

    assert nothing(0) == pytest.approx(0.62454, abs=5e-6)
    game, turns, without = dicegym.game(SPEC), 4000, 0
    for seed in range(turns):
        state = game.new_game(seed)[0]
        mover = int(state["player"])
        while state["player"] == mover:
            assert game.step(state, ROLL if state["total"] < 20 else HOLD) == 0
        without += int(state["scores"][mover] == 0)
    sigma = (nothing(0) * (1 - nothing(0)) / turns) ** 0.5
    assert abs(without / turns - nothing(0)) < 4 * sigma


# Own score, faces that are rolled, whether the turn is held then -> both scores, turn total, player to move, over
TURNS_OF_THE_EXAMPLE = [
    (0, (4,), False, (0, 0), 4, 0, False),
    (0, (4, 6), False, (0, 0), 10, 0, False),
    (7, (4, 6), True, (17, 0), 0, 1, False),
    (7, (1,), False, (7, 0), 0, 1, False),
    (7, (6, 5, 1), False, (7, 0), 0, 1, False),  # a 1 loses the turn total and no more
    (93, (6,), False, (93, 0), 6, 0, False),  # one short
    (94, (6,), False, (100, 0), 6, 0, True),  # the goal ends the game without a hold
    (90, (5, 6), False, (101, 0), 11, 0, True),
    (99, (1,), False, (99, 0), 0, 1, False),
]


@pytest.mark.parametrize(("score", "faces", "held", "scores", "total", "mover", "over"), TURNS_OF_THE_EXAMPLE)
def test_the_rules_of_the_example(
    examples: None,
    score: int,
    faces: tuple[int, ...],
    held: bool,
    scores: tuple[int, int],
    total: int,
    mover: int,
    over: bool,
) -> None:
    from pig.rules import HOLD, ROLL, SPEC

    game = dicegym.game(SPEC)
    state = game.new_game()[0]
    # Dice cannot be forced, but keys can be searched.
    state["key"] = next(
        key for key in count() if all(dice.die(key, 0, 0, number, 6) == face for number, face in enumerate(faces))
    )
    state["player"], state["scores"] = 0, (score, 0)
    assert [game.step(state, action) for action in [ROLL] * len(faces) + [HOLD] * held] == [0] * (len(faces) + held)
    assert tuple(state["scores"].tolist()) == scores
    assert (int(state["total"]), int(state["player"]), bool(state["over"])) == (total, mover, over)
    assert game.returns(state).tolist() == ([1, -1] if over else [0, 0])


def test_the_example_is_solved_as_it_was_published(examples: None) -> None:
    """Neller and Presser 2004: the first player wins 53.06 %, and at 0 to 0 holds at 21."""
    from pig.rules import HOLD, ROLL, SPEC

    game = dicegym.game(SPEC)
    exact = dicegym.values.valuer(game)
    state = game.new_game()[0]
    assert (exact.name, round(exact.value(state, 0), 4)) == ("exact", 0.5306)
    assert exact.value(state, 0) + exact.value(state, 1) == pytest.approx(1, abs=1e-12)
    state["rolls"] = 5
    best = []
    for total in (20, 21):
        state["total"] = total
        best.append(int(exact.action_values(state).values.argmax()))
    assert best == [ROLL, HOLD]
    small = dicegym.game(SPEC, goal=10)
    values = dicegym.values.valuer(small)
    for seed in range(20):  # what a roll is worth is what the six faces are worth
        state = small.new_game(seed)[0]
        mover, reached = int(state["player"]), {}
        for key in count():
            after = state.copy()
            after["key"] = key
            small.step(after, ROLL)
            reached[int(after["face"])] = values.value(after, mover)
            if len(reached) == 6:
                break
        assert sum(reached.values()) / 6 == pytest.approx(values.action_value(state, ROLL), abs=1e-12)


@pytest.mark.parametrize("action", [0, 2, -1])
def test_what_is_no_choice_loses_the_example(examples: None, action: int) -> None:
    """A hold before the turn's first roll, and what is neither."""
    from pig.rules import SPEC

    game = dicegym.game(SPEC)
    state = game.new_game()[0]
    state["player"] = 1
    assert game.legal(state).tolist() == [False, True]
    assert game.step(state, action) == 1
    assert state["over"]
    assert game.returns(state).tolist() == [1, -1]
