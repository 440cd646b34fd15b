"""What a person sees at the keyboard, whole games of it: typed again, it is what was reviewed.

A transcript is a file ``tests/transcripts/<game>.txt``: the command after a ``$``, and all that the screen showed, the
typed answers among it. To write them anew with the answers that are in them: ``python tests/games/test_transcripts.py``
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from dicegym.cli import main
from dicegym.registry import GAMES

FOLDER = Path(__file__).parents[1] / "transcripts"
REMEDY = "if that is meant: python tests/games/test_transcripts.py, and review the difference"
ANSWER = re.compile(r"^(?:your move>|`again` or `quit`\?) (.*)$", re.MULTILINE)
WIDTH = 80


def played(command: str, answers: list[str]) -> str:
    """Return what a command shows when it is given these answers by a script."""
    stdin, sys.stdin = sys.stdin, io.StringIO("".join(f"{answer}\n" for answer in answers))
    try:
        with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
            main(shlex.split(command)[1:])
    finally:
        sys.stdin = stdin
    return shown.getvalue()


def again(text: str) -> str:
    """Return a transcript, played again."""
    head, _, rest = text.partition("\n")
    command = head.removeprefix("$ ")
    return f"$ {command}\n{played(command, ANSWER.findall(rest))}"


@pytest.mark.parametrize("name", GAMES)
def test_nothing_has_changed(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    difference = list(
        difflib.unified_diff(golden.splitlines(), again(golden).splitlines(), "golden", "now", lineterm="", n=1)
    )
    assert not difference, "\n".join([*difference[:60], REMEDY])


@pytest.mark.parametrize("name", GAMES)
def test_it_shows_a_whole_game_and_what_can_go_wrong(name: str) -> None:
    """A record in which nobody wins or errs would review little."""
    assert {path.stem for path in FOLDER.glob("*.txt")} == {*GAMES}
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    answers = ANSWER.findall(text)
    assert {"help", "table"} <= {*answers}
    assert "means nothing here" in text
    assert re.search(r"\bwins?\b", text.rpartition("`again` or `quit`")[0])
    assert text.endswith("Goodbye.\n")
    assert max(len(line) for line in text.splitlines() if "dicegym play" not in line) <= WIDTH


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.txt")):
        path.write_text(again(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
