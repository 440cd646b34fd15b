"""What the site and the README tell people to type works.

Blocks of Python run, page by page, each page in a folder of its own, and each block as a file in a process of its own
(`page_blocks`): whoever copies one into a file has nothing else. A block that begins with ``# continues`` goes on where
the last one ended, and runs behind it in one file. One that begins with ``# file: NAME`` is one that the reader is to
write; one below a line ``% needs MODULE`` is run by tests/project/test_clients.py. All commands are parsed, and those
of blocks below a line ``% run`` run, in a process of their own too.

Processes are for `make test-all`. `make test` runs the README's blocks in its own, and looks for what a block uses of
dicegym without importing it, on all pages.
"""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import shlex
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from page_blocks import Processes, started

import dicegym
from dicegym.cli.app import whole_command
from dicegym.registry import ENVIRONMENTS, GAMES, Environment

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
BLOCK = re.compile(
    r"(?P<needs>^% needs .*\n)?(?P<run>^% run\n)?^```(?P<language>python|console)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
FILE = re.compile(r"# file: (\S+)\n")
CONTINUES = "# continues "
"""How a block begins that has the names of the one before, for whoever reads the page too."""


class Block(NamedTuple):
    language: str
    text: str
    run: bool


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(match["language"], match["text"], match["run"] is not None) for match in found if not match["needs"]]


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of every ``dicegym`` command, comments left out."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["dicegym"]:
            yield words[1:]


def parse(words: list[str]) -> None:
    """Parse a command as the program does, without running it. Raises what typer raises."""
    command: Any = whole_command()
    context = command.make_context("dicegym", list(words))
    while hasattr(command, "commands"):
        words = [*context._protected_args, *context.args]  # what its own options left
        if not words and command.invoke_without_command:
            return
        _, command, words = command.resolve_command(context, list(words))
        context = command.make_context(command.name, list(words), parent=context)


INLINE = re.compile(r"`(dicegym (?!COMMAND)[^`]+)`")
COMMANDS = {
    page: [
        words
        for text in (
            *(block.text for block in blocks(page) if block.language == "console"),
            *INLINE.findall(page.read_text(encoding="utf-8")),
        )
        for words in commands(text)
    ]
    for page in PAGES
}
TESTED_ELSEWHERE = {"add_a_game.md"}  # tests/project/test_add_a_game.py runs it, beside the game that it makes
PYTHON = [
    page
    for page in PAGES
    if page.name not in TESTED_ELSEWHERE and any(block.language == "python" or block.run for block in blocks(page))
]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


ELSEWHERE = ("openenv", "verifiers")
"""Libraries that ask for other versions than ours: their blocks run where they are installed, as do their tests."""


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Yield what starts processes."""
    with started() as found:
        yield found


def shortened(text: str) -> str:
    """Return a block whose training is short."""
    return re.sub(r"learn\([\d_]+", "learn(2_000", text).replace("n_steps=64", "n_steps=8")


@pytest.mark.slow
@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_blocks_of_a_page_run(page: Path, tmp_path: Path, processes: Processes) -> None:
    before = ""
    for number, block in enumerate(blocks(page), 1):
        if block.language == "console":
            if block.run:
                processes.run(tmp_path, commands=list(commands(block.text)))
        elif file := FILE.match(block.text):
            (tmp_path / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file[1]).write_text(block.text[file.end() :], encoding="utf-8")
        elif any(f"dicegym.{one}" in block.text and find_spec(one) is None for one in ELSEWHERE):
            continue
        else:
            if "stable_baselines3" in block.text or "sb3" in block.text:
                pytest.importorskip("sb3_contrib")
            before = f"{before}\n{block.text}" if block.text.startswith(CONTINUES) else block.text
            program = tmp_path / f"block_{number}.py"
            program.write_text(shortened(before), encoding="utf-8")
            processes.run(tmp_path, file=str(program))


@pytest.mark.filterwarnings("ignore:rich is experimental")  # the bar of a training
def test_blocks_of_the_readme_run_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    texts = [block.text for block in blocks(ROOT / "README.md") if block.language == "python"]
    assert len(texts) == 2
    for text in texts:
        (tmp_path / "block.py").write_text(shortened(text), encoding="utf-8")
        runpy.run_path(str(tmp_path / "block.py"), run_name="__main__")


def not_imported(text: str) -> list[str]:
    """Return what a program uses of dicegym that it does not import, though other programs may have done so."""
    nodes = list(ast.walk(ast.parse(text)))
    imported = {alias.asname or alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    known = {f"dicegym.{name}" for name in dicegym.__all__} | imported
    if any(name.partition(".")[0] == "dicegym" for name in imported):
        known.add("dicegym")
    attributes = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    used = {name for name in attributes if re.fullmatch(r"dicegym\.\w+", name)}
    used |= {node.id for node in nodes if isinstance(node, ast.Name) and node.id == "dicegym"}
    return sorted(used - known)


def test_blocks_import_what_they_use_of_dicegym() -> None:
    looked_at = 0
    for page in PYTHON:
        before = ""
        for block in blocks(page):
            if block.language != "python":
                continue
            before = f"{before}\n{block.text}" if block.text.startswith(CONTINUES) else block.text
            assert not not_imported(before), page
            looked_at += "dicegym." in before
    assert looked_at > 20
    assert not_imported("import dicegym\ndicegym.learning.train") == ["dicegym.learning"]
    assert not_imported("from dicegym.envs import Step\ndicegym.game") == ["dicegym"]
    assert not not_imported("import dicegym.learning\ndicegym.learning.train(dicegym.game)")


@pytest.mark.slow
def test_a_block_that_needs_what_another_imported_is_found(tmp_path: Path, processes: Processes) -> None:
    (tmp_path / "first.py").write_text("import dicegym.learning\n", encoding="utf-8")
    processes.run(tmp_path, file=str(tmp_path / "first.py"))
    for second, error in (
        ("print(dicegym.game('hog'))", "NameError: name 'dicegym' is not defined"),
        ("import dicegym\ndicegym.learning", "AttributeError: module 'dicegym' has no attribute 'learning'"),
    ):
        (tmp_path / "second.py").write_text(f"{second}\n", encoding="utf-8")
        with pytest.raises(AssertionError, match=error):
            processes.run(tmp_path, file=str(tmp_path / "second.py"))


def wrong_commands(page: Path) -> list[str]:
    """Return one sentence for each command of a page that cannot be typed."""
    wrong = []
    for words in COMMANDS[page]:
        try:
            parse(words)
        except typer.Exit:  # of an option that prints something and ends
            continue
        except Exception as error:
            wrong.append(f"{page}: dicegym {shlex.join(words)}: {error}")
    return wrong


def test_commands_of_pages_can_be_typed() -> None:
    assert sum(map(len, COMMANDS.values())) >= 200
    assert len(PYTHON) >= 8
    wrong = [line for page in PAGES for line in wrong_commands(page)]
    assert not wrong, "\n".join(wrong)
    with pytest.raises(Exception, match="No such option"):
        parse(["evaluate", "ppo", "--agianst", "bacon"])


LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)\s#]+\.md)(#[^)]*)?\)")
INCLUDED = ("curves_text.md",)
"""Parts of other pages, which have no page of their own on the site."""


def test_links_lead_to_pages_of_the_site() -> None:
    wrong = []
    for page in PAGES:
        for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
            found = (page.parent / target).resolve()
            if not found.is_file() or (page.is_relative_to(ROOT / "docs") and found.name in INCLUDED):
                wrong.append((page, target))
    assert not wrong
    left_out = re.search(r"^exclude_patterns = (\[.*?\])", (ROOT / "docs/conf.py").read_text("utf-8"), re.MULTILINE)
    assert left_out is not None
    assert all(f'"{name}"' in left_out[1] for name in INCLUDED)


def test_nobody_is_told_to_install_from_an_index_that_does_not_have_us() -> None:
    package = [path for path in (ROOT / "dicegym").rglob("*") if path.suffix in (".py", ".html", ".js", ".txt")]
    pages = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb"), *package]
    told = re.compile(r"pip3? install (-U )?['\"]?dicegym\b(?!\[)")  # pip adds an extra to what is installed
    assert not [str(page) for page in pages if told.search(page.read_text(encoding="utf-8"))]
    assert len(package) > 300


# --- what the site makes --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generate() -> Iterator[Any]:
    """Yield the module that writes the site's generated pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        patch.syspath_prepend(ROOT)
        yield importlib.import_module("generate")


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda one: one.id)
def test_an_environments_page_has_all_sections_and_a_working_example(environment: Environment, generate: Any) -> None:
    page = generate.environment_page(environment)
    headings = re.findall(r"^(.+)\n-+$", page, re.MULTILINE)
    last = ["Action space", "Observation space", "Rewards", "Episode end", "Arguments", "Example", "Version history"]
    assert headings[-len(last) :] == last
    assert page.count("=====  ") >= 4, "tables of actions and observations"
    (example,) = re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", page)
    exec(textwrap.dedent(example), {})


@pytest.mark.parametrize("agent", ["hog/ppo", "lucky/expert"])
def test_results_are_made_from_cards(agent: str, generate: Any) -> None:
    table = generate.model_table()
    game, _, name = agent.partition("/")
    (row,) = [line for line in table.splitlines() if line.startswith(f"| {dicegym.game(game).spec.title}, `{name}` |")]
    card = (ROOT / f"agents/{agent}.md").read_text(encoding="utf-8")
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert re.search(rf"\| score \| {re.escape(cells[3].partition(',')[0].partition(' ')[0])}", card)
    assert cells[4].partition(",")[0].partition(" ")[0] in card


def test_the_reference_has_every_command_and_groups_that_do_something_themselves(generate: Any) -> None:
    commands = dict(generate.commands())
    assert {"web", "web token add", "train", "values hint"} <= set(commands)
    assert "values" not in commands


FILES = re.compile(r"`([a-zA-Z_0-9/]+(?:\.pyi?|/))`")


def test_files_that_the_design_names_exist() -> None:
    """The table of questions and files; GAME is a placeholder."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    table = text[text.index("## Where to find") : text.index("## Folders")]
    named = FILES.findall(table)
    assert len(named) > 30
    folders = (ROOT, ROOT / "dicegym")
    missing = [
        path
        for path in named
        if not any((folder / path.replace("GAME", game)).exists() for folder in folders for game in GAMES)
    ]
    assert not missing
