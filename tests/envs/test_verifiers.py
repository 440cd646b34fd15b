"""The games in verifiers: its tasks, its environment and its traces, with a scripted model in the conversation."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import types
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("verifiers", reason="needs the package verifiers, whose dependencies exclude those of dicegym[llm]")
import verifiers.v1 as vf

import dicegym.verifiers as adapter
from dicegym.analysis.valuers import MARKS
from dicegym.text import TextEnv


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two lines that a user writes."""
    module = types.ModuleType("dice_games")
    module.__dict__.update(DiceEnv=adapter.DiceEnv, DiceTaskset=adapter.DiceTaskset, __all__=["DiceEnv", "DiceTaskset"])
    module.__spec__ = SimpleNamespace(name="dice_games")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "dice_games", module)


class Talk:
    """Stands for `vf.Interaction`: the model says what a script says."""

    def __init__(self, task: Any, script: list[str]) -> None:
        self._script = script
        self.heard: list[str] = []
        data = vf.TraceTask(type="DiceTask", data=task.data, key=task.key, hash=task.hash)
        self.trace = vf.Trace(task=data, agent=vf.AgentInfo.model_construct(name="player"))

    async def turn(self, message: str | None = None) -> vf.Segment:
        self.heard += [] if message is None else [message]
        said = self._script.pop(0) if self._script else '{"action": "roll 4"}'
        return vf.Segment(messages=[vf.AssistantMessage(content=said)])


def test_a_model_plays_a_task_and_its_regret_is_its_reward() -> None:
    config = adapter.DiceEnvConfig(taskset=adapter.DiceConfig(id="dice-games", game="hog", opponent="bacon"))
    env = adapter.DiceEnv(config)
    assert isinstance(env.taskset, adapter.DiceTaskset)
    first, second = env.taskset.take(2)
    own = TextEnv("hog", "bacon", reward="regret")
    text, _ = own.reset(seed=1)
    assert (second.data.prompt, second.data.system_prompt) == (text, own.prompt)
    assert first.key != second.key
    talk = Talk(second, ["I roll four."])

    @contextlib.asynccontextmanager
    async def interaction(task: Any) -> AsyncIterator[Talk]:
        yield talk

    asyncio.run(env.run(second, SimpleNamespace(player=SimpleNamespace(interaction=interaction))))
    assert "is not JSON" in talk.heard[0]
    assert talk.heard[0].endswith(text), "nothing was played"
    gained, turns, over = 0.0, 0, False
    while not over:
        _, reward, over, _ = own.answer('{"action": "roll 4"}')
        gained, turns = gained + reward, turns + 1
    assert talk.trace.rewards["reward"].value == pytest.approx(gained - MARKS[-1].cost)
    assert talk.trace.metrics == {"decisions": turns + 1, "invalid": 1}
