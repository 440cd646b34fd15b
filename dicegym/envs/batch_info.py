"""What ``info`` tells of a batch: masks and seats, faults, and the episodes that ended with a step.

Gymnasium's form: a dict of arrays over all games, each beside a bool array ``"_name"`` that says for which it is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.envs.batch_kernels import SAME_STEP, BatchArrays, tell_rows
from dicegym.envs.options import ILLEGAL_ACTION


def present_info(batch: BatchArrays, which: np.ndarray, copy: bool) -> dict[str, Any]:
    """Return the masks and seats of the present episodes, meant for the rows ``which`` (int64)."""
    meant = np.ones(len(batch.rows), np.bool_)
    if len(which) < len(meant):
        meant[:] = False
        meant[which] = True
    seats = batch.rows["seat"]
    masks = batch.masks.view(np.int8)  # the same memory in Gymnasium's form
    return {
        "action_mask": masks.copy() if copy else masks,
        "_action_mask": meant,
        "seat": seats.copy() if copy else seats,
        "_seat": meant,
    }


def step_info(batch: BatchArrays, faults: Sequence[str], lasts: np.ndarray | None) -> dict[str, Any]:
    """Return the faults of a step and the results of games that ended with it; nothing if there are none.

    In same-step mode what is told of episodes that ended stands under ``"final_info"``, beside ``"final_obs"``:
    copies, unless ``lasts`` (object[n], each game's row of `BatchArrays.final_observations`) are to be handed out.
    """
    n = len(batch.rows)
    over, ended, seats = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.int64)
    gained = np.zeros(batch.results.shape, np.float32)
    faulty, ends, truncated = tell_rows(batch.rows, batch.results, over, ended, seats, gained)
    told: dict[str, Any] = {}
    if faulty:
        fault = batch.rows["fault"]
        words = np.array([*faults, ILLEGAL_ACTION], object)  # the last is that of number -1
        told = {"fault": words[fault], "_fault": fault != 0}
    if not ends:
        return told
    if over.any():
        told |= {"returns": gained, "_returns": over}
    if batch.options[0]["mode"] != SAME_STEP:
        return told
    return _final(batch, told, ended, seats, truncated > 0, lasts)


def _final(
    batch: BatchArrays,
    told: dict[str, Any],
    ended: np.ndarray,
    seats: np.ndarray,
    truncated: bool,
    lasts: np.ndarray | None,
) -> dict[str, Any]:
    """Return what same-step mode tells of the episodes that just ended, and what remains of ``told``."""
    if truncated:
        masks = (batch.final_masks & ended[:, None]).view(np.int8)
    else:  # nothing is legal where a game is over; zeros cost nothing until they are read
        masks = np.zeros(batch.final_masks.shape, np.int8)
    which = np.flatnonzero(ended)
    observations = np.empty(len(ended), object)  # of None
    if lasts is None:
        observations[which] = np.fromiter(batch.final_observations[which], object, len(which))
    else:
        observations[which] = lasts[which]
    info = {"seat": seats, "_seat": ended, "action_mask": masks, "_action_mask": ended}
    left: dict[str, Any] = {}
    if "returns" in told:  # of nobody whose episode goes on
        info |= {"returns": told["returns"], "_returns": told["_returns"]}
    if "fault" in told:
        fault, meant = told["fault"], told["_fault"]
        info |= {"fault": fault, "_fault": meant & ended}
        if (meant & ~ended).any():
            left = {"fault": fault, "_fault": meant & ~ended}
    return left | {"final_obs": observations, "_final_obs": ended, "final_info": info, "_final_info": ended}
