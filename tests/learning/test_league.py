"""Leagues: priorities, who leaves, the table of their history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dicegym
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, UnknownNameError
from dicegym.learning import league as module
from dicegym.learning.configuration import from_plain
from dicegym.learning.evaluate import LEAGUE_SEED, Score, evaluate
from dicegym.learning.league import PAST_SELF, SCRIPTED, League, Member, Result, read_league
from dicegym.play.player import Player, RandomPlayer

Rates = dict[Any, Any]
"""Win rates by (a, b), and under "asked" what was measured."""
DUEL = dicegym.game("hog", memory=1)
TABLE = dicegym.game("liarsdice", players=4)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Rates:
    """What ``a`` wins against ``b`` by (a, b), instead of games; every measurement is noted in order."""
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


def joined(league: League, name: str, kind: str = PAST_SELF, steps: int = 0) -> None:
    league.join(Member(name, kind, named(name), steps))


def test_who_sat_there_until_somebody_joined_sits_nowhere_afterwards(rates: Rates) -> None:
    league = a_league(opponents={"self": 1})
    assert [player.name for player in league.pool().players] == ["uniform"]
    joined(league, "first")
    assert [player.name for player in league.pool().players] == ["first"]
    other = a_league(opponents={"self": 1, "bacon": 1})
    joined(other, "first")
    assert [player.name for player in other.pool().players] == ["bacon", "first"]


def weights(league: League) -> dict[str, float]:
    return dict(zip((member.name for member in league.members), league.weights(), strict=True))


def test_without_self_weights_are_as_given_and_nobody_plays(rates: Rates) -> None:
    league = a_league(opponents={"bacon": 2, "always_roll(4)": 1}, priority="hard")
    assert not league.learns_from_itself
    assert weights(league) == {"bacon": 2.0, "always_roll(4)": 1.0}
    assert league.pool().weights == [2.0, 1.0]
    assert rates["asked"] == []


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
    for steps, name in enumerate("abc"):
        joined(league, name, steps=steps)
    found = weights(league)
    assert [found[name] for name in "abc"] == pytest.approx([6 * (0.2 / 3 + 0.8 * part) for part in expected])
    assert (found["bacon"], found["swap"]) == pytest.approx((2, 1))  # equally hard: shares as given
    assert sum(league.shares().values()) == pytest.approx(1)


def test_who_is_always_beaten_is_met_by_the_floor(rates: Rates) -> None:
    rates |= {("b", "a"): 1.0, ("b", "bacon"): 1.0, ("b", "swap"): 1.0}
    league = a_league(opponents={"bacon": 3, "swap": 1, "self": 4}, priority="hard")
    joined(league, "a")
    joined(league, "b")
    assert weights(league) == pytest.approx({"bacon": 3, "swap": 1, "a": 0.4, "b": 3.6})


def test_shares_of_first_places_are_put_on_the_scale_of_duels(rates: Rates) -> None:
    rates |= {("b", "even"): 0.5, ("b", "a"): 0.25}
    league = a_league(TABLE, {"even": 1, "self": 1})
    joined(league, "a")
    joined(league, "b")
    by_name = {member.name: league.rate(member) for member in league.members}
    assert by_name == pytest.approx({"even": 0.75, "a": 0.5, "b": 0.5})


def test_the_easiest_past_self_leaves_and_nobody_scripted(rates: Rates) -> None:
    rates |= {("d", "a"): 0.6, ("d", "b"): 0.9, ("d", "c"): 0.7, ("d", "bacon"): 1.0}
    league = a_league(opponents={"bacon": 1, "self": 1}, keep=3)
    for steps, name in enumerate("abcd"):
        joined(league, name, steps=steps)
    assert [member.name for member in league.members] == ["bacon", "a", "c", "d"]
    assert league.table.gone == {"b"}


def test_equally_easy_past_selves_leave_by_age(rates: Rates) -> None:
    league = a_league(keep=2)
    for steps, name in enumerate("abcd"):
        joined(league, name, steps=steps)
    assert [member.name for member in league.members] == ["uniform", "c", "d"]


def test_everybody_plays_everybody_once(rates: Rates) -> None:
    league = a_league(opponents={"bacon": 1, "swap": 1, "self": 1}, keep=2)
    joined(league, "a")
    assert rates["asked"] == [("swap", "bacon"), ("a", "bacon"), ("a", "swap")]
    joined(league, "x")
    assert rates["asked"][3:] == [("x", "bacon"), ("x", "swap"), ("x", "a")]
    table = a_league(TABLE, {"self": 1})
    rates["asked"].clear()
    joined(table, "a")
    joined(table, "x")  # with four, a among three of x is another question
    pairs = [("a", "uniform"), ("x", "uniform"), ("x", "a")]
    assert rates["asked"] == [one for a, b in pairs for one in ((a, b), (b, a))]


def test_a_name_is_given_once(rates: Rates) -> None:
    league = a_league()
    joined(league, "a")
    with pytest.raises(ParameterError, match="'a' in the league already"):
        joined(league, "a")


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"priority": "hardest"}, UnknownNameError, "Did you mean 'hard'"),
        ({"keep": 0}, ParameterError, "keep=0"),
        ({"games": 0}, ParameterError, "games=0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        a_league(**settings)


@pytest.mark.parametrize("name", ["self", "bacon"])
@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf"), True, "1"], ids=repr)
def test_a_weight_is_a_number_above_0(name: str, weight: Any) -> None:
    refused = (
        rf"^(weight of '{name}'=.* cannot be used as .*|opponents\.{name}=.* cannot be used): give a number above 0$"
    )
    with pytest.raises(ParameterError, match=refused):
        a_league(opponents={"swap": 1, name: weight})


def test_without_opponents_the_baseline_is_met() -> None:
    assert [member.name for member in a_league(opponents={}).members] == [DUEL.spec.baseline]


def test_nobody_joins_where_nobody_plays_against_anybody() -> None:
    assert not a_league(dicegym.game("yatzy", players=1)).learns_from_itself


def test_games_of_a_league_are_the_same_each_time() -> None:
    tables, game = [], dicegym.game("liarsdice", players=2)  # without exact values
    for _ in range(2):
        league = league_of(game, {"even": 1, "timid": 1, "self": 1}, games=10)
        league.join(Member("first", PAST_SELF, dicegym.agent(game, "bayes")))
        league.join(Member("second", PAST_SELF, RandomPlayer()))
        tables.append(league.table.results)
    assert tables[0] == tables[1]
    score = evaluate(game, RandomPlayer(), "bayes", 10, seed=LEAGUE_SEED)
    assert tables[0]["second", "first"] == Result(score.value, 10)
    assert tables[0]["first", "second"] == Result(1 - score.value, 10)


def test_a_state_is_not_changed_by_what_follows(rates: Rates) -> None:
    league = a_league(keep=2)
    joined(league, "a", steps=1)
    state, before = league.state(), weights(league)
    for steps, name in enumerate("bcd"):
        joined(league, name, steps=2 + steps)
    other = a_league(keep=2)
    other.load_state(state)
    assert weights(other) == before
    for steps, name in enumerate("bcd"):
        joined(other, name, steps=2 + steps)
    assert weights(other) == weights(league)
    assert other.table.results == league.table.results


def test_tables_are_written_and_read(rates: Rates, tmp_path: Path) -> None:
    rates |= {("second, with a comma", "first"): 0.25, ("second, with a comma", "easy"): 0.75}
    league = a_league(opponents={"bacon": 1, "self": 1}, keep=2)
    joined(league, "easy", steps=500)
    joined(league, "first", steps=1000)
    joined(league, "second, with a comma", steps=2000)
    league.table.write(tmp_path, league.shares())
    table, shares = read_league(tmp_path / "league.csv")
    assert table.results == league.table.results
    assert (table.kinds, table.joined, table.gone) == (league.table.kinds, league.table.joined, {"easy"})
    assert shares == pytest.approx(league.shares())


HEAD = "member,kind,joined,share,even"
RESULTS = f"{HEAD},against a,against b,games against a,games against b"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "member,kind\na,b\n",
        f"{HEAD}\na,past self,x,0.5,0.5\n",
        f"{HEAD}\na,past self,1,0.5,0\n",
        f"{HEAD}\na,past self,1,0.5,nan\n",
        f"{HEAD}\na,past self,1,0.5,1e-12\n",
        f"{RESULTS}\na,past self,1,0.5,0.5,,7.5,,10\nb,past self,1,0.5,0.5,,,,\n",
    ],
)
def test_what_is_no_table_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "league.csv").write_text(text)
    with pytest.raises(ParameterError, match="not the table of a league"):
        read_league(tmp_path / "league.csv")


def test_members_of_all_kinds_play_in_a_batch() -> None:
    league = league_of(DUEL, {"bacon": 1, "self": 2}, games=10)
    league.join(Member("first", PAST_SELF, dicegym.agent(DUEL, "always_roll(6)")))
    assert [member.kind for member in league.members] == [SCRIPTED, PAST_SELF]
    picked = [league.pool().draw_seats(key, 0, 2)[1].name for key in range(2000)]
    counted = np.array([picked.count(member.player.name) for member in league.members]) / 2000
    assert counted == pytest.approx(list(league.shares().values()), abs=0.04)


def test_an_agent_that_does_not_exist() -> None:
    with pytest.raises(DicegymError, match="nobody"):
        a_league(opponents={"nobody": 1, "self": 1})
