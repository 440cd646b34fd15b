"""The programs of docs/clients.md run where their library is installed, each by itself in a folder of its own."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dicegym.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "clients.md"
BLOCK = re.compile(r"^% needs (?P<modules>[\w. ]+)\n```python\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = [(match["modules"].split(), match["text"]) for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
TRIED = {"sb3_contrib", "moviepy"}
ZOO = yaml.safe_load((ROOT / "training" / "rl_zoo3.yml").read_text(encoding="utf-8"))


def missing(modules: list[str]) -> list[str]:
    """Return the modules that cannot be imported; one of a package needs the package."""
    return [name for name in modules if importlib.util.find_spec(name.partition(".")[0]) is None]


@pytest.mark.parametrize(
    ("modules", "text"),
    [
        # SB3's trains for ten seconds, as the tour of the README does; tests/envs/test_recording.py records films too
        pytest.param(*one, marks=[pytest.mark.slow] if {*one[0]} & TRIED else [], id=f"{one[0][0]}-{number}")
        for number, one in enumerate(PROGRAMS)
    ],
)
def test_a_program_for_another_library_runs(modules: list[str], text: str, tmp_path: Path) -> None:
    ast.parse(text)
    if away := missing(modules):
        pytest.skip(f"{', '.join(away)} is not installed here; the page says with which version it was tried")
    program = tmp_path / "program.py"
    program.write_text(text, encoding="utf-8")
    ran = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_there_are_programs_and_a_row_for_each() -> None:
    assert len(PROGRAMS) >= 7
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) == 11


def test_the_zoo_has_an_entry_for_every_environment() -> None:
    assert list(ZOO) == [environment.full_id for environment in ENVIRONMENTS]
    for name, entry in ZOO.items():
        assert entry["n_steps"] * entry["n_envs"] % entry["batch_size"] == 0, name


def test_the_cluster_s_configuration_is_one_for_ray() -> None:
    pytest.importorskip("ray")
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(yaml.safe_load((ROOT / "docs/cluster/ray.yaml").read_text())))
