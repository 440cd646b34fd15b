"""Trainings as templates show them: words, charts and tables."""

from __future__ import annotations

import datetime
import functools
import hashlib
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dicegym.arena.pages.template import trust
from dicegym.arena.report import percent
from dicegym.columns import clock
from dicegym.errors import DicegymError
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.curve_pictures import draw_runs, even_marks, format_short, score_axis, steps_axis
from dicegym.learning.evaluate import Score
from dicegym.learning.league import read_league
from dicegym.learning.run_curves import RunCurve
from dicegym.learning.run_folder import LEAGUE_FILE
from dicegym.learning.runs import RECENT, WatchedRun, speeds
from dicegym.pictures.charts import Axis, ChartLine, ChartLink, Guide, chart, swatch
from dicegym.web.learn.events import read_scalars
from dicegym.web.learn.run_folders import name_model
from dicegym.web.markdown import as_html

MOST_MEMBERS = 40
"""Of a league, that its table shows: the newest."""
MOST_LINES = 8
"""Of one chart: more are no more told apart."""
MOST_ROWS = 200
"""Of a table of figures: the last."""

MOST_POINTS = 60
"""Of a line, that show their value under a pointer."""
LOGGED = {
    "train/policy_gradient_loss": ("Policy loss", 1),
    "train/value_loss": ("Value loss", 1),
    "train/loss": ("Loss", 1),
    "train/entropy_loss": ("Entropy of the policy", -1),
}
"""Scalars of TensorBoard that are drawn: each with its title and a factor."""
_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)
"""A line of a card that shows a picture."""


class Summary(NamedTuple):
    """A training in a line."""

    name: str
    game: str
    state: str
    steps: str
    of_steps: str
    share: int
    """Per cent of its steps that are done."""
    games_a_second: str
    score: str
    changed: str
    problem: str


class Legend(NamedTuple):
    """A line of a chart by name."""

    swatch: Any
    name: str


class ShownChart(NamedTuple):
    """A chart with its legend, and its figures as a table."""

    title: str
    svg: Any
    legend: Sequence[Legend]
    note: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]


class LeagueCell(NamedTuple):
    """What one member of a league won against another."""

    words: str
    shade: str
    """A class of the style sheet."""


class ShownLeague(NamedTuple):
    """A league's table."""

    members: Sequence[Sequence[str]]
    cells: Sequence[Sequence[LeagueCell]]
    remarks: Sequence[str]
    left_out: int
    even: str


class ShownRun(NamedTuple):
    """A training with all that its page tells."""

    about: Summary
    facts: Sequence[tuple[str, str]]
    told: str
    """What changed last, for screen readers."""
    charts: Sequence[ShownChart]
    league: ShownLeague | None
    settings: Sequence[tuple[str, str]]
    command: str
    card: Any
    best: str
    newest: str
    beside: str
    """The folder of this and other seeds, or empty."""


def digest_runs(runs: Sequence[WatchedRun]) -> str:
    """Return what differs as soon as anything that is shown of trainings does."""
    told = [(run.name, run.state, run.changed, run.steps, len(run.evaluations), run.problem) for run in runs]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def summary(run: WatchedRun) -> Summary:
    """Return a training in a line."""
    speed = run.games_a_second
    return Summary(
        run.name,
        run.game,
        run.state,
        f"{run.steps:,}",
        f"{run.of_steps:,}" if run.of_steps else "?",
        min(100, round(100 * run.steps / run.of_steps)) if run.of_steps else 0,
        f"{speed:,.0f}" if speed is not None else "",
        "; ".join(map(_in_words, run.latest)) or "not measured yet",
        _moment(run.changed),
        run.problem,
    )


def _ahead(run: WatchedRun, left: float | None) -> str:
    """Return what a running training still has before it."""
    if left is None:
        return ""
    return f", about {clock(left)} left" if run.steps < run.of_steps else ", measuring its model for the card"


def describe_run(run: WatchedRun) -> ShownRun:
    """Return a training with all that its page tells."""
    about, left, problems = summary(run), run.seconds_left, [run.problem]
    best, newest = run.model(), run.newest()
    league = _tried(lambda: _league(run.folder), problems)
    card = _tried(lambda: _card(run.folder), problems)
    facts = [
        ("state", run.state + _ahead(run, left)),
        ("decisions of the learner", f"{about.steps} of {about.of_steps}"),
        ("time", clock(run.seconds) if run.seconds is not None else "not noted"),
        ("games a second", f"{about.games_a_second or 'not noted'}"),
        ("games", f"{run.pace[-1].games:,}" if run.pace else "not noted"),
        ("last written", about.changed),
    ]
    at = f"After {run.evaluations[-1].steps:,} steps: " if run.evaluations else ""
    siblings = run.name.rpartition("/")[0] if run.folder.name.startswith("seed-") else ""
    return ShownRun(
        about._replace(problem="; ".join(one for one in problems if one)),
        facts,
        f"{run.state}. {at}{about.score}",
        [one for one in (_scores(run), *_losses(run), _speed(run)) if one is not None],
        league,
        [
            (f"{section}.{key}", json.dumps(value))
            for section, keys in run.settings.items()
            for key, value in keys.items()
        ],
        " ".join(run.command),
        card,
        name_model(run, best) if best else "",
        name_model(run, newest) if newest and newest != best else "",
        siblings,
    )


def has_curve(run: WatchedRun) -> bool:
    """Return whether a training can be drawn beside others: something was measured, and can be read."""
    return run.curve is not None and len(run.curve.steps) > 0


def draw_comparison(runs: Sequence[WatchedRun]) -> list[ShownChart]:
    """Return a chart for each game that trainings play; those that differ in their seed alone are one line."""
    found = []
    for picture in draw_runs([run.curve for run in runs if run.curve is not None and has_curve(run)]).values():
        chart, names, remarks, titles, rows = picture
        found.append(ShownChart(chart.title, trust(chart.svg()), _legend(names), " ".join(remarks), titles, rows))
    return found


def _scores(run: WatchedRun) -> ShownChart | None:
    """Return the chart of a training's evaluations, a line for each opponent."""
    if not run.evaluations:
        return None
    by_rival: dict[str, list[tuple[int, Score]]] = {}
    told = [(one.steps, score) for one in run.evaluations for score in one.scores]
    for steps, score in told:
        by_rival.setdefault(score.opponent, []).append((steps, score))
    first = told[0][1]
    lines = [
        ChartLine(
            f"against {one_line(rival, 60)}" if rival else first.measure,
            [(steps, score.value) for steps, score in found],
            [(score.low, score.high) for _, score in found] if any(score.games for _, score in found) else (),
        )
        for rival, found in list(by_rival.items())[:MOST_LINES]
    ]
    rows = [
        [
            f"{steps:,}",
            score.opponent,
            f"{score.value:.4f}",
            _interval(score),
            score.known_by,
        ]
        for steps, score in told[-MOST_ROWS:]
    ]
    note = "Bands are 95 % intervals." if any(line.band for line in lines) else ""
    titles = ["steps", "against", first.measure, "95 % interval", "games"]
    return _chart(f"Score: {first.measure}", lines, score_axis(first.measure), _marks(run.curve), note, titles, rows)


def _speed(run: WatchedRun) -> ShownChart | None:
    """Return the chart of how fast a training went."""
    total = run.pace[-1].seconds if run.pace else 0.0
    found = speeds(run.pace, min(RECENT, total / 20))
    if len(found) < 2:
        return None
    lines = [ChartLine("games a second", [(one.seconds / 60, one.games) for one in found])]
    rows = [[clock(one.seconds), f"{one.games:,.0f}", f"{one.steps:,.0f}"] for one in found[-MOST_ROWS:]]
    return _chart(
        "Games a second",
        lines,
        Axis("games a second", _short, 0),
        (),
        "",
        ["time", "games a second", "steps a second"],
        rows,
        Axis("minutes of training", lambda number: f"{number:g}", 0),
    )


def _losses(run: WatchedRun) -> list[ShownChart]:
    """Return the charts of what a training logs of its updates."""
    scalars, found = read_scalars(run.folder / "tensorboard"), []
    for tag, (title, factor) in LOGGED.items():
        points = [(step, factor * value) for step, value in scalars.get(tag, ())]
        if len(points) > 1:
            rows = [[f"{step:,}", f"{value:.4g}"] for step, value in points[-MOST_ROWS:]]
            line = ChartLine(title, points)
            found.append(_chart(title, [line], Axis("", lambda at: f"{at:g}"), (), "", ["steps", title], rows))
    return found


def _chart(
    title: str,
    lines: Sequence[ChartLine],
    up: Axis,
    marks: Sequence[Guide],
    note: str,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    across: Axis | None = None,
) -> ShownChart:
    x = across or steps_axis()
    points = [
        ChartLink(*point, "#figures", f"{x.shown(point[0])}: {line.name} {point[1]:.4g}")
        for line in lines
        for point in line.points[:: 1 + len(line.points) // MOST_POINTS]
    ]
    drawn = chart(title, lines, x, up, marks, points=points).svg()
    drawn = drawn.replace(' role="img"', ' role="group"', 1)  # it holds links
    return ShownChart(title, trust(drawn), _legend([line.name for line in lines]), note, titles, rows)


def _legend(names: Sequence[str]) -> list[Legend]:
    return [Legend(_swatch(number), name) for number, name in enumerate(names)] if len(names) > 1 else []


@functools.cache
def _swatch(number: int) -> Any:
    return trust(swatch(number).svg().replace('role="img"', 'aria-hidden="true"'))


def _marks(curve: RunCurve | None) -> tuple[Guide, ...]:
    return () if curve is None else even_marks(curve.players, curve.score.measure)


def _league(folder: Path) -> ShownLeague | None:
    if not (folder / LEAGUE_FILE).is_file():
        return None
    table, shares = read_league(folder / LEAGUE_FILE)
    names = list(table.kinds)[-MOST_MEMBERS:]
    first = len(table.kinds) - len(names) + 1
    members = [
        [
            str(number),
            name,
            table.kinds[name],
            f"{table.joined[name]:,}",
            "left" if name in table.gone else percent(shares.get(name)),
        ]
        for number, name in enumerate(names, first)
    ]
    cells = []
    for name in names:
        row = []
        for other in names:
            found = table.result(name, other)
            if found is None or name == other:
                row.append(LeagueCell("", ""))
                continue
            shade = "" if abs(found.rate - table.even) < 0.05 else "more" if found.rate > table.even else "less"
            row.append(LeagueCell(f"{100 * found.rate:.0f}", shade))
        cells.append(row)
    return ShownLeague(members, cells, (), len(table.kinds) - len(names), percent(table.even))


def _card(folder: Path) -> Any:
    for name in ("best.md", "model.md"):
        if (folder / name).is_file():
            text = _PICTURE.sub("", read_text(folder / name, "remove it"))  # the page draws the curve itself
            return as_html(text, 2, "Table of the card")
    return None


def _tried(read: Any, problems: list[str]) -> Any:
    try:
        return read()
    except (DicegymError, OSError, ValueError) as error:
        problems.append(one_line(error, 300))
        return None


def _in_words(score: Score) -> str:
    against = f" against {score.opponent}" if score.opponent else ""
    between = _interval(score)
    return f"{score.value:.4f}{f' ({between})' if between else ''} {score.measure}{against}"


def _interval(score: Score) -> str:
    if not score.games or not math.isfinite(score.low) or not math.isfinite(score.high):
        return ""
    return f"{score.low:.4f} to {score.high:.4f}"


def _moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S") if seconds else ""


def _short(number: float) -> str:
    return format_short(number) if number else "0"
