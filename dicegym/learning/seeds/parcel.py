"""A run's folder as one piece, to be sent to another machine and back.

Seals (`dicegym.players.seal`) are made with a key that each machine has of its own. A parcel says what was sealed where
it was packed, and whoever takes it from a machine that works for him seals that again.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
from pathlib import Path, PurePosixPath

from dicegym.errors import DamagedFileError
from dicegym.learning import checkpoint
from dicegym.learning.files import LOCK_FILE
from dicegym.players.seal import SEAL, is_sealed, write_seal

_SEALED = ".sealed.json"
"""Member of a parcel with the names of what was sealed."""
_CHECKPOINT = checkpoint.NAMES[0]


def packed(folder: Path) -> bytes:
    """Return all that is in a run's folder, which nobody writes in meanwhile; its lock and old checkpoints apart."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as parcel:
        newest, sealed = checkpoint.newest(folder), []
        for file in sorted(folder.rglob("*")):
            path = file.relative_to(folder)
            where = path.parts[0]
            if where.startswith(_CHECKPOINT) and (newest is None or where != newest.name):
                continue
            if not file.is_file() or file.is_symlink() or path.name == LOCK_FILE:
                continue
            name = PurePosixPath(_CHECKPOINT, *path.parts[1:]) if where.startswith(_CHECKPOINT) else path.as_posix()
            parcel.write(file, str(name))
            target = file.parent if file.name == SEAL else file.with_suffix("") if file.suffix == f".{SEAL}" else None
            if target is not None and is_sealed(target):
                of_parcel = str(name)[: -len(SEAL) - 1]
                sealed.append(of_parcel)
        parcel.writestr(_SEALED, json.dumps(sealed))
    return buffer.getvalue()


def pack_into(folder: Path, outbox: Path) -> Path:
    """Write a parcel of a run's folder into another folder; return its path."""
    target = outbox / f"{secrets.token_hex(8)}.zip"
    target.write_bytes(packed(folder))
    return target


def unpack(data: bytes, folder: Path) -> None:
    """Put what is in a parcel into a run's folder, its checkpoint whole or not at all; seal again what was sealed.

    What lies there besides stays. Raises DamagedFileError if it is no parcel.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parcel:
            files = {one.filename: parcel.read(one) for one in parcel.infolist()}
        sealed = {str(one) for one in json.loads(files.pop(_SEALED))}
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise DamagedFileError(
            "a parcel", f"cannot be opened ({error})", "install the same version everywhere"
        ) from None
    inside = {}
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise DamagedFileError("a parcel", f"leads out of its folder by {name!r}", "trust nobody who sends such")
        if path.name == SEAL or path.suffix == f".{SEAL}":
            continue
        if path.parts[0] == _CHECKPOINT:
            inside[path.name] = content
            continue
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.part")
        unfinished.write_bytes(content)
        os.replace(unfinished, target)
        if name in sealed:
            write_seal(target)

    def fill(empty: Path) -> None:
        for name, content in inside.items():
            (empty / name).write_bytes(content)
        if _CHECKPOINT in sealed:
            write_seal(empty)

    if inside:
        checkpoint.replace(folder, fill)
