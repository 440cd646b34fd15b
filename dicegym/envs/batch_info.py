"""The ``info`` of a batch: masks, seats, faults, returns, and the episodes that ended with a step.

It has Gymnasium's form: a dict of arrays over all games. For each array, a bool array ``"_name"`` marks the games that
it applies to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.kernel_entries import Task
from dicegym.envs.batch_kernels import CUT_OFF, ENDS, FAULTY, BatchArrays, list_ended
from dicegym.envs.options import ILLEGAL_ACTION, NO_FAULT


def fault_words(faults: Sequence[str]) -> np.ndarray:
    """Return the texts of ``info["fault"]`` (object array), by the ``fault`` of `dicegym.envs.batch_kernels.ROW`.

    ``faults`` are the game's own (`dicegym.engine.spec.GameSpec.faults`).
    """
    return np.array([NO_FAULT, *faults[1:], ILLEGAL_ACTION], object)  # the last is that of number -1


class BatchInfo:
    """Builds the ``info`` of a batch after each reset and step.

    A step of a thousand games takes 0.1 ms, so arrays that never change are made once, here.

    Args:
        batch: the games.
        faults: as for `fault_words`.
    """

    def __init__(self, batch: BatchArrays, faults: Sequence[str]) -> None:
        n = len(batch.rows)
        self._batch = batch
        self._masks = batch.masks.view(np.int8)  # the same memory in Gymnasium's form
        self._seats = batch.rows["seat"]
        self._everybody = np.ones(n, np.bool_)
        self._which, self._slots = np.zeros((2, n), np.int64)
        self._ended = np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(batch.results.shape, np.float32)
        arguments = batch.rows, batch.final_results, self._which, self._slots, *self._ended
        self._list_ended = Task(list_ended, arguments).ask
        self._words = fault_words(faults)
        self._no_faults = np.full(n, NO_FAULT, object)
        self._no_faults.flags.writeable = False  # steps without faults all return this array
        self._nothing_legal = np.broadcast_to(np.int8(0), batch.masks.shape)
        self._same_step = len(batch.final_observations) > 0
        self._lasts = np.fromiter(batch.final_observations, object, len(batch.final_observations))

    def of_reset(self, which: np.ndarray, copy: bool) -> dict[str, Any]:
        """Return the info of the present episodes, for the rows ``which`` (int64)."""
        meant = np.zeros(len(self._everybody), np.bool_)
        meant[which] = True
        return self._present(meant, self._no_faults, copy)

    def _present(self, meant: np.ndarray, faults: np.ndarray, copy: bool) -> dict[str, Any]:
        masks, seats, results = self._masks, self._seats, self._batch.results
        if copy:
            masks, seats, results = masks.copy(), seats.copy(), results.copy()
        return _info(meant, masks, seats, faults, results)

    def of_step(self, copy: bool) -> dict[str, Any]:
        """Return the present masks, seats and returns, and the faults of a step.

        In same-step mode, ``"final_info"`` and ``"final_obs"`` describe the episodes that ended. Without ``copy``,
        arrays are the batch's own.
        """
        batch = self._batch
        told = self._list_ended(0, 0, 0, 0)
        faulty, ends = told & FAULTY, told >> ENDS
        faults = self._words[batch.rows["fault"]] if faulty else self._no_faults
        if not (ends and self._same_step):
            return self._present(self._everybody.copy(), faults, copy)
        which, slots = self._which[:ends], self._slots[:ends]
        masks = self._nothing_legal  # games that are over: a new array of masks would double the time
        if told & CUT_OFF or copy:
            masks = np.zeros(batch.masks.shape, np.int8)
            masks[which] = batch.final_masks[slots]
        last_faults = self._no_faults
        if faulty:
            last_faults = last_faults.copy()
            last_faults[which] = faults[which]
            faults[which] = NO_FAULT
        ended, seats, gained = self._ended
        ended = ended.copy()
        if copy:
            seats, gained = seats.copy(), gained.copy()
        last_observations = np.empty(len(ended), object)  # of None
        last_observations[which] = (
            np.fromiter(batch.final_observations[slots], object, ends) if copy else self._lasts[slots]
        )
        info = self._present(self._everybody.copy(), faults, copy)
        info["final_obs"], info["_final_obs"] = last_observations, ended
        info["final_info"], info["_final_info"] = _info(ended, masks, seats, last_faults, gained), ended
        return info


def _info(
    meant: np.ndarray, masks: np.ndarray, seats: np.ndarray, faults: np.ndarray, returns: np.ndarray
) -> dict[str, Any]:
    return {
        "action_mask": masks,
        "_action_mask": meant,
        "seat": seats,
        "_seat": meant,
        "fault": faults,
        "_fault": meant,
        "returns": returns,
        "_returns": meant,
    }
