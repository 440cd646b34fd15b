"""What commands need beside what Typer has: groups of options, files by their endings, options without a value."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer import Option
from typer.core import TyperCommand

from dicegym.errors import ParameterError

DATABASE_HEADER = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""
RAY = "--ray"
TUTOR = "--tutor"


def add(group: typer.Typer, name: str, command: Callable[..., object] | typer.Typer) -> None:
    """Add a command, or a group of them, to a group.

    A parameter may be a named tuple, whose fields are arguments and options of the command. It may also be
    `Outputs`, annotated with what the command writes: ``written: Annotated[Outputs, ".json", ".csv"] = NO_FILES``.
    """
    if isinstance(command, typer.Typer):
        group.add_typer(command, name=name)
    else:
        group.command(name, cls=Command)(_flat(command))


def group(help: str, **commands: Callable[..., object]) -> typer.Typer:
    """Return a group of commands, given by name."""
    made = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    for name, command in commands.items():
        add(made, name, command)
    return made


def _flat(command: Callable[..., object]) -> Callable[..., object]:
    """Return a command that Typer can read: groups of options are taken one by one and put together again."""
    parameters: list[inspect.Parameter] = []
    made: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind, *about = get_args(parameter.annotation) or [parameter.annotation]
        if kind is Outputs:
            annotation = Annotated[list[Path] | None, _output_option(about)]
            parameters.append(parameter.replace(annotation=annotation, default=None))
            made[parameter.name] = functools.partial(Outputs, endings=about), [parameter.name]
        elif hasattr(kind, "_fields"):
            fields = inspect.signature(kind).parameters
            for name, option in get_type_hints(kind, include_extras=True).items():
                parameters.append(parameter.replace(name=name, annotation=option, default=fields[name].default))
            made[parameter.name] = kind, list(kind._fields)
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def call(**given: Any) -> object:
        together = {name: make(*(given.pop(field) for field in fields)) for name, (make, fields) in made.items()}
        return command(**given, **together)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _output_option(endings: Sequence[str]) -> Any:
    listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
    return Option("--output", "-o", metavar="FILE", help=f"write the result to this file too ({listed}); repeatable")


class Outputs:
    """The files that a command was asked to write, told apart by their endings.

    Args:
        given: the values of ``--output``.
        endings: what the command writes, such as ".json".

    Raises:
        ParameterError: another ending, two files of one kind, or a file that cannot be written.
    """

    def __init__(self, given: Iterable[Path] | None = None, endings: Iterable[str] = ()) -> None:
        self._files: dict[str, Path] = {}
        for path in given or ():
            ending = path.suffix.lower()
            if ending not in endings:
                raise ParameterError(f"--output {path} must end in {' or '.join(endings)}, which says what is written")
            if ending in self._files:
                raise ParameterError(f"--output {self._files[ending]} and {path} are both {ending}: give one of them")
            check_writable(path)
            self._files[ending] = path

    def __iter__(self) -> Iterator[Path]:
        return iter(self._files.values())

    def __bool__(self) -> bool:
        return bool(self._files)

    def __getitem__(self, ending: str) -> Path | None:
        return self._files.get(ending)


NO_FILES = Outputs()
"""The default of a command's `Outputs`."""


def check_writable(path: Path, force: bool = True) -> None:
    """Raise ParameterError if ``path`` cannot be written, before any work is done for it."""
    if path.exists() and not force:
        raise ParameterError(f"{path} exists: give --force to replace it, or another path")
    if path.is_dir():
        raise ParameterError(f"{path} is a folder: name a file in it")
    if path.is_file() and _is_database(path):
        raise ParameterError(f"{path} is a database, with all that is stored in it: give another path")
    if not path.parent.is_dir():
        raise ParameterError(f"{path} cannot be written, as there is no folder {path.parent}: make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(f"you have no permission to write {path}: give another path")


def _is_database(path: Path) -> bool:
    """Return whether a file is one of SQLite, which nobody means to replace by what a command writes."""
    try:
        with path.open("rb") as file:
            return file.read(len(DATABASE_HEADER)) == DATABASE_HEADER
    except OSError:
        return False


class Command(TyperCommand):
    """A command whose ``--ray`` and ``--tutor`` may stand without a value.

    What follows is the value if it looks like one and, of an address, is no file; else it is the next argument.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments as Typer does, an empty value put after an option without one."""
        for option, fits in ((RAY, is_address), (TUTOR, _is_level)):
            args = _with_values(args, option, fits) if option in args else args
        return super().parse_args(ctx, args)


def is_address(text: str) -> bool:
    """Return whether ``text`` can only be meant as the address of a cluster, right or wrong, and is no file."""
    from dicegym.arena.ray_executor import RUNNING

    looks = "://" in text or re.fullmatch(r"[\w.\-\[\]:]+:\d+", text) is not None
    return text == RUNNING or (looks and not os.path.exists(text))


def _is_level(text: str) -> bool:
    return bool(text) and not text.startswith("-")  # another word is refused with those that there are


def _with_values(args: list[str], option: str, fits: Callable[[str], bool]) -> list[str]:
    end = args.index("--") if "--" in args else len(args)
    whole: list[str] = []
    for number, one in enumerate(args):
        follows = args[number + 1] if number + 1 < end else ""
        bare = number < end and one == option and not fits(follows)
        whole.append(f"{option}=" if bare else one)
    return whole
