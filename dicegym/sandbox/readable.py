"""Which files a bot may read: its own, and no others in the same folder."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePath

from dicegym.bots import bot_files
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import one_line
from dicegym.games.parts import INTERFACE, need

LEFT_OUT = ("__pycache__", ".git")  # folders that never belong to a bot
MOST_BESIDE = 100
"""Files and folders of a bot in a folder that it shares. A jail mounts each of them, which takes half a minute for a
thousand."""


def owns_folder(source: Source, entry_files: Iterable[str]) -> bool:
    """Return whether a bot owns its folder: its file has the name of the original interface (``entry_files``).

    Exceptions are folders that are or contain a home, and folders in which everybody may put files (``/tmp``).
    """
    folder = source.file.parent
    public = folder.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH | stat.S_ISVTX
    return source.file.name in entry_files and not public and not Path.home().is_relative_to(folder.resolve())


def visible_files(source: Source, entry_files: Iterable[str], files: Iterable[Path]) -> list[Path]:
    """Return the files and folders that a bot may read.

    A bot that owns its folder may read all of it except files of other entries (``source.hidden``) and files named like
    those. Any other bot may share its folder with other people's files. It may read itself, what it imports from there,
    and files named like it (``ann.py``: ``ann.json`` and the folder ``ann``).

    Args:
        source: the bot.
        entry_files: names of bots' files in the original interface.
        files: the bot's own files with its helpers, from `dicegym.bots.bot_files.gather`.

    Raises:
        BadFileError: files named like it lead out of its folder, or its files are too many.
    """
    file = source.file
    if owns_folder(source, entry_files):
        own = list(_around(file.parent, source.hidden)) if source.hidden else [file.parent]
        if len(own) > MOST_BESIDE:
            raise BadFileError(
                f"{len(own):,} files and folders around those of other entries are its own, more than {MOST_BESIDE}: "
                "put other entries elsewhere"
            )
        return [*own, *files]
    with os.scandir(file.parent) as beside:
        names = sorted(one.name for one in beside if one.name.startswith(file.stem))
    alike = [path for path in map(file.parent.joinpath, names) if path.stem == file.stem]
    data = [path for path in alike if path.suffix not in (".py", ".zip") and path.name not in source.hidden]
    if len(data) > MOST_BESIDE:
        raise BadFileError(
            f"{len(data):,} files and folders are named like it, more than {MOST_BESIDE}: put them into one "
            f"folder, {one_line(file.stem)}"
        )
    for path in data:
        if _leads_elsewhere(path, file):
            raise BadFileError(f"{one_line(path.name)} is a link that leads out of the bot's own files")
    return [*files, *data]


def _leads_elsewhere(path: Path, file: Path) -> bool:
    """Return whether ``path`` leads to something in the folder of ``file`` that is not named like it, or outside."""
    if not bot_files.leads_out(path, file.parent):
        top = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(file.parent))).parts[:1]
        return not top or Path(top[0]).stem != file.stem
    return True


def _around(folder: Path, hidden: Collection[str]) -> Iterator[Path]:
    """Yield files and folders that make up ``folder`` without ``hidden`` paths in it, and files named like those.

    Links are left out: they may lead to what is hidden.
    """
    alike = {stem for stem, suffix in map(os.path.splitext, hidden) if suffix == ".py"}  # models have no other files
    above = {str(above) for name in hidden for above in PurePath(name).parents}

    def search(here: Path) -> Iterator[Path]:
        for path in sorted(here.iterdir()):
            name = path.relative_to(folder).as_posix()
            if path.is_symlink() or path.name in LEFT_OUT or name in hidden or os.path.splitext(name)[0] in alike:
                continue
            if name in above:
                yield from search(path)
            else:
                yield path

    return search(folder)


def files_of(game: Game, source: Source, most: int) -> list[Path]:
    """Return at most ``most`` files that a bot may read: its sources, and others, including those in folders.

    Raises BadFileError.
    """
    sources = bot_files.gather(source.file, source.shared, source.hidden)
    visible = visible_files(source, need(game, INTERFACE).ENTRY_FILES, sources)
    found = (one for path in visible for one in (_beneath(path) if path.is_dir() else [path]))
    return list(dict.fromkeys(itertools.islice(found, most)))


def _beneath(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = Path(here, name)
            if not bot_files.lacking(path) and not bot_files.leads_out(path, folder):
                yield path
