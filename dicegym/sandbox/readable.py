"""What a bot may read: its own files, and nothing else that lies beside it."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from dicegym.bots import bot_files as files
from dicegym.bots.bot_files import leads_out
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import one_line
from dicegym.games.parts import INTERFACE, need

LEFT_OUT = ("__pycache__", ".git")
"""Folders that are nothing of a bot's."""
MOST_BESIDE = 100
"""Files and folders beside a bot's file that are called like it: a jail makes each of them readable by itself, which
takes half a minute for a thousand."""


def visible_files(source: Source, entry_files: Iterable[str], files: Iterable[Path]) -> list[Path]:
    """Return what a bot may read: its own files, and nothing else that lies beside it.

    A bot whose file is called as the original interface has it owns its folder, unless that is a home or contains
    one, or everybody may put files there (``/tmp``). Any other file may share its folder with other people's: it may
    read itself, what it imports from there, and what is called like it (``ann.py``: ``ann.json`` and the folder
    ``ann``).

    Args:
        source: where it is.
        entry_files: what bots' files are called.
        files: the bot's own, its helpers included, as `dicegym.bots.bot_files.gather` finds them.

    Raises:
        BadFileError: what is called like it leads out of its folder, or is too much.
    """
    file = source.file
    shared = file.parent.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH | stat.S_ISVTX
    if file.name in entry_files and not shared and not Path.home().is_relative_to(file.parent.resolve()):
        return [file.parent, *files]
    with os.scandir(file.parent) as beside:
        names = sorted(one.name for one in beside if one.name.startswith(file.stem))
    alike = [path for path in map(file.parent.joinpath, names) if path.stem == file.stem]
    data = [path for path in alike if path.suffix not in (".py", ".zip") and path.name not in source.hidden]
    if len(data) > MOST_BESIDE:
        raise BadFileError(
            f"{len(data):,} files and folders are called like it, and {MOST_BESIDE} are the most: put them into one "
            f"folder, {one_line(file.stem)}"
        )
    for path in data:
        if leads_out(path, file.parent):
            raise BadFileError(f"{one_line(path.name)} is a link that leads out of the bot's folder")
    return [*files, *data]


def files_of(game: Game, source: Source, most: int) -> list[Path]:
    """Return the files that a bot may read, sources and others, folders gone through; at most ``most``.

    Raises BadFileError.
    """
    sources = files.gather(source.file, source.shared, source.hidden)
    visible = visible_files(source, need(game, INTERFACE).ENTRY_FILES, sources)
    found = (one for path in visible for one in (_beneath(path) if path.is_dir() else [path]))
    return list(dict.fromkeys(itertools.islice(found, most)))


def _beneath(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = Path(here, name)
            if not files.lacking(path) and not files.leads_out(path, folder):
                yield path
