"""What is handed in is read with care: what leads elsewhere, is too much, or is none, is refused in words."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

import dicegym
from dicegym.errors import DicegymError
from dicegym.shipped import shipped_folder
from dicegym.web.enter.uploads import LARGEST_UNPACKED, LARGEST_UPLOAD, Upload, bot_in, unpack

BOT = b"def final_strategy(score, opponent_score):\n    return 5\n"


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packed) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def link(name: str, to: bytes) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, to


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


REFUSED = {
    "nothing": (b" \n ", "empty"),
    "too large": (b"#" * (LARGEST_UPLOAD + 1), "are the most"),
    "no text": (b"\xff\xfe\x00", "neither a zip nor UTF-8"),
    "a NUL": (b"x = 1\0", "NUL"),
    "half a zip": (zipped(("hog.py", BOT))[:40], "cannot be read as a zip of a bot"),
    "a path upwards": (zipped(("../evil.py", BOT)), "leads elsewhere"),
    "an absolute path": (zipped(("/etc/evil.py", BOT)), "leads elsewhere"),
    "a path of Windows": (zipped(("C:\\evil.py", BOT)), "leads elsewhere"),
    "a link": (zipped(("hog.py", BOT), link("secret.py", b"/etc/passwd")), "is a link"),
    "one name twice": (zipped(("a.py", BOT), ("b.py", BOT)).replace(b"b.py", b"a.py"), "two members of one name"),
    "a bomb": (zipped(("hog.py", BOT), ("zeros", b"\0" * (LARGEST_UNPACKED + 1))), "unpacked"),
    "too many files": (zipped(*((f"{number}.py", BOT) for number in range(201))), "are the most for a bot"),
    "no bot": (zipped(("readme.txt", b"hello")), "neither a Python file nor a model"),
    "a file that is a folder": (zipped(("a.py", BOT), ("a.py/b.py", BOT)), "cannot be written"),
    "a name of kilobytes": (zipped((f"{'x' * 4000}.py", BOT)), "cannot be written"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_bot_is_refused(tmp_path: Path, what: str) -> None:
    data, words = REFUSED[what]
    with pytest.raises(DicegymError, match=words):
        unpack(Upload("handed_in", data), tmp_path / "new" / "1")
    assert all(name.startswith("new/") for name in files_below(tmp_path))


def test_a_folder_is_found_wherever_its_zip_has_it(tmp_path: Path) -> None:
    data = zipped(
        ("mine/", b""), ("mine/hog.py", b"import helper\n" + BOT), ("mine/helper.py", b""), ("__MACOSX/._hog.py", b"\0")
    )
    unpack(Upload("mine.zip", data), tmp_path / "1")
    path, problem = bot_in(dicegym.game("hog"), tmp_path / "1")
    assert not problem
    assert files_below(path) >= {"helper.py", "hog.py"} or path.name == "hog.py"
    assert "__MACOSX" not in str(files_below(tmp_path))
    assert dicegym.agent("hog", str(path)).name


def test_a_file_and_a_model_are_kept_under_names_of_ours(tmp_path: Path) -> None:
    unpack(Upload("../../numpy.py", BOT), tmp_path / "1")
    assert files_below(tmp_path / "1") == {"bots/bot.py"}
    model = (shipped_folder("agents") / "hog" / "ppo.zip").read_bytes()
    unpack(Upload("my model.zip", model), tmp_path / "2")
    assert files_below(tmp_path / "2") == {"bots/bot.zip"}
    path, problem = bot_in(dicegym.game("hog"), tmp_path / "2")
    assert not problem
    assert dicegym.agent("hog", str(path)).name


def test_what_has_no_bot_for_the_game_says_so(tmp_path: Path) -> None:
    unpack(Upload("two.zip", zipped(("a.py", BOT), ("b.py", BOT))), tmp_path / "1")
    _, problem = bot_in(dicegym.game("hog"), tmp_path / "1")
    assert "hog.py" in problem
