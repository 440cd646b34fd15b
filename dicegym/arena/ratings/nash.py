"""Nash averaging: who matters in a field of two-player agents, and how each fares against those who do.

The agents are the choices of a game between two who each send one of them. Its equilibrium says how often each would be
sent by somebody who must not be beaten; where there are several, the one of the largest entropy is taken, so that
copies of an agent share what it would have had alone, and adding one changes nothing for the others.

Source: D. Balduzzi et al., "Re-evaluating evaluation", NeurIPS 2018. They take logarithms of odds for payoffs; here it
is shares of games won, so that a mixture of agents earns what games with it would come to.
"""

from __future__ import annotations

import numpy as np

from dicegym.errors import DependencyError

SAME = 1e-7
"""Solutions that differ by less are one."""


def nash_average(rates: np.ndarray) -> np.ndarray:
    """Return the equilibrium of the largest entropy between two who each send an agent: float64[n], summing to 1.

    Args:
        rates: float64[n, n], the share of games that the row won against the column; entry [b, a] is one less [a, b].

    Raises DependencyError if SciPy is missing.
    """
    try:
        from scipy.optimize import linprog, minimize
    except ImportError:
        raise DependencyError.for_extra("scipy", "arena", "Nash averaging") from None
    ahead = (rates - rates.T) / 2
    n = len(ahead)
    sums_to_one = np.ones((1, n)), [1.0]
    # Each corner lets one agent be sent as often as it can be: their mean has everybody who is ever sent.
    corners = [
        linprog(-np.eye(n)[one], ahead, np.zeros(n), *sums_to_one, bounds=(0, 1), method="highs").x for one in range(n)
    ]
    inside = _mixture(np.mean(corners, axis=0))
    if np.ptp(corners, axis=0).max() < SAME:
        return inside
    sent = np.flatnonzero(inside > SAME)
    start = inside[sent] / inside[sent].sum()
    found = minimize(
        lambda p: float(p @ np.log(p)),
        start,
        jac=lambda p: np.log(p) + 1,
        bounds=[(SAME / 100, 1)] * len(sent),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            {"type": "ineq", "fun": lambda p: -ahead[:, sent] @ p, "jac": lambda p: -ahead[:, sent]},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1_000},
    )
    if not found.success or (ahead[:, sent] @ found.x).max() > SAME:
        return inside
    mixture = np.zeros(n)
    mixture[sent] = found.x
    return _mixture(mixture)


def _mixture(weights: np.ndarray) -> np.ndarray:
    positive: np.ndarray = np.maximum(0.0, weights)
    mixture: np.ndarray = positive / positive.sum()
    return mixture
