"""Networks are trained in bfloat16 only where the processor computes with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import llvmlite.binding
import pytest
import torch

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.learning.dagger import DAgger, computes_bfloat16

CPU = torch.device("cpu")


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that lets this processor seem to have the instructions that are named."""

    def has(*names: str) -> None:
        computes_bfloat16.cache_clear()
        monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: dict.fromkeys(names, True))

    yield has
    computes_bfloat16.cache_clear()


@pytest.mark.parametrize(
    ("has", "quick"),
    [
        (("avx2", "fma"), False),
        (("avx2", "avx512f", "avx512vnni"), False),
        (("avx512f", "avx512bf16"), True),
        (("amx-tile", "amx-bf16"), True),
        (("neon",), False),
        (("neon", "bf16"), True),
    ],
)
def test_bfloat16_is_quick_where_the_processor_has_instructions_for_it(
    processor: Any, has: tuple[str, ...], quick: bool
) -> None:
    processor(*has)
    assert computes_bfloat16(CPU) is quick


def test_a_file_learns_on_in_what_is_quick_where_it_is_loaded(processor: Any, tmp_path: Any) -> None:
    processor("avx2")
    env = SB3VecEnv("hog", 8, seed=1, goal=20, opponent="always_roll(5)")
    settings: dict[str, Any] = {"teacher": "reply(always_roll(5))", "policy_kwargs": {"net_arch": [8]}}
    learner = DAgger("MlpPolicy", env, 1e-3, 8, 64, precision="auto", seed=1, **settings)
    learner.learn(64)
    learner.save(tmp_path / "learner.zip")
    processor("amx-bf16")
    used: list[bool] = []
    again = DAgger.load(tmp_path / "learner.zip", env=env)
    again.policy.action_net.register_forward_hook(lambda *given: used.append(given[-1].dtype is torch.bfloat16))
    again.learn(64)
    assert used
    assert all(used)
