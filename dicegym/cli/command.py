"""Additions to Typer: groups of options as named tuples, and output files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer import Option

from dicegym.cli.console import Outputs


def group(help: str, **commands: Callable[..., object] | typer.Typer) -> typer.Typer:
    """Return a group of commands and subgroups, given by name.

    A command's parameter may be a named tuple, whose fields become arguments and options of the command. It may also
    be `Outputs`, annotated with the endings of its files: ``written: Annotated[Outputs, ".json"] = NO_FILES``.
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
            group.command(name)(_flat(command))


def build(name: str, command: Callable[..., object] | typer.Typer) -> Any:
    """Return a command or group in the form that Typer runs."""
    return typer.main.get_group(group("", **{name: command})).commands[name]


def _flat(command: Callable[..., object]) -> Callable[..., object]:
    """Return a command with plain parameters, which builds the named tuples and `Outputs` from them."""
    parameters: list[inspect.Parameter] = []
    made: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *about = get_args(parameter.annotation) or [parameter.annotation]
        if kind is Outputs:
            help = f"write the result to this file too ({' or '.join(about)}); repeatable"
            option = Annotated[list[Path] | None, Option("--output", "-o", metavar="FILE", help=help)]
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
