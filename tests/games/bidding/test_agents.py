"""The agents that ship with both Liar's Dice games: bots of the original interfaces, explained, quick, ranked."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from calls import counted

import dicegym
from dicegym import arena, checks
from dicegym.play.drive import play_game
from dicegym.players.pool import Pool
from dicegym.players.roster import agent, agent_names, agents_folder

GAMES = ("liarsdice", "liarsdice_spot_on")
SUPPLIED = {"liarsdice": set(), "liarsdice_spot_on": {"player"}}
AGENTS = [
    (game, name) for game in GAMES for name in agent_names(game) if not (agents_folder(game) / f"{name}.zip").is_file()
]
each_agent = pytest.mark.parametrize(("game", "name"), AGENTS)


def file_of(game: str, name: str) -> Path:
    path = agents_folder(game) / f"{name}.py"
    return path if path.is_file() else agents_folder(game) / name / "player.py"


def shares(game: dicegym.Game, names: list[str], games: int, seed: int = 1) -> list[float]:
    """Play; return each agent's share of the games. Nobody may be at fault."""
    result = arena.play_match(game, [agent(game, name, keep=True) for name in names], seed, games)
    assert not result.incidents
    return [share / games for share in result.shares]


@pytest.mark.parametrize("game", GAMES)
def test_there_are_at_least_six(game: str) -> None:
    assert len([name for other, name in AGENTS if other == game]) >= 6


@each_agent
def test_each_is_explained_and_needs_python_alone(game: str, name: str) -> None:
    tree = ast.parse(file_of(game, name).read_text(encoding="utf-8"))
    explanation = ast.get_docstring(tree)
    assert explanation is not None
    assert len(explanation.splitlines()[0]) > 20
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert {one.partition(".")[0] for one in names} <= SUPPLIED[game] | sys.stdlib_module_names


@each_agent
@pytest.mark.parametrize(("players", "dice"), [(2, 5), (6, 2), (2, 1)])
def test_each_plays_legally_from_every_seat(game: str, name: str, players: int, dice: int) -> None:
    """Against players that move at random, which leads it to strange places; purity and repetition are checked too."""
    table = dicegym.game(game, players=players, dice=dice)
    checks.check_agent(table, agent(table, name), games=1)


@each_agent
def test_each_plays_against_itself(game: str, name: str) -> None:
    table = dicegym.game(game, players=4, dice=2)
    shares(table, [name] * 4, 5)


@each_agent
def test_none_calls_four_thousand_functions_in_a_hand_of_four(game: str, name: str) -> None:
    """`bayes` calls 1,800, the game among them, and all others at most 950; a clock would tell of the machine."""
    table = dicegym.game(game, players=4)
    bots = [agent(table, name, keep=True) for _ in range(4)]
    play_game(table, bots, 0)
    with counted() as calls:
        hands = sum(int(play_game(table, bots, seed)["finished"]) for seed in range(3))
    assert 100 < calls.made / hands < 4_000


@pytest.mark.parametrize("game", GAMES)
def test_the_game_names_agents_that_exist(game: str) -> None:
    table = dicegym.game(game)
    assert Pool.of(table, table.spec.default_opponent).players
    assert agent(game, table.spec.baseline).pure


@pytest.mark.parametrize(
    ("game", "weaker", "stronger", "share"),
    [
        ("liarsdice", "reckless", "haphazard", 0.8),
        ("liarsdice", "haphazard", "timid", 0.8),
        ("liarsdice", "timid", "even", 0.8),
        ("liarsdice", "even", "honest", 0.6),
        ("liarsdice", "p_robot", "p_computer", 0.6),
        ("liarsdice", "even", "bayes", 0.9),
        ("liarsdice", "honest", "bayes", 0.62),
        ("liarsdice", "observer", "bayes", 0.8),
        ("liarsdice", "bluffer", "bayes", 0.85),
        ("liarsdice", "honest", "equilibrium", 0.53),
        ("liarsdice", "timid", "equilibrium", 0.65),
        ("liarsdice_spot_on", "trusting", "timid", 0.8),
        ("liarsdice_spot_on", "haphazard", "timid", 0.8),
        ("liarsdice_spot_on", "timid", "even", 0.6),
        ("liarsdice_spot_on", "haphazard", "bayes", 0.75),
        ("liarsdice_spot_on", "honest", "bayes", 0.8),
        ("liarsdice_spot_on", "even", "bayes", 0.7),
        ("liarsdice_spot_on", "exact", "bayes", 0.75),
        ("liarsdice_spot_on", "bluffer", "bayes", 0.7),
        ("liarsdice_spot_on", "timid", "bayes", 0.6),
    ],
)
def test_the_ranking(game: str, weaker: str, stronger: str, share: float) -> None:
    """For two players; the bound leaves room for the luck of so few games, of which close matches need more."""
    assert shares(dicegym.game(game), [stronger, weaker], 120 if share < 0.7 else 60)[0] > share


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
def test_the_strongest_wins_among_four(game: str, others: list[str]) -> None:
    assert shares(dicegym.game(game, players=4), ["bayes", *others], 50)[0] > 0.4


def test_the_observer_learns_from_showdowns() -> None:
    game = dicegym.game("liarsdice", players=3)
    players = [agent(game, name, keep=True) for name in ("observer", "haphazard", "honest")]
    arena.play_match(game, players, 0, 20)
    space = players[0]._program.namespace
    made, proved = space["made"], space["proved"]
    assert set(made) == {"A", "B", "C"}
    assert proved["B"] / made["B"] < proved["C"] / made["C"]
