"""Ratings of all games at once: figures by hand, invariants, and the coverage of intervals."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
import scipy  # its parts are loaded when a test asks for them
from arena.ratings.fields import duels, tables, true_ratings, won
from calls import counted
from hypothesis import given, settings
from hypothesis import strategies as st

from dicegym.arena.ratings import MatchPlaces, Ratings, fit
from dicegym.arena.ratings.fitting import MEAN, SCALE
from dicegym.arena.ratings.match_places import group_matches
from dicegym.arena.ratings.rating_model import Likelihood
from dicegym.errors import DependencyError, ParameterError, UnknownNameError

NAMES = "abcdefg"
SEVEN = MatchPlaces(tuple("abcdefgh"), (((1, 2, 3, 2, 4, 5, 6, 7), 1),))


def ratings_of(matches: list[MatchPlaces]) -> dict[str, float]:
    return {row.name: row.rating for row in fit(matches).rows}


# --- the model -----------------------------------------------------------------------------------------------------


def test_odds_and_draws_of_two_are_those_of_their_games() -> None:
    """By hand: with half a game added on either side, and the average at the middle, odds are (w + 1/4) : (l + 1/4).

    Any three frequencies fit two strengths and Davidson's rate of draws.
    """
    found = fit([won("a", "b", 3000, 1000)])
    assert found["a"].rating - found["b"].rating == pytest.approx(400 * math.log10(3), abs=0.2)
    assert found["a"].rating + found["b"].rating == pytest.approx(2 * MEAN)
    assert found.chance("a", "b") == pytest.approx(0.75, abs=3e-4)
    found = fit([won("a", "b", 40_000, 10_000, 30_000)])
    assert found.chance("a", "b") == pytest.approx(0.8, abs=1e-4)
    assert found.draw == pytest.approx(3 / 4**0.5, abs=1e-3)


def log_likelihood(parameters: np.ndarray, matches: list[MatchPlaces], names: list[str]) -> float:
    """Return the logarithm of the likelihood of games without ties, or of two, written down from the model's words."""
    strength = dict(zip(names, np.exp(parameters), strict=False))
    draw = math.exp(parameters[-1]) if len(parameters) > len(names) else 0.0
    total = 0.0
    for entries, places, times in matches:
        for game, count in places:
            order = sorted(zip(game, entries, strict=True))
            chance = 1.0
            if len(entries) == 2:
                a, b = (strength[name] for name in entries)
                middle = draw * math.sqrt(a * b)
                chance = {-1: a, 1: b, 0: middle}[int(np.sign(game[0] - game[1]))] / (a + b + middle)
            else:
                for i in range(len(order) - 1):
                    chance *= strength[order[i][1]] / sum(strength[name] for _, name in order[i:])
            total += times * count * math.log(chance) if count else 0
    for name in names:
        total += math.log(strength[name] / (1 + strength[name]) ** 2) / 2
    if draw:
        total += math.log(draw / (2 + draw) * 2 / (2 + draw)) / 2
    return total


@pytest.mark.parametrize("draw", [0.0, 0.7])
@pytest.mark.parametrize("seed", [1, 2])
def test_strengths_are_where_the_likelihood_is_greatest(draw: float, seed: int) -> None:
    """Found by another method, from an independent statement of the model."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=5)
    matches = duels(rng, strengths, 7, draw) + tables(rng, strengths, 4, 10, 3)
    found = fit(matches)
    names = sorted(row.name for row in found.rows)
    size = len(names) + (found.draw > 0)
    best = scipy.optimize.minimize(
        lambda x: -log_likelihood(x, matches, names), np.zeros(size), method="BFGS", tol=1e-9
    ).x
    own = best[: len(names)] - best[: len(names)].mean()
    assert [found[name].rating for name in names] == pytest.approx(list(MEAN + SCALE * own), abs=0.05)
    if draw:
        assert found.draw == pytest.approx(math.exp(best[-1]), rel=1e-3)


def test_second_derivatives_are_those_of_the_likelihood() -> None:
    rng = np.random.default_rng(3)
    strengths = rng.normal(size=6)
    some = duels(rng, strengths[:4], 3, 0.5) + tables(rng, strengths, 5, 6, 2, grain=0.7)
    likelihood = Likelihood(group_matches(some), 1)
    at = rng.normal(size=len(likelihood.names) + likelihood.draws)
    _, gradient, curvature = likelihood.look(at)
    for i in range(len(at)):
        step = np.zeros_like(at)
        step[i] = 1e-5
        up, down = likelihood.look(at + step), likelihood.look(at - step)
        assert gradient[i] == pytest.approx((up[0] - down[0]) / 2e-5, abs=1e-4)
        assert curvature[i] == pytest.approx(-(up[1] - down[1]) / 2e-5, abs=1e-4)


# --- what must hold ------------------------------------------------------------------------------------------------


def test_those_who_share_a_place_are_rated_by_it() -> None:
    """Updates after each game, and models that share a tie, may put the third above both seconds."""
    for times in (1, 3, 100):
        own = ratings_of([SEVEN._replace(times=times)])
        assert own["b"] == pytest.approx(own["d"], abs=1e-6)
        order = ["a", "b", "c", "e", "f", "g", "h"]
        assert sorted(order, key=lambda name: -own[name]) == order
        assert min(own[a] - own[b] for a, b in itertools.pairwise(order)) > 20


def test_a_game_that_names_a_winner_alone_says_nothing_of_the_others() -> None:
    """At a table of four only wins count: strengths are proportional to the numbers of wins."""
    wins = {"a": 400, "b": 300, "c": 200, "d": 100}
    games = tuple((tuple(1 if name == one else 2 for one in wins), count) for name, count in wins.items())
    found = fit([MatchPlaces(tuple(wins), games)])
    for name, count in wins.items():
        assert found[name].rating - found["d"].rating == pytest.approx(400 * math.log10(count / 100), abs=4)


GAMES = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        st.permutations(NAMES).map(lambda names: tuple(names[:n])),
        st.lists(st.tuples(st.tuples(*[st.integers(1, n)] * n), st.integers(1, 4)), min_size=1, max_size=3).map(tuple),
        st.integers(1, 3),
    ).map(lambda match: MatchPlaces(*match))
)


@settings(max_examples=10, deadline=None)
@given(st.lists(GAMES, min_size=1, max_size=6), st.randoms(), st.permutations(NAMES))
def test_order_and_names_make_no_difference(matches: list[MatchPlaces], random: Random, others: list[str]) -> None:
    """Not that of matches, nor of entries, nor whether equal matches come as one: to the last bit, intervals too.

    Nor do names, to ratings.
    """
    shuffled = []
    for match in matches:
        order = list(range(len(match.entries)))
        random.shuffle(order)
        games = [(tuple(game[i] for i in order), times) for game, times in match.places]
        random.shuffle(games)
        one = MatchPlaces(tuple(match.entries[i] for i in order), tuple(games))
        shuffled += [one] * match.times
    random.shuffle(shuffled)
    before = fit(matches)
    assert fit(shuffled) == before
    renamed = dict(zip(NAMES, others, strict=True))
    after = ratings_of([m._replace(entries=tuple(renamed[name] for name in m.entries)) for m in matches])
    assert {renamed[row.name]: row.rating for row in before.rows} == pytest.approx(after, abs=1e-4)


@settings(max_examples=10, deadline=None)
@given(st.lists(GAMES, min_size=1, max_size=5))
def test_equal_records_have_equal_ratings_and_a_better_place_never_costs(matches: list[MatchPlaces]) -> None:
    """a and b have equal records; then a wins one more."""
    swap = {"a": "b", "b": "a"}
    mirrored = [m._replace(entries=tuple(swap.get(name, name) for name in m.entries)) for m in matches]
    before = ratings_of([*matches, *mirrored, won("a", "b", 1, 1)])
    assert before["a"] == pytest.approx(before["b"], abs=1e-4)
    after = ratings_of([*matches, *mirrored, won("a", "b", 2, 1)])
    assert after["a"] > before["a"] - 1e-4
    assert after["a"] - after["b"] > before["a"] - before["b"]


def test_a_table_counts_the_same_whatever_it_counts_places_by() -> None:
    one, other = SEVEN.places[0][0], (10, 20, 25, 20, 40, 41, 60, 99)
    assert fit([SEVEN]) == fit([SEVEN._replace(places=((other, 1),))])
    assert one != other


# --- little is known -----------------------------------------------------------------------------------------------


def bounds(found: Ratings) -> dict[str, tuple[bool, bool]]:
    """Return whether each rating is bounded from below and from above."""
    return {row.name: (math.isfinite(row.low), math.isfinite(row.high)) for row in found.rows}


BOTH, BELOW, ABOVE, NONE = (True, True), (True, False), (False, True), (False, False)
SOME = [won("a", "b", 5, 5), won("c", "d", 5, 5), won("d", "e", 5, 5)]


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        ([won("a", "b", 9, 0), won("a", "c", 9, 0), won("b", "c", 5, 4)], {"a": BELOW, "b": BOTH, "c": BOTH}),
        # Nobody has both won and lost against the same: the ends are open.
        ([won("a", "b", 9, 0), won("b", "c", 9, 0), won("a", "c", 9, 0)], {"a": BELOW, "b": BOTH, "c": ABOVE}),
        # Of two groups, one of which lost to the other alone, the larger is the middle.
        (
            [*SOME, *(won(x, y, 9, 0) for x in "ab" for y in "cde")],
            {**dict.fromkeys("ab", BELOW), **dict.fromkeys("cde", BOTH)},
        ),
        # x lost to a, and so did all the others, of whom it met none.
        (
            [won("b", "c", 5, 5), won("a", "b", 9, 0), won("a", "c", 9, 0), won("a", "x", 9, 0)],
            {"a": BELOW, "b": BOTH, "c": BOTH, "x": NONE},
        ),
    ],
)
def test_ratings_have_bounds_where_somebody_did_better_and_worse(
    matches: list[MatchPlaces], expected: dict[str, tuple[bool, bool]]
) -> None:
    found = fit(matches)
    assert bounds(found) == expected
    assert found["a"].low < found["a"].rating < 2500
    assert [row["high"] is None for row in found.to_json()["ratings"]] == [row.high == math.inf for row in found.rows]
    middle = [row.rating for row in found.rows if bounds(found)[row.name] == BOTH]
    assert sum(middle) == pytest.approx(len(middle) * MEAN)


def test_who_never_won_moves_nobody_else() -> None:
    """However far behind: the middle is that of entries whose distances are bounded."""
    field = duels(np.random.default_rng(1), [0.5, 0.0, -0.5], 30)
    before, after = fit(field), fit([*field, *(won(row.name, "last", 500, 0) for row in fit(field).rows)])
    assert bounds(after)["last"] == (False, True)
    for row in before.rows:
        assert bounds(after)[row.name] == (True, True)
        assert after[row.name].rating == pytest.approx(row.rating, abs=5)
        assert after[row.name].high - after[row.name].low == pytest.approx(row.high - row.low, rel=0.2)


def test_fields_that_never_met_are_not_compared() -> None:
    found = fit([won("a", "b", 500, 100), won("c", "d", 101, 99), won("d", "e", 100, 103)])
    assert found.fields == (("a", "b"), ("c", "d", "e"))
    for field in found.fields:
        assert sum(found[name].rating for name in field) / len(field) == pytest.approx(MEAN)


@pytest.mark.filterwarnings("error")
def test_long_orders_are_rated_without_a_warning() -> None:
    """Thirty in a row of which each beats the next; twenty at a table: in order, in two halves, all equal."""
    games = ((tuple(range(20)), 3), ((1,) * 10 + (2,) * 10, 2), ((1,) * 20, 1))
    for n, matches in (
        (30, [won(f"{i:02}", f"{i + 1:02}", 100_000, 0) for i in range(29)]),
        (20, [MatchPlaces(tuple(f"{i:02}" for i in range(20)), games)]),
    ):
        found = fit(matches)
        assert [row.name for row in found.rows] == [f"{i:02}" for i in range(n)]
        assert [row.place for row in found.rows] == list(range(1, n + 1))


# --- intervals -----------------------------------------------------------------------------------------------------

Maker = Callable[[np.random.Generator, np.ndarray], list[MatchPlaces]]


def coverage(make: Maker, strengths: np.ndarray, contests: int) -> tuple[int, int]:
    """Return how many true ratings lie below their intervals, and how many above."""
    truth = true_ratings(strengths)
    below = above = 0
    for seed in range(contests):
        found = fit(make(np.random.default_rng(seed), strengths))
        for row in found.rows:
            below += truth[row.name] < row.low
            above += truth[row.name] > row.high
    return below, above


CONTESTS: dict[str, tuple[Maker, np.ndarray]] = {
    "pairs, game by game": (lambda rng, own: duels(rng, own, 30), np.linspace(-1.2, 1.2, 8)),
    "pairs with draws": (lambda rng, own: duels(rng, own, 30, 0.6), np.linspace(-1.2, 1.2, 8)),
    "pairs, match by match": (lambda rng, own: duels(rng, own, 9), np.linspace(-1.5, 1.5, 22)),
    "tables of seven": (lambda rng, own: tables(rng, own, 7, 60, 1), np.linspace(-1.2, 1.2, 7)),
    "tables of seven with ties": (lambda rng, own: tables(rng, own, 7, 40, 5, 0.3), np.linspace(-1, 1, 12)),
    "winners alone": (lambda rng, own: tables(rng, own, 4, 100, 3, winner_alone=True), np.linspace(-1, 1, 7)),
}


@pytest.mark.parametrize(
    "kind", [kind if kind == "winners alone" else pytest.param(kind, marks=pytest.mark.slow) for kind in CONTESTS]
)
def test_intervals_cover_known_strengths(kind: str) -> None:
    """Coverage of 95 %; entries of one contest are dependent, so the bounds are those of half as many."""
    make, strengths = CONTESTS[kind]
    below, above = coverage(make, strengths, 80)
    tries = 80 * len(strengths) // 2
    assert 0.02 < (below + above) / (2 * tries) <= scipy.stats.binom.ppf(0.9999, tries, 0.06) / tries
    assert max(below, above) <= 0.8 * (below + above) + 6


@pytest.mark.parametrize("entries", [3, 6])
@pytest.mark.parametrize("matches", [2, 5, 10])
def test_intervals_cover_in_small_fields(entries: int, matches: int) -> None:
    strengths = np.linspace(-0.7, 0.7, entries)
    below, above = coverage(lambda rng, own: [m for _ in range(matches) for m in duels(rng, own, 9)], strengths, 40)
    assert (below + above) / (40 * entries) < 0.09


@pytest.mark.parametrize(("wins", "losses"), [(30, 10), (40, 0)])
def test_the_interval_of_two_is_by_hand(wins: int, losses: int) -> None:
    """One match, whose games vary by themselves. Half a rating's distance is t, and p the chance to win."""
    found = fit([won("a", "b", wins, losses)])
    t = (found["a"].rating - MEAN) / SCALE
    p, up = 1 / (1 + math.exp(-2 * t)), 1 / (1 + math.exp(-t))
    curvature = 2 * 40 * p * (1 - p) + up * (1 - up)
    raises = wins * (1 - p) ** 2 + (1 - up) ** 2 / 4  # the latter: half a game won by a, and half a game lost by b
    lowers = losses * p**2 + up**2 / 4
    freedom = 2 * curvature**2 / np.array([raises, lowers])
    wider = scipy.stats.t.ppf(0.975, 40) / scipy.stats.norm.ppf(0.975) * math.sqrt(41 / 39)
    low, high = SCALE * wider * np.log(scipy.stats.f.ppf([0.025, 0.975], *freedom))
    assert found["a"].low == pytest.approx(found["a"].rating + low)
    assert found["a"].high == (pytest.approx(found["a"].rating + high) if losses else math.inf)


@pytest.mark.parametrize("wins", [0, 1, 5])
def test_an_entry_that_meets_only_equals_has_the_interval_of_jeffreys(wins: int) -> None:
    """Fifty equal opponents, known from many games among themselves; one game in each match."""
    others = [f"o{number:02}" for number in range(50)]
    field = [won(a, b, 200, 200) for a, b in itertools.combinations(others, 2)]
    own = [won("x", other, number < wins, number >= wins) for number, other in enumerate(others)]
    chances = scipy.stats.beta.ppf([0.025, 0.975], wins + 0.5, 50 - wins + 0.5)
    odds = SCALE * np.log(chances / (1 - chances)) + MEAN
    found = fit([*field, *own])["x"]
    assert found.high == pytest.approx(odds[1], abs=40)
    assert found.low == (pytest.approx(odds[0], abs=60) if wins else -math.inf)


def test_matches_whose_games_hang_together_make_wider_intervals() -> None:
    """Each match is won as a whole, so its games carry less information."""
    rng = np.random.default_rng(2)
    together, apart = [], []
    for _ in range(60):
        a, b = (int(n) for n in rng.permutation([9, 0]))
        together.append(won("a", "b", a, b))
        apart.append(won("a", "b", *((5, 4) if a else (4, 5))))
    wide, narrow = (fit(matches)["a"] for matches in (together, apart))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


# --- figures and errors ---------------------------------------------------------------------------------------------


def test_many_matches_take_few_calls() -> None:
    """About 130 calls a match; a time would depend on the machine."""
    matches = duels(np.random.default_rng(1), np.random.default_rng(0).normal(size=40), 9)
    with counted() as calls:
        found = fit(matches)
    assert 4_000 < calls.made < 400 * len(matches)
    assert len(found.rows) == 40
    assert found.matches == 780


def test_very_many_equal_matches_have_an_interval() -> None:
    """SciPy finds no quantile of an F variable beyond 1e16 degrees of freedom."""
    games = (((1, 1, 2, 2, 1, 4, 1), 100_000), ((2, 1, 1, 1, 1, 2, 1), 1), ((2, 1, 1, 1, 6, 1, 1), 100_000))
    for row in fit([MatchPlaces(tuple(NAMES), games, 1000)]).rows:
        assert row.low <= row.rating <= row.high


def test_json_is_plain() -> None:
    found = fit([won("a", "b", 9, 0), won("b", "c", 5, 4, 2)]).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["games"] == 20
    assert [row["name"] for row in found["ratings"]] == ["a", "b", "c"]
    with pytest.raises(UnknownNameError, match=r"'x'.*Known: a, b"):
        fit([won("a", "b", 1, 0)])["x"]


@pytest.mark.parametrize("matches", [[], [won("a", "b", 0, 0)]])
def test_what_cannot_be_rated_is_refused(matches: list[MatchPlaces]) -> None:
    with pytest.raises(ParameterError, match="nothing to rate"):
        fit(matches)


def test_without_the_extra_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(DependencyError, match=r"SciPy.*\.\[arena\]"):
        fit([SEVEN])
