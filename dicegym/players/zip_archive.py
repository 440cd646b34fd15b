"""Zip files from strangers, read as data alone and within limits.

An upload may be damaged or malicious. So sizes are checked before anything is unpacked, arrays are checked before
memory is allocated for them, and every problem is a ModelError.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dicegym.errors import ModelError, one_line

MOST_BYTES = 1 << 28
"""Unpacked bytes of all members of a file together: a hundred times the largest shipped model."""
MOST_ENTRIES = 10_000
MOST_DIRECTORY = 1 << 21
"""Bytes of a zip's list of members, which `zipfile` reads as a whole before anything else is known."""
MOST_JSON = 1 << 24
"""Bytes of a JSON member: hundreds of times the facts of the longest shipped training."""
MOST_HEADER = 10_000
"""Bytes of the header of an array."""
_ENCRYPTED = 1


class _BoundedReader(io.BufferedReader):
    """A file that refuses to read much at once, while ``most`` is set."""

    most: int | None = MOST_DIRECTORY

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as usual. Raises ValueError for more than ``most`` bytes."""
        if self.most is not None and size is not None and size > self.most:
            raise ValueError(f"its list of members has {size:,} bytes, and at most {self.most:,} are allowed")
        return super().read(size)


class ModelArchive:
    """A zip file, open for reading.

    Args:
        source: its path, or its bytes.
        called: its name in errors (default: the path).
        most: allowed bytes of all members together, unpacked.
        kind: what errors say that the file should be.
        folders: whether it may have members that are folders; they are skipped.

    Attributes:
        names: of the members, in order.
        unpacked: bytes of all members together.

    Raises:
        ModelError: the file is not a zip, is damaged or too large, or has duplicate or unsafe member names. All methods
            raise it too.
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
        self._file: _BoundedReader | None = None
        try:
            self._file = _BoundedReader(io.BytesIO(source) if isinstance(source, bytes) else _open_regular(source))
            self._zip = zipfile.ZipFile(self._file)
            self._file.most = None  # the list of members is read
            self._check_members(most)
        except Exception as error:  # `zipfile` raises many kinds for damaged files
            self.close()
            self._refuse(error)
        members = [info for info in self._zip.infolist() if not (folders and info.is_dir())]
        self.names = [info.filename for info in members]
        self.unpacked = sum(info.file_size for info in members)

    def __enter__(self) -> ModelArchive:
        """Return itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return the bytes of a member, at most ``most``, after checking its checksum."""
        try:
            info = self._zip.getinfo(name)
            if most is not None and info.file_size > most:
                self._refuse(f"its {name} has {info.file_size:,} bytes, and at most {most:,} are allowed")
            with self._zip.open(info) as member:
                content = member.read(info.file_size + 1)
        except Exception as error:  # likewise
            self._refuse(error)
        if len(content) != info.file_size:
            self._refuse(f"its {name} is shorter than stated")
        return content

    def json(self, name: str) -> dict[str, Any]:
        """Return the JSON object in a member."""
        try:
            found = json.loads(self.read(name, MOST_JSON))
        except (ValueError, RecursionError) as error:
            self._refuse(f"its {name} is not readable JSON: {_reason(error)}")
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
                found[member.removesuffix(".npy")] = _array_in(content)
            except Exception as error:  # NumPy raises many kinds for a damaged header
                self._refuse(f"its {member} is not a readable array: {_reason(error)}")
        return found

    def _check_members(self, most: int) -> None:
        infos = self._zip.infolist()
        if len(infos) > MOST_ENTRIES:
            self._refuse(f"it has {len(infos):,} members, and at most {MOST_ENTRIES:,} are allowed")
        if len({info.filename for info in infos}) != len(infos):
            self._refuse("it has two members of one name")
        for info in infos:
            if stat.S_ISLNK(info.external_attr >> 16):
                self._refuse(f"the member {info.filename!r} is a link: put the file itself there")
            if not _is_plain_name(info.filename.removesuffix("/") if self._folders else info.filename):
                self._refuse(f"the member {info.filename!r} has a name that leads elsewhere")
            if info.flag_bits & _ENCRYPTED or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                self._refuse(f"the member {info.filename!r} is encrypted, or compressed by an unusual method")
        total = sum(info.file_size for info in infos)
        if total > most:
            self._refuse(f"it has {total:,} bytes unpacked, and at most {most:,} are allowed")

    def _refuse(self, reason: Exception | str) -> NoReturn:
        if isinstance(reason, ModelError):
            raise reason
        if isinstance(reason, FileNotFoundError):
            raise ModelError(f"there is no file {self._called}: name {self._kind} that exists") from None
        raise ModelError(
            f"{self._called} cannot be read as {self._kind}: {_reason(reason)}. It is damaged, or another kind of "
            "file: get it again from where it came from"
        ) from None


def _is_plain_name(name: str) -> bool:
    """Return whether a member's name stays inside its archive and can be printed."""
    parts = name.split("/")
    return name.isprintable() and "\\" not in name and ":" not in name and not {"", ".", ".."} & set(parts)


def _array_in(content: bytes) -> np.ndarray:
    """Return the array of numbers, or of records of numbers, in the bytes of a ``.npy`` file.

    The header is compared with the number of bytes first, so no memory is allocated for a false promise.
    """
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if header is None:
        raise ValueError(f"arrays of version {version} are not known")
    shape, by_columns, dtype = header(file, max_header_size=MOST_HEADER)
    if dtype.hasobject or dtype.kind not in "biufV":
        raise ValueError(f"it holds {one_line(dtype)} instead of plain numbers")
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


def _open_regular(path: str | os.PathLike[str]) -> io.FileIO:
    """Open a file; refuse a pipe or a device, from which reading could block or never end."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise ValueError("it is not a regular file")
    return io.FileIO(path)


def _reason(reason: Exception | str) -> str:
    return one_line(reason) or type(reason).__name__
