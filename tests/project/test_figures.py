"""Figures on pages are those of the cards, files and solvers that they are of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import dicegym
from dicegym.analysis.grades import grade
from dicegym.analysis.valuers import valuer
from dicegym.arena import contest
from dicegym.cli.shared_options import parameters_of
from dicegym.games.hog import exact as hog
from dicegym.games.parts import DUEL, need, tabulate_player
from dicegym.players import model_file
from dicegym.registry import GAMES

ROOT = Path(__file__).resolve().parents[2]
BEST_RESPONSE = re.compile(r"The best response to it wins at least ([\d.]+), at most ([\d.]+) of games")
MODELS = sorted((ROOT / "agents").glob("*/*.zip"))


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def on_card(agent: str) -> tuple[float, float]:
    """Return the bounds of the best response that a model's card tells; ``agent`` is ``GAME/NAME``."""
    found = BEST_RESPONSE.search(text_of(f"agents/{agent}.md"))
    assert found is not None
    return float(found[1]), float(found[2])


# --- cards, of which docs/generate.py makes the table of docs/results.md -------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_card_says_what_the_files_beside_it_say(model: Path) -> None:
    card = model.with_suffix(".md").read_text(encoding="utf-8")
    assert f"| score | {model_file.facts(model)['score']['value']:.4f} " in card
    assert (BEST_RESPONSE.search(card) is not None) == (model_file.facts(model)["players"] == 2)


# --- Hog by scores alone, in docs/solve.md -----------------------------------------------------------------------


TRIALS = 10
"""Of the searches on the page."""
HOG = {
    row[0]: (bool(row[1]), [float(cell) for cell in row[2:]])
    for row in re.findall(
        r"^\| `(\w+)`(, one drawn table)? \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$",
        text_of("docs/solve.md"),
        re.MULTILINE,
    )
}


def hog_tables() -> dict[str, tuple[np.ndarray, bool]]:
    game, found = dicegym.game("hog"), {}
    for name in HOG:
        table, draws = tabulate_player(need(game, DUEL).tabulate, dicegym.agent(game, name), game)
        found[name] = (table if isinstance(table, np.ndarray) else hog.tabulate(table, game)), draws
    return found


@pytest.mark.slow
def test_every_agent_of_hog_is_on_the_page_with_its_exact_figures() -> None:
    game, tables = dicegym.game("hog"), hog_tables()
    assert list(HOG) == sorted(HOG, key=lambda name: HOG[name][1][1])
    assert set(HOG) == set(dicegym.agent_names(game))
    matrix = hog.win_rate_matrix([table for table, _ in tables.values()], game)
    for number, (name, (table, draws)) in enumerate(tables.items()):
        is_drawn, (mean, best, seeing) = HOG[name]
        assert draws == is_drawn, name
        assert mean == pytest.approx(np.delete(matrix[number], number).mean(), abs=5.1e-4), name
        assert seeing == pytest.approx(hog.best_response(table, game)[0], abs=5.1e-4), name
        assert best <= seeing


@pytest.mark.parametrize("name", ["ppo", "taught"])
def test_the_page_says_of_a_model_what_its_card_says(name: str) -> None:
    _, (_, best, seeing) = HOG[name]
    assert (best, seeing) == pytest.approx(on_card(f"hog/{name}"), abs=5.1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOG)
def test_the_best_table_found_is_the_one_on_the_page(name: str) -> None:
    game = dicegym.game("hog")
    assert hog.best_table(hog_tables()[name][0], game, trials=TRIALS)[0] == pytest.approx(HOG[name][1][1], abs=5.1e-4)


# --- the grades of docs/results.md ----------------------------------------------------------------------------------


class PageTable(NamedTuple):
    """A table of the page: of grades, or of a tournament's results."""

    game: dicegym.Game
    games: int
    """For each agent, or of a match."""
    rows: dict[str, tuple[str, ...]]
    """Cells by agent."""
    others: tuple[str, ...] = ()
    """Whom agents are graded against."""
    seed: int = 0


def rows_of(body: str) -> dict[str, tuple[str, ...]]:
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in body.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def grades() -> list[PageTable]:
    found = []
    pattern = r"^`dicegym values grade ([^`]+)`\n\n((?:\|.*\n)+)"
    for words, body in re.findall(pattern, text_of("docs/results.md"), re.MULTILINE):
        game, _, rest = words.partition(" ")
        table = dicegym.game(game, **parameters_of(re.findall(r"-p (\S+)", rest)))
        others = re.findall(r"--against (\w+)", rest) or ([table.spec.baseline] if table.players > 1 else [])
        found.append(PageTable(table, int(re.findall(r"--games (\d+)", rest)[0]), rows_of(body), tuple(others)))
    return found


GRADES = grades()


@pytest.mark.parametrize("one", GRADES, ids=lambda one: repr(one.game))
def test_grades_are_in_their_order(one: PageTable) -> None:
    rates = [float(cells[0].partition(" ")[0]) for cells in one.rows.values()]
    assert rates == sorted(rates)


def tournaments() -> list[PageTable]:
    pattern = r"^`dicegym tournament (\w+) --format round-robin --games (\d+) --seed (\d+)`\n\n((?:\|.*\n)+)"
    told = re.findall(pattern, text_of("docs/results.md"), re.MULTILINE)
    return [PageTable(dicegym.game(name), int(n), rows_of(body), seed=int(seed)) for name, n, seed, body in told]


TOURNAMENTS = tournaments()


@pytest.mark.parametrize("name", GAMES)
def test_every_agent_is_on_the_page(name: str) -> None:
    tables = [one for one in (*GRADES, *TOURNAMENTS) if one.game.name == name]
    models_of_it = {path.stem for path in (ROOT / "agents" / name).glob("*.zip")}
    assert {agent for one in tables for agent in one.rows} == {*dicegym.agent_names(tables[0].game), *models_of_it}


@pytest.mark.slow
@pytest.mark.parametrize("one", TOURNAMENTS, ids=lambda one: repr(one.game))
def test_results_are_those_on_the_page(one: PageTable) -> None:
    result = contest(one.game, list(one.rows), one.seed, format="round-robin", games=one.games)
    places: dict[str, list[int]] = {name: [] for name in one.rows}
    for match in result.matches:
        for order, times in match.places:
            for name, place in zip(match.entries, order, strict=True):
                places[name] += [place] * times
    shares = {row.name: row["share"] for row in result.standings}
    for name, (rate, mean_place) in one.rows.items():
        half = 1.96 * (shares[name] * (1 - shares[name]) / len(places[name])) ** 0.5
        assert rate == f"{100 * shares[name]:.1f} ± {100 * half:.1f}"
        assert mean_place == f"{np.mean(places[name]):.2f}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "name"),
    [(one, name) for one in GRADES for name in one.rows],
    ids=lambda value: getattr(value, "game", value),
)
def test_a_grade_is_the_one_on_the_page(one: PageTable, name: str) -> None:
    game, values = one.game, valuer(one.game)
    found = grade(
        dicegym.agent(game, name), game, [dicegym.agent(game, other) for other in one.others], one.games, 0, values
    )
    unit, digits = (100, 2) if values.unit == "win rate" else (1, 3)
    rate = found.error_rate
    assert one.rows[name][0] == f"{unit * rate.mean:.{digits}f} ± {unit * rate.half:.{digits}f}"
