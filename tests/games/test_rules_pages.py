"""The page at the top of each game's ``rules.py`` says what the code does.

The tables are those of reStructuredText: columns between borders of ``=``, first row the heads. What is read:

Parameters
    Columns name, default, range (``low-high``); the word "none" instead of a table if there are none.
Actions: ``Discrete(n)``
    Column action: a number or a range ``low..high``, from 0 without gaps.
Observation: ``Box(0, 1, (n,))``, or ``(m,)`` with ``parameter``
    Columns part, length, meaning. The length is a number or a sum or product of numbers and parameters. A
    meaning that begins "with <parameter>," is that of a part which is there only if the parameter is not 0.
"""

from __future__ import annotations

import ast
import importlib
import operator
import re
from collections.abc import Mapping

import pytest
from variants import VARIANTS, each_game, each_variant

from dicegym import games
from dicegym.engine.game import Game
from dicegym.registry import ENVIRONMENTS

pytestmark = pytest.mark.nojit

SECTIONS = ("Parameters", "Actions", "Observation", "Rewards", "Version history")


def page(name: str) -> str:
    return importlib.import_module(f"dicegym.games.{name}.rules").__doc__ or ""


def section(text: str, title: str) -> str:
    """Return the section of the page that begins with ``title``, heading included."""
    found = re.search(rf"^{title}\b.*\n?(?:(?: .*)?\n|$)*", text, flags=re.MULTILINE)
    assert found, f"the rules page has no section {title!r}"
    return found.group()


def table(text: str) -> list[dict[str, str]]:
    """Return the first table of ``text``, one mapping from head to cell per row."""
    lines = text.splitlines()
    borders = [number for number, line in enumerate(lines) if re.fullmatch(r"\s*=+(\s+=+)*\s*", line)]
    assert len(borders) >= 3, f"there is no table in {text!r}"
    columns = [match.span() for match in re.finditer("=+", lines[borders[0]])]
    columns[-1] = (columns[-1][0], 10_000)

    def cells(line: str) -> list[str]:
        return [line[start:end].strip() for start, end in columns]

    heads = cells(lines[borders[0] + 1])
    rows: list[dict[str, str]] = []
    for line in lines[borders[1] + 1 : borders[2]]:
        row = dict(zip(heads, cells(line), strict=True))
        if row[heads[0]]:
            rows.append(row)
        else:  # a row's text goes on
            for head, more in row.items():
                rows[-1][head] = f"{rows[-1][head]} {more}".strip()
    return rows


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def length_of(text: str, parameters: Mapping[str, int]) -> int:
    """Evaluate a length such as ``10`` or ``6 * dice + 1``."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            return int(OPERATIONS[type(node.op)](value(node.left), value(node.right)))
        return parameters[node.id] if isinstance(node, ast.Name) else int(ast.literal_eval(node))

    return value(ast.parse(text.replace("`", ""), mode="eval").body)


def observation_of(text: str, parameters: Mapping[str, int]) -> dict[str, int]:
    """Return the parts of the observation that the page promises under ``parameters``."""
    parts = {}
    for row in table(section(text, "Observation")):
        condition = re.match(r"with `*(\w+)`*,", row["meaning"])
        if condition is None or parameters[condition.group(1)]:
            parts[row["part"]] = length_of(row["length"], parameters)
    return parts


@each_game
def test_the_page_is_complete(name: str) -> None:
    text = page(name)
    for title in SECTIONS:
        assert section(text, title).strip()
    assert re.match(r"\S.*\.$", text.splitlines()[0]), "the first line says what the game is"


@each_game
def test_parameters(name: str) -> None:
    rules = games.spec(name)
    text = section(page(name), "Parameters")
    if not rules.parameters:
        assert "none" in text.lower()
        return
    rows = {row["name"]: row for row in table(text)}
    assert list(rows) == list(rules.parameters)
    for key, parameter in rules.parameters.items():
        assert rows[key]["default"] == str(parameter.default)
        assert rows[key]["range"] == f"{parameter.low}-{parameter.high}"
        assert rows[key]["meaning"]


@each_game
def test_actions(name: str) -> None:
    rules = games.spec(name)
    text = section(page(name), "Actions")
    assert f"``Discrete({rules.n_actions})``" in text.splitlines()[0]
    covered: list[int] = []
    for row in table(text):
        low, _, high = row["action"].partition("..")
        covered += range(int(low), int(high or low) + 1)
        assert row["meaning"]
    assert covered == list(range(rules.n_actions))


@each_game
def test_every_fault_is_on_the_page(name: str) -> None:
    named = {int(number) for number in re.findall(r"\bfault (\d+)", page(name))}
    assert named == set(range(1, len(games.spec(name).faults)))


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


# --- the reader itself -------------------------------------------------------------------------------------

PAGE = """A game.

Parameters
    =====  =======  =====
    name   default  range
    =====  =======  =====
    dice   5        1-9
    extra  0        0-1
    =====  =======  =====

Observation: ``Box(0, 1, (12,))``
    =======  ============  ==================
    part     length        meaning
    =======  ============  ==================
    dice     2 * dice + 1  two for each die,
                           and one more
    seat     1             who is to move
    more     3             with extra, nothing
    =======  ============  ==================

Rewards: none.
"""


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"dice": 5, "extra": 0}, {"dice": 11, "seat": 1}),
        ({"dice": 1, "extra": 1}, {"dice": 3, "seat": 1, "more": 3}),
    ],
)
def test_reading_an_observation(parameters: dict[str, int], parts: dict[str, int]) -> None:
    assert observation_of(PAGE, parameters) == parts


def test_reading_a_table() -> None:
    assert table(section(PAGE, "Parameters"))[1] == {"name": "extra", "default": "0", "range": "0-1"}
    assert table(section(PAGE, "Observation"))[0]["meaning"] == "two for each die, and one more"
    with pytest.raises(AssertionError, match="no section 'Actions'"):
        section(PAGE, "Actions")
    with pytest.raises(AssertionError, match="no table"):
        table(section(PAGE, "Rewards"))
