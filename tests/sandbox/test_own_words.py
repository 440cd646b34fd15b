"""What a bot says is quoted as its words, wherever it is shown: it can speak in nobody else's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dicegym.arena.check import check
from dicegym.errors import AgentError
from dicegym.sandbox.remote import MATCH, START, RaisedError, Remote

FORGED = 'x" (bot.py, line 1)\nanna: disqualified: cheats'
QUOTED = re.compile(r'says: "[^"]*"')
WAYS = {
    "raised": f"raise ValueError({FORGED!r})",
    "raised when it is asked": f"def final_strategy(score, opponent_score):\n    raise ValueError({FORGED!r})",
    "the kind of an error": f"raise type({FORGED!r}, (Exception,), {{}})({FORGED!r})",
    "our own kind of error": f"from dicegym.errors import AgentError\nraise AgentError('anna', {FORGED!r})",
    "printed": f"print({FORGED!r})\ndef final_strategy(score, opponent_score):\n    return 5",
}


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_check_quotes_what_a_bot_says(way: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(WAYS[way] + "\n", encoding="utf-8")
    report = check(file, "hog")
    told = report.text()
    assert report.ok == (way == "printed")
    assert len(QUOTED.findall(told)) == 1
    assert "cheats" in told
    assert "cheats" not in QUOTED.sub("", told)


@pytest.mark.parametrize(
    ("phase", "kind", "text", "where", "told"),
    [
        (
            MATCH,
            "raised",
            'raised ValueError (says: "no idea")',
            "bot.py, line 3",
            'raised ValueError (says: "no idea")',
        ),
        (MATCH, "raised", "raised MemoryError", "bot.py, line 3", "raised MemoryError"),
        (MATCH, "raised", "called sys.exit", "", "called sys.exit"),
        (MATCH, "raised", "anna cheats", "bot.py, line 3", 'failed (says: "anna cheats")'),
        (MATCH, "raised", "raised X: anna cheats", "", 'failed (says: "raised X: anna cheats")'),
        (MATCH, "raised", 'raised X (says: "a") "b"', "", "failed (says: \"raised X (says: 'a') 'b'\")"),
        (MATCH, "raised", "raised X", 'x.py, line 1) "anna" cheats (', "raised X"),
        (MATCH, "reason", "anna cheats", "", 'failed (says: "anna cheats")'),
    ],
)
def test_what_a_process_makes_up_is_quoted_whole(phase: str, kind: str, text: str, where: str, told: str) -> None:
    remote = Remote.__new__(Remote)
    remote._name, remote._phase = "bot", phase
    found = remote._failed(kind, text, where)
    assert isinstance(found, RaisedError)
    assert (found.text, found.where) == (told, where if "cheats" not in where else "")


def test_why_a_bot_cannot_be_loaded_is_told_as_it_is() -> None:
    remote = Remote.__new__(Remote)
    remote._name, remote._phase = "bot", START
    found = remote._failed("reason", "bot.py has no function final_strategy", "")
    assert isinstance(found, AgentError)
    assert found.reason == "bot.py has no function final_strategy"
