"""Networks are trained in bfloat16 only where the processor computes with it."""

from __future__ import annotations

import warnings
from typing import Any

import llvmlite.binding
import pytest
import torch

from dicegym.envs.sb3 import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.learning import dagger
from dicegym.learning.dagger import DAgger

CPU = torch.device("cpu")


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets this processor seem to have the instructions that are named."""
    return lambda *names: monkeypatch.setattr(
        llvmlite.binding, "get_host_cpu_features", lambda: dict.fromkeys(names, True)
    )


@pytest.mark.parametrize(
    ("has", "taken"),
    [
        (("avx2", "fma"), torch.float32),
        (("avx2", "avx512f", "avx512vnni"), torch.float32),
        (("avx512f", "avx512bf16"), torch.bfloat16),
        (("amx-tile", "amx-bf16"), torch.bfloat16),
        (("neon",), torch.float32),
        (("neon", "bf16"), torch.bfloat16),
    ],
)
def test_auto_is_bfloat16_where_the_processor_has_instructions_for_it(
    processor: Any, has: tuple[str, ...], taken: torch.dtype
) -> None:
    processor(*has)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dagger.number_type("auto", CPU) is taken
        assert dagger.number_type("float32", CPU) is torch.float32


def test_whoever_asks_for_what_is_slow_here_gets_it_and_is_told(processor: Any) -> None:
    processor("avx2")
    with pytest.warns(UserWarning, match=r"many times slower than float32.*precision='auto'"):
        assert dagger.number_type("bfloat16", CPU) is torch.bfloat16
    processor("avx512bf16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dagger.number_type("bfloat16", CPU) is torch.bfloat16


def test_other_precisions_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(ParameterError, match=r"precision.*auto.*float32.*bfloat16"):
        DAgger("MlpPolicy", SB3VecEnv("hog", 8), precision="float16")


def test_a_learner_computes_in_what_is_quick_and_keeps_that_out_of_its_file(processor: Any, tmp_path: Any) -> None:
    processor("avx2")
    env = SB3VecEnv("hog", 8, seed=1, goal=20, opponent="always_roll(5)")
    settings: dict[str, Any] = {"teacher": "reply(always_roll(5))", "policy_kwargs": {"net_arch": [8]}}
    learner = DAgger("MlpPolicy", env, 1e-3, 8, 64, precision="auto", seed=1, **settings)
    learner.learn(64)
    assert learner._numbers is torch.float32
    learner.save(tmp_path / "learner.zip")
    processor("amx-bf16")
    again = DAgger.load(tmp_path / "learner.zip", env=env)
    again.learn(64)
    assert again._numbers is torch.bfloat16
