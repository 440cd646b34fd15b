"""Who lasts in a population: against OpenSpiel, by hand, and played out."""

from __future__ import annotations

import numpy as np
import pytest

from dicegym.arena.ratings.fixation import advantages, between_ends, fixation, lasting, payoffs_of, stationary


def duels(rates: list[list[float]] | np.ndarray) -> np.ndarray:
    return payoffs_of(np.asarray(rates)[:, :, None])


def random_duels(n: int, rng: np.random.Generator) -> np.ndarray:
    won = rng.random((n, n))
    found: np.ndarray = (won + 1 - won.T) / 2
    return found


@pytest.mark.parametrize("alpha", [0.1, 1.0, 5.0, None])
def test_duels_as_openspiel_has_them(alpha: float | None) -> None:
    alpharank = pytest.importorskip("open_spiel.python.egt.alpharank", reason="OpenSpiel is not installed")
    rng = np.random.default_rng(0)
    for n in (2, 3, 5):
        rates = random_duels(n, rng)
        settings = {"alpha": alpha or 1.0, "use_inf_alpha": alpha is None, "use_local_selection_model": False}
        chances, _, shares, *_ = alpharank.compute([rates], m=20, **settings)
        assert lasting(duels(rates), alpha, 20) == pytest.approx(shares, abs=1e-9)
        if alpha is not None:
            assert np.exp(fixation(duels(rates), alpha, 20)) == pytest.approx(chances, rel=1e-6)


def test_a_circle_by_hand() -> None:
    """Omidshafiei et al. (2019): in rock, paper, scissors each holds a third."""
    rates = [[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]]
    for alpha in (0.01, 1.0, 100.0, 1e6, None):
        assert lasting(duels(rates), alpha) == pytest.approx([1 / 3] * 3)


def test_probabilities_beyond_all_numbers_still_decide() -> None:
    """The first is left for good, and between the others exp(-5000) and exp(-5001) decide."""
    shares = stationary(np.array([[0, 0, -1.0], [-9000, 0, -5000], [-9000, -5001, 0]]))
    assert shares == pytest.approx([0, np.exp(-1) / (1 + np.exp(-1)), 1 / (1 + np.exp(-1))])


@pytest.mark.parametrize("players", [3, 4, 7])
def test_what_a_newcomer_earns_by_drawing_tables(players: int) -> None:
    """The others at a member's table are drawn from the population: so they are here, many times."""
    rng = np.random.default_rng(players)
    rates = rng.random((2, 2, players - 1)) / np.arange(1, players)
    payoffs = payoffs_of(rates)
    m, p, draws = 12, 5, 20_000
    earned = np.zeros(2)
    for kind, others in ((1, p - 1), (0, p)):  # of kind 1, the newcomers, p among m
        of_mine = rng.hypergeometric(others, m - 1 - others, players - 1, draws)
        mine = 1 + of_mine if kind == 1 else players - of_mine
        earned[kind] = payoffs[kind, 1 - kind][mine].mean()
    assert advantages(payoffs, m)[0, 1, p - 1] == pytest.approx(earned[1] - earned[0], abs=0.01)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_fixation_as_a_population_that_is_played_out(players: int) -> None:
    rng = np.random.default_rng(1)
    payoffs = payoffs_of(rng.random((2, 2, players - 1)) / np.arange(1, players))
    m, alpha, runs = 6, 3.0, 4_000
    better = advantages(payoffs, m)[0, 1]
    number = np.ones(runs, np.int64)
    while (open_ones := (number > 0) & (number < m)).any():
        up = 1 / (1 + np.exp(-alpha * better[np.clip(number, 1, m - 1) - 1]))  # else one of the others is copied
        number += open_ones * np.where(rng.random(runs) < up, 1, -1)
    chance = np.exp(fixation(payoffs, alpha, m)[0, 1])
    assert (number == m).mean() == pytest.approx(chance, abs=4 * (chance * (1 - chance) / runs) ** 0.5)


def test_alone_it_may_do_well_and_among_its_own_badly() -> None:
    """b takes much alone among a, and a takes even more alone among b: neither drives the other one out."""
    alone = np.array([[1 / 3, 0.6], [0.5, 1 / 3]])
    rates = between_ends(alone, 3)
    assert rates[0, 1] == pytest.approx([0.6, 0.25])  # two of a take what is left of the one of b: 0.5 together
    shares = lasting(payoffs_of(rates), 1.0)
    assert shares[0] > shares[1] > 0.01
    assert lasting(payoffs_of(rates), 1e4) == pytest.approx([1, 0], abs=1e-6)


def test_between_the_ends_a_kind_takes_more_seat_by_seat() -> None:
    alone = np.array([[0.25, 0.4], [0.1, 0.25]])
    together = between_ends(alone, 4)[0, 1] * [1, 2, 3]
    assert together == pytest.approx([0.4, 0.65, 0.9])
    payoffs = payoffs_of(between_ends(alone, 4))
    for k in (1, 2, 3):
        assert k * payoffs[0, 1, k] + (4 - k) * payoffs[1, 0, 4 - k] == pytest.approx(1)
