"""The sequential test and its interval: error rates by simulation, and exact results."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy  # its parts are loaded when a test asks for them
from variants import one_always

from dicegym.arena.compare.estimate import LEVEL, Motion, Stopped, difference
from dicegym.arena.compare.sequential import (
    FEWEST,
    GRAIN,
    UNSEEN,
    USUAL,
    Claims,
    NormalTest,
    SequentialTest,
    elo_of,
    log_likelihood_ratios,
    margin_of,
)

VALUES = np.array(USUAL)
ELO_20, ELO_40, ELO_80 = margin_of(20), margin_of(40), margin_of(80)
SHAPES = {
    "alone": np.array([0.25, 0, 0.5, 0, 0.25]),
    "alike": np.array([0.05, 0, 0.9, 0, 0.05]),
    "ties": np.array([0.02, 0.2, 0.56, 0.2, 0.02]),
}
"""How often pairs are worth -1, -1/2, 0, 1/2 and 1 among equals: luck alone, on the same dice, with shared places."""


PORTION = 300
"""Pairs drawn at once."""


def tilted(shape: np.ndarray, mean: float) -> np.ndarray:
    """Return the shape with another mean, by exponential tilting."""

    def shares(tilt: float) -> np.ndarray:
        weights = shape * np.exp(tilt * VALUES)
        return weights / weights.sum()

    return shares(scipy.optimize.brentq(lambda tilt: shares(tilt) @ VALUES - mean, -30, 30))


def simulated(shares: np.ndarray, claims: Claims, rng: np.random.Generator, most: int = 40_000) -> Stopped:
    """Run a test on drawn pairs."""
    test, seen = SequentialTest(claims), np.empty(0)
    while test.accepted is None and test.pairs < most:
        pairs = rng.choice(VALUES, p=shares, size=min(PORTION, most - test.pairs))
        seen = np.concatenate([seen, pairs[: test.add(pairs)]])
    return Stopped(len(seen), float(seen.mean()), float(seen.var()), test.accepted)


@pytest.mark.parametrize(
    ("shape", "margins", "runs"),
    [
        ("ties", (0.0, ELO_80), 40),
        pytest.param("ties", (0.0, ELO_40), 40, marks=pytest.mark.slow),
        *(
            pytest.param(shape, margins, runs, marks=pytest.mark.slow)
            for shape in SHAPES
            for margins, runs in (
                ((0.0, ELO_20), 2000),
                ((0.0, margin_of(60)), 2000),
                ((-ELO_40, 0.0), 60),
                ((0.3, 0.45), 60),
            )
        ),
    ],
)
def test_it_is_wrong_as_seldom_as_it_says(shape: str, margins: tuple[float, float], runs: int) -> None:
    rng, claims = np.random.default_rng(3), Claims(*margins, alpha=0.05, beta=0.1)
    for truth, (mean, rate) in enumerate(zip(margins, (claims.alpha, claims.beta), strict=True)):
        shares = tilted(SHAPES[shape], mean)
        found = [simulated(shares, claims, rng).accepted for _ in range(runs)]
        assert None not in found
        allowed = scipy.stats.binom.ppf(0.999, runs, rate) if runs < 100 else 1.3 * rate * runs
        assert found.count(1 - truth) <= allowed, "Wald's bounds are those of many pairs: a little more is due"


def test_walds_bounds_are_known_by_hand() -> None:
    claims = Claims(0.0, 0.1, alpha=0.01, beta=0.2)
    assert (claims.lower, claims.upper) == pytest.approx((-1.5993876, 4.3820266))  # log(0.2 / 0.99), log(0.8 / 0.01)


def test_the_ratio_of_normal_pairs_is_known_by_hand() -> None:
    test = NormalTest(Claims(0.0, 0.1))
    test.add([0.5, -0.5, 0.5, 0.5])  # of mean 1/4 and variance 3/16
    assert test.ratio == pytest.approx(0.3487068)  # 4 / 2 * log((3/16 + 0.25**2) / (3/16 + 0.15**2))


@pytest.mark.parametrize(
    ("accepted", "spread"),
    [(0, 0.3), (1, 0.05), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((0, 0.05), (1, 0.3)))],
)
def test_pairs_of_any_worth_are_judged_as_well(accepted: int, spread: float) -> None:
    claims = Claims(0.0, margin_of(40))
    rng, wrong, held, runs = np.random.default_rng(8), 0, 0, 60
    true = claims[accepted]
    for _ in range(runs):
        test, seen = NormalTest(claims), np.empty(0)
        while test.accepted is None:
            pairs = true + spread * (rng.exponential(size=PORTION) - 1)  # far from normal
            seen = np.concatenate([seen, pairs[: test.add(pairs)]])
        wrong += test.accepted != accepted
        stopped = Stopped(len(seen), float(seen.mean()), float(seen.var()), test.accepted, True)
        found = difference(stopped, claims)
        held += found.low <= true <= found.high
    assert wrong <= scipy.stats.binom.ppf(0.999, runs, 0.05)
    assert held >= scipy.stats.binom.ppf(0.001, runs, LEVEL)


def test_pairs_that_differ_by_rounding_alone_decide_at_once() -> None:
    for mean, accepted in ((0.3, 1), (-0.2, 0)):
        test = NormalTest(Claims(0.0, 0.05))
        assert test.add(np.full(100, mean) + 1e-12 * np.arange(100)) == FEWEST
        assert test.accepted == accepted
    stopped = Stopped(FEWEST, 0.3, 0.0, 1, True)
    assert difference(stopped, Claims(0.0, 0.05)) == (0.3, 0.3, 0.3)


@pytest.mark.parametrize("shape", one_always(["ties", "alone"]))
@pytest.mark.parametrize("mean", one_always([ELO_20 / 2, 0.0, ELO_20, 0.3]))
def test_the_interval_holds_the_difference_although_the_test_stopped(shape: str, mean: float) -> None:
    rng, runs, claims = np.random.default_rng(6), 50, Claims(0.0, ELO_20)
    shares = tilted(SHAPES[shape], mean)
    found = []
    for _ in range(runs):
        stopped = simulated(shares, claims, rng, most=1000)
        found.append(difference(stopped, claims))
    assert all(one.low <= one.value <= one.high for one in found)
    covered = sum(one.low <= mean <= one.high for one in found)
    assert covered >= scipy.stats.binom.ppf(0.001, runs, LEVEL)
    too_high = sum(one.value > mean for one in found)
    assert 0.3 * runs < too_high < 0.7 * runs, "it is too high as often as too low"


def test_the_plain_mean_would_exaggerate() -> None:
    """The estimate corrects for early stopping."""
    rng, claims = np.random.default_rng(7), Claims(0.0, ELO_80)
    shares = tilted(SHAPES["alone"], ELO_80)
    stopped = [simulated(shares, claims, rng) for _ in range(50)]
    better = [one for one in stopped if one.accepted]
    plain = np.mean([one.mean for one in better])
    ours = np.mean([difference(one, claims).value for one in better])
    assert plain > ELO_80 + 0.01
    assert abs(ours - ELO_80) < abs(plain - ELO_80)


@pytest.mark.parametrize("pairs", [1, 5, FEWEST - 1, FEWEST + 15])
@pytest.mark.parametrize("mean", [-1.0, 0.0, 0.9, 1.0])
def test_few_pairs_have_an_interval_too(pairs: int, mean: float) -> None:
    found = difference(Stopped(pairs, mean, 0.0, None), Claims(0.0, ELO_20))
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    assert found.low <= mean <= found.high


@pytest.mark.parametrize("accepted", [0, 1, None])
@pytest.mark.parametrize("mean", [-1.0, 0.0, 1 / 3, 1.0])
def test_pairs_that_are_all_alike_differ_by_what_they_do(mean: float, accepted: int | None) -> None:
    found = difference(Stopped(50, mean, 0.0, accepted), Claims(0.0, ELO_20))
    assert found.value == mean
    missed = (found.high - mean) / (1 - mean) if mean < 1 else (mean - found.low) / (1 + mean)
    assert (1 - missed) ** 50 == pytest.approx((1 - LEVEL) / 2), "of pairs at that end none is seen so seldom"
    if not mean:
        assert found.low == -found.high


def test_all_wins_and_all_draws_decide_and_nothing_counts_beyond() -> None:
    winning, level = SequentialTest(Claims(0.0, ELO_20)), SequentialTest(Claims(0.0, ELO_20))
    used = winning.add(np.ones(500))
    level.add(np.zeros(200))
    assert (winning.accepted, level.accepted) == (1, 0)
    assert FEWEST <= winning.pairs == used < 100
    assert winning.add(np.ones(5)) == 0
    assert winning.pairs == used
    assert level.counts == ((-1.0, 0), (-0.5, 0), (0.0, level.pairs), (0.5, 0), (1.0, 0))


def test_it_does_not_matter_in_what_portions_pairs_come() -> None:
    rng = np.random.default_rng(8)
    values = rng.choice(np.append(VALUES, 1 / 3), size=600, p=[0.1, 0.1, 0.4, 0.1, 0.2, 0.1])
    for kind, claims, pairs in (
        (SequentialTest, Claims(0.0, ELO_20), values),
        (NormalTest, Claims(0.0, 0.02), rng.normal(0.01, 0.2, 600)),
    ):
        found = set()
        for portion in (1, 7, 50, 600):
            test = kind(claims)
            for start in range(0, len(pairs), portion):
                test.add(pairs[start : start + portion])
            counts = tuple(c for c in test.counts if c[1]) if isinstance(test, SequentialTest) else ()
            found.add((test.pairs, test.accepted, round(test.ratio, 9), counts))
        assert len(found) == 1
        assert kind is NormalTest or next(iter(found))[1] == 1


def test_the_ratio_is_that_of_the_best_distributions() -> None:
    """Compared with a general optimiser without Lagrange's multiplier."""
    counts = np.array([3.0, 11.0, 40.0, 17.0, 9.0])

    def best(mean: float) -> float:
        limits = [
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ VALUES - mean},
        ]
        start = tilted(counts / counts.sum(), mean)
        found = scipy.optimize.minimize(
            lambda p: -(counts @ np.log(p)), start, bounds=[(1e-9, 1)] * 5, constraints=limits, tol=1e-12
        )
        return -float(found.fun)

    ratio = log_likelihood_ratios(counts, VALUES, 0.02, 0.1)
    assert float(ratio) == pytest.approx(best(0.1) - best(0.02), abs=1e-5)


def test_values_that_were_not_seen_count_for_next_to_nothing() -> None:
    counts = np.array([0.0, 0.0, 30.0, 0.0, 0.0])
    seen = log_likelihood_ratios(np.where(counts == 0, UNSEEN, counts), VALUES, 0.0, ELO_20)
    assert log_likelihood_ratios(counts, VALUES, 0.0, ELO_20) == seen


@pytest.mark.parametrize("elo", [-400.0, -20.0, 0.0, 5.0, 200.0])
def test_elo_and_margins_are_the_same_thing(elo: float) -> None:
    margin = margin_of(elo)
    assert (1 + margin) / 2 == pytest.approx(1 / (1 + 10 ** (-elo / 400)))
    assert elo_of(margin) == pytest.approx(elo)
    assert math.isinf(elo_of(1.0))


# Brownian motion


MOTIONS = [Motion(1.0, 2.0, 0.5), Motion(3.0, 1.5, 4.0), Motion(2.0, 2.0, 60.0), Motion(30.0, 4.0, 200.0)]


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("drift", [-1.5, -0.2, 0.0, 0.1, 0.9, 4.0])
def test_a_motion_ends_somewhere(motion: Motion, drift: float) -> None:
    top, bottom = motion.through_top(drift), motion.mirror().through_top(-drift)
    inside = motion.within_above(drift, -motion.below)
    assert top + bottom + inside == pytest.approx(1, abs=1e-9)
    assert motion.within_above(drift, motion.over) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("drift", [-0.8, -0.1, 0.3, 2.0])
def test_in_endless_time_a_motion_leaves_as_is_known(drift: float) -> None:
    motion = Motion(1.2, 0.7, 1e4)
    scale = [math.exp(-2 * drift * place) for place in (0.0, motion.over, -motion.below)]
    assert motion.through_top(drift) == pytest.approx((scale[0] - scale[2]) / (scale[1] - scale[2]), abs=1e-9)


@pytest.mark.parametrize("drift", [-1.0, 0.0, 0.5])
def test_without_a_lower_barrier_the_first_passage_is_as_is_known(drift: float) -> None:
    """The inverse Gaussian distribution."""
    far = Motion(1e3, 2.0, 3.0)
    root = math.sqrt(3.0)
    known = scipy.stats.norm.cdf((drift * 3 - 2) / root) + math.exp(4 * drift) * scipy.stats.norm.cdf(
        (-drift * 3 - 2) / root
    )
    assert far.through_top(drift) == pytest.approx(known, abs=1e-12)


def test_what_a_later_pair_is_worth_says_nothing_of_those_before_it() -> None:
    seen = np.round(np.random.default_rng(0).choice([0, 0, 2 / 3, -2 / 3], 40), GRAIN)
    tests = [SequentialTest(Claims(0.0, 0.05)) for _ in range(2)]
    ratios = [test._ratios(np.append(seen, later))[:40] for test, later in zip(tests, (0.0, 1 / 3), strict=True)]
    assert np.abs(ratios[0] - ratios[1]).max() < 1e-12
