"""What ``info`` tells of a batch: masks and seats, faults, and the episodes that ended with a step.

Gymnasium's form: a dict of arrays over all games, each beside a bool array ``"_name"`` that says for which it is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.envs.batch_kernels import BatchArrays, tell_rows
from dicegym.envs.options import ILLEGAL_ACTION


class BatchInfo:
    """What is told of the games of a batch, asked for after each reset and step.

    Steps of a thousand games take 0.1 ms, so whatever is the same in each of them is made once, here.

    Args:
        batch: the games.
        faults: what was wrong with an action, by its number (`dicegym.engine.spec.GameSpec.faults`).
    """

    def __init__(self, batch: BatchArrays, faults: Sequence[str]) -> None:
        self._batch = batch
        self._masks = batch.masks.view(np.int8)  # the same memory in Gymnasium's form
        self._seats = batch.rows["seat"]
        self._everybody = np.ones(len(batch.rows), np.bool_)
        self._which, self._slots = np.zeros((2, len(batch.rows)), np.int64)
        self._words = np.array([*faults, ILLEGAL_ACTION], object)  # the last is that of number -1
        self._same_step = len(batch.final_observations) > 0
        self._lasts = np.fromiter(batch.final_observations, object, len(batch.final_observations))
        self._nothing_legal = np.broadcast_to(np.zeros((1, batch.masks.shape[1]), np.int8), batch.final_masks.shape)

    def of_reset(self, which: np.ndarray, copy: bool) -> dict[str, Any]:
        """Return the masks and seats of the present episodes, meant for the rows ``which`` (int64)."""
        info = self._present(copy)
        if len(which) < len(self._everybody):
            info["_action_mask"][:] = False
            info["_action_mask"][which] = True
        return info

    def _present(self, copy: bool) -> dict[str, Any]:
        meant = self._everybody.copy()
        return {
            "action_mask": self._masks.copy() if copy else self._masks,
            "_action_mask": meant,
            "seat": self._seats.copy() if copy else self._seats,
            "_seat": meant,
        }

    def of_step(self, copy: bool) -> dict[str, Any]:
        """Return the present masks and seats, the faults of a step, and the results of games that ended with it.

        In same-step mode what is told of episodes that ended stands under ``"final_info"``, beside ``"final_obs"``:
        copies, unless those of the batch are to be handed out.
        """
        batch = self._batch
        n = len(batch.rows)
        over, ended, seats = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.int64)
        gained = np.zeros(batch.results.shape, np.float32)
        which, slots = self._which, self._slots
        faulty, ends, overs, truncated = tell_rows(batch.rows, batch.results, over, ended, seats, gained, which, slots)
        info = self._present(copy)
        told = info
        if ends and self._same_step:
            told = {"seat": seats, "_seat": ended}
            if truncated:
                told["action_mask"] = np.zeros(batch.masks.shape, np.int8)
                told["action_mask"][which[:ends]] = batch.final_masks[slots[:ends]]
            else:  # nothing is legal where a game is over
                told["action_mask"] = self._nothing_legal.copy() if copy else self._nothing_legal
            told["_action_mask"] = ended
            info["final_obs"], info["_final_obs"] = self._last_observations(which[:ends], slots[:ends], copy), ended
            info["final_info"], info["_final_info"] = told, ended
        if overs:
            told["returns"], told["_returns"] = gained, over
        if faulty:
            fault = batch.rows["fault"]
            words, meant = self._words[fault], fault != 0
            told["fault"], told["_fault"] = words, meant
            if told is not info:
                told["_fault"] = meant & ended
                if (meant & ~ended).any():
                    info["fault"], info["_fault"] = words, meant & ~ended
        return info

    def _last_observations(self, which: np.ndarray, slots: np.ndarray, copy: bool) -> np.ndarray:
        """Return the last observations, which are in ``slots``, of the rows ``which``, None elsewhere (object[n])."""
        found = np.empty(len(self._everybody), object)  # of None
        if copy:
            found[which] = np.fromiter(self._batch.final_observations[slots], object, len(which))
        else:
            found[which] = self._lasts[slots]
        return found
