"""The end of learning a hand: what was played on average, as whole numbers.

Strategies, trees and arguments are those of `dicegym.games.bidding.solving.sweeps`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, no-warn-return-any
# Kernels: Numba infers the types of their arguments, and records have none that mypy could check.

from __future__ import annotations

import numpy as np

from dicegym.engine.jit import loop_kernel
from dicegym.games.bidding.solving.nodes import LAST, NEXT, NODE

PARTS = 65535.0
"""Of a probability in 16 bits."""
LEAST = PARTS / 1024
"""What is chosen less often than this is not chosen at all: it is left from early steps, leaves a best reply nothing
that could be measured, and would make whoever asks about a node go through a hundred times as many."""


@loop_kernel
def settle(
    first, step, squeeze, n_calls, sizes, bid_regrets, call_regrets, bid_totals, call_totals, bid_rows, call_rows, plan,
    stack,
):  # fmt: skip
    """Make what was played on average a strategy of 16 bits: each node's totals, shared out in 65,535 parts or less.

    Where a roll never played its way to a node, it is what the regrets there say: no reply gains by that, as nobody
    meets it, and whoever asks what to do there, after an error, gets a sensible answer.

    Beside the arguments that kernels share:
        bid_regrets: as of `sweeps.learn`.
        call_regrets: as of `sweeps.learn`.
        bid_totals: float32[nodes, width].
        call_totals: float32[rows, calls, width].
        bid_rows: uint16[nodes, width], written.
        call_rows: uint16[rows, calls, width], written.
    """
    n_bids = len(step)
    d = 0
    stack[0, NODE], stack[0, LAST] = 0, -1
    fresh = True
    while d >= 0:
        node, last = stack[d, NODE], stack[d, LAST]
        low = first[last + 1]
        if fresh:
            fresh = False
            stack[d, NEXT] = low
            place = d % 2
            calls = n_calls[place] if last >= 0 else 0
            size = sizes[place]
            if n_bids - low + calls > 1:
                row = node // squeeze
                total, rest = plan[0, 0], plan[0, 1]
                for roll in range(size):
                    total[roll] = 0.0
                    rest[roll] = 0.0
                for bid in range(low, n_bids):
                    for roll in range(size):
                        total[roll] += bid_totals[node + step[bid], roll]
                        rest[roll] += bid_regrets[node + step[bid], roll]
                for call in range(calls):
                    for roll in range(size):
                        total[roll] += call_totals[row, call, roll]
                        rest[roll] += call_regrets[row, call, roll]
                for roll in range(size):
                    met = total[roll] > 0.0
                    total[roll] = PARTS / total[roll] if met else 0.0
                    rest[roll] = PARTS / rest[roll] if rest[roll] > 0.0 and not met else 0.0
                for bid in range(low, n_bids):
                    played, regrets = bid_totals[node + step[bid]], bid_regrets[node + step[bid]]
                    weights = bid_rows[node + step[bid]]
                    for roll in range(size):
                        part = played[roll] * total[roll] + regrets[roll] * rest[roll]
                        weights[roll] = np.uint16(part + 0.5) if part >= LEAST else np.uint16(0)
                for call in range(calls):
                    played, regrets = call_totals[row, call], call_regrets[row, call]
                    weights = call_rows[row, call]
                    for roll in range(size):
                        part = played[roll] * total[roll] + regrets[roll] * rest[roll]
                        weights[roll] = np.uint16(part + 0.5) if part >= LEAST else np.uint16(0)
        bid = stack[d, NEXT]
        if bid < n_bids:
            stack[d, NEXT] = bid + 1
            if first[bid + 1] < n_bids or n_calls[1 - d % 2] > 1:
                d += 1
                stack[d, NODE], stack[d, LAST] = node + step[bid], bid
                fresh = True
            continue
        d -= 1
