"""Leagues: priorities, leaving members, the table of results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DicegymError, ParameterError
from dicegym.learning import league as module
from dicegym.learning.configuration import from_plain
from dicegym.learning.evaluate import LEAGUE_SEED, Score, evaluate
from dicegym.learning.league import League, Result, read_league
from dicegym.play.player import Player, RandomPlayer

Rates = dict[Any, Any]
"""Win rates by (a, b), and under "asked" what was measured."""
DUEL = dicegym.game("hog", memory=1)
TABLE = dicegym.game("liarsdice", players=4)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Rates:
    """Results of ``a`` against ``b`` by (a, b), in place of games; measurements are recorded in order."""
    known: Rates = {}
    asked: list[tuple[str, str]] = []

    def measured(game: Game, a: Player, b: Player, games: int, seed: int) -> Score:
        assert (games, seed) == (1000, LEAGUE_SEED)
        asked.append((a.name, b.name))
        rate = known.get((a.name, b.name), 1 / game.players)
        return Score("win rate", b.name, rate, rate, rate, games)

    monkeypatch.setattr(module, "evaluate", measured)
    known["asked"] = asked
    return known


def a_league(game: Game = DUEL, opponents: Mapping[str, float] | None = None, **settings: Any) -> League:
    return league_of(game, {"self": 3.0} if opponents is None else opponents, **{"games": 1000, **settings})


def league_of(game: Game, opponents: Mapping[str, float], **settings: Any) -> League:
    return League(game, from_plain({"opponents": dict(opponents), "self_play": settings}))


def named(name: str) -> Player:
    player = RandomPlayer()
    player.name = name
    return player


def joined(league: League, *names: str) -> None:
    """Let past selves join, each 100 steps after the one before."""
    for name in names:
        league.join(name, named(name), 100 * len(league.table.joined))


def test_the_pool_of_opponents(rates: Rates) -> None:
    """A random player fills in until a past self joins; without "self" nothing is measured."""

    def seated(league: League) -> list[str]:
        return [player.name for player in league.pool().players]

    for scripted in ({}, {"bacon": 1.0}):
        league = a_league(opponents={"self": 1, **scripted})
        assert scripted or seated(league) == ["uniform"]
        joined(league, "first")
        assert seated(league) == [*scripted, "first"]
    with pytest.raises(ParameterError, match="'first' in the league already"):
        joined(league, "first")
    rates["asked"].clear()
    league = a_league(opponents={"bacon": 2, "always_roll(4)": 1}, priority="hard")
    assert league.weights() == {"bacon": 2.0, "always_roll(4)": 1.0}
    assert (league.pool().weights, rates["asked"]) == ([2.0, 1.0], [])
    assert not league.learns_from_itself
    assert not a_league(dicegym.game("yatzy", players=1)).learns_from_itself
    assert seated(a_league(opponents={})) == [DUEL.spec.baseline]


@pytest.mark.parametrize(
    ("priority", "expected"),
    [  # the newest wins 0.9, 0.6 and 0.5 (itself); f is then (0.01, 0.16, 0.25) or all the same
        ("hard", [0.01 / 0.42, 0.16 / 0.42, 0.25 / 0.42]),
        ("uniform", [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_priorities_by_hand(rates: Rates, priority: str, expected: list[float]) -> None:
    rates |= {("c", "a"): 0.9, ("c", "b"): 0.6, ("c", "bacon"): 0.2, ("c", "swap"): 0.2}
    league = a_league(opponents={"bacon": 2, "swap": 1, "self": 6}, priority=priority)
    joined(league, *"abc")
    found = league.weights()
    assert [found[name] for name in "abc"] == pytest.approx([6 * (0.2 / 3 + 0.8 * part) for part in expected])
    assert (found["bacon"], found["swap"]) == pytest.approx((2, 1))  # equally hard: shares as given
    assert sum(league.shares().values()) == pytest.approx(1)


def test_a_member_that_always_loses_keeps_the_floor(rates: Rates) -> None:
    rates |= {("b", "a"): 1.0, ("b", "bacon"): 1.0, ("b", "swap"): 1.0}
    league = a_league(opponents={"bacon": 3, "swap": 1, "self": 4}, priority="hard")
    joined(league, "a", "b")
    assert league.weights() == pytest.approx({"bacon": 3, "swap": 1, "a": 0.4, "b": 3.6})


def test_shares_of_first_places_are_converted_to_duels(rates: Rates) -> None:
    rates |= {("b", "even"): 0.5, ("b", "a"): 0.25}
    league = a_league(TABLE, {"even": 1, "self": 1})
    joined(league, "a", "b")
    by_name = {name: league.rate(name) for name in league.players}
    assert by_name == pytest.approx({"even": 0.75, "a": 0.5, "b": 0.5})


@pytest.mark.parametrize(
    ("keep", "opponents", "wins", "left"),
    [
        (3, {"bacon": 1, "self": 1}, {"a": 0.6, "b": 0.9, "c": 0.7, "bacon": 1.0}, ["bacon", "a", "c", "d"]),
        (3, {"bacon": 1, "self": 1}, {"a": 0.2, "b": 0.4, "c": 0.3}, ["bacon", "a", "c", "d"]),  # never the newest
        (2, {"self": 3}, {}, ["uniform", "c", "d"]),  # equally easy ones by age
    ],
)
def test_the_easiest_past_self_leaves_and_no_scripted_agent(
    rates: Rates, keep: int, opponents: dict[str, float], wins: dict[str, float], left: list[str]
) -> None:
    rates |= {("d", other): rate for other, rate in wins.items()}
    league = a_league(opponents=opponents, keep=keep)
    joined(league, *"abcd")
    assert list(league.players) == left
    assert league.table.gone == {*"abcd"} - {*left}


def test_everybody_plays_everybody_once(rates: Rates) -> None:
    league = a_league(opponents={"bacon": 1, "swap": 1, "self": 1}, keep=2)
    joined(league, "a")
    assert rates["asked"] == [("swap", "bacon"), ("a", "bacon"), ("a", "swap")]
    joined(league, "x")
    assert rates["asked"][3:] == [("x", "bacon"), ("x", "swap"), ("x", "a")]
    table = a_league(TABLE, {"self": 1})
    rates["asked"].clear()
    joined(table, "a")
    joined(table, "x")  # with four players both directions are measured
    pairs = [("a", "uniform"), ("x", "uniform"), ("x", "a")]
    assert rates["asked"] == [one for a, b in pairs for one in ((a, b), (b, a))]


def test_games_of_a_league_are_the_same_each_time() -> None:
    tables, game = [], dicegym.game("liarsdice", players=2)  # without exact values
    for _ in range(2):
        league = league_of(game, {"even": 1, "timid": 1, "self": 1}, games=10)
        league.join("first", dicegym.agent(game, "bayes"), 0)
        league.join("second", RandomPlayer(), 0)
        tables.append(league.table.results)
    assert tables[0] == tables[1]
    score = evaluate(game, RandomPlayer(), "bayes", 10, seed=LEAGUE_SEED)
    assert tables[0]["second", "first"] == Result(score.value, 10)
    assert tables[0]["first", "second"] == Result(1 - score.value, 10)


def test_tables_are_written_and_read(rates: Rates, tmp_path: Path) -> None:
    rates |= {("second, with a comma", "first"): 0.25, ("second, with a comma", "easy"): 0.75}
    league = a_league(opponents={"bacon": 1, "self": 1}, keep=2)
    joined(league, "easy", "first", "second, with a comma")
    league.table.write(tmp_path, league.shares())
    table, shares = read_league(tmp_path / "league.csv")
    assert table.results == league.table.results
    assert (table.kinds, table.joined, table.gone) == (league.table.kinds, league.table.joined, {"easy"})
    assert shares == pytest.approx(league.shares())


HEAD = b"member,kind,joined,share,even"
RESULTS = HEAD + b",against a,against b,games against a,games against b"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"even\n\xff",
        b"member,even\na,0.5\n" + b'"' * 200_000,
        b"even,member,kind,joined,share\nx\n",
        b"member,kind\na,b\n",
        HEAD + b"\na,past self,x,0.5,0.5\n",
        HEAD + b"\na,past self,1,0.5,0\n",
        HEAD + b"\na,past self,1,0.5,nan\n",
        HEAD + b"\na,past self,1,0.5,1e-12\n",
        RESULTS + b"\na,past self,1,0.5,0.5,,7.5,,10\nb,past self,1,0.5,0.5,,,,\n",
    ],
    ids=lambda content: repr(content[-40:]),
)
def test_an_invalid_league_table_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "league.csv").write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"league\.csv is (not the table of a league|not UTF-8 text)"):
        read_league(tmp_path / "league.csv")


NO_WEIGHT = r"(weight of '{0}'=.* cannot be used as .*|opponents\.{0}=.* cannot be used): give a number above 0$"


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"priority": "hardest"}, "Did you mean 'hard'"),
        ({"keep": 0}, "keep=0"),
        ({"games": 0}, "games=0"),
        ({"opponents": {"nobody": 1, "self": 1}}, "nobody"),
        *(
            ({"opponents": {"swap": 1, name: weight}}, NO_WEIGHT.format(name))
            for name in ("self", "bacon")
            for weight in (0, -1, float("nan"), float("inf"), True, "1")
        ),
    ],
    ids=str,
)
def test_wrong_settings(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(DicegymError, match=match):
        a_league(**settings)
