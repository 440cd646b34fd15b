"""The agents that ship: proper bots of the original interfaces, explained, quick, and ranked."""

from __future__ import annotations

import ast
import random
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from calls import counted
from variants import each_game

import dicegym
from dicegym import arena, checks
from dicegym.games.hog.adapter import examine
from dicegym.games.parts import DUEL, need
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.players.agent_info import describe_agent
from dicegym.players.pool import Pool
from dicegym.players.roster import agent, agent_names, agents_folder, opponent
from dicegym.registry import GAMES


class Shipped(NamedTuple):
    """What is promised of a game's agents."""

    least: int
    """So many of them at least."""
    supplied: set[str]
    """What their files may import."""
    tables: list[dict[str, int]]
    """Settings under which each plays against players that move at random; all but the first are for slow tests."""


STANDARD = set(sys.stdlib_module_names)
SHIPPED = {
    "hog": Shipped(10, STANDARD | {"dice", "ucb"}, []),  # each is asked for every pair of scores
    "lucky": Shipped(7, STANDARD - {"random"} | {"bot", "_sums"}, [{"players": 3}, {"players": 2}, {"players": 7}]),
    "yatzy": Shipped(6, STANDARD | {"numpy"}, [{"players": 2}, {"players": 1}, {"players": 6}]),
    "liarsdice": Shipped(
        6, STANDARD, [{"players": 3, "dice": 2}, {"players": 2, "dice": 1}, {"players": 6, "dice": 2}]
    ),
    "liarsdice_spot_on": Shipped(
        6, STANDARD | {"player"}, [{"players": 3, "dice": 2}, {"players": 2, "dice": 5}, {"players": 6, "dice": 2}]
    ),
}


def file_of(game: str, name: str) -> Path:
    path = agents_folder(game) / f"{name}.py"
    return path if path.is_file() else agents_folder(game) / name / "player.py"


AGENTS = [(game, name) for game in GAMES for name in agent_names(game) if file_of(game, name).is_file()]
HOG = dicegym.game("hog")
SCRIPTED = {game: [name for other, name in AGENTS if other == game] for game in GAMES}


@each_game
def test_there_are_several_and_the_game_names_agents_that_exist(name: str) -> None:
    game = dicegym.game(name)
    assert len(SCRIPTED[name]) >= SHIPPED[name].least
    assert Pool.of(game, game.spec.default_opponent).players
    assert agent(game, game.spec.baseline).pure


@pytest.mark.parametrize(("game", "name"), AGENTS)
def test_each_is_explained_and_needs_only_what_its_interface_supplies(game: str, name: str) -> None:
    tree = ast.parse(file_of(game, name).read_text(encoding="utf-8"))
    explanation = ast.get_docstring(tree)
    assert explanation is not None
    assert len(explanation.splitlines()[0]) > 20
    assert 20 < len(describe_agent(dicegym.game(game), name)) < 200
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert {one.partition(".")[0] for one in names} <= SHIPPED[game].supplied


SLOW = {("yatzy", name) for name in ("ladder", "planner", "thrifty", "winner")}
"""They look ahead as others do that are tried always."""
PLAYED = [
    pytest.param(game, name, table, marks=[pytest.mark.slow] * (number > 0 or (game, name) in SLOW))
    for game, name in AGENTS
    for number, table in enumerate(SHIPPED[game].tables)
]


@pytest.mark.parametrize(("game", "name", "table"), PLAYED)
def test_each_plays_legal_games_the_same_every_time(game: str, name: str, table: dict[str, int]) -> None:
    """Against players that move at random, which leads it to strange places; purity is checked too."""
    checks.check_agent(dicegym.game(game, **table), agent(game, name), games=1)


THINKING = ("bayes", "equilibrium", "observer", "expectation", "ladder", "planner", "thrifty", "winner")
"""Those that look ahead, or at all that was played."""


@pytest.mark.parametrize(
    ("game", "name"),
    [
        pytest.param(game, name, marks=[] if name in THINKING else [pytest.mark.slow])
        for game, name in AGENTS
        if game == "yatzy" or game.startswith("liarsdice")
    ],
)
def test_none_calls_too_many_functions(game: str, name: str) -> None:
    """In a hand of four players of Liar's Dice, `bayes` calls 1,800, the game among them; all others at most 950.

    In a turn of Yatzy alone, `winner` calls 3,200. A clock would tell of the machine.
    """
    table, most = (dicegym.game(game, players=1), 5_500) if game == "yatzy" else (dicegym.game(game, players=4), 4_000)
    bots = [agent(table, name, keep=True) for _ in range(table.players)]
    play_game(table, bots, 0)
    with counted() as calls:
        ended = play_game(table, bots, 1)
    asked = 15 if game == "yatzy" else int(ended["finished"])
    assert 20 < calls.made / asked < most


# --- Hog -------------------------------------------------------------------------------------------------------


@cache
def table_of(name: str) -> np.ndarray:
    """Return what a bot of Hog answers to every pair of scores, as entries of a contest are asked."""
    return examine(HOG, agent(HOG, name), lambda _: None)


@pytest.mark.parametrize("name", SCRIPTED["hog"])
def test_each_answers_every_pair_of_scores_and_pure_means_pure(name: str) -> None:
    """A bot that says PURE gives the same answers in another order."""
    began = time.perf_counter()
    table = table_of(name)
    assert time.perf_counter() - began < 10
    assert (table.shape, table.dtype) == ((100, 100), np.int8)
    assert table.min() >= -1
    assert table.max() <= 10
    if agent(HOG, name).pure:
        pairs = np.random.default_rng(0).permutation(10_000)[:1_000]
        states = HOG.new_states(len(pairs))
        states["scores"] = np.stack(np.divmod(pairs, 100), axis=1)
        actions = agent(HOG, name).act_rows(HOG, states, np.arange(len(pairs)), np.zeros(len(pairs), np.int64))
        assert (actions - 1 == table.flat[pairs]).all()


def test_several_of_hog_beat_the_baseline() -> None:
    exact = need(HOG, DUEL)
    baseline = exact.tabulate(agent(HOG, HOG.spec.baseline), HOG)
    least = {"tuned": 0.69, "desperado": 0.67, "expectation": 0.63, "wild": 0.6, "swap": 0.57, "ham": 0.52}
    for name, rate in least.items():
        assert exact.win_rate(table_of(name), baseline, HOG) > rate, name


def test_the_remembering_one_of_hog_tells_runs_from_its_score() -> None:
    program = agent(HOG, "streak", keep=True)._program
    ask, memory = program.namespace["final_strategy"], program.namespace["memory"]
    assert ask(0, 0) == 8
    assert ask(1, 10) == 8  # one Pig out: nothing gained yet
    for scores, run in (((2, 20), 2), ((60, 30), 0), ((0, 4), 0)):
        ask(*scores)
        assert memory["run"] == run


# --- Lucky & Co ------------------------------------------------------------------------------------------------


def test_the_ranking_of_lucky_from_naive_to_strong() -> None:
    """Mean points (7 for a win) over 150 games of mixed tables; a standard error is about 0.2.

    Compiled twins play where there are any; tests/games/lucky/test_bots.py compares them with the files.
    """
    names, game, rng = SCRIPTED["lucky"], dicegym.game("lucky", 7), random.Random(4)
    players = {name: opponent(game, name) for name in names}
    total, played = Counter[str](), Counter[str]()
    for number in range(150):
        table = rng.sample(names, 7)
        money = play_game(game, [players[name] for name in table], 1, number)["money"].tolist()
        for name, own in zip(table, money, strict=False):
            total[name] += 7 - sum(other > own for other in money)
            played[name] += 1
    mean = {name: total[name] / played[name] for name in names}
    assert mean["idle"] < 1.5
    assert mean["idle"] < mean["haphazard"] < mean["thrifty"] < mean["compound"] < mean["investor"] < mean["strategist"]
    assert mean["gambler"] > mean["cheapest"]
    assert mean["strategist"] > 6


# --- Yatzy -----------------------------------------------------------------------------------------------------

MEANS = {
    "haphazard": (0, 10),
    "in_order": (45, 55),
    "at_once": (90, 104),
    "gather": (162, 178),
    "ladder": (186, 202),
    "thrifty": (194, 210),
    "expectation": (218, 234),
    "planner": (243.5, 247.5),
    "winner": (248, 248.44),
}
"""Mean scores alone, measured over 1,000 games, with room for those of other games less their luck."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTED["yatzy"])
def test_mean_scores_of_yatzy_alone(name: str) -> None:
    low, high = MEANS[name]
    game = dicegym.game("yatzy", players=1)
    games = 150 if low < 200 else 40  # the better one plays, the more of the rest is luck
    assert low < evaluate(game, name, name, games, exact=False, less_luck=True).value < high


@pytest.mark.parametrize("name", ["haphazard", "in_order", "at_once", "gather"])
def test_mean_scores_of_the_simplest_with_their_luck(name: str) -> None:
    """Without the values of all positions, which take seconds to solve; a standard error is at most 4."""
    low, high = MEANS[name]
    game = dicegym.game("yatzy", players=1)
    assert low - 8 < evaluate(game, name, name, 100, exact=False).value < high + 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strong", "weak", "rate"),
    [
        ("in_order", "haphazard", 0.9),
        ("gather", "at_once", 0.9),
        ("planner", "gather", 0.8),
        ("planner", "ladder", 0.7),
    ],
)
def test_the_strong_of_yatzy_beat_the_weak(strong: str, weak: str, rate: float) -> None:
    game = dicegym.game("yatzy")
    assert evaluate(game, agent(game, strong), agent(game, weak), 100).low > rate - 0.1


# --- Liar's Dice -----------------------------------------------------------------------------------------------


def share_of_first(game: dicegym.Game, names: list[str], games: int) -> float:
    """Play; return the first agent's share of the games. Nobody may be at fault.

    Compiled twins play where there are any; tests/games/bidding/test_twins.py compares them with the files.
    """
    result = arena.play_match(game, [opponent(game, name) for name in names], 1, games)
    assert not result.incidents
    return result.shares[0] / games


RANKING = {
    "liarsdice": {
        "haphazard": {"reckless": 0.8},
        "timid": {"haphazard": 0.8},
        "even": {"timid": 0.8},
        "honest": {"even": 0.6},
        "p_computer": {"p_robot": 0.6},
        "bayes": {"even": 0.9, "honest": 0.62, "observer": 0.8, "bluffer": 0.85},
        "equilibrium": {"timid": 0.65},
    },
    "liarsdice_spot_on": {
        "timid": {"trusting": 0.8, "haphazard": 0.8},
        "even": {"timid": 0.6},
        "bayes": {"haphazard": 0.75, "honest": 0.8, "even": 0.7, "exact": 0.75, "bluffer": 0.7, "timid": 0.6},
    },
}
"""The share of games for two that each wins at least, by the weaker one."""
WITHOUT_TWINS = ("equilibrium", "p_computer")
"""Their files play, which takes longer: fewer games have to do."""


@pytest.mark.parametrize(("game", "stronger"), [(game, one) for game, rows in RANKING.items() for one in rows])
def test_the_ranking_of_liars_dice(game: str, stronger: str) -> None:
    """The bounds leave room for the luck of so few games, of which close matches need more."""
    for weaker, share in RANKING[game][stronger].items():
        games = 20 if stronger in WITHOUT_TWINS else 120 if share < 0.7 else 60
        assert share_of_first(dicegym.game(game), [stronger, weaker], games) > share, weaker


@pytest.mark.slow
def test_the_equilibrium_of_liars_dice_beats_the_honest() -> None:
    assert share_of_first(dicegym.game("liarsdice"), ["equilibrium", "honest"], 120) > 0.53


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("game", "others"),
    [
        ("liarsdice", ["even", "honest", "observer"]),
        ("liarsdice", ["timid"] * 3),
        ("liarsdice", ["honest"] * 3),
        ("liarsdice_spot_on", ["even", "honest", "bluffer"]),
        ("liarsdice_spot_on", ["timid"] * 3),
    ],
)
def test_the_strongest_of_liars_dice_wins_among_four(game: str, others: list[str]) -> None:
    assert share_of_first(dicegym.game(game, players=4), ["bayes", *others], 50) > 0.4


def test_the_observer_learns_from_showdowns() -> None:
    game = dicegym.game("liarsdice", players=3)
    players = [agent(game, name, keep=True) for name in ("observer", "haphazard", "honest")]
    arena.play_match(game, players, 0, 20)
    space = players[0]._program.namespace
    made, proved = space["made"], space["proved"]
    assert set(made) == {"A", "B", "C"}
    assert proved["B"] / made["B"] < proved["C"] / made["C"]
