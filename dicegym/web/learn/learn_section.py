"""Pages of trainings: the list, and each training with charts and tables, also while it runs."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request

from dicegym.arena.pages.template import trust
from dicegym.arena.report import percent
from dicegym.columns import clock
from dicegym.errors import DicegymError
from dicegym.escape import one_line
from dicegym.files import read_text
from dicegym.learning.curve_pictures import even_marks, format_short, score_axis, steps_axis
from dicegym.learning.evaluate import Score
from dicegym.learning.league import read_league
from dicegym.learning.run_folder import LEAGUE_FILE
from dicegym.learning.runs import RECENT, WatchedRun, speeds
from dicegym.pictures.charts import Axis, ChartLine, ChartLink, Guide, chart, swatch
from dicegym.web.learn.run_folders import Trainings, name_model
from dicegym.web.markdown import render_card
from dicegym.web.pages import web_of
from dicegym.web.section import Section

MOST_RUNS_LISTED = 100
SECTION = Section(
    "/learn",
    "Learn",
    "Follow trainings while they run: curves, speed, the league, and models to play against.",
)
MOST_MEMBERS_LISTED = 40
MOST_LINES = 8
"""Lines of a chart; more could not be distinguished."""
MOST_POINTS = 60
"""Points of a line that show their value under the pointer."""
LOGGED = {
    "train/policy_gradient_loss": ("Policy loss", 1),
    "train/value_loss": ("Value loss", 1),
    "train/loss": ("Loss", 1),
    "train/entropy_loss": ("Entropy of the policy", -1),
}
"""Scalars of TensorBoard with a chart: tag -> title and factor."""


@SECTION.get("/learn", template="learn/list.html")
def list_runs(request: Request, game: str = "") -> dict[str, Any]:
    """List the trainings, those that run first."""
    trainings = web_of(request).get(Trainings)
    runs = trainings.all()
    chosen = [run for run in runs if game in ("", run.game)]
    return {
        "runs": [summarize_run(run) for run in chosen[:MOST_RUNS_LISTED]],
        "games": sorted({run.game for run in runs if run.game}),
        "game": game,
        "left_out": max(0, len(chosen) - MOST_RUNS_LISTED),
        "total": len(chosen),
        "running": sum(run.state == "running" for run in chosen),
        "roots": [str(root) for root in trainings.roots],
    }


@SECTION.get("/learn/run/{name:path}", template="learn/run.html")
def show_run(request: Request, name: str) -> dict[str, Any]:
    """Show a training with its curve, pace and settings."""
    return {"run": describe_run(web_of(request).get(Trainings).one(name))}


class ShownChart(NamedTuple):
    """A chart with its legend."""

    title: str
    svg: Any
    legend: Sequence[tuple[Any, str]]
    """Swatch and name of each line."""
    note: str = ""


def summarize_run(run: WatchedRun) -> dict[str, Any]:
    """Return the values of a training for the list."""
    speed = run.games_a_second
    return {
        "name": run.name,
        "game": run.game,
        "state": run.state,
        "done": f"{run.steps:,}" + (f" of {run.of_steps:,}" if run.steps < run.of_steps else ""),
        "share": min(100, round(100 * run.steps / run.of_steps)) if run.of_steps else 0,
        "games_a_second": f"{speed:,.0f}" if speed is not None else "",
        "score": "; ".join(map(_in_words, run.evaluations[-1].scores)) if run.evaluations else "not measured yet",
        "changed": f"{datetime.fromtimestamp(run.changed):%Y-%m-%d %H:%M:%S}" if run.changed else "",
        "problem": run.problem,
    }


def describe_run(run: WatchedRun) -> dict[str, Any]:
    """Return the values of a training for its page."""
    about, problems = summarize_run(run), [run.problem]
    best, newest = run.model(), run.newest()
    league, card = _try(lambda: _league(run.folder), problems), _try(lambda: _card(run.folder), problems)
    remaining = ""
    if (left := run.seconds_left) is not None:
        remaining = f", about {clock(left)} left" if run.steps < run.of_steps else ", measuring the model for its card"
    facts = {
        "state": run.state + remaining,
        "decisions of the learner": about["done"],
        "time": clock(run.pace[-1].seconds) if run.pace else "unknown",
        "games a second": about["games_a_second"] or "unknown",
        "games": f"{run.pace[-1].games:,}" if run.pace else "unknown",
        "last written": about["changed"],
    }
    settings = {
        f"{section}.{key}": json.dumps(one) for section, keys in run.settings.items() for key, one in keys.items()
    }
    at = f"After {run.evaluations[-1].steps:,} steps: " if run.evaluations else ""
    return {
        **about,
        "problem": "; ".join(one for one in problems if one),
        "facts": facts,
        "told": f"{run.state}. {at}{about['score']}",
        "charts": [one for one in (_scores(run), *_losses(run), _speed(run)) if one is not None],
        "league": league,
        "settings": settings,
        "command": " ".join(run.command),
        "card": card,
        "best": name_model(run, best) if best else "",
        "newest": name_model(run, newest) if newest and newest != best else "",
    }


def _scores(run: WatchedRun) -> ShownChart | None:
    """Return the chart of a training's evaluations, a line for each opponent."""
    by_rival: dict[str, list[tuple[int, Score]]] = {}
    for one in run.evaluations:
        for score in one.scores:
            by_rival.setdefault(score.opponent, []).append((one.steps, score))
    if not by_rival:
        return None
    measure = next(iter(by_rival.values()))[0][1].measure
    lines = [
        ChartLine(
            f"against {one_line(rival, 60)}" if rival else measure,
            [(steps, score.value) for steps, score in found],
            [(score.low, score.high) for _, score in found] if any(score.games for _, score in found) else (),
        )
        for rival, found in list(by_rival.items())[:MOST_LINES]
    ]
    marks = () if run.curve is None else even_marks(run.curve.players, run.curve.score.measure)
    note = "Bands are 95 % intervals." if any(line.band for line in lines) else ""
    return _chart(f"Score: {measure}", lines, score_axis(measure), marks=marks, note=note)


def _speed(run: WatchedRun) -> ShownChart | None:
    """Return the chart of a training's speed."""
    found = speeds(run.pace, min(RECENT, run.pace[-1].seconds / 20)) if run.pace else []
    if len(found) < 2:
        return None
    line = ChartLine("games a second", [(one.seconds / 60, one.games) for one in found])
    up = Axis("games a second", lambda number: format_short(number) if number else "0", 0)
    return _chart("Games a second", [line], up, Axis("minutes of training", "{:g}".format, 0))


def _losses(run: WatchedRun) -> list[ShownChart]:
    """Return the charts of the losses that a training logs."""
    scalars, found = read_scalars(run.folder / "tensorboard"), []
    for tag, (title, factor) in LOGGED.items():
        points = [(step, factor * value) for step, value in scalars.get(tag, ())]
        if len(points) > 1:
            found.append(_chart(title, [ChartLine(title, points)], Axis("", "{:g}".format)))
    return found


def _chart(
    title: str,
    lines: Sequence[ChartLine],
    up: Axis,
    across: Axis | None = None,
    marks: Sequence[Guide] = (),
    note: str = "",
) -> ShownChart:
    x = across or steps_axis()
    points = [
        ChartLink(*point, "#live", f"{x.shown(point[0])}: {line.name} {point[1]:.4g}")
        for line in lines
        for point in line.points[:: 1 + len(line.points) // MOST_POINTS]
        if math.isfinite(point[1])  # not finite if the training diverged
    ]
    drawn = chart(title, lines, x, up, marks, points=points).svg()
    drawn = drawn.replace(' role="img"', ' role="group"', 1)  # it contains links
    signs = [trust(swatch(number).svg().replace('role="img"', 'aria-hidden="true"')) for number in range(len(lines))]
    legend = [(sign, line.name) for sign, line in zip(signs, lines, strict=True)] if len(lines) > 1 else []
    return ShownChart(title, trust(drawn), legend, note)


def _league(folder: Path) -> dict[str, Any] | None:
    """Return a league's table: kind and share of each member, and its win rate against each other member."""
    if not (folder / LEAGUE_FILE).is_file():
        return None
    table, shares = read_league(folder / LEAGUE_FILE)
    names = list(table.kinds)[-MOST_MEMBERS_LISTED:]
    first = len(table.kinds) - len(names) + 1

    def describe_result(name: str, other: str) -> tuple[str, str]:
        """Return a win rate in per cent, and its CSS class."""
        found = table.results.get((name, other))
        if found is None or name == other:
            return "", ""
        shade = "" if abs(found.rate - table.even) < 0.05 else "more" if found.rate > table.even else "less"
        return f"{100 * found.rate:.0f}", shade

    members = [
        {
            "number": number,
            "name": name,
            "about": (
                table.kinds[name],
                f"{table.joined[name]:,}",
                "left" if name in table.gone else percent(shares.get(name)),
            ),
            "won": [describe_result(name, other) for other in names],
        }
        for number, name in enumerate(names, first)
    ]
    return {"members": members, "left_out": first - 1, "even": percent(table.even)}


def _card(folder: Path) -> Any:
    for name in ("best.md", "model.md"):
        if (folder / name).is_file():
            return render_card(read_text(folder / name, "remove it"))
    return None


def _try(read: Callable[[], Any], problems: list[str]) -> Any:
    try:
        return read()
    except (DicegymError, OSError, ValueError) as error:
        problems.append(one_line(error, 300))
        return None


def _in_words(score: Score) -> str:
    """Return a score with its interval and its opponent."""
    known = score.games and math.isfinite(score.low) and math.isfinite(score.high)
    between = f" ({score.low:.4f} to {score.high:.4f})" if known else ""
    return f"{score.value:.4f}{between} {score.measure}{f' against {score.opponent}' if score.opponent else ''}"


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return step and value of all scalars below a folder by tag, in the order of steps.

    A file is read up to its first damaged or unfinished record. Without TensorBoard the result is empty.
    """
    found: dict[str, dict[int, float]] = {}
    for path in sorted(folder.rglob("events.out.tfevents.*")):
        if path.is_file() and not path.is_symlink():
            for tag, step, value in _scalars(path, path.stat().st_size):
                found.setdefault(tag, {})[step] = value
    return {tag: sorted(values.items()) for tag, values in found.items()}


@functools.lru_cache(maxsize=256)
def _scalars(path: Path, size: int) -> list[tuple[str, int, float]]:
    """Return tag, step and value of a file's scalars, cached for each ``size`` of the file."""
    try:
        from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader  # type: ignore[import-untyped]
    except ImportError:
        return []
    found: list[tuple[str, int, float]] = []
    try:
        for event in LegacyEventFileLoader(str(path)).Load():
            found += [(one.tag, event.step, one.simple_value) for one in event.summary.value]
    except Exception:
        pass
    return found
