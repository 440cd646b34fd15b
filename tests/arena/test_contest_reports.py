"""The report of a contest as text, Markdown and JSON."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.entries import Disqualified
from dicegym.arena.exact_ranking import ONE_DRAW
from dicegym.arena.formats.round_robin import present_games
from dicegym.arena.match_rows import MatchRow
from dicegym.arena.provenance import DATE_VARIABLE
from dicegym.arena.report import Matrix, Report, markdown_text
from dicegym.arena.results import ContestResult, Standing, ranking
from dicegym.columns import plain_table
from dicegym.play.player import RandomPlayer

pytestmark = pytest.mark.xdist_group("arena")


FIGURES = ("wins", "losses", "share", "win_rate", "less_luck", "exact")
STANDINGS = tuple(
    Standing(place, name, dict(zip(FIGURES, (*figures, None, None), strict=True)))
    for place, (name, figures) in enumerate({"98": (15, 1, 0.9, 0.7591), "long name": (2, 14, 0.1, None)}.items(), 1)
)
MATCHES = (MatchRow(("98", "long name"), (6, 3), places=(((1, 2), 6), ((2, 1), 3)), games=9),)
SMALL = ContestResult(
    game="hog",
    title="Hog",
    seed=7,
    details={"games_per_match": 9, "baseline": "always_roll(5)"},
    standings=STANDINGS,
    matches=MATCHES,
    shown=present_games(STANDINGS, MATCHES, "1 match of 9 games, seed 7", "always_roll(5)", [ONE_DRAW]),
    disqualified=(Disqualified("bad", "gave [x] while choosing"),),
)


def test_the_report_reads_as_the_contest_page() -> None:
    assert SMALL.text() == (
        "Hog: 2 entries, 1 match of 9 games, seed 7\n"
        "\n"
        "Rankings\n"
        "\n"
        "Ranking  Entry      Wins  Losses  Win rate against `always_roll(5)`\n"
        "      1  98           15       1                              75.9%\n"
        "      2  long name     2      14                                  -\n"
        "\n"
        "disqualified: bad: gave [x] while choosing\n"
        "\n"
        "Games in which the row was ahead of the column, without ties\n"
        "\n"
        "                1   2\n"
        "1  98             67%\n"
        "2  long name  33%    \n"
        "\n"
        "An entry that samples its answers has the win rate of one sampled table of them."
    )
    lines = SMALL.text(60).splitlines()
    assert max(map(len, lines[-2:])) <= 60
    assert " ".join(SMALL.text(60).split()) == " ".join(SMALL.text().split())
    assert plain_table(["A", "Bee"], []) == ["A  Bee"]


def test_json_keeps_its_keys() -> None:
    """Other programs read the files: removing a key must raise the version."""
    keys = "version game title seed format options standings matches disqualified misplays remarks printed less_luck"
    assert list(SMALL.to_json()) == [*keys.split(), "games_per_match", "baseline", "faults"]
    plain = json.loads(json.dumps(SMALL.to_json()))
    assert (plain["version"], plain["seed"]) == (1, 7)
    assert plain["standings"][0]["name"] == "98"
    assert (plain["matches"][0]["entries"], plain["matches"][0]["wins"]) == (["98", "long name"], [6, 3])
    assert plain["disqualified"] == [{"name": "bad", "reason": "gave [x] while choosing"}]


def test_what_was_printed_and_what_is_to_be_known_of_an_entry_is_kept(tmp_path: Path) -> None:
    head = "class A(Player):\n    def move(self, *_):\n        return 'Liar' if _[0] else (1, 2)\n"
    (tmp_path / "two.py").write_text(f"{head}class B(A):\n    pass\nclass C(A):\n    pass\n")
    (tmp_path / "loud.py").write_text(head.replace("        return", "        print('hm')\n        return"))
    found = contest("liarsdice_spot_on", [tmp_path / "two.py", tmp_path / "loud.py", "even"], seed=1, workers=1)
    assert found.to_json()["printed"].keys() == {"loud"}
    assert found.printed["loud"].startswith("hm\nhm\n")
    assert any(
        remark.startswith('two: says: "2 classes derive from Player: B, C. The last one') for remark in found.remarks
    )


@pytest.mark.slow
def test_json_says_where_a_result_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (tmp_path / "one.py").write_text("import own\ndef final_strategy(a, b):\n    return own.NUMBER\n")
    (tmp_path / "own.py").write_text("NUMBER = 5\n")
    monkeypatch.setenv(DATE_VARIABLE, "86400")
    found = contest("hog", [tmp_path / "one.py", "bacon", RandomPlayer()], seed=0, workers=1, limits=Limits(seconds=7))
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["date"] == "1970-01-02T00:00:00Z"
    assert plain["dicegym"] == dicegym.__version__
    assert plain["fingerprint"] == dicegym.game("hog").fingerprint
    assert plain["parameters"] == {"goal": 100, "memory": 0}
    assert plain["limits"]["seconds"] == 7
    entries = {entry["name"]: entry for entry in plain["entries"]}
    assert list(entries) == ["bacon", "one", "uniform"]
    assert [entry["kind"] for entry in entries.values()] == ["bot", "bot", "player"]
    digests = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("one.py", "own.py")}
    assert entries["one"]["files"] == digests
    bacon = hashlib.sha256((root / "agents" / "hog" / "bacon.py").read_bytes()).hexdigest()
    assert entries["bacon"]["files"] == {"bacon.py": bacon}
    monkeypatch.delenv(DATE_VARIABLE)
    again = contest("hog", [RandomPlayer(), "bacon", tmp_path / "one.py"], seed=0, workers=2, limits=Limits(seconds=7))
    assert again == found
    assert again.to_json()["date"] > "2020"
    monkeypatch.setenv(DATE_VARIABLE, "86400")
    assert contest("hog", ["bacon", "swap"], seed=0, workers=1).provenance != found.provenance


def test_equal_entries_share_a_place_and_stand_by_name() -> None:
    merits = {"b": (3, 1), "a": (5, 0), "d": (3, 1), "c": (3, 2)}
    found = ranking(merits, {name: {"wins": merit[0]} for name, merit in merits.items()})
    assert [(row.place, row.name, row["wins"]) for row in found] == [(1, "a", 5), (2, "c", 3), (3, "b", 3), (3, "d", 3)]
    assert found[0].to_json() == {"place": 1, "name": "a", "wins": 5}


def test_a_report_is_written_as_markdown() -> None:
    text = markdown_text(SMALL.report())
    assert text.startswith("# Hog: 2 entries, 1 match of 9 games, seed 7\n\n## Rankings\n\n| Ranking | Entry |")
    assert "|--:|---|--:|--:|--:|\n| 1 | 98 | 15 | 1 | 75.9% |\n" in text
    assert "- disqualified: bad: gave \\[x\\] while choosing" in text
    assert "| 1. 98 |  | 67% |" in text
    evil = Report("<b>`x`", [("a | b", ["*t*"], [["[x](y)"]])], remarks=["<script>"])
    assert (
        markdown_text(evil)
        == "# \\<b\\>\\`x\\`\n\n## a \\| b\n\n| \\*t\\* |\n|---|\n| \\[x\\](y) |\n\n- \\<script\\>\n"
    )


# --- a matrix of who won against whom ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("n", [2, 12, 30])
def test_a_matrix_keeps_to_the_width(n: int, width: int) -> None:
    names = [f"submission_{number:03d}" for number in range(n - 1)] + ["a name that is very much longer than any"]
    cells = [["." if a == b else str((a + b) % 10) for b in range(n)] for a in range(n)]
    lines = list(Matrix("Games", names, cells).lines(width))
    assert max(map(len, lines)) <= width
    rows = [line for line in lines if line.strip() and line.split()[0].isdigit() and not line.startswith("   ")]
    seen = "".join("".join(line.split()[2:]) for line in rows if "a name" not in line)
    assert len(seen) == (n - 1) * n  # every cell stands in one block
    if n == 30:
        assert any(line == "" for line in lines) == (width < 116)
