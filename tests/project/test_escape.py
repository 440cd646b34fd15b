"""What others wrote, made harmless in one place, and what the places that show it make of it."""

from __future__ import annotations

import csv
import html
import io
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dicegym.arena import report
from dicegym.arena.entries import Disqualified
from dicegym.arena.report import Matrix, Report, plain_text
from dicegym.cli.console import Outputs, Terminal
from dicegym.errors import AgentError, DamagedFileError, DicegymError, ParameterError
from dicegym.escape import cell, harmless, lines, markdown, one_line

HOSTILE = (
    "\x1b[2J\x1b[31mred\x1b]0;title\x07 \x9b31m \x08\x08\x08 \r over \x00 "
    "\u202egpj.exe\u202c \u2066in\u2069 a\u200bb\ufeff \ud800 \udc9b [bold]x[/] [link=http://x]y[/link] "
    "\u2028 \u2029 \x85 z" + "\u0301" * 60 + " \u3164 \U000e0041"
)
"""Escapes of terminals, directions, what takes no room, surrogates, markup, separators, marks on marks."""


def is_harmless(text: str, keep: str = "") -> bool:
    text.encode()  # raises for surrogates
    return all(
        unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} or letter in keep
        for letter in text
    )


@given(st.text(st.characters(codec=None), max_size=80))
def test_whatever_it_is_it_is_harmless_and_stays_so(text: str) -> None:
    for shown in (harmless(text), one_line(text), cell(text), markdown(text)):
        assert is_harmless(shown)
    assert is_harmless(lines(text), "\n\t")
    assert harmless(harmless(text)) == harmless(text)
    assert one_line(one_line(text)) == one_line(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b", "\\x9b"),
        ("a\tb\nc\r", "a\\tb\\nc\\r"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("e" + "\u0301" * 9, "e" + "\u0301" * 4),
        # what is harmless stays as it is
        *(
            (one, one)
            for one in ("always_roll(5)", "Zoë O'Neil", "日本語 ⚀⚁", "a  b", "[bold]x[/]", "", "naïve e\u0301")
        ),
        ("\\x1b", "\\x1b"),
    ],
)
def test_escapes_are_those_of_python(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_lines_are_cut_and_texts_of_any_size_are_quick() -> None:
    assert len(one_line("x" * 100_000_000)) == 200
    assert one_line("a\n\n b\x1b") == "a b\\x1b"
    assert lines("x" * 5000 + "\nshort", 100).split("\n") == ["x" * 97 + "...", "short"]
    assert max(map(len, lines("\x1b" * 5000 + "\n\t" * 9, 100).split("\n"))) == 100


def test_objects_that_resist_have_no_message() -> None:
    class Raises:
        def __str__(self) -> str:
            raise RuntimeError

    class Liar(str):
        def split(self, *_: object) -> list[str]:  # type: ignore[override]
            return ["\x1b"]

        def isprintable(self) -> bool:
            return True

    assert one_line(Raises()) == "(no message)"
    assert one_line(Liar("\x1b[0m")) == "\\x1b[0m"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum(a)", "\t=1", "=cmd|' /C calc'!A0"])
def test_cells_are_no_formulas(text: str) -> None:
    target = io.StringIO()
    csv.writer(target).writerow([cell(text)])
    assert next(csv.reader([target.getvalue()]))[0].startswith("'")
    assert cell("bacon") == "bacon"


def test_markdown_neither_ends_a_cell_nor_begins_a_tag() -> None:
    assert markdown("a|b\n<script>`x`") == r"a\|b\\n\<script\>\`x\`"


def test_markdown_shows_what_others_wrote_as_they_wrote_it() -> None:
    from markdown_it import MarkdownIt

    for text in ("_x_", "__init__", "always_roll(5)", "&lt;b&gt;", "# big", "- - -", "+ x", "a&b"):
        shown = MarkdownIt().render(f"- {markdown(text)}")
        assert shown == f"<ul>\n<li>{html.escape(text)}</li>\n</ul>\n", shown
    assert markdown("always_roll(5) -") == "always_roll(5) -"


@pytest.mark.parametrize(
    "error",
    [
        DicegymError(HOSTILE),
        ParameterError(HOSTILE),
        AgentError(HOSTILE, HOSTILE),
        DamagedFileError(HOSTILE, HOSTILE, "x"),
    ],
)
def test_errors_are_harmless(error: DicegymError) -> None:
    assert is_harmless(str(error), "\n")
    assert is_harmless(getattr(error, "reason", "") if isinstance(error, AgentError) else "", "\n")
    assert len(str(ParameterError("y" * 1_000_000))) < 10_000


HOSTILE_REPORT = Report(
    HOSTILE,
    (
        (HOSTILE, ["Place", HOSTILE], [["1", HOSTILE], ["2", "[bold]b[/]"]]),
        Matrix(HOSTILE, [HOSTILE, "b"], [["-", "1"], ["2", "-"]]),
    ),
    (Disqualified(HOSTILE, HOSTILE),),
    (HOSTILE,),
    (HOSTILE,),
    (HOSTILE,),
)


def test_reports_are_harmless_on_a_terminal_and_in_a_pipe() -> None:
    (_, line), *_ = next(part for part in Report("", (), remarks=("x" * 100_000,)).parts() if part)
    assert len(line) == report.LONGEST_NOTE
    for width in (80, 100):
        text = plain_text(HOSTILE_REPORT, width)
        assert is_harmless(text, "\n")
        assert "[bold]" in text  # shown, not obeyed


def test_the_terminal_takes_text_for_what_it_is_and_json_keeps_it(tmp_path: Path) -> None:
    file = io.StringIO()
    console = Terminal(file=file, force_terminal=True, color_system="truecolor", highlight=False, soft_wrap=True)
    console.print(HOSTILE, "second")
    assert is_harmless(file.getvalue(), "\n")
    assert "[link=http://x]y[/link]" in file.getvalue()
    Outputs([tmp_path / "x.json"], [".json"]).json({"name": HOSTILE})
    written = (tmp_path / "x.json").read_bytes()
    assert (written.isascii(), b"\x1b" in written, json.loads(written)["name"]) == (True, False, HOSTILE)


def test_one_line_says_what_an_object_is_and_not_where_it_lies() -> None:
    assert one_line(f"{object()} and {test_one_line_says_what_an_object_is_and_not_where_it_lies}") == (
        "<object object> and <function test_one_line_says_what_an_object_is_and_not_where_it_lies>"
    )
    assert one_line("at 0x1f of 3") == "at 0x1f of 3"
