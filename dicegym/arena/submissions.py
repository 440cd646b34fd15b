"""A folder of submissions as entries of a contest: each file and each folder in it one, with a name of its own."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from dicegym.bots.source import locate
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.players.roster import agent_names, entry_files

KINDS = (".py", ".zip")
"""What files bots and models are in."""
DEEPEST = 4
"""Folders within a submission's own in which its bot is looked for: archives unpack into folders of their own."""


LONGEST = 120
"""Characters of a submission's name; numbers that tell equal ones apart come after them."""


class Submission(NamedTuple):
    """One entry of a folder."""

    names: tuple[str, ...]
    """What reports may call it: the first that no other entry has."""
    path: Path
    problem: str = ""
    """Why there is no bot in it; empty if there is one."""


class Folder(NamedTuple):
    """What a folder of submissions holds."""

    submissions: list[Submission]
    left_out: list[str]
    """Files in it that are none."""


def is_folder_of_submissions(game: Game, spec: object) -> bool:
    """Return whether an entry ``spec`` names a folder that is no bot itself, nor goes by the name of an agent."""
    if not isinstance(spec, str | os.PathLike):
        return False
    text = os.fspath(spec)
    path = Path(text).expanduser()
    named = isinstance(spec, str) and text in agent_names(game)
    return path.is_dir() and not named and locate(path, entry_files(game)) is None


def read_folder(game: Game, folder: str | os.PathLike[str]) -> Folder:
    """Return the submissions in ``folder``, by name; what is hidden or begins with ``_`` is none.

    A file with a bot or a model is one, and so is a folder: with the original interface's file in it or deeper, or with
    a single ``.py`` or ``.zip`` file.

    Raises ParameterError if there is none.
    """
    root = Path(folder).expanduser()
    found, left_out = [], []
    for path in sorted(root.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        inside = f"{root.resolve().name}/{path.name}"
        if path.is_dir():
            bot, problem = _bot_in(path, entry_files(game))
            found.append(Submission(_shown(path.name, f"{path.name}/", f"{inside}/", f"{path}/"), bot, problem))
        elif path.suffix in KINDS:
            found.append(Submission(_shown(path.stem, path.name, inside, str(path)), path))
        else:
            left_out.append(path.name)
    if not found:
        wanted = " or ".join(f"folders with {name}" for name in entry_files(game)[:1]) or "folders of them"
        held = f"only {', '.join(left_out[:5])}" if left_out else "nothing"
        raise ParameterError(
            f"{folder} holds no entries of {game.spec.title}, but {held}: a folder of submissions holds .py files, "
            f".zip models or {wanted}"
        )
    return Folder(found, left_out)


def _shown(*names: str) -> tuple[str, ...]:
    """Return names as reports write them, before they are compared: files can have names that look alike there."""
    return tuple(one_line(name, LONGEST) for name in names)


def _bot_in(folder: Path, entries: Sequence[str]) -> tuple[Path, str]:
    """Return the bot in a submission's folder, or the folder and why there is none."""
    if locate(folder, entries) is not None:
        return folder, ""
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix in KINDS and file.is_file() and not _hidden(file, folder)
    ]
    named = [file for file in files if file.name in entries]
    chosen = named or files
    if len(chosen) == 1:
        return chosen[0], ""
    wanted = " or ".join(entries)
    if not chosen:
        return folder, f"its folder holds no {wanted or '.py or .zip file'}"
    several = ", ".join(str(file.relative_to(folder)) for file in chosen[:3]) + (", ..." if len(chosen) > 3 else "")
    if named:
        return folder, f"its folder holds {wanted} {len(named)} times ({several}): keep one"
    return folder, f"its folder holds no {wanted}, but {several}: name it so, or give {folder} as a folder of its own"


def _hidden(file: Path, folder: Path) -> bool:
    parts = file.relative_to(folder).parts
    return len(parts) > DEEPEST + 1 or any(part.startswith((".", "_")) for part in parts)


def names_for(submissions: Sequence[Submission], taken: Collection[str]) -> list[str]:
    """Return a name for each of ``submissions``, all different and none of ``taken``.

    Who would be called alike are called by more of their paths, all of them: ``ann`` twice becomes ``ann.py`` and
    ``ann/``, or ``monday/ann.py`` and ``tuesday/ann.py``.
    """
    level = [0] * len(submissions)
    while True:
        names = [one.names[depth] for one, depth in zip(submissions, level, strict=True)]
        counts = Counter([*names, *taken])
        alike = [
            number
            for number, name in enumerate(names)
            if counts[name] > 1 and level[number] + 1 < len(submissions[number].names)
        ]
        if not alike:
            break
        for number in alike:
            level[number] += 1
    unique = list(taken)
    for name in names:  # the same folder given twice
        numbered = (f"{name} ({again})" for again in itertools.count(2))
        unique.append(next(one for one in itertools.chain([name], numbered) if one not in unique))
    return unique[len(taken) :]
