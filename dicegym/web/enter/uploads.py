"""What people hand in, read with care: a Python file, a zip of a folder, or a model. Nothing of it is run here."""

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
"""Bytes that may be sent: models that ship have less than two million."""
LARGEST_UNPACKED = 32 << 20
"""Bytes of all files of a zip together."""
LARGEST_MODEL = 64 << 20
"""The same of a model."""
MOST_FILES = 200
ENDINGS = (".py", ".zip")
"""What names of files end with; a model is a zip."""
PASTED = "pasted.py"
"""What a text is called that was pasted into a form."""
STEM = "bot"
"""What files are called where they are kept: names of others name nothing on this machine."""
_ZIP = b"PK\x03\x04"
_PLAIN_MODEL = frozenset({"data", "policy.pth"})
_LEFT_OUT = ("__MACOSX", "__pycache__")


class Upload(NamedTuple):
    """What somebody hands in."""

    file: str
    """What its author calls it."""
    data: bytes


def check_file_name(file: str) -> None:
    """Raise ParameterError for a name with a folder in it, or of no Python file, zip or model."""
    if "/" in file or "\\" in file or not file.lower().endswith(ENDINGS):
        what = "the name of a .py file, of a .zip of a folder or of a model (.zip), without folders"
        raise ParameterError(f"invalid file name {one_line(file, 80)!r}: give {what}")


def unpack(upload: Upload, folder: Path) -> int:
    """Put what was handed in into a new folder, ready to be checked; return the bytes that are kept.

    Raises ParameterError or ModelError, in words for its author: it is empty, too large, no text, no zip, or a zip of
    too much, with links or with names that lead elsewhere.
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
    """Raise ParameterError for what is no Python file."""
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
    """Write a model, or the files of a zipped folder; return how many bytes."""
    with ModelArchive(data, called, LARGEST_MODEL, kind="a zip of a bot", folders=True) as archive:
        names = archive.names
        if MEMBER in names or set(names) >= _PLAIN_MODEL:
            (bots / f"{STEM}.zip").write_bytes(data)
            return len(data)
        wanted = [name for name in names if not _is_left_out(name)]
        if len(wanted) > MOST_FILES:
            raise ParameterError(f"{called} holds {len(wanted):,} files, and {MOST_FILES} are the most for a bot")
        if not any(name.endswith(".py") for name in wanted):
            raise ParameterError(f"{called} holds neither a Python file nor a model: zip the folder with the bot in it")
        if archive.unpacked > LARGEST_UNPACKED:
            raise ParameterError(
                f"{called} is to hold {archive.unpacked:,} bytes unpacked, and {LARGEST_UNPACKED:,} are the most"
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
                raise ModelError(
                    f"{called} has a member {one_line(name, 60)!r} that cannot be written: too long a name, or two"
                ) from None
            kept += len(content)
    return kept


def _is_left_out(name: str) -> bool:
    """Return whether a member is nothing of a bot's: what systems and Python put beside."""
    return any(part.startswith(".") or part in _LEFT_OUT for part in name.split("/"))


def bot_in(game: Game, folder: Path) -> tuple[Path, str]:
    """Return where the bot is in the folder of an upload, and why it has no bot, or an empty text."""
    (found,) = read_folder(game, folder / "bots").submissions
    return found.path, found.problem
