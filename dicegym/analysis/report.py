"""An analysis as text, as rows for tables, and as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dicegym.analysis.findings import About, Findings, PricedDecision
from dicegym.analysis.judging import Stake
from dicegym.analysis.marks import MARKS, Mark, amount, figure, thresholds, titled
from dicegym.columns import plain_table
from dicegym.engine.scene import Scene
from dicegym.escape import lines, one_line

if TYPE_CHECKING:
    from dicegym.analysis.grades import Grade
    from dicegym.games.worth import Valuer

STAKES = {Stake.FORCED: "forced", Stake.TRIVIAL: "trivial", Stake.OBVIOUS: "obvious", Stake.UNKNOWN: "not judged"}
"""What stands in the place of a mark."""
COLUMN = 60
"""Characters of a choice that are shown in text: whole orders are long."""
TRUTH = 1e-9
"""Costs and luck below this are rounding."""


def heading(analysis: Findings) -> str:
    """Return what was judged, and by whose values, in a sentence."""
    about = analysis.about
    by = "with everything in sight" if about.sees_all else "by what the player to move may know"
    return f"{analysis.game.spec.title}: {', '.join(analysis.names)}. {sure(about)}. Decisions are judged {by}."


def sure(about: About | Valuer) -> str:
    """Return in a sentence, without its end, whose values are meant and how sure they are."""
    called = {"win rate": "win rates", "points": "points", "return": "returns"}[about.unit]
    return f"Values ({called}, source {about.name}) are {about.sure}"


def notes(analysis: Findings) -> list[str]:
    """Return sentences on what the figures mean."""
    found = [thresholds(analysis.unit)]
    if analysis.game.players > 1:
        found.append("Luck in the list of decisions is that of whoever moved.")
    found.append("Result = start - given away + given by others + luck; adjusted is the result less the luck.")
    unknown = sum(total.unknown for total in analysis.totals)
    if unknown:
        found.append(f"{unknown} decisions could not be judged by these values; what they changed counts as luck.")
    if any(one.error > 0 for one in analysis.decisions):
        found.append("Costs are estimates: what may as well be chance (95 %) has no mark.")
    return found


def text_of(analysis: Findings, brief: bool, worst: int) -> str:
    """Return what `dicegym.analysis.Analysis.text` does."""
    parts = [heading(analysis)]
    if not brief and analysis.decisions:
        parts.append("\n".join(plain_table(*decision_table(analysis, COLUMN))))
    parts.append("\n".join(plain_table(*total_table(analysis))))
    found = analysis.worst(worst)
    if found:
        told = [f"The worst {'decision' if len(found) == 1 else f'{len(found)} decisions'}:"]
        told += [indented(one) for decision in found for one in worst_lines(analysis, decision)]
        parts.append("\n".join(told))
    elif analysis.decisions and any(one.stake != Stake.UNKNOWN for one in analysis.decisions):
        parts.append("Nobody gave anything away.")
    parts.append("\n".join(notes(analysis)))
    return lines("\n\n".join(parts))


def indented(text: str) -> str:
    """Return text two columns to the right."""
    return "\n".join(f"  {line}" for line in text.split("\n"))


def worst_lines(analysis: Findings, decision: PricedDecision) -> list[str]:
    """Return a decision that gave something away: what it was, and the table before it."""
    where = f"move {decision.number}, {analysis.names[decision.seat]}: {analysis.explained(decision)}"
    return [f"{where} ({_between(analysis, decision)})", indented(analysis.scene(decision).text())]


def _between(analysis: Findings, decision: PricedDecision) -> str:
    unit = analysis.unit
    return f"{amount(decision.value, unit)} instead of {amount(decision.best_value, unit)}"


def decision_table(analysis: Findings, longest: int = 1000) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of the list of decisions; ``longest`` is how many characters of a choice are shown."""
    unit = analysis.unit
    shown = titled(unit)
    titles = ["move", "player", "", "chose", f"worth ({shown})", "best", f"worth ({shown})", "gives away", "luck"]
    rows = []
    for one in analysis.decisions:
        mark = one.mark(unit)
        lost = one.cost > TRUTH
        rows.append(
            [
                str(one.number),
                analysis.names[one.seat],
                mark.sign if mark else "",
                one_line(analysis.chosen(one), longest),
                _known(one.value, analysis),
                one_line(analysis.better(one), longest) if lost else "",
                _known(one.best_value, analysis) if lost else "",
                figure(one.cost, unit) if lost else STAKES.get(one.stake, ""),
                figure(one.luck[one.seat], unit, True),
            ]
        )
    return titles, _to_the_right(rows, (4, 6, 8))


def total_table(analysis: Findings) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of what it came to for each player."""
    unit = analysis.unit
    several = analysis.game.players > 1
    titles = ["player", "decisions", "unforced", *(mark.sign for mark in MARKS), "error rate", "start", "given away"]
    titles += [*(["given by others"] if several else []), "luck", "result", "adjusted"]
    rows = []
    for one in analysis.totals:
        row = [one.name, str(one.decisions), str(one.unforced), *(str(one.marks[mark.sign]) for mark in MARKS)]
        row += [_rate(one.error_rate, analysis), figure(one.start, unit), figure(-one.cost, unit, True)]
        row += [figure(one.gained, unit, True)] if several else []
        row += [figure(one.luck, unit, True), figure(one.result, unit), figure(one.adjusted, unit)]
        rows.append(row)
    return [f"{titles[0]} ({titled(unit)})", *titles[1:]], _to_the_right(rows, range(6, len(titles)))


def grade_table(grades: Sequence[Grade], marks: Sequence[Mark]) -> tuple[list[str], list[list[str]]]:
    """Return titles and rows of grades, the best first."""
    unit = grades[0].unit
    shown = titled(unit)
    titles = ["agent", f"error rate ({shown})", "+-", f"given away a game ({shown})", "+-", "decisions", "unforced"]
    titles += [mark.sign for mark in marks]
    scale, digits = (100, 2) if unit == "win rate" else (1, 3)
    rows = [
        [
            one.name,
            f"{scale * one.error_rate.mean:.{digits}f}",
            f"{scale * one.error_rate.half:.{digits}f}",
            f"{scale * one.cost.mean:.{digits - 1}f}",
            f"{scale * one.cost.half:.{digits - 1}f}",
            f"{one.decisions:.1f}",
            f"{one.unforced:.1f}",
            *(f"{one.marks[mark.sign]:.2f}" for mark in marks),
        ]
        for one in sorted(grades, key=lambda one: one.error_rate.mean)
    ]
    return titles, rows


def _rate(value: float, analysis: Findings) -> str:
    """Return an error rate: a digit more than a cost has."""
    scaled = 100 * value if analysis.unit == "win rate" else value
    return f"{scaled:.{2 if analysis.unit == 'win rate' else 3}f}"


def _known(value: float, analysis: Findings) -> str:
    return figure(value, analysis.unit) if math.isfinite(value) else "-"


def _to_the_right(rows: list[list[str]], columns: Iterable[int]) -> list[list[str]]:
    """Return rows in which the cells of some columns, numbers with signs, are as wide as the widest."""
    wanted = set(columns)
    widths = {column: max((len(row[column]) for row in rows), default=0) for column in wanted}
    return [[cell.rjust(widths[at]) if at in wanted else cell for at, cell in enumerate(row)] for row in rows]


def rows_of(analysis: Findings) -> list[dict[str, Any]]:
    """Return what `dicegym.analysis.Analysis.rows` does."""
    found = []
    for one in analysis.decisions:
        mark = one.mark(analysis.unit)
        row: dict[str, Any] = {
            "move": one.number,
            "seat": one.seat,
            "player": analysis.names[one.seat],
            "turn": one.turn,
            "position": _in_a_line(analysis.scene(one)),
            "actions": list(one.actions),
            "chosen": analysis.chosen(one),
            "chosen_value": _number(one.value),
            "best_actions": [list(best) for best in one.best],
            "best": analysis.better(one),
            "best_value": _number(one.best_value),
            "cost": one.cost,
            "cost_error": one.error,
            "mark": mark.sign if mark else "",
            "stake": one.stake.name.lower(),
            "words": analysis.explained(one),
        }
        row |= {f"value_{seat}": value for seat, value in enumerate(one.values)}
        row |= {f"luck_{seat}": luck for seat, luck in enumerate(one.luck)}
        found.append(row)
    return found


def json_of(analysis: Findings) -> dict[str, Any]:
    """Return what `dicegym.analysis.Analysis.to_json` does."""
    game = analysis.game
    return {
        "kind": "dicegym analysis",
        "version": 1,
        "game": game.name,
        "players": game.players,
        "parameters": dict(game.parameters),
        "names": list(analysis.names),
        "values": {**analysis.about._asdict(), "at": analysis.values.tolist()},
        "marks": [mark._asdict() for mark in MARKS],
        "totals": [{**one._asdict(), "adjusted": one.adjusted} for one in analysis.totals],
        "worst": [one.number for one in analysis.worst()],
        "decisions": rows_of(analysis),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _in_a_line(scene: Scene) -> str:
    """Return a scene on one line."""
    return "; ".join(" ".join(line.split()) for line in scene.text().split("\n") if line.strip())
