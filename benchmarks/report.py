"""A result as tables: plain text for the terminal, Markdown for ``docs/``."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import trainer_table
from benchmarks.figures import Figure, goal_text, number
from benchmarks.modes import LOOP_MODES
from benchmarks.ratios import peer_ratios
from benchmarks.result import BenchResult
from dicegym.arena.report import ReportTable
from dicegym.columns import plain_table
from dicegym.escape import harmless

SECTIONS = {
    "speed": "Speed: random legal actions, one thread. Decisions are those of all players, opponents included; "
    "learner steps are those of the one seat that the loop plays",
    "many": "Large batches on several threads",
    "ratio": "Beside each other",
    "search": "Monte Carlo tree search with random rollouts, one thread",
    "limits": "How near to the limit: what a decision in a bare batch writes and mixes, and what one core does of that",
    "memory": "Memory",
    "start": "The wait before the first step, in a new process, imports included",
    "contest": "Exact values, contests, matches",
    "isolation": "Strangers' bots in processes of their own, by kind of isolation",
    "server": "A server and its bots on this machine",
    "web": "Pages: 200 people play at a human pace, their browsers on this machine too",
    "solve": "Solving, each in a new process, what is compiled included",
    "trainers": "Trainers side by side: each learns from the same games, a rollout and its update in turn; "
    "shares of the time, the rollout's without its environment",
    "training": "Training: MaskablePPO",
}
"""The tables, in this order, and their headings."""
MODES_NAMED = ("memory", "start")
"""Sections whose figures are named by their mode too."""


def tables(result: BenchResult, before: BenchResult | None = None) -> Iterator[ReportTable]:
    """Yield heading, titles and rows of each table that has any rows; with the medians of ``before`` beside ours."""
    for section, heading in SECTIONS.items():
        if figures := [figure for figure in result.figures if figure.section == section]:
            setting = f", {result.options['training']}" if section == "training" else ""
            earlier = None if before is None else before.figures
            if section == trainer_table.SECTION:
                yield from trainer_table.tables(heading, figures, earlier)
            else:
                yield _figures(heading + setting, figures, earlier)
        if section == "speed":
            yield from _peers(result.figures)
    yield from _skipped(result)


def _skipped(result: BenchResult) -> Iterator[ReportTable]:
    """Yield the table of what could not be measured, if anything."""
    if result.skipped:
        yield "Not measured", ["what", "why"], [[entry.what, entry.why] for entry in result.skipped]


def _same(figure: Figure) -> tuple[str, ...]:
    """Return what tells a figure from others of a run."""
    return figure.section, figure.subject, figure.what, figure.unit, figure.mode


def _figures(heading: str, figures: list[Figure], before: list[Figure] | None = None) -> ReportTable:
    with_goals = any(figure.goal for figure in figures)
    earlier = {_same(figure): figure.median for figure in before or ()}
    rows = []
    for figure in figures:
        values = (figure.median, min(figure.values), max(figure.values))
        what = figure.what
        if figure.section in MODES_NAMED and figure.mode:
            what = f"{figure.mode}: {what}"
        row = [figure.subject, what, *map(number, values), figure.unit]
        if before is not None:
            median = earlier.get(_same(figure))
            row += (
                ["-", "-"] if median is None else [number(median), f"{figure.median / median:.2f}" if median else "-"]
            )
        if with_goals:
            row.append(goal_text(figure))
        rows.append(row)
    beside = [] if before is None else ["before", "times"]
    return heading, ["subject", "what", "median", "lowest", "highest", "unit", *beside, *["goal"] * with_goals], rows


def _peers(figures: list[Figure]) -> Iterator[ReportTable]:
    """Yield a table for each mode that has peers: rows are our environments, columns the peers."""
    ratios = peer_ratios(figures)
    for mode in dict.fromkeys(ratio.mode for ratio in ratios):
        cells = {(ratio.subject, ratio.peer): number(ratio.ratio) for ratio in ratios if ratio.mode == mode}
        subjects = list(dict.fromkeys(subject for subject, _ in cells))
        peers = list(dict.fromkeys(peer for _, peer in cells))
        rows = [[subject, *(cells[subject, peer] for peer in peers)] for subject in subjects]
        yield (
            f"{LOOP_MODES[mode]}: how many times as fast, in decisions of all players, as",
            ["environment", *peers],
            rows,
        )


def _medians(result: BenchResult) -> Iterator[ReportTable]:
    """Yield the tables of a page, medians only: a row for each figure's name, a column for each subject of ours.

    Figures of other libraries have a table of their own; `to_json` of the result has every run.
    """
    for section, heading in SECTIONS.items():
        figures = [figure for figure in result.figures if figure.section == section]
        if section == trainer_table.SECTION:
            if figures:
                yield from trainer_table.tables(heading, figures, None)
            continue
        ours: dict[tuple[str, str], dict[str, str]] = {}
        for figure in figures:
            if not figure.peer:
                what = f"{figure.mode}: {figure.what}" if section in MODES_NAMED and figure.mode else figure.what
                ours.setdefault((what, figure.unit), {})[figure.subject] = number(figure.median)
        if ours:
            subjects = list(dict.fromkeys(subject for cells in ours.values() for subject in cells))
            rows = [[*name, *(cells.get(subject, "") for subject in subjects)] for name, cells in ours.items()]
            yield heading, ["what", "unit", *subjects], rows
        if peers := [[one.subject, one.what, number(one.median), one.unit] for one in figures if one.peer]:
            yield "Other libraries", ["library", "what", "median", "unit"], peers
    yield from _skipped(result)


def facts(result: BenchResult) -> str:
    """Return the machine and the versions in one line."""
    return " | ".join(f"{name} {value}" for name, value in result.machine.items())


def plain(result: BenchResult, before: BenchResult | None = None) -> str:
    """Return everything as plain text; with the medians of ``before``, and how many times as much ours are."""
    lines = [facts(result), *([] if before is None else [f"before: {facts(before)}"])]
    for heading, titles, rows in tables(result, before):
        lines += ["", heading, "", *plain_table(titles, rows)]
    return "\n".join(lines)


def command(result: BenchResult) -> str:
    """Return the command that measured ``result``."""
    options = result.options
    threads = ",".join(map(str, options["threads"]))
    return (
        f"python -m benchmarks measure {' '.join(options['modes'])} --games {','.join(options['games'])} "
        f"--seconds {options['seconds']:g} --repeats {options['repeats']} --threads {threads}"
    )


def markdown(result: BenchResult, before: BenchResult | None = None) -> str:
    """Return a page of medians as Markdown; with ``before``, all that `plain` has."""
    options = result.options
    lines = [
        "# Speed",
        "",
        f"Measured by `{command(result)}`: medians of {options['repeats']} runs of {options['seconds']:g} s for each "
        "loop, one loop after the other in turn. `make bench-docs` measures everything and renews these tables.",
        "",
        facts(result) + ".",
        *([] if before is None else ["", f"Before: {facts(before)}."]),
    ]
    for heading, titles, rows in _medians(result) if before is None else tables(result, before):
        right = [all(not cell or cell[:1].isdigit() for cell in column) for column in zip(*rows, strict=True)]
        title, _, told = heading.partition(": ")
        lines += ["", f"### {title}", "", *([f"{told[:1].upper()}{told[1:]}.", ""] if told else [])]
        lines += [_row(titles), _row(["---:" if numbers else "---" for numbers in right]), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(harmless(cell).replace("|", "\\|") for cell in cells) + " |"
