"""The agents that ship with Hog: proper entries of the contest, explained, quick, and some of them good."""

from __future__ import annotations

import ast
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dicegym
from dicegym.games.hog.adapter import examine
from dicegym.games.parts import solver
from dicegym.players.pool import Pool
from dicegym.players.roster import agent, agent_names, agents_folder

GAME = dicegym.game("hog")
FILES = sorted(agents_folder("hog").glob("[!_]*.py"))
SCRIPTED = [name for name in agent_names(GAME) if (agents_folder("hog") / f"{name}.py").is_file()]
PURE = [name for name in SCRIPTED if agent(GAME, name).pure]
COURSE = {"dice", "ucb"}


@cache
def table_of(name: str) -> np.ndarray:
    """Return what a bot answers to every pair of scores, as entries of a contest are asked."""
    return examine(GAME, agent(GAME, name), lambda _: None)


def test_there_are_at_least_ten() -> None:
    assert len(SCRIPTED) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_is_explained_in_its_first_lines(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    explanation = ast.get_docstring(tree)
    assert explanation is not None
    assert len(explanation.splitlines()[0]) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_needs_only_what_the_course_has(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported = {(node.module or "").partition(".")[0]}
        else:
            continue
        assert imported <= COURSE | sys.stdlib_module_names


@pytest.mark.parametrize("name", SCRIPTED)
def test_each_answers_every_pair_of_scores(name: str) -> None:
    began = time.perf_counter()
    table = table_of(name)
    assert time.perf_counter() - began < 10
    assert table.shape == (100, 100)
    assert table.dtype == np.int8
    assert table.min() >= -1
    assert table.max() <= 10


@pytest.mark.parametrize("name", PURE)
def test_pure_means_pure(name: str) -> None:
    """A bot that says PURE gives the same answers in another order."""
    table = table_of(name)
    states = GAME.new_states(10_000)
    pairs = np.random.default_rng(0).permutation(10_000)
    states["scores"] = np.stack(np.divmod(pairs, 100), axis=1)
    actions = agent(GAME, name).act_rows(GAME, states, np.arange(10_000), np.zeros(10_000, np.int64))
    assert (actions - 1 == table.flat[pairs]).all()


def test_the_game_names_agents_that_exist() -> None:
    assert Pool.of(GAME, GAME.spec.default_opponent).players
    assert agent(GAME, GAME.spec.baseline).pure


@pytest.mark.parametrize(
    ("name", "rate"),
    [("tuned", 0.69), ("desperado", 0.67), ("expectation", 0.63), ("wild", 0.6), ("swap", 0.57), ("ham", 0.52)],
)
def test_several_beat_the_baseline(name: str, rate: float) -> None:
    exact = solver(GAME)
    assert exact is not None
    baseline = exact.tabulate(agent(GAME, GAME.spec.baseline), GAME)
    assert exact.win_rate(table_of(name), baseline, GAME) > rate


def test_the_remembering_one_tells_runs_from_its_score() -> None:
    player = agent(GAME, "streak", keep=True)
    program = player._program
    ask = program.namespace["final_strategy"]
    assert ask(0, 0) == 8
    assert ask(1, 10) == 8  # one Pig out: nothing gained yet
    ask(2, 20)
    assert program.namespace["memory"]["run"] == 2
    ask(60, 30)
    assert program.namespace["memory"]["run"] == 0
    ask(0, 4)
    assert program.namespace["memory"]["run"] == 0
