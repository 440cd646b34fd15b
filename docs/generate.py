"""The pages of the site that are made from the code: environments and their list, and the command reference."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from typer import Context
from typer.core import TyperGroup

import dicegym
from dicegym.cli.app import whole_command
from dicegym.games.parts import BOT_WRITER, part
from dicegym.games.rules_page import apart, sections, title_of
from dicegym.registry import ENVIRONMENTS, Environment, rules_module
from dicegym.sandbox.customs import customs

PICTURE_SEED = 3
PICTURE_STEPS = 6
"""After so many random decisions of the learner a table looks like a game."""


def write_all(folder: Path) -> None:
    """Write all generated pages below ``folder``, the site's source."""
    (folder / "environments").mkdir(exist_ok=True)
    for environment in ENVIRONMENTS:
        name = environment.module_name
        (folder / "environments" / f"{name}.rst").write_text(environment_page(environment), encoding="utf-8")
        Image.fromarray(picture(environment)).save(folder / "environments" / f"{name}.png")
    (folder / "environments" / "list.inc").write_text(environment_list(), encoding="utf-8")
    (folder / "bots" / "customs.txt").write_text(customs(), encoding="utf-8")
    for game in dict.fromkeys(environment.game for environment in ENVIRONMENTS):
        if (starter := part(game, BOT_WRITER)) is not None:
            (folder / "bots" / f"interface_{game}.txt").write_text(starter.INTERFACE, encoding="utf-8")
    (folder / "reference").mkdir(exist_ok=True)
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
    """Return how many play."""
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
    """Return whom a learner meets if it names nobody, as ``opponent`` would be given."""
    found = game.spec.default_opponent
    return f"``{found}``" if isinstance(found, str) else f"``{dict(found)}``, drawn for each seat of each game"


def rules_page(game: str) -> str:
    """Return what stands at the top of a game's rules."""
    return importlib.import_module(rules_module(game)).__doc__ or ""


def environment_page(environment: Environment) -> str:
    """Return the page of one environment, made from its game's rules page."""
    game = dicegym.game(environment.game, **environment.settings)
    page = rules_page(game.name)
    parameters = ", ".join(f"``{name}={value}``" for name, value in game.parameters.items()) or "none"
    facts = [
        ("make", f"``gymnasium.make({environment.full_id!r})``"),
        ("many games", f"``gymnasium.make_vec({environment.full_id!r}, num_envs=1024)``"),
        *([("every seat", f"``pettingzoo.make('aec', {environment.full_id!r})``")] if environment.multi else []),
        ("seats", seats(environment)),
        ("action space", f"``Discrete({game.n_actions})``"),
        ("observation space", f"``Box(0, 1, ({game.observation_size},), float32)``"),
        ("parameters", parameters),
        ("default opponent", default_opponent(game) if game.players > 1 else "nobody"),
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
    lines += [f"{heading(title, '-')}\n{apart(text.strip())}\n" for title, text in sections(page)]
    return "\n".join(lines)


# --- commands --------------------------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, Any]]:
    """Yield (words, command) of everything that can be typed after ``dicegym``."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(command, TyperGroup):
            for name, below in sorted(command.commands.items()):
                yield from walk(f"{words} {name}".strip(), below)
        else:
            yield words, command

    yield from walk("", whole_command())


def literal(text: str) -> str:
    """Return ``text`` with options as literals: two dashes in a text become one long one."""
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
        text, _, listed = inspect.cleandoc(command.help or "").partition("\b\n")  # lines that the help must not fill
        lines.append(literal(text.rstrip()) + "\n")
        if listed:
            lines.append(f".. code-block:: text\n\n{textwrap.indent(listed, '   ')}\n")
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is None or record[0].endswith("--help"):
                continue
            lines.append(f"``{record[0]}``\n    {literal(' '.join(record[1].split())) or 'see above'}\n")
    return "\n".join(lines)
