"""A bot whose file's name, messages and prints act on terminals, through every verb that shows them."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path

import pytest
from command_line import Run

NAME = "evil\x1b[2J\x9b31m\u202e[bold]\u200b\x07"
MESSAGE = "\x1b]0;owned\x07\x1b[31m\r\u202efdp.exe [link=http://x]y[/link]\u2028\x00"
BOT = f"""
def final_strategy(score, opponent_score):
    print({MESSAGE!r})
    if score > {{after}}:
        raise ValueError({MESSAGE!r})
    return 1
"""
PLAYER = f"""
def get_play(id, hand, history):
    print({MESSAGE!r})
    raise ValueError({MESSAGE!r})
"""


def is_harmless(text: str) -> bool:
    text.encode()
    return all(letter == "\n" or unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for letter in text)


@pytest.fixture(autouse=True)
def _folder_of_hostile_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{NAME}.py").write_text(BOT.format(after=100))
    (tmp_path / "raises.py").write_text(BOT.format(after=-1))
    (tmp_path / f"{NAME}2.py").write_text(PLAYER)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("words", "status", "shows"),
    [
        (("check", f"{NAME}.py", "--game", "hog", "--show", "-o", "found.json"), 0, "\\x1b]0;owned"),
        (("check", "raises.py", "--game", "hog", "-o", "found.json"), 1, 'raised ValueError (says: "\\x1b]0;owned'),
        (("evaluate", f"{NAME}.py", "--game", "hog", "-o", "found.json"), 0, "exact win rate"),
        (("watch", f"{NAME}.py", "--game", "hog", "-p", "goal=10", "--seed", "1"), 0, "evil\\x1b[2J\\x9b31m"),
        (("play", "hog", "--against", f"{NAME}.py", "-p", "goal=10", "--seed", "1"), 0, "evil\\x1b[2J\\x9b31m"),
        (("tournament", "liarsdice", f"{NAME}2.py", "even", "--games", "2", "--store", "none"), 0, "evil"),
        (("evaluate", f"{NAME}.zip"), 2, "evil\\x1b[2J"),
        (("tournament", "hog", NAME, "bacon"), 2, "evil\\x1b[2J"),
        (("games", "--write", NAME), 2, ""),
        ((f"\x1b[2J{NAME}",), 2, ""),
    ],
    ids=lambda value: value[0].translate({27: "ESC"})[:12] if isinstance(value, tuple) else "",
)
def test_nothing_of_it_acts(
    run: Run, words: tuple[str, ...], status: int, shows: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 3 + "quit\n"))
    found, *texts = run(*words)
    text = "".join(texts)
    assert found == status, text
    assert shows in text
    assert is_harmless(text), ascii(text)
    if (tmp_path / "found.json").exists():
        written = (tmp_path / "found.json").read_bytes()
        assert written.isascii()
        assert b"\x1b" not in written
        json.loads(written)


def test_reports_of_contests_and_what_they_write(run: Run, tmp_path: Path) -> None:
    words = ("tournament", "hog", f"{NAME}.py", "raises.py", "bacon", "--games", "1", "--workers", "1")
    status, *texts = run(*words, "-o", "found.json")
    assert status == 0
    text = "".join(texts)
    assert "evil\\x1b[2J\\x9b31m\\u202e[bold]\\u200b\\x07" in text
    assert 'disqualified: raises: raised ValueError (says: "\\x1b]0;owned' in text
    assert is_harmless(text)
    assert (tmp_path / "found.json").read_bytes().isascii()
    found = json.loads((tmp_path / "found.json").read_text())
    assert any(entry["given"].startswith("evil\x1b") for entry in found["entries"])  # as it was given


def test_files_whose_names_look_alike_are_two_entries(tmp_path: Path) -> None:
    from dicegym.arena.entries import entries_of
    from dicegym.games import game

    folder = tmp_path / "alike"
    folder.mkdir()
    for name in ("ann  b", "ann b", "x" * 240, "x" * 239 + "y"):
        (folder / f"{name}.py").write_text(BOT.format(after=100))
    field = entries_of(game("hog"), folder)
    assert len({entry.name for entry in field.entries}) == 4


def test_what_stands_in_a_servers_database(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    from dicegym.server.game_results import ForcedTurn, GameResult, SeatResult
    from dicegym.server.result_store import ResultStore

    store = ResultStore(tmp_path / "x.sqlite", "yatzy")
    store.begin_run(1)
    places = (SeatResult(NAME, 100, 1, 1200.0, 1216.0), SeatResult("bob", 90, 2, 1200.0, 1184.0))
    store.write([GameResult(1, 7, 1.0, (1, 2), places, (ForcedTurn(0, 4, MESSAGE),))])
    store.close()
    for verb in ("ratings", "games"):
        status, out, err = run("server", verb, "yatzy", "--store", "x.sqlite", "-o", "found.json")
        assert (status, is_harmless(out + err), "evil\\x1b[2J" in out) == (0, True, True)
        assert (tmp_path / "found.json").read_bytes().isascii()


def test_what_the_servers_operator_sees() -> None:
    pytest.importorskip("sqlalchemy")
    from dicegym.server.server import LogPrinter

    lines: list[str] = []
    printer = LogPrinter(lines.append)
    printer.log(f"{NAME} says {MESSAGE}")
    printer.close()
    assert "evil\\x1b[2J" in lines[0]
    assert is_harmless(lines[0])
