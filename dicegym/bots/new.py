"""Starter files for new bots."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.files import write_text
from dicegym.games.parts import ADAPTER, INTERFACE, need

TEST = "test_"
"""Prefix of a test next to a bot; contests ignore it."""


def new_bot(game: Game | str, path: Path | str, force: bool = False) -> Path:
    """Write a bot in a game's original interface that passes the test of its contest; return its file.

    Args:
        game: the game or its name.
        path: a ``.py`` file, or a folder for a file with the original's name. Folders are made. A file with one of the
            original's names has that form, any other one the first.
        force: replace an existing file.

    Raises:
        UnknownNameError: there is no such game.
        ParameterError: the file exists, or its path is invalid.
        PartError: the game has no original bot interface.

    Example:
        >>> from dicegym.agents import new_bot
        >>> new_bot("hog", "my/hog.py").name
        'hog.py'
    """
    forms, starter = need(game, INTERFACE).ENTRY_FILES, need(game, ADAPTER)
    target = Path(os.path.expanduser(path))
    if target.suffix != ".py" or target.is_dir():
        if target.suffix and not target.is_dir():
            raise ParameterError(
                f"{path} is not a Python file: name a .py file, such as {forms[0]}, or a folder for it"
            )
        target /= forms[0]
    if target.is_dir():
        raise ParameterError(f"{target} is a folder: name a file in it")
    if target.exists() and not force:
        raise ParameterError(f"{target} exists: give --force (in Python, force=True) to replace it, or another name")
    above = next((folder for folder in target.parents if folder.exists()), None)
    if above is not None and not above.is_dir():
        raise ParameterError(f"{target} cannot be written, as {above} is a file: name another folder")
    called = target.as_posix()
    if '"' in called or "\\" in called:  # it is part of a docstring
        called = target.name
    text = starter.starter(target.name if target.name in forms else forms[0], shlex.quote(called))
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, text)
    return target


def is_test(path: Path) -> bool:
    """Return whether a file is the test of a bot next to it."""
    return path.name.startswith(TEST) and path.with_name(path.name.removeprefix(TEST)).is_file()
