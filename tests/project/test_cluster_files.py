"""What docs/cluster gives people to start with works as far as it can be tried without their machines."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dicegym.cli.app import whole_command

FILES = Path(__file__).resolve().parents[2] / "docs" / "cluster"


def test_the_cluster_s_configuration_is_one_for_ray() -> None:
    pytest.importorskip("ray")
    yaml = pytest.importorskip("yaml")
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(yaml.safe_load((FILES / "ray.yaml").read_text())))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_for_a_queue_gives_a_command_that_there_is(tmp_path: Path) -> None:
    said = tmp_path / "said"
    command = tmp_path / "dicegym"
    command.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}\n')
    command.chmod(0o755)
    task = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "50", "SLURM_CPUS_PER_TASK": "4", "SEED": "7"}
    environment = os.environ | task | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", str(FILES / "shards.sh")], cwd=tmp_path, env=environment, check=True)
    verb, *words = said.read_text().split()
    assert words[words.index("--shard") :][:2] == ["--shard", "3/50"]
    assert (tmp_path / "stores").is_dir()
    context = whole_command().commands[verb].make_context(verb, words)
    assert context.params["store"] == "stores/3.sqlite"
    assert (context.params["seed"], context.params["workers"]) == (7, 4)
