"""Files that would do something to whoever opens them, made for tests: what they do is to touch a file."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dicegym.players.model_file import MEMBER, NETWORK_MEMBER


class Bomb:
    """Touches a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.mark,)


def members_of(path: Path) -> dict[str, bytes]:
    """Return the members of a zip by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Mapping[str, bytes], path: Path, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a zip."""
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def changed(path: Path, target: Path, changes: Mapping[str, bytes | None]) -> Path:
    """Copy a zip with other members; None leaves one out."""
    found: dict[str, bytes | None] = {**members_of(path), **changes}
    return zipped({name: content for name, content in found.items() if content is not None}, target)


def members_of_bytes(content: bytes) -> dict[str, bytes]:
    """Return the members of a zip in memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def object_arrays(content: bytes, mark: Path) -> bytes:
    """Return arrays of which each is a pickle."""
    made = io.BytesIO()
    with np.load(io.BytesIO(content)) as arrays:
        np.savez(made, allow_pickle=True, **{name: np.array([Bomb(mark)], object) for name in arrays})
    return made.getvalue()


def every_place(path: Path, mark: Path) -> dict[str, dict[str, bytes | None]]:
    """Return by a name for each what to change in a model file so that it would touch ``mark`` when it is opened.

    ``arrays``, ``no network`` and ``itself`` do not play.
    """
    found = members_of(path)
    raw = pickle.dumps(Bomb(mark))
    about = json.loads(found[MEMBER])
    beside = {"data": raw, "policy.pth": raw, "system_info.txt": raw, "more.pkl": raw}
    return {
        "arrays": {NETWORK_MEMBER: object_arrays(found[NETWORK_MEMBER], mark)},
        "all beside arrays": {**beside},
        "no network": {
            NETWORK_MEMBER: None,
            MEMBER: json.dumps({key: value for key, value in about.items() if key != "network"}).encode(),
            **beside,
        },
        "itself": dict.fromkeys(found, raw),
        "no facts": {NETWORK_MEMBER: None, MEMBER: None, **beside},
    }
