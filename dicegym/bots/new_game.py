"""A new game: a package to begin with, which plays, is tested and registers itself as it is.

It is the example of the page on adding a game under another name, so that there is one of them.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
from collections.abc import Iterator
from pathlib import Path

from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.files import write_text
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder

EXAMPLE = "pig"
"""The game that is copied, and the package around it."""
PACKAGE = "package"
LEFT_OUT = ("twins.py", "values.py")
"""Parts of the example that are about its rules and agents to the last digit: who changes these begins without."""
LONGEST_NAME = 40


def new_game(name: str, folder: Path | str) -> list[Path]:
    """Write a package with a game that plays, its bots' interface, two agents and a test; return its files.

    Args:
        name: the game's, in small letters, words parted by underscores: ``space_dice``.
        folder: of the package; it is made, and has to be empty.

    Raises:
        ParameterError: the name is taken or none, or something is in the folder.
    """
    _check_name(name)
    target = Path(folder).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ParameterError(f"{target} is there, with something in it: name a new folder, such as {target / name}")
    above = next((one for one in target.absolute().parents if one.exists()), None)
    if above is not None and not above.is_dir():
        raise ParameterError(f"{target} cannot be made, as {above} is a file: name another folder")
    written = []
    for path, text in _files(name):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        write_text(target / path, text)
        written.append(target / path)
    return written


def package_of(name: str) -> str:
    """Return what the package of a game of this name is called when it is imported."""
    return f"dicegym_{name}"


def environment_of(name: str) -> str:
    """Return the id of a new game's environment: ``space_dice`` -> ``SpaceDice-v0``."""
    return f"{''.join(word.capitalize() for word in name.split('_'))}-v0"


def _check_name(name: str) -> None:
    said = one_line(repr(name), 60)
    if not re.fullmatch(r"[a-z][a-z0-9]+(_[a-z][a-z0-9]+)*", name) or len(name) > LONGEST_NAME:
        raise ParameterError(
            f"{said} cannot be a game's name: write small letters and figures, words of two letters or more parted by "
            "underscores, such as space_dice"
        )
    if keyword.iskeyword(name) or name in GAMES or importlib.util.find_spec(package_of(name)) is not None:
        raise ParameterError(f"the name {said} is taken: choose another; `dicegym games` lists games that there are")


def _files(name: str) -> Iterator[tuple[Path, str]]:
    """Yield path and text of each file of the package."""
    examples, package = shipped_folder("examples"), Path(package_of(name))
    yield package / "__init__.py", f'"""{_title(name)}, a game for dicegym."""\n'
    for file in sorted((examples / EXAMPLE).rglob("*.py")):
        path = file.relative_to(examples / EXAMPLE)
        if path.name not in LEFT_OUT:
            yield package / path, rename_example(file.read_text(encoding="utf-8"), name)
    for file in sorted((examples / PACKAGE).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file.relative_to(examples / PACKAGE), rename_example(file.read_text(encoding="utf-8"), name)


def rename_example(text: str, name: str) -> str:
    """Return a file of the example as that of a game of another name."""
    package = package_of(name)
    changes = (
        (r"\bPig-v0\b", environment_of(name)),
        (r"\bdicegym-pig\b", package.replace("_", "-")),
        (r"(?<=from )pig(?=[. ])|\bpig(?=\.rules\"|/)|(?<=packages = \[\")pig\b|^pig(?= = )", package),
        (r"(?<!Dice Game )\bPig\b", _title(name)),  # a title of an article is what it is
        (r"\bpig\b", name),
    )
    for old, new in changes:
        text = re.sub(old, new, text, flags=re.MULTILINE)
    return text


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()
