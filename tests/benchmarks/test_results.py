"""What is made of a bench's figures: ratios, tables, charts, files, and the command that writes them."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from benchmarks import chart, ratios, report
from benchmarks.__main__ import main
from benchmarks.figures import Figure, Skipped
from benchmarks.modes import LOOP_MODES
from benchmarks.result import BenchResult
from dicegym.errors import ParameterError

pytestmark = pytest.mark.slow


def speed(subject: str, mode: str, value: float, peer: bool = False, unit: str = ratios.DECISIONS) -> Figure:
    return Figure("speed", subject, LOOP_MODES[mode], unit, [value], mode, peer)


def test_ratios_by_hand() -> None:
    figures = [
        speed("A", "batch", 600),
        speed("B", "batch", 300),
        speed("P", "batch", 200, peer=True),
        speed("A", "make_vec", 552),
        speed("A", "make_vec", 240, unit="learner steps/s"),
        speed("Q", "make_vec", 960, peer=True),
        speed("A", "aec", 7),
    ]
    assert [tuple(ratio) for ratio in ratios.peer_ratios(figures)] == [
        ("batch", "A", "P", 3.0),
        ("batch", "B", "P", 1.5),
        ("make_vec", "A", "Q", 0.575),
    ]
    half = Figure("memory", "A", "x", "bytes", [3, 9, 4], goal=("at most", 4))
    others = (half._replace(goal=goal) for goal in (("at most", 3.9), ("at least", 5), None))
    assert (half.median, half.reached, [one.reached for one in others]) == (4, True, [False, False, None])
    (share,) = ratios.derived(figures)
    assert (share.subject, share.median, share.reached) == ("A", 0.92, True)
    figures[3] = speed("A", "make_vec", 300)
    assert [figure.reached for figure in ratios.derived(figures)] == [False]


@pytest.fixture
def made() -> BenchResult:
    """Return a result made by hand."""
    figures = [
        speed("A", "batch", 6e6),
        speed("P", "batch", 2e5, peer=True),
        speed("A", "aec", 41_234),
        Figure("memory", "A", "a game | in a batch", "bytes", [100.0, 2000.0, 300.0], "batch", goal=("at most", 1024)),
    ]
    options = {"modes": ["batch"], "games": ["hog"], "seconds": 0.5, "repeats": 3, "threads": [1], "training": "-"}
    return BenchResult({"processor": "any", "cores": "2"}, options, figures, [Skipped("Q", "not installed")])


def test_a_result_survives_json(made: BenchResult, played: BenchResult) -> None:
    for result in (made, played):
        assert BenchResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert made.to_json()["ratios"] == [{"mode": "batch", "subject": "A", "peer": "P", "ratio": 30.0}]


def test_the_tables(made: BenchResult) -> None:
    text = report.plain(made)
    assert "processor any | cores 2" in text
    assert re.search(r"A +bare batch of 1,024 +6,000,000 +6,000,000 +6,000,000 +decisions/s", text)
    assert re.search(r"environment +P\nA +30", text)
    assert re.search(r"300 +100 +2,000 +bytes +at most 1,024, reached", text)
    assert re.search(r"Q +not installed", text)
    page = report.markdown(made)
    assert "`python -m benchmarks measure batch --games hog --seconds 0.5 --repeats 3 --threads 1`" in page
    assert "| batch: a game \\| in a batch | bytes | 300 |" in page
    assert "| bare batch of 1,024 | decisions/s | 6,000,000 |" in page
    assert "| P | bare batch of 1,024 | 200,000 | decisions/s |" in page
    assert "| Q | not installed |" in page


def test_an_earlier_run_stands_beside(made: BenchResult) -> None:
    faster = [speed("A", "batch", 3e6), Figure("memory", "A", "gone", "bytes", [1.0], "batch")]
    before = made._replace(figures=faster, machine={"dicegym": "0.0.9"})
    text = report.plain(made, before)
    assert "before: dicegym 0.0.9" in text
    assert re.search(r"A +bare batch of 1,024 +6,000,000 +6,000,000 +6,000,000 +decisions/s +3,000,000 +2.00", text)
    assert re.search(r"A +PettingZoo env\(\) .* decisions/s +- +-", text)
    assert "| unit | before | times |" in report.markdown(made, before)
    assert "Before: dicegym 0.0.9." in report.markdown(made, before)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_chart(made: BenchResult, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    first, second = (tmp_path / f"{name}{suffix}" for name in "ab")
    chart.draw(made, first)
    assert 2_000 < first.stat().st_size < 200_000
    if suffix == ".png":
        chart.draw(made, second)
        assert first.read_bytes() == second.read_bytes()
    else:
        assert "<svg" in first.read_text(encoding="utf-8")
    bars = [(name, [bar.median for bar in bars]) for name, bars in chart.groups(made.figures)]
    assert bars == [("A", [6e6, 41_234]), ("P", [2e5])]
    assert set(chart.COLOURS) == set(LOOP_MODES)
    assert [chart.format_short(value) for value in (12.3e6, 45_000, 7)] == ["12.3 M", "45 k", "7"]
    with pytest.raises(ParameterError, match=r"\.png or \.svg"):
        chart.draw(made, tmp_path / "a.pdf")
    with pytest.raises(ParameterError, match="no loop to draw"):
        chart.draw(made._replace(figures=made.figures[-1:]), first)


def test_the_command_writes_everything_and_shows_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / name for name in ("b.json", "b.md", "b.png")}
    with_chart = ["-o", str(files["b.png"])] if importlib.util.find_spec("matplotlib") else []
    short = ["--games", "hog", "--seconds", "0.0001", "--repeats", "1"]
    with pytest.raises(SystemExit) as end:
        main(["measure", "batch", *short, "-o", str(files["b.json"]), "-o", str(files["b.md"]), *with_chart])
    shown = capsys.readouterr().out
    assert not end.value.code
    assert files["b.md"].read_text(encoding="utf-8").startswith("# Speed\n")
    assert files["b.png"].exists() == bool(with_chart)
    with pytest.raises(SystemExit):
        main(["measure", "--from", str(files["b.json"])])
    assert capsys.readouterr().out == shown
    with pytest.raises(SystemExit):
        main(["measure", "--from", str(files["b.json"]), "--beside", str(files["b.json"])])
    assert "1.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("batsh",), "Did you mean 'batch'?"),
        (("--games", "hogg"), "Did you mean 'hog'?"),
        (("--threads", "two"), "--threads 'two' cannot be read"),
        (("--threads", "0"), "threads=0"),
        (("--seconds", "0"), "--seconds 0.0 is no time"),
        (("--from", "pyproject.toml"), "pyproject.toml holds no figures of the bench"),
        (("--beside", "pyproject.toml"), "pyproject.toml holds no figures of the bench"),
        (("-o", "bench.gif"), "must end in .json or .md or .png or .svg"),
    ],
)
def test_mistakes_are_told_before_anything_is_measured(
    arguments: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr("benchmarks.run.run_bench", None)
    with pytest.raises(SystemExit) as end:
        main(["measure", *arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err
