"""Every verb's help begins with a line that is shown whole in the list of verbs, and has an example that works."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dicegym import cli
from dicegym.cli.app import PANELS, app, whole_command

WIDTH = "80"


def below(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the words of a command and of all below it, each with the command."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from below(inner, (*path, name))


WHOLE = whole_command()
NOT_OURS = ("help", "install_completion", "show_completion")
"""Options that Typer declares."""
GROUPS = sorted(path for path, command in below(WHOLE) if hasattr(command, "commands"))
VERBS = sorted(path for path, command in below(WHOLE) if not hasattr(command, "commands"))
EXAMPLE = re.compile(r"^\s*Examples?: (.+?)(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def help_of(words: tuple[str, ...]) -> str:
    result = CliRunner(env={"COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH}).invoke(app, [*words, "--help"])
    assert result.exit_code == 0, result.output
    return result.output


def parse(words: list[str]) -> None:
    command: Any = whole_command()
    context = command.make_context("dicegym", list(words))
    while hasattr(command, "commands"):
        words = [*context._protected_args, *context.args]
        if not words and command.invoke_without_command:
            return
        _, command, words = command.resolve_command(context, words)
        context = command.make_context(command.name, list(words), parent=context)


def test_files_are_written_by_one_option() -> None:
    for _, command in below(WHOLE):
        for option in command.params:
            if "--output" in option.opts:
                assert ("-o" in option.opts, option.multiple) == (True, True), command.name
                assert not {"--json", "--csv", "--html", "--gif", "--mp4"} & {*option.opts}, command.name


def test_the_panels_have_at_most_16_entries() -> None:
    """More than that nobody reads. Commands that games have of their own are listed apart."""
    listed = [name for panel in PANELS.values() for name in panel]
    assert len(listed) == len(set(listed)) <= 16
    shown = help_of(())
    assert [title for title in PANELS if f"\n{title}:\n" not in shown] == []


def test_the_commands_declare_at_most_150_options() -> None:
    """An option of one name and meaning counts once, and so does ``--output``, whatever a command can write."""
    declared = {
        (option.opts[0], "" if "--output" in option.opts else option.help)
        for _, command in below(WHOLE)
        for option in command.params
        if option.param_type_name == "option" and option.name not in NOT_OURS
    }
    assert len(declared) <= 150, sorted(declared)


LONGEST = 60
"""Lines of a function's body at most."""


def lines_of_body(function: ast.FunctionDef) -> int:
    """Return how many lines a function has without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return 1 + (body[-1].end_lineno or 0) - body[0].lineno if body else 0


@pytest.mark.parametrize("file", sorted(Path(cli.__file__).parent.glob("*.py")), ids=lambda file: file.stem)
def test_no_function_of_a_command_is_long(file: Path) -> None:
    functions = [one for one in ast.walk(ast.parse(file.read_bytes())) if isinstance(one, ast.FunctionDef)]
    long = {one.name: lines_of_body(one) for one in functions if lines_of_body(one) > LONGEST}
    assert not long, "split it into steps with names"


SEVERAL = """
import contextlib, io, json, os, sys
from dicegym.cli import main
heavy, *asked = json.load(sys.stdin)
for words, environ in asked:
    os.environ.update(environ)
    sys.argv, out = ["dicegym", *words], io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main()
    print(json.dumps([out.getvalue(), sorted(sys.modules.keys() & {*heavy})]))
"""


def in_a_new_process(heavy: tuple[str, ...], *asked: tuple[list[str], dict[str, str]]) -> list[tuple[str, list[str]]]:
    """Run commands, each with more of an environment, one after the other in one new process.

    Returns of each what it printed, and which of the ``heavy`` modules are loaded since.
    """
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL], input=json.dumps([heavy, *asked]), capture_output=True, text=True, check=True
    )
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_help_and_completion_load_neither_numpy_nor_what_needs_it() -> None:
    """They would take twice as long. What asks for a game's agents does load it."""
    completion = {"_DICEGYM_COMPLETE": "complete_bash", "COMP_WORDS": "dicegym train h", "COMP_CWORD": "2"}
    shows = {"--help": "tournament", "--version": "dicegym", "games": "dicegym/Hog-v0", "train --help": "--resume"}
    asked = [*((words.split(), {}) for words in shows), ([], completion)]
    told = in_a_new_process(("gymnasium", "numba", "numpy", "scipy", "torch"), *asked)
    for (out, loaded), shown in zip(told, (*shows.values(), "hog"), strict=True):
        assert (shown in out, loaded) == (True, [])


def test_a_game_and_its_agents_are_shown_without_a_compiler(run: Any) -> None:
    """They would take twice as long, and show what they show with it."""
    completion = {"_DICEGYM_COMPLETE": "complete_bash", "COMP_WORDS": "dicegym compare hog bac", "COMP_CWORD": "3"}
    agents, words = run("games", "hog", "-p", "memory=1")[1], ["games", "hog", "-p", "memory=1"]
    # Each in a process of its own, as the first one settles how the next finds the kernels.
    assert in_a_new_process(("llvmlite", "numba"), (words, {})) == [(agents, [])]
    assert in_a_new_process(("llvmlite", "numba"), ([], completion)) == [("bacon\n", [])]


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_the_list_of_verbs_shows_whole_lines(words: tuple[str, ...]) -> None:
    shown = help_of(words)
    lines = shown.partition("\nPlay:" if not words else "\nCommands:")[2].splitlines()
    cut = [line for line in lines if line.endswith("...")]
    assert lines
    assert not cut


@pytest.mark.slow_after(20)
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_an_example_stands_in_the_help_and_can_be_typed(words: tuple[str, ...]) -> None:
    found = EXAMPLE.search(help_of(words))
    assert found, help_of(words)
    for example in " ".join(found[1].split()).split("; "):
        typed = shlex.split(example)
        assert typed[0] == "dicegym"
        assert tuple(typed[1 : 1 + len(words)]) == words
        parse(typed[1:])
