"""What docs/cluster gives people to start with works as far as it can be tried without their machines."""

from __future__ import annotations

from pathlib import Path

import pytest

FILES = Path(__file__).resolve().parents[2] / "docs" / "cluster"


def test_the_cluster_s_configuration_is_one_for_ray() -> None:
    pytest.importorskip("ray")
    yaml = pytest.importorskip("yaml")
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(yaml.safe_load((FILES / "ray.yaml").read_text())))
