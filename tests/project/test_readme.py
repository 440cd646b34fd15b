"""What the README tells people to type works."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from dicegym.cli.app import app, commands_of, games_with_commands

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(
    r"^dicegym (\w+)(.*?)(?:#.*)?$", "\n".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL)), re.M
)


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: code.splitlines()[0])
def test_python_examples_run(code):
    if "stable_baselines3" in code or "sb3" in code:
        pytest.importorskip("sb3_contrib")
    shorter = re.sub(r"learn\([\d_]+\)", "learn(2_000)", code).replace("my/hog.py", "tuned")
    exec(compile(shorter, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize(("verb", "rest"), COMMANDS, ids=lambda text: text.strip() or "-")
def test_commands_and_their_options_exist(verb, rest):
    command = commands_of(verb) if verb in games_with_commands() else get_command(app).commands[verb]
    known = {option for parameter in command.params for option in parameter.opts}
    for option in re.findall(r"--[a-z-]+", rest):
        assert option in known


def test_there_are_examples():
    assert len(BLOCKS) >= 4
    assert len(COMMANDS) >= 10
