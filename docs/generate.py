"""Generate pages of the site from the code, the cards of models, and measurements."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from typer import Context
from typer.core import TyperGroup

import dicegym
from benchmarks.report import markdown
from benchmarks.result import BenchResult
from dicegym.cli.app import whole_command
from dicegym.games.parts import ADAPTER, part
from dicegym.games.rules_page import apart, sections, title_of
from dicegym.learning.evaluate import Score
from dicegym.players import model_file
from dicegym.players.roster import agents_folder
from dicegym.registry import ENVIRONMENTS, GAMES, Environment, rules_module
from dicegym.sandbox.limits import customs

PICTURE_SEED = 3
PICTURE_STEPS = 6
"""Random decisions of the learner before the picture."""


def write_all(folder: Path) -> None:
    """Write all generated pages below ``folder``, the site's source."""
    (folder / "environments").mkdir(exist_ok=True)
    for environment in ENVIRONMENTS:
        name = environment.module_name
        (folder / "environments" / f"{name}.rst").write_text(environment_page(environment), encoding="utf-8")
        Image.fromarray(picture(environment)).save(folder / "environments" / f"{name}.png")
    (folder / "environments" / "list.inc").write_text(environment_list(), encoding="utf-8")
    (folder / "models.inc").write_text(model_table(), encoding="utf-8")
    (folder / "bench.inc").write_text(bench_tables(folder / "bench.json"), encoding="utf-8")
    (folder / "bots" / "customs.txt").write_text(customs(), encoding="utf-8")
    for game in dict.fromkeys(environment.game for environment in ENVIRONMENTS):
        if (starter := part(game, ADAPTER)) is not None and starter.INTERFACE:
            (folder / "bots" / f"interface_{game}.txt").write_text(starter.INTERFACE, encoding="utf-8")
    (folder / "reference").mkdir(exist_ok=True)
    (folder / "reference" / "api.rst").write_text(api_page(), encoding="utf-8")
    (folder / "reference" / "commands.rst").write_text(command_page(), encoding="utf-8")


def heading(text: str, line: str) -> str:
    """Return ``text`` underlined as a heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


# --- environments ----------------------------------------------------------------------------------------------


def picture(environment: Environment) -> np.ndarray:
    """Return what a learner sees after some random decisions: uint8[height, width, 3]."""
    import gymnasium

    env: Any = gymnasium.make(environment.full_id, render_mode="rgb_array", seat=0).unwrapped
    _, info = env.reset(seed=PICTURE_SEED)
    generator = np.random.default_rng(PICTURE_SEED)
    for _ in range(PICTURE_STEPS):
        _, _, terminated, _, info = env.step(int(generator.choice(np.flatnonzero(info["action_mask"]))))
        if terminated:
            _, info = env.reset()
    frame: np.ndarray = env.render()
    return frame


def seats(environment: Environment) -> str:
    """Return the number of seats."""
    game = dicegym.game(environment.game, **environment.settings)
    low, high = game.spec.players
    if environment.multi and low < high:
        return f"{max(2, low)} to {high}"
    return str(game.players)


def environment_list() -> str:
    """Return the table of all environments and their place in the site's tree, in Markdown: `index.md` includes it."""
    lines = ["| environment | game | seats |", "|---|---|---|"]
    for environment in ENVIRONMENTS:
        title, kind = title_of(rules_page(environment.game))
        lines.append(f"| [{environment.id}]({environment.module_name}) | **{title}**: {kind} | {seats(environment)} |")
    names = [environment.module_name for environment in ENVIRONMENTS]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *names, "```", ""])


def default_opponent(game: dicegym.Game) -> str:
    """Return the default opponent, as the argument ``opponent`` would name it."""
    found = game.spec.default_opponent
    return f"``{found}``" if isinstance(found, str) else f"``{dict(found)}``, drawn for each seat of each game"


def rules_page(game: str) -> str:
    """Return the rules page, which is the docstring of a game's rules."""
    return importlib.import_module(rules_module(game)).__doc__ or ""


HEADINGS = {
    "Actions": "Action space",
    "Observation": "Observation space",
    "Rewards": "Rewards",
    "End": "Episode end",
    "Parameters": "Arguments",
    "Version history": "Version history",
}
"""Section of a rules page -> its heading on the site, in the order of Gymnasium's pages, behind all other sections."""
EXAMPLE = """\
import gymnasium as gym
import dicegym

env = gym.make({id!r})
observation, info = env.reset(seed=0)
terminated = truncated = False
while not (terminated or truncated):
    action = env.action_space.sample(info["action_mask"])  # your policy
    observation, reward, terminated, truncated, info = env.step(action)
print(info["returns"])
"""


def arguments(environment: Environment, game: dicegym.Game) -> str:
    """Return the call that makes an environment, with all arguments and their defaults."""
    from dicegym.envs import SingleAgentEnv

    shared = inspect.signature(SingleAgentEnv).parameters.values()
    given = {one.name: one.default for one in shared if one.default is not inspect.Parameter.empty}
    players = {"players": game.players} if environment.multi and len(set(game.spec.players)) > 1 else {}
    told = ", ".join(f"{name}={value!r}" for name, value in ({**game.parameters, **players} | given).items())
    return f"``gymnasium.make({environment.full_id!r}, {told})``. :doc:`index` explains what all environments share."


def environment_page(environment: Environment) -> str:
    """Return the page of one environment, made from its game's rules page."""
    game = dicegym.game(environment.game, **environment.settings)
    page = rules_page(game.name)
    facts = [
        ("Action space", f"``Discrete({game.n_actions})``"),
        ("Observation space", f"``Box(0, 1, ({game.observation_size},), float32)``"),
        ("Seats", seats(environment)),
        ("Default opponent", default_opponent(game) if game.players > 1 else "nobody"),
        ("One game", f"``gymnasium.make({environment.full_id!r})``"),
        ("Many games", f"``gymnasium.make_vec({environment.full_id!r}, num_envs=1024)``"),
        *([("Every seat", f"``pettingzoo.make('aec', {environment.full_id!r})``")] if environment.multi else []),
    ]
    lines = [
        heading(environment.id, "="),
        page.strip().partition("\n\n")[0] + "\n",
        f".. image:: {environment.module_name}.png\n   :alt: a game of {game.spec.title} as its learner sees it\n",
        ".. list-table::\n   :widths: 25 75\n",
        "\n".join(f"   * - {name}\n     - {value}" for name, value in facts) + "\n",
        f"Train it: ``dicegym train {game.name}``. Bots that come with it: ``dicegym games {game.name}``. "
        f"How to bring your own: :doc:`/bots/{game.name}`.\n",
    ]
    found = dict(sections(page))
    others = {title: text for title, text in found.items() if title not in HEADINGS}
    for title, text in others.items():
        faults = re.search("^ *fault 1 ", text, re.MULTILINE) is not None
        told = text if text.startswith(title) or not faults else f"{title}: {text[:1].lower()}{text[1:]}"
        lines.append(f"{heading('Faults' if faults else title, '-')}\n{apart(told.strip())}\n")
    for title, shown in HEADINGS.items():
        text = apart(found[title].strip()) if title in found else ""
        if title == "Parameters":
            text = f"{text}\n\n{arguments(environment, game)}"
            example = textwrap.indent(EXAMPLE.format(id=environment.full_id), "   ")
            text += f"\n\n{heading('Example', '-')}\n.. code-block:: python\n\n{example}"
        lines.append(f"{heading(shown, '-')}\n{text}\n")
    return "\n".join(lines)


# --- results ---------------------------------------------------------------------------------------------------

BOUNDS = re.compile(r"The best response to it wins (?:at least )?([\d.]+)(?:, at most ([\d.]+))? of games")
APPROXIMATE = re.compile(r"An approximate best response.* wins ([\d.]+) .* fresh games \(equal strength: ([\d.]+)\)")
"""Matches the best response on a model's card."""


def best_response_to(card: str) -> str:
    """Return what a best response to a shipped model wins, from its card; empty if not measured."""
    if found := APPROXIMATE.search(card):
        return f"{found[1]}, approximate; equal strength: {found[2]}"
    bounds = BOUNDS.search(card)
    return " to ".join(part for part in bounds.groups() if part) if bounds else ""


def figure(value: float) -> str:
    """Return a share or a mean of points."""
    return f"{value:.4f}" if value <= 1 else f"{value:.1f}"


def bench_tables(file: Path) -> str:
    """Return the tables of measurements without ratios and median waits, in Markdown for `speed.md`."""
    *tables, last = [
        table for table in markdown(BenchResult.read(file)).split("\n### ") if not table.startswith("Beside each other")
    ]
    lines = [line for line in last.splitlines() if not re.search(r": (median|of one core used|in progress) \|", line)]
    return "\n### ".join([*tables, "\n".join([*lines, ""])])


def decisions_of(facts: Mapping[str, Any]) -> int:
    """Return the learner's decisions in all stages of a model's training."""
    before = facts.get("began_with")
    return int(facts["timesteps"]) + (decisions_of(before) if before else 0)


def model_table() -> str:
    """Return the table of the shipped models, from their files and cards, in Markdown: `results.md` includes it."""
    lines = ["| model | seats | decisions | score | a best response wins |", "|---|---:|---:|---|---|"]
    for game in GAMES:
        for path in sorted(agents_folder(game).glob("*.zip")):
            facts = model_file.facts(path)
            score = Score(**facts["score"])
            interval = f" ({figure(score.low)} to {figure(score.high)})" if score.games else ""
            steps = decisions_of(facts)
            against = f" against {score.opponent}" if facts["players"] > 1 else ""
            cells = [
                f"{dicegym.game(game).spec.title}, `{path.stem}`",
                str(facts["players"]),
                f"{steps / 1e6:.1f} M",
                f"{figure(score.value)}{interval}, {score.measure}{against}",
                best_response_to(path.with_suffix(".md").read_text(encoding="utf-8")),
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


# --- the API ---------------------------------------------------------------------------------------------------

PUBLIC_MODULES = ("pettingzoo", "wrappers", "text", "errors")
"""Modules that are public as a whole; of the others, the stubs name what is public."""
API_INTRODUCTION = """\
.. code-block:: python

   import dicegym
   from dicegym.training import evaluate

   print(evaluate(dicegym.game("hog"), "bacon"))

These names are public, and Tab shows them. They are loaded on first use, so ``import dicegym`` is quick. The adapters
``dicegym.openenv``, ``dicegym.openspiel``, ``dicegym.textarena`` and ``dicegym.verifiers`` are public too. All other
modules are private: they may change in any release, also those that a page uses.
"""


def api_page() -> str:
    """Return the reference of the public names, as the stubs of the package list them."""
    lines = [heading("API", "="), API_INTRODUCTION]
    package = Path(dicegym.__file__).parent
    for module in ("dicegym", *(f"dicegym.{path.stem}" for path in sorted(package.glob("[a-z]*.pyi"))), "dicegym.envs"):
        loaded = importlib.import_module(module)
        lines += [heading(f"``{module}``", "-"), f".. automodule:: {module}\n"]
        for name in loaded.__all__:
            value = getattr(loaded, name)
            if inspect.isclass(value):
                lines.append(f".. autoclass:: {module}.{name}\n   :members:\n")
            elif callable(value):
                lines.append(f".. autofunction:: {module}.{name}\n")
    for name in PUBLIC_MODULES:
        lines += [heading(f"``dicegym.{name}``", "-"), f".. automodule:: dicegym.{name}\n   :members:\n"]
    return "\n".join(lines)


# --- commands --------------------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, Any]]:
    """Yield (words, command) for all commands and groups below ``dicegym``."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(command, TyperGroup):
            if words and command.invoke_without_command:  # such as `dicegym web`
                yield words, command
            for name, below in sorted(command.commands.items()):
                yield from walk(f"{words} {name}".strip(), below)
        else:
            yield words, command

    yield from walk("", whole_command())


def literal(text: str) -> str:
    """Return ``text`` with options as literals, because Sphinx turns two dashes into a long one."""
    return re.sub(r"(?<![\w`-])--[a-z][a-z0-9-]*", r"``\g<0>``", text)


def command_page() -> str:
    """Return the reference of the command line."""
    lines = [
        heading("Commands", "="),
        "Made from the program itself; ``dicegym COMMAND --help`` says the same. Where something cannot work, a "
        "command says why on standard error and ends with status 2.\n",
    ]
    for words, command in commands():
        context = Context(command, info_name=f"dicegym {words}")
        usage = command.get_usage(context).removeprefix("Usage: ")
        lines += [heading(f"dicegym {words}", "-"), f".. code-block:: text\n\n   {usage}\n"]
        text, _, listed = inspect.cleandoc(command.help or "").partition("\b\n")  # lines that the help does not wrap
        lines.append(literal(text.rstrip()) + "\n")
        if listed:
            lines.append(f".. code-block:: text\n\n{textwrap.indent(listed, '   ')}\n")
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is None or record[0].endswith("--help"):
                continue
            lines.append(f"``{record[0]}``\n    {literal(' '.join(record[1].split())) or 'see above'}\n")
    return "\n".join(lines)
