"""What happens while Stable-Baselines3 trains: its run acts between rollouts, and may save when it is interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger


class StopTraining(Exception):  # noqa: N818 - nothing is wrong
    """Leaves Stable-Baselines3's loop: the run is interrupted, or its target is reached."""


class Interruption:
    """Whether somebody wants a training to stop."""

    def __init__(self) -> None:
        self.wanted = False
        self.number: int = signal.SIGINT

    def ask(self, number: int = signal.SIGINT) -> None:
        """Want it from now on, as the signal ``number`` says."""
        self.wanted, self.number = True, number

    def stop_if_wanted(self) -> None:
        """Raise StopTraining if somebody does."""
        if self.wanted:
            raise StopTraining


class Interruptible(BaseCallback):
    """Lets a training be interrupted after any step."""

    def __init__(self, interruption: Interruption) -> None:
        super().__init__()
        self.interruption = interruption

    def _on_step(self) -> bool:
        self.interruption.stop_if_wanted()
        return True


class Conductor(Interruptible):
    """Tells a run when it may act: at the start of a rollout nothing is in flight.

    Args:
        interruption: of the run.
        between_rollouts: called with the logger before each rollout.
        after_step: called with (steps so far, games that ended) after each step of the games.
    """

    def __init__(
        self,
        interruption: Interruption,
        between_rollouts: Callable[[Logger], None],
        after_step: Callable[[int, int], None],
    ) -> None:
        super().__init__(interruption)
        self._between_rollouts, self._after_step = between_rollouts, after_step

    def _on_rollout_start(self) -> None:
        self._between_rollouts(self.logger)

    def _on_step(self) -> bool:
        self._after_step(self.num_timesteps, int(np.sum(self.locals["dones"])))
        return super()._on_step()
