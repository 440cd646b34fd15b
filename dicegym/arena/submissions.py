"""A folder of submissions as entries of a contest: each file and each folder in it is one, with a unique name."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym.bots.bot_files import lacking, leads_out
from dicegym.bots.new import is_test
from dicegym.bots.source import locate
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.games.parts import INTERFACE, part
from dicegym.players.roster import agent_names, entry_files, looks_like_bot

KINDS = (".py", ".zip")
"""Suffixes of bots and models."""
HIDDEN = (".", "_")
"""First characters of the names of ignored files and folders."""
DEEPEST = 4
"""Levels of folders in which a submission's bot is searched: archives unpack into folders of their own."""
MOST = 10_000
"""Most files and folders in a folder of submissions, and in each submission."""
MOST_LOOKED_AT = 50
"""Most files of a folder that are read to find the only bot in it."""
LEADS_OUT = "is a link that leads out of its folder: put the files themselves there"
LONGEST = 120
"""Most characters of a submission's name, without the number that tells equal names apart."""


class Submission(NamedTuple):
    """One entry of a folder."""

    name: str
    longer: str
    """The name if another entry is called ``name``."""
    path: Path
    problem: str = ""
    """Why it holds no bot; empty if it holds one."""
    whole: Path = Path()
    """All that was submitted: ``path``, or a folder around it."""


class Folder(NamedTuple):
    """The content of a folder of submissions."""

    submissions: list[Submission]
    left_out: list[str]
    """Files that are not entries."""


def is_folder_of_submissions(game: Game, spec: object) -> bool:
    """Return whether an entry ``spec`` names a folder that is neither a bot nor the name of an agent."""
    if not isinstance(spec, str | os.PathLike):
        return False
    path = Path(os.path.expanduser(spec))
    named = isinstance(spec, str) and spec in agent_names(game)
    return os.path.isdir(path) and not named and locate(path, entry_files(game)) is None


def read_folder(game: Game, folder: str | os.PathLike[str]) -> Folder:
    """Return the submissions in ``folder``, by name; hidden files, names that begin with ``_`` and tests are ignored.

    A submission is a file with a bot or a model, or a folder: with the original interface's file in it or deeper, or
    with a single ``.py`` or ``.zip`` file.

    The content is untrusted: a link that leads out of the folder, or out of a submission's folder, is refused.

    Raises ParameterError for no submission, or more than `MOST`.
    """
    root = Path(os.path.expanduser(folder))
    found, left_out = [], []
    names = sorted(os.listdir(root))
    if len(names) > MOST:
        raise ParameterError(f"{folder} holds more than {MOST:,} files and folders: too many for a contest's entries")
    for path in map(root.absolute().joinpath, names):  # absolute: a plain name could be that of an agent
        if path.name.startswith(HIDDEN) or is_test(path):
            continue
        longer = one_line(f"{root.resolve().name}/{path.name}", LONGEST)
        if os.path.isdir(path):
            bot, problem = _bot_in(path, game)
            source = locate(bot, entry_files(game))
            if leads_out(path, root) or leads_out(bot if source is None else source.file, path):
                problem = LEADS_OUT
            found.append(Submission(one_line(path.name, LONGEST), f"{longer}/", bot, problem, path))
        elif path.suffix in KINDS:
            problem = LEADS_OUT if leads_out(path, root) else lacking(path)
            found.append(Submission(one_line(path.stem, LONGEST), longer, path, problem, path))
        else:
            left_out.append(path.name)
    if not found:
        wanted = " or ".join(f"folders with {name}" for name in entry_files(game)[:1]) or "folders of them"
        held = f"has no entries of {game.spec.title}, only {', '.join(left_out[:5])}" if left_out else "is empty"
        raise ParameterError(f"{folder} {held}: a folder of submissions has .py files, .zip models or {wanted}")
    return Folder(found, left_out)


def _bot_in(folder: Path, game: Game) -> tuple[Path, str]:
    """Return the bot in a submission's folder; or the folder, and why it holds no bot."""
    entries, interface = entry_files(game), part(game, INTERFACE)
    if locate(folder, entries) is not None:
        return folder, ""
    files, seen = [], 0
    for current, folders, names in os.walk(folder):  # skips unreadable folders
        seen += len(folders) + len(names)
        if seen > MOST:
            return folder, f"its folder holds more than {MOST:,} files and folders: keep the bot and what it needs"
        deeper = len(Path(current).relative_to(folder).parts) < DEEPEST
        folders[:] = [name for name in folders if deeper and not name.startswith(HIDDEN)]
        paths = [Path(current, name) for name in names if not name.startswith(HIDDEN)]
        files += [path for path in paths if path.suffix in KINDS and not path.is_symlink() and path.is_file()]
    files = sorted(path for path in files if not is_test(path))
    called = next((name for name in entries if any(file.name == name for file in files)), "")
    chosen = [file for file in files if file.name == called] if called else files
    if 1 < len(chosen) <= MOST_LOOKED_AT and not called and interface is not None:
        able = [file for file in chosen if file.suffix == ".py" and looks_like_bot(interface, file)]
        chosen = able if len(able) == 1 else chosen
    if len(chosen) == 1:
        return chosen[0], ""
    wanted = entries[0] if entries else ""
    if not chosen:
        return folder, f"its folder holds no {wanted or '.py or .zip file'}"
    several = ", ".join(str(file.relative_to(folder)) for file in chosen[:3]) + (", ..." if len(chosen) > 3 else "")
    if called:
        return folder, f"its folder holds {called} {len(chosen)} times ({several}): keep one"
    return folder, f"its folder holds no {wanted}, but {several}: name it so, or give {folder} as a folder of its own"


def names_for(submissions: Sequence[Submission], taken: Collection[str]) -> list[str]:
    """Return a unique name for each of ``submissions``; names ``taken`` are not used.

    All of several equal names become longer: ``ann`` twice becomes ``monday/ann.py`` and ``monday/ann/``.
    """
    counts = Counter([*(one.name for one in submissions), *taken])
    names = list(taken)
    for one in submissions:
        name = one.longer if counts[one.name] > 1 else one.name
        numbered = (f"{name} ({again})" for again in itertools.count(2))  # the same folder given twice
        names.append(next(own for own in itertools.chain([name], numbered) if own not in names))
    return names[len(taken) :]
