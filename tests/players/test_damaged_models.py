"""Model files that are damaged, promise too much or hold nonsense are refused in words, and take no memory."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_models import changed, members_of, members_of_bytes, zipped

import dicegym
from dicegym.errors import ModelError
from dicegym.players import model as models
from dicegym.players import model_file, sb3_models
from dicegym.players.agent_info import describe_agent, game_for
from dicegym.players.model_file import MEMBER, NETWORK_MEMBER
from dicegym.players.zip_archive import MOST_BYTES, ModelArchive, npz_bytes

pytest.importorskip("sb3_contrib")

GAME = dicegym.game("hog")


def only_model_error(path: Path, called: str) -> None:
    """Open a file by each door; fail unless it loads, or is refused by a ModelError that names it."""
    for door in (
        lambda: dicegym.agent(GAME, str(path)),
        lambda: sb3_models.load_model(path, GAME),
        lambda: game_for(str(path)),
        lambda: describe_agent(GAME, str(path)),
    ):
        try:
            door()
        except Exception as error:
            if not (isinstance(error, ModelError) and str(path) in str(error)):
                raise AssertionError(f"{called}: {type(error).__name__}: {error}") from error


def flipped(content: bytes, draw: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(draw.choice([1, 1, 5])):
        found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


@pytest.mark.parametrize("times", [6, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("whose", ["own", "theirs"])
def test_flipped_and_missing_bytes_are_one_error(
    whose: str, times: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Anywhere in the file, and inside its members with a checksum that fits again."""
    source: Path = request.getfixturevalue(whose)
    draw = random.Random(whose)
    content, members = source.read_bytes(), members_of(source)
    path = tmp_path / "m.zip"
    for number in range(times):
        path.write_bytes(flipped(content, draw))
        only_model_error(path, f"flip {number}")
        path.write_bytes(content[: draw.randrange(len(content))])
        only_model_error(path, f"cut {number}")
        name = draw.choice([name for name, member in members.items() if member])
        only_model_error(changed(source, path, {name: flipped(members[name], draw)}), f"{number} in {name}")


def header_of(shape: tuple[int, ...], data: bytes = b"", dtype: str = "<f4") -> bytes:
    """Return the bytes of an array that promises a shape."""
    made = io.BytesIO()
    np.lib.format.write_array_header_1_0(made, {"descr": dtype, "fortran_order": False, "shape": shape})
    return made.getvalue() + data


@pytest.mark.parametrize(
    "content",
    [
        header_of((1 << 40,)),
        header_of((1 << 62, 1 << 62)),
        header_of((-1, -4), bytes(16)),
        header_of((0, 1 << 70)),
        header_of((4,), bytes(15)),
        header_of((2,), bytes(16), "|O"),
        header_of((2,), bytes(16), "<M8[s]"),
        header_of((1 << 40,), dtype="|V0"),
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
        b"\x93NUMPY\x07\x00",
        b"",
    ],
)
def test_arrays_take_no_memory_for_what_they_promise(content: bytes, own: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    inner = members_of_bytes(members_of(own)[NETWORK_MEMBER])
    packed = zipped({**inner, "weight0.npy": content}, tmp_path / "n.zip").read_bytes()
    changed(own, path, {NETWORK_MEMBER: packed})
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=r"network\.npz"):
            models.load(path)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
def test_weights_that_are_no_numbers_are_refused(value: float, own: Path, tmp_path: Path) -> None:
    with ModelArchive(members_of(own)[NETWORK_MEMBER]) as archive:
        arrays = {name: array.astype(np.float64) for name, array in archive.arrays().items()}
    arrays["weight0"][3, 2] = value
    path = changed(own, tmp_path / "m.zip", {NETWORK_MEMBER: npz_bytes(arrays)})
    with pytest.raises(ModelError, match="not finite"):
        models.load(path)


def bomb(path: Path, n: int) -> None:
    """Write a zip of ``n`` bytes, unpacked, that is a small part of it."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(MEMBER, "w", force_zip64=True) as file,
    ):
        for _ in range(n >> 20):
            file.write(bytes(1 << 20))


def test_zips_that_grow_are_not_unpacked(tmp_path: Path) -> None:
    """Neither one that says that it is too large, nor one that says that it is small."""
    path = tmp_path / "m.zip"
    bomb(path, 1 << 26)
    content = path.read_bytes()
    at = content.rfind(b"PK\x01\x02")
    tracemalloc.start()
    try:
        for size, words in ((MOST_BYTES + 1, "unpacked"), (100, "cannot be read")):
            path.write_bytes(content[: at + 24] + struct.pack("<L", size) + content[at + 28 :])
            with pytest.raises(ModelError, match=words):
                models.load(path)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", "C:\\x", "a\\b", "\x1b[31m", "a//b", "."])
def test_names_that_lead_elsewhere_are_refused(name: str, own: Path, tmp_path: Path) -> None:
    path = zipped({**members_of(own), name: b""}, tmp_path / "m.zip")
    with pytest.raises(ModelError, match="leads elsewhere") as refused:
        models.load(path)
    assert str(refused.value).isprintable()


def test_odd_zips_are_refused(own: Path, tmp_path: Path) -> None:
    path, found = tmp_path / "m.zip", members_of(own)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MEMBER, found[MEMBER])
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(MEMBER, b"{}")
    with pytest.raises(ModelError, match="two members of one name"):
        models.load(path)
    with pytest.raises(ModelError, match="compressed by an unusual method"):
        models.load(zipped(found, path, zipfile.ZIP_LZMA))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ModelError, match="not a regular file"):
        models.load(path)
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(ModelError, match="cannot be read"):
        models.load(path)
    path.unlink()
    zipped({f"{number}{'x' * 60_000}": b"" for number in range(40)}, path)
    with pytest.raises(ModelError, match="list of members has 2,4"):
        models.load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"game": ' * 5_000,
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{}",
        b'{"game": ["hog"], "players": 2, "parameters": {}, "fingerprint": "0"}',
        b'{"game": "hog", "players": "2", "parameters": {}, "fingerprint": "0"}',
        b'{"game": "hog", "players": NaN, "parameters": {}, "fingerprint": "0"}',
        b'{"game": "hog", "players": 2, "parameters": {"goal": 1e400}, "fingerprint": "0"}',
        b'{"game": "hog", "players": 2, "parameters": {"players": 3}, "fingerprint": "0"}',
        b'{"game": "hog", "players": 2, "parameters": {"goal": ' + b"9" * 5_000 + b'}, "fingerprint": "0"}',
        b'{"game": "os:system", "players": 2, "parameters": {}, "fingerprint": "0"}',
        b'{"game": "hog", "players": 2, "parameters": [], "fingerprint": {}}',
    ],
)
def test_facts_that_are_none_are_refused(content: bytes, own: Path, tmp_path: Path) -> None:
    path = changed(own, tmp_path / "m.zip", {MEMBER: content})
    with pytest.raises(ModelError):
        models.load(path)
    assert describe_agent(GAME, str(path))
    only_model_error(path, "facts")


@pytest.mark.parametrize(
    "said", [5, [], {}, {"activations": 5}, {"activations": [[]]}, {"activations": ["ReLU"] * 10_000}, {"x": None}]
)
def test_networks_that_are_none_are_refused(said: Any, own: Path, tmp_path: Path) -> None:
    about = {**model_file.facts(own), "network": said}
    with pytest.raises(ModelError):
        models.load(changed(own, tmp_path / "m.zip", {MEMBER: json.dumps(about).encode()}))
