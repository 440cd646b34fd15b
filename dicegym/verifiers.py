"""The games for verifiers: `DiceTaskset`, endless games of one seat, and `DiceEnv`, in which a model plays them.

verifiers finds tasks by the name of a module, so write one of two lines, ``dice_games.py``::

    from dicegym.verifiers import DiceEnv, DiceTaskset

    __all__ = ["DiceEnv", "DiceTaskset"]

and run ``vf-eval dice-games --env.taskset.game hog``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from dicegym.errors import DependencyError
from dicegym.text import TextEnv

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise DependencyError(
        "tasks of verifiers need the package verifiers, which is not installed: pip install verifiers, in an "
        "environment of its own"
    ) from error


class DiceConfig(vf.TasksetConfig):  # type: ignore[misc]  # the library is untyped
    """The game, the opponent and the reward; see `dicegym.text.TextEnv`."""

    game: str = "hog"
    opponent: str = ""
    reward: str = "regret"


class DiceData(vf.TaskData):  # type: ignore[misc]
    """One game."""

    game: str
    opponent: str
    reward: str
    seed: int

    def begin(self) -> TextEnv:
        """Return the game, begun."""
        env = TextEnv(self.game, self.opponent or None, reward=self.reward)
        env.reset(seed=self.seed)
        return env


class DiceTask(vf.Task[DiceData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """One game to play; its reward comes from `DiceEnv`."""


class DiceTaskset(vf.Taskset[DiceTask, DiceConfig]):  # type: ignore[misc]
    """Endless games: task number k has the dice of seed k."""

    INFINITE = True

    def load(self) -> Iterator[DiceTask]:
        """Yield the tasks."""
        game, opponent, reward = self.config.game, self.config.opponent, self.config.reward
        for seed in count():
            data = DiceData(name=f"{game}#{seed}", game=game, opponent=opponent, reward=reward, seed=seed)
            env = data.begin()
            yield DiceTask(data.model_copy(update={"prompt": env.text, "system_prompt": env.prompt}), self.config.task)


class DiceEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The model that plays, in a plain conversation."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})


class DiceEnv(vf.Env[DiceEnvConfig]):  # type: ignore[misc]
    """A game in turns: an observation is the user's message, and an answer the model's.

    The trace records the sum of all rewards as ``reward``, and the metrics ``decisions`` and ``invalid`` (answers).
    """

    async def run(self, task: DiceTask, agents: Any) -> None:
        """Play one game; see `dicegym.text.TextEnv.answer` for answers that cannot be played."""
        env, gained, decisions, invalid = task.data.begin(), 0.0, 0, 0
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                text, reward, over, error = env.answer(segment.last_reply)
                gained, decisions, invalid = gained + reward, decisions + 1, invalid + bool(error)
                if over:
                    break
                segment = await interaction.turn(f"{error}\n{text}" if error else text)
        trace = interaction.trace
        trace.record_reward("reward", gained, 1.0)
        trace.record_metric("decisions", float(decisions))
        trace.record_metric("invalid", float(invalid))
