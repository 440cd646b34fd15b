"""What commands need beside what Typer has: groups of options, files by their endings, options without a value."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer import Option
from typer.core import TyperCommand

from dicegym.cli.console import Outputs
from dicegym.errors import DicegymError


def group(help: str, **commands: Callable[..., object] | typer.Typer) -> typer.Typer:
    """Return a group of commands and groups, given by name.

    A parameter of a command may be a named tuple, whose fields are arguments and options of the command. It may also
    be `Outputs`, annotated with what the command writes: ``written: Annotated[Outputs, ".json"] = NO_FILES``.
    """
    made = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    add(made, **commands)
    return made


def add(group: typer.Typer, **commands: Callable[..., object] | typer.Typer) -> None:
    """Add commands and groups to a group, as `group` does."""
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            group.add_typer(command, name=name)
        else:
            group.command(name, cls=Command)(_flat(command))


def build(name: str, command: Callable[..., object] | typer.Typer) -> Any:
    """Return a command or group as Typer runs it."""
    return typer.main.get_group(group("", **{name: command})).commands[name]


def title_of(file: Path) -> str:
    """Return the first line of a module's docstring, read without loading the module."""
    return (ast.get_docstring(ast.parse(file.read_bytes())) or "").partition("\n")[0]


def _flat(command: Callable[..., object]) -> Callable[..., object]:
    """Return a command that Typer can read: groups of options are taken one by one and put together again."""
    parameters: list[inspect.Parameter] = []
    made: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *about = get_args(parameter.annotation) or [parameter.annotation]
        if kind is Outputs:
            listed = " or ".join(filter(None, (", ".join(about[:-1]), about[-1])))
            told = f"write the result to this file too ({listed}); repeatable"
            option = Annotated[list[Path] | None, Option("--output", "-o", metavar="FILE", help=told)]
            parameters.append(parameter.replace(annotation=option, default=None))
            made[parameter.name] = lambda given, endings=about: Outputs(given, endings), [parameter.name]
        elif hasattr(kind, "_fields"):
            fields = inspect.signature(kind).parameters
            for name, option in get_type_hints(kind, include_extras=True).items():
                parameters.append(parameter.replace(name=name, annotation=option, default=fields[name].default))
            made[parameter.name] = kind, list(kind._fields)
        else:
            parameters.append(parameter)

    def call(**given: Any) -> object:
        together = {name: make(*(given.pop(field) for field in fields)) for name, (make, fields) in made.items()}
        return command(**given, **together)

    call.__doc__ = command.__doc__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


class Command(TyperCommand):
    """A command whose options in `OPTIONAL` may be given without a value, and whose errors name options.

    What follows an option of `OPTIONAL` is its value if it can be one; else it is the next argument.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Arguments of Python that an error names become the options that the user knows."""
        try:
            return super().invoke(ctx)
        except DicegymError as error:
            error.args = tuple(with_options(one, self, ctx) if isinstance(one, str) else one for one in error.args)
            raise

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments as Typer does, an empty value put after an option without one."""
        end = args.index("--") if "--" in args else len(args)
        whole = []
        for number, one in enumerate(args):
            follows = args[number + 1] if number + 1 < end else ""
            bare = number < end and one in OPTIONAL and not OPTIONAL[one](follows)
            whole.append(f"{one}=" if bare else one)
        return super().parse_args(ctx, whole)


def with_options(message: str, command: Any, ctx: Any) -> str:
    """Return an error's message with ``games=0`` written as the user did: ``--games 0``.

    A command's parameters are called as what they are passed to, so their names lead to the options. What was given as
    ``NAME=NUMBER`` keeps that form, behind its option. What is in parentheses or backticks stays: games and commands.
    """
    written = {}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            written[parameter.name] = f"{parameter.opts[0]} "
            written[f"{parameter.name}=True"] = parameter.opts[0]
            given = ctx.params.get(parameter.name) if parameter.metavar == PAIRS else None
            for name in (text.partition("=")[0] for text in given or ()):
                written[PYTHON_NAMES.get(name, name)] = f"{parameter.opts[0]} {name}="
    return _NAMED.sub(lambda found: written.get(found["flag"] or found["name"], found[0]), message)


def is_address(text: str) -> bool:
    """Return whether ``text`` can only be meant as the address of a cluster, right or wrong, not as a file."""
    from dicegym.arena.ray_executor import RUNNING

    looks = "://" in text or re.fullmatch(r"[\w.\-\[\]:]+:\d+", text) is not None
    return text == RUNNING or (looks and not os.path.exists(text))


def _is_level(text: str) -> bool:
    return bool(text) and not text.startswith("-")  # another word is refused with those that there are


PAIRS = "NAME=NUMBER"
"""How the help shows the values of options that each set one of several numbers."""
PYTHON_NAMES = {"load": "start"}
"""Names that such options take -> what Python calls them, where that differs."""
_NAMED = re.compile(r"\([^()]*\)|`[^`]*`|(?<![\w.-])(?:(?P<flag>[a-z_]+=True)|(?P<name>[a-z_]+)=(?=[^\s=]))")
"""What is in parentheses or backticks, or the name of an argument with a value behind it."""
RAY, TUTOR = "--ray", "--tutor"
OPTIONAL: dict[str, Callable[[str], bool]] = {RAY: is_address, TUTOR: _is_level}
"""Options whose value may be left out -> whether a text can be the value."""
