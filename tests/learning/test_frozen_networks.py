"""Networks that FastMaskablePPO's own passes would train otherwise than MaskablePPO are refused, also later."""

from __future__ import annotations

import pytest

pytest.importorskip("sb3_contrib")

from dicegym.envs import SB3VecEnv
from dicegym.errors import ParameterError
from dicegym.learning.fast_ppo import FastMaskablePPO


def test_what_is_changed_after_the_model_was_made_is_looked_at() -> None:
    model = FastMaskablePPO("MlpPolicy", SB3VecEnv("hog", 4, seed=0), n_steps=2, batch_size=8, seed=0, device="cpu")
    model.learn(8)
    for layer in model.policy.mlp_extractor.policy_net.parameters():
        layer.requires_grad = False
    with pytest.raises(ParameterError, match="as some of its parameters are frozen: use MaskablePPO"):
        model.learn(8)
    for layer in model.policy.parameters():
        layer.requires_grad = True
    model.policy.optimizer.param_groups[0]["weight_decay"] = 0.1
    with pytest.raises(ParameterError, match=r"as its optimizer has weight_decay=0\.1"):
        model.learn(8)
