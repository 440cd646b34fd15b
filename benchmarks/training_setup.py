"""How the trainings of the bench are set up."""

from __future__ import annotations

from typing import NamedTuple


class TrainingSetup(NamedTuple):
    """The same for all environments: a rollout of equal size, the same updates."""

    games: int = 256
    single: int = 8
    """Single environments in a DummyVecEnv."""
    rollout: int = 16_384
    """Steps of all games together between two updates."""
    batch_size: int = 2_048
    epochs: int = 4
    """As many as in all of training/configs; Stable-Baselines3 makes 10 unless told otherwise."""
    torch_threads: int = 1
    configurations: bool = True
    """Whether trainers are compared with the settings of each game's configuration too."""

    def text(self) -> str:
        """Return all that in words."""
        return (
            f"MlpPolicy, rollouts of {self.rollout:,} steps, batches of {self.batch_size:,}, {self.epochs} epochs, "
            f"torch threads: {self.torch_threads}"
        )
