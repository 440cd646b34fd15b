"""Uploads: a Python file, a zip of a folder, or a model. They are untrusted, and nothing of them runs here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dicegym.arena.submissions import read_folder
from dicegym.bots import bot_files
from dicegym.engine.game import Game
from dicegym.errors import ModelError, ParameterError, one_line
from dicegym.players.model_file import MEMBER
from dicegym.players.zip_archive import ModelArchive

LARGEST_UPLOAD = 8 << 20
"""Most bytes of an upload; shipped models have less than two million."""
LARGEST_UNPACKED = 32 << 20
"""Most bytes of all files of a zip."""
LARGEST_MODEL = 64 << 20
"""The same for a model."""
MOST_FILES = 200
ENDINGS = (".py", ".zip")
"""Endings of file names; a model is a zip."""
PASTED = "pasted.py"
"""The file name of a pasted text."""
STEM = "bot"
"""Name of a stored file without its ending, or of a folder: an author's name never becomes a path."""
_ZIP = b"PK\x03\x04"
_PLAIN_MODEL = frozenset({"data", "policy.pth"})
_LEFT_OUT = ("__MACOSX", "__pycache__")


class Upload(NamedTuple):
    """A submitted file."""

    file: str
    """The author's name for the file."""
    data: bytes


def check_file_name(file: str) -> None:
    """Raise ParameterError for a name with a folder, or with an ending not in `ENDINGS`."""
    if "/" in file or "\\" in file or not file.lower().endswith(ENDINGS):
        what = "the name of a .py file, of a .zip of a folder or of a model (.zip), without folders"
        raise ParameterError(f"invalid file name {one_line(file, 80)!r}: give {what}")


def unpack(upload: Upload, folder: Path) -> int:
    """Write an upload into a new folder, ready to be checked; return the number of bytes.

    Raises ParameterError or ModelError for an upload that is empty, too large, or neither text nor a zip, and for a
    zip with too many files, links, or paths that leave the folder.
    """
    bots = folder / "bots"
    bots.mkdir(parents=True)
    called, data = one_line(upload.file, 80) or "the file", upload.data
    if not data.strip():
        raise ParameterError(f"{called} is empty: choose a .py file, a .zip of a folder or a model, or paste a text")
    if len(data) > LARGEST_UPLOAD:
        raise ParameterError(f"{called} has {len(data):,} bytes, and {LARGEST_UPLOAD:,} are the most")
    if data.startswith(_ZIP):
        return _unpack_zip(called, data, bots)
    _check_text(called, data)
    (bots / f"{STEM}.py").write_bytes(data)
    return len(data)


def _check_text(called: str, data: bytes) -> None:
    """Raise ParameterError for data that cannot be a Python file."""
    if len(data) > bot_files.LARGEST:
        raise ParameterError(
            f"{called} has {len(data):,} bytes, and {bot_files.LARGEST:,} are the most for a Python file"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(
            f"{called} is neither a zip nor UTF-8 text (byte {error.start}): send a .py file, or a .zip"
        ) from None
    if "\0" in text:
        raise ParameterError(f"{called} is not text: it has NUL bytes: send a .py file, or a .zip")


def _unpack_zip(called: str, data: bytes, bots: Path) -> int:
    """Write a model, or the files of a zipped folder; return the number of bytes."""
    with ModelArchive(data, called, LARGEST_MODEL, kind="a zip of a bot", folders=True) as archive:
        names = archive.names
        if MEMBER in names or set(names) >= _PLAIN_MODEL:
            (bots / f"{STEM}.zip").write_bytes(data)
            return len(data)
        wanted = [name for name in names if not _is_left_out(name)]
        if len(wanted) > MOST_FILES:
            raise ParameterError(f"{called} has {len(wanted):,} files, and {MOST_FILES} are the most for a bot")
        if not any(name.endswith(".py") for name in wanted):
            raise ParameterError(f"{called} has neither a Python file nor a model: zip the folder with the bot")
        if archive.unpacked > LARGEST_UNPACKED:
            raise ParameterError(
                f"{called} has {archive.unpacked:,} bytes unpacked, and {LARGEST_UNPACKED:,} are the most"
            )
        kept = 0
        for name in wanted:
            content = archive.read(name)
            path = bots / STEM / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    file.write(content)
            except OSError:
                member = one_line(name, 60)
                raise ModelError(
                    f"{called} has a member {member!r} that cannot be written: its name is too long, or occurs twice"
                ) from None
            kept += len(content)
    return kept


def _is_left_out(name: str) -> bool:
    """Return whether a member is hidden, or added by an operating system or Python."""
    return any(part.startswith(".") or part in _LEFT_OUT for part in name.split("/"))


def bot_in(game: Game, folder: Path) -> tuple[Path, str]:
    """Return the path of the bot in an upload's folder, and why no bot was found, or an empty text."""
    (found,) = read_folder(game, folder / "bots").submissions
    return found.path, found.problem
