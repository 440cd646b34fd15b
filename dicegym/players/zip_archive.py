"""Zip files that somebody else may have made: read as data alone, and never more of them than was promised.

Models are zips. What a stranger sends may be damaged or malicious, so sizes are
known before anything is unpacked, arrays before memory is taken for them, and whatever is wrong is one error.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import numpy as np

from dicegym.errors import ModelError, one_line

MOST_BYTES = 1 << 28
"""What all members of a file may hold together, unpacked: a hundred times the largest model that ships."""
MOST_ENTRIES = 10_000
MOST_DIRECTORY = 1 << 21
"""Bytes of a zip's list of members: it is read as a whole, before anything else can be known."""
MOST_JSON = 1 << 26
"""Bytes of a member that is JSON. Stable-Baselines3 keeps what a thousand games showed last in one."""
MOST_HEADER = 10_000
"""Bytes of what an array says of itself."""
_END, _END_SIZE, _LONGEST_COMMENT = b"PK\x05\x06", 22, 1 << 16
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_END_64, _END_64_SIZE = b"PK\x06\x06", 56
_ENCRYPTED = 1


class ModelArchive:
    """A zip file that is open for reading.

    Args:
        source: its path, or its bytes.
        called: what errors call it.
        most: bytes that all members may hold together.
        kind: what errors say that it should be.
        folders: whether it may have members that are folders, which are passed over.

    Attributes:
        names: of its members, in order.
        unpacked: bytes of all of them.

    Raises:
        ModelError: it is not a zip or a damaged one, is too large, has members twice or with names of other places. So
            do all methods.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        called: str = "",
        most: int = MOST_BYTES,
        *,
        kind: str = "a model",
        folders: bool = False,
    ) -> None:
        self._called = called or str(source)
        self._kind, self._folders = kind, folders
        self._most = most
        self._file: io.BufferedIOBase | None = None
        try:
            self._file = io.BytesIO(source) if isinstance(source, bytes) else _regular(Path(source))
            _check_directory(self._file)
            self._zip = zipfile.ZipFile(self._file)
            self._check_members()
        except ModelError:
            self.close()
            raise
        except Exception as error:  # whatever `zipfile` raises for what is damaged
            self.close()
            self._refuse(error)
        self.names = [info.filename for info in self._members()]
        self.unpacked = sum(info.file_size for info in self._members())

    def _members(self) -> list[zipfile.ZipInfo]:
        """Return its members, folders left out if it may have some."""
        found = self._zip.infolist()
        return [info for info in found if not info.is_dir()] if self._folders else found

    def __enter__(self) -> ModelArchive:
        """Return itself; it is closed at the end."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return the bytes of a member, ``most`` at the most. Its checksum is looked at."""
        try:
            info = self._zip.getinfo(name)
            if most is not None and info.file_size > most:
                self._refuse(f"its {name} is to hold {info.file_size:,} bytes, and {most:,} are the most")
            with self._zip.open(info) as member:
                content = member.read(info.file_size + 1)
        except ModelError:
            raise
        except Exception as error:  # likewise
            self._refuse(error)
        if len(content) != info.file_size:
            self._refuse(f"its {name} ends before its end")
        return content

    def json(self, name: str) -> dict[str, Any]:
        """Return the JSON object in a member."""
        try:
            found = json.loads(self.read(name, MOST_JSON))
        except (ValueError, RecursionError) as error:
            self._refuse(f"its {name} is not readable JSON: {_told(error)}")
        if not isinstance(found, dict):
            self._refuse(f"its {name} is not a JSON object")
        return found

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of a NumPy ``.npz`` by name, read-only."""
        found: dict[str, np.ndarray] = {}
        for member in self.names:
            if not member.endswith(".npy"):
                self._refuse(f"its {member} is not an array")
            content = self.read(member)
            try:
                found[member.removesuffix(".npy")] = array_in(content)
            except Exception as error:  # whatever NumPy raises for a damaged header
                self._refuse(f"its {member} is not a readable array: {_told(error)}")
        return found

    def _check_members(self) -> None:
        """Raise ModelError for what cannot be opened without harm."""
        infos = self._zip.infolist()
        if len(infos) > MOST_ENTRIES:
            self._refuse(f"it has {len(infos):,} members, and {MOST_ENTRIES:,} are the most")
        names = [info.filename for info in infos]
        if len(set(names)) != len(names):
            self._refuse("it has two members of one name")
        for info in infos:
            if stat.S_ISLNK(info.external_attr >> 16):
                self._refuse(f"the member {info.filename!r} is a link: put the file itself there")
            if not is_plain_name(info.filename.removesuffix("/") if self._folders else info.filename):
                self._refuse(f"the member {info.filename!r} has a name that leads elsewhere")
            if info.flag_bits & _ENCRYPTED or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                self._refuse(f"the member {info.filename!r} is encrypted, or packed as models are not")
        total = sum(info.file_size for info in infos)
        if total > self._most:
            self._refuse(f"it is to hold {total:,} bytes unpacked, and {self._most:,} are the most")

    def _refuse(self, reason: object) -> NoReturn:
        if isinstance(reason, FileNotFoundError):
            raise ModelError(f"there is no file {self._called}: name {self._kind} that exists") from None
        if isinstance(reason, IsADirectoryError):
            raise ModelError(f"{self._called} is a folder: name {self._kind} in it, such as best.zip") from None
        told = _told(reason) if isinstance(reason, BaseException) else one_line(reason)
        raise ModelError(
            f"{self._called} cannot be read as {self._kind}: {told}. It is damaged, or something else: get it again "
            "from where it came from"
        ) from None


def is_plain_name(name: str) -> bool:
    """Return whether a member's name stays in its archive and can be printed."""
    parts = name.split("/")
    return name.isprintable() and "\\" not in name and ":" not in name and not {"", ".", ".."} & set(parts)


def array_in(content: bytes) -> np.ndarray:
    """Return the array of plain numbers, or of records of such, in the bytes of a ``.npy`` file, read-only.

    Raises ValueError, or what NumPy raises, if the bytes have no such array.
    No memory is taken for what a header merely promises.
    """
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if header is None:
        raise ValueError(f"arrays of version {version} are not known")
    shape, by_columns, dtype = header(file, max_header_size=MOST_HEADER)
    if dtype.hasobject or dtype.kind not in "biufV":
        raise ValueError(f"it holds {one_line(dtype)}, and no plain numbers")
    rest = memoryview(content)[file.tell() :]
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != len(rest):
        raise ValueError(f"it promises {one_line(shape)} of {one_line(dtype)}, and holds {len(rest):,} bytes")
    found: np.ndarray = np.frombuffer(rest, dtype).reshape(shape, order="F" if by_columns else "C")
    return found


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return arrays as the bytes of a compressed ``.npz``, which `ModelArchive.arrays` reads."""
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    return packed.getvalue()


def _regular(path: Path) -> io.BufferedIOBase:
    """Open a file; a pipe or a device, at which reading would wait or never end, is refused by ValueError."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is not a regular file")
    return path.open("rb")


def _check_directory(file: io.BufferedIOBase) -> None:
    """Raise ValueError for a list of members that is too long to be read, which `zipfile` would read as a whole."""
    end = file.seek(0, os.SEEK_END)
    first = max(0, end - _END_SIZE - _LONGEST_COMMENT - _LOCATOR_SIZE - _END_64_SIZE)
    file.seek(first)
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_SIZE:
        raise ValueError("it is not a zip file")
    (size,) = struct.unpack_from("<L", tail, at + 12)
    locator = max(0, at - _LOCATOR_SIZE)
    if tail[locator:at].startswith(_LOCATOR):  # a larger record stands before it, and is read instead
        larger = locator - _END_64_SIZE
        (place,) = struct.unpack_from("<Q", tail, locator + 8)
        if larger < 0 or place != first + larger or not tail[larger:].startswith(_END_64):
            raise ValueError("its end is not where it says")
        (size,) = struct.unpack_from("<Q", tail, larger + 40)
    if size > MOST_DIRECTORY:
        raise ValueError(f"its list of members has {size:,} bytes, and {MOST_DIRECTORY:,} are the most")
    file.seek(0)


def _told(error: BaseException) -> str:
    return one_line(error) or type(error).__name__
