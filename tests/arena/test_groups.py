"""Contests in groups, by the ruling on tournaments of Lucky & Co: the arithmetic, then real bots."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dicegym.arena import contest
from dicegym.arena.formats import groups as groups_format
from dicegym.arena.formats.groups import (
    AT_ONCE,
    MOST_CYCLES,
    SESSION,
    Session,
    Tally,
    cycle,
    playoff,
    qualify,
)
from dicegym.engine.dice import draw_number, named_seed

NAMES = [f"bot {number:02d}" for number in range(40)]


class Table:
    """Plays by strength: a result is the strength plus a random number below ``luck`` that depends on the label."""

    def __init__(self, strength: Callable[[str], float], luck: int = 0) -> None:
        self.strength, self.luck = strength, luck
        self.sessions: list[Session] = []

    def __call__(self, sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        self.sessions += sessions
        return [[self._game(session, number) for number in range(session.games)] for session in sessions]

    def _game(self, session: Session, number: int) -> list[float]:
        def draw(name: str) -> int:
            key = named_seed(name, number, *session.label)
            return draw_number(key, 0, 0, 0, self.luck) if self.luck else 0

        return [self.strength(name) + draw(name) for name in session.group]


# --- points ------------------------------------------------------------------------------------------------


def test_places_are_worth_seven_to_one_and_last_of_n_eight_minus_n() -> None:
    for n in range(2, 8):
        tally = Tally(NAMES[:n], 7)
        tally.add(tuple(NAMES[:n]), [-place for place in range(n)])
        assert list(tally.points.values()) == list(range(7, 7 - n, -1))
        assert list(tally.wins.values()) == [1] + [0] * (n - 1)
    tally = Tally(NAMES[:4], 7)
    tally.add(tuple(NAMES[:4]), [1, 0, 0, -1])  # two are joined in second place
    tally.add(tuple(NAMES[:4]), [1, 1, 0, -1])
    assert list(tally.points.values()) == [14, 13, 11, 8]
    assert list(tally.wins.values()) == [1, 0, 0, 0]  # a shared first place is no win
    assert set(tally.games.values()) == {2}


# --- cycles ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [*range(8, 24), 28, 35])
def test_in_a_cycle_everybody_plays_equally_often_at_full_tables(n: int) -> None:
    for number in range(20):
        groups = cycle(NAMES[:n], 7, "seed", number)
        assert all(len(set(group)) == 7 for group in groups)
        played = Counter(name for group in groups for name in group)
        assert set(played) == set(NAMES[:n])
        assert set(played.values()) == {1 if n % 7 == 0 else 7}


def test_over_many_cycles_everybody_meets_everybody_about_equally_often() -> None:
    met: Counter[frozenset[str]] = Counter()
    for number in range(300):
        for group in cycle(NAMES[:10], 7, "seed", number):
            met.update(frozenset(pair) for pair in itertools.combinations(group, 2))
    assert len(met) == 45
    assert min(met.values()) > 0.93 * max(met.values())


def test_cycles_depend_on_the_seed_and_the_set_of_names() -> None:
    assert cycle(NAMES[:9], 7, 1) == cycle(NAMES[8::-1], 7, 1)
    assert cycle(NAMES[:9], 7, 1) != cycle(NAMES[:9], 7, 2)


# --- qualifying --------------------------------------------------------------------------------------------


def test_clear_strength_qualifies_after_one_cycle() -> None:
    table = Table(lambda name: int(name[-2:]))
    found = qualify(NAMES[:10], 7, 7, 0, table)
    assert found.cycles == 1
    assert sorted(found.order[:7]) == NAMES[3:10]
    assert found.remarks == []
    assert len(table.sessions) == 10
    assert {session.games for session in table.sessions} == {1}


def test_qualifying_goes_on_until_the_seventh_is_strictly_ahead() -> None:
    """Equal but lucky players: it ends at the first cycle whose end separates seventh and eighth."""
    cycles = set()
    for seed in range(30):
        table = Table(lambda name: 0, luck=1000)
        found = qualify(NAMES[:8], 7, 7, seed, table)
        totals = [found.tally.points[name] for name in found.order]
        assert totals == sorted(totals, reverse=True)
        assert totals[6] > totals[7]
        assert set(found.tally.games.values()) == {7 * found.cycles}
        again = Tally(NAMES[:8], 7)
        for number, session in enumerate(table.sessions[: 8 * (found.cycles - 1)], 1):
            again.add(session.group, table([session])[0][0])
            if number % 8 == 0:
                assert sorted(again.points.values())[0] == sorted(again.points.values())[1]
        cycles.add(found.cycles)
    assert min(cycles) == 1
    assert max(cycles) > 1


def test_a_tie_at_the_border_takes_another_cycle() -> None:
    """All are equal in the first cycle only."""
    worth = {name: number for number, name in enumerate(NAMES[:14])}

    def play(sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        return [[[worth[name] * (session.label[1] > 0) for name in session.group]] for session in sessions]

    found = qualify(NAMES[:14], 7, 7, 0, play)
    assert found.cycles >= 2
    assert set(found.tally.games.values()) == {found.cycles}


def test_after_a_thousand_cycles_wins_and_then_a_reported_lot_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_CYCLES == 1_000
    monkeypatch.setattr(groups_format, "MOST_CYCLES", 5)
    orders = set()
    for seed in range(8):
        found = qualify(NAMES[:9], 7, 7, seed, Table(lambda name: 0))
        assert found.cycles == 5
        (remark,) = found.remarks
        assert "after 5 cycles" in remark
        assert "by lot" in remark
        assert found.order == qualify(NAMES[8::-1], 7, 7, seed, Table(lambda name: 0)).order
        orders.add(tuple(found.order))
    assert len(orders) == 8


def test_equal_points_are_ordered_by_wins_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """At tables of two the first beats the second and loses to the third, who ties with the second."""
    monkeypatch.setattr(groups_format, "MOST_CYCLES", 3)
    one, two, three = names = NAMES[:3]
    results = {one + two: {one: 1, two: 0}, one + three: {one: 0, three: 1}, two + three: {two: 1, three: 1}}

    def play(sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        return [[[results["".join(sorted(one.group))][name] for name in one.group]] for one in sessions]

    found = qualify(names, 2, 7, 1, play)
    assert found.cycles == 3
    assert [found.tally.merit(name) for name in (one, two, three)] == [(39, 3), (39, 0), (42, 3)]
    assert found.order == [three, one, two]
    assert found.remarks == [
        f"after 3 cycles {one} and {two} had as many points: {one} took the last place of group 1 by games won"
    ]


# --- playoffs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "games"), [(7, 50), (2, 50), (3, 50)])
def test_a_playoff_ends_with_the_game_that_makes_the_lead_fifty(size: int, games: int) -> None:
    """The best is one point a game ahead of the second."""
    table = Table(lambda name: -int(name[-2:]))
    found = playoff(tuple(NAMES[:size]), 1, 7, table)
    assert found.order == NAMES[:size]
    assert set(found.tally.games.values()) == {games}
    assert found.tally.points[NAMES[0]] - found.tally.points[NAMES[1]] == 50
    assert not found.remarks
    assert len({session.label for session in table.sessions}) == len(table.sessions) == AT_ONCE
    assert {session.games for session in table.sessions} == {SESSION}


def test_a_lucky_playoff_ends_when_the_lead_is_first_fifty() -> None:
    table = Table(lambda name: 3 * (name == NAMES[2]), luck=12)
    found = playoff(tuple(NAMES[:7]), 1, 7, table)
    games = [returns for session in list(table.sessions) for returns in table([session])[0]]
    tally = Tally(NAMES[:7], 7)
    number = 0
    for returns in games:
        number += 1
        tally.add(tuple(NAMES[:7]), returns)
        first, second = sorted(tally.points.values(), reverse=True)[:2]
        if first - second >= 50:
            break
    assert set(found.tally.games.values()) == {number}
    assert found.tally.points == tally.points


def test_equal_players_end_undecided() -> None:
    """Two who win in turn, so that their places differ, until the games run out."""

    def play(sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        return [[[number % 2, 1 - number % 2] for number in range(session.games)] for session in sessions]

    found = playoff(tuple(NAMES[:2]), 2, 7, play, 150)
    assert set(found.tally.games.values()) == {150}
    assert found.remarks == ["group 2 ended without a lead of 50 points after 150 games"]


def test_twins_are_told_sooner() -> None:
    found = playoff(tuple(NAMES[:3]), 2, 7, Table(lambda name: -int(name == NAMES[2])))
    assert set(found.tally.games.values()) == {100}
    assert found.remarks == [f"{NAMES[0]} and {NAMES[1]} had the same place in each of 100 games: group 2 is open"]
    assert found.tally.merit(NAMES[0]) == found.tally.merit(NAMES[1])


# --- with bots ---------------------------------------------------------------------------------------------

BUYER = """
class B(Bot):
    def get_orders(self, money, dice, index, shop):
        return [{kind}] if shop[{kind}] and money[index] >= 3 else []
"""


BOTS = {
    "ones": BUYER.format(kind=0),
    "twos": BUYER.format(kind=1),
    "raising": "class B(Bot):\n    def get_orders(self, *_):\n        return 1 // 0\n",
    "nonsense": "class B(Bot):\n    def get_orders(self, *_):\n        return 'everything'\n",
    "leaving": "import os\nclass B(Bot):\n    def get_orders(self, *_):\n        os._exit(3)\n",
    "broken": "class B(",
}


AGENTS = ["strategist", "investor", "compound", "thrifty"]


@pytest.mark.slow
def test_real_bots_are_ranked_and_the_report_shows_all_of_it(tmp_path: Path) -> None:
    for name, source in BOTS.items():
        (tmp_path / f"{name}.py").write_text(source)
    result = contest("lucky", [*AGENTS, *sorted(tmp_path.glob("*.py"))], seed=4, workers=2)
    names = [line.name for line in result.standings]
    assert names[0] == "strategist"
    assert set(names) == {*AGENTS, "ones", "twos", "raising", "nonsense", "leaving"}
    assert [line["group"] for line in result.standings] == [1] * 7 + [2] * 2
    assert [bad.name for bad in result.disqualified] == ["broken"]
    assert {line["qualifying_games"] for line in result.standings} == {7 * result.details["cycles"]}
    best, second = result.standings[:2]
    assert 50 <= best["points"] - second["points"] < 57
    for line, after in itertools.pairwise(result.standings):
        assert line.place <= after.place
    assert {misplay.name for misplay in result.misplays} == {"raising", "nonsense", "leaving"}
    assert max(Counter(misplay.name for misplay in result.misplays).values()) <= 100
    text = result.text()
    assert text.startswith("Lucky & Co: 9 entries, groups, tables of 7")
    for word in ("Rankings", "Qualifying", "disqualified: broken", "fault: raising", "ZeroDivisionError", "malformed"):
        assert word in text
    assert contest("lucky", [*sorted(tmp_path.glob("*.py"), reverse=True), *AGENTS], seed=4, workers=1) == result


def test_a_small_field_plays_one_table_of_its_size() -> None:
    found = contest("lucky", ["thrifty", "idle"], seed=1, workers=1)
    assert [(line.place, line.name, line["group"]) for line in found.standings] == [(1, "thrifty", 1), (2, "idle", 1)]
    assert (found.details["cycles"], {line["games"] for line in found.standings}) == (0, {50})
    assert [line["points"] for line in found.standings] == [350, 300]
    assert "Qualifying" not in found.text()
