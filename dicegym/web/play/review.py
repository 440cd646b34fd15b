"""How a person has played a game that is over: its chances over the game, what its decisions cost, and its luck."""

from __future__ import annotations

from typing import Any, NamedTuple

from dicegym.analysis.decisions import Analysis, PricedDecision
from dicegym.analysis.valuers import amount, sure, thresholds
from dicegym.arena.pages.template import trusted
from dicegym.errors import DicegymError
from dicegym.games.worth import ValueUnit
from dicegym.pictures.charts import Axis, ChartLine, chart, swatch
from dicegym.web.play.advice import Advice, Answer
from dicegym.web.play.tables import PlayedTable

WORST = 3
LINES = 4
"""Players whose chances are drawn; of more, the person's alone."""


class WorstDecision(NamedTuple):
    """A decision that gave much away, in words."""

    move: int
    """Actions that were played before it."""
    turn: int
    """Of the person's own, from 1."""
    sign: str
    mark: str
    chosen: str
    better: str
    lost: str
    off: str
    """How far ``lost`` may be off; empty if it is computed."""
    value: str
    best_value: str


def asked_review(table: PlayedTable, advice: Advice) -> Answer[Analysis]:
    """Return how a game was played that is over, now or later. Raises `dicegym.web.workers.TooBusyError`."""
    sheet = table.sheet
    return advice.review((sheet.id, sheet.move), table.game, sheet.seed, list(sheet.actions), table.place.names)


def review_shown(table: PlayedTable, advice: Advice) -> dict[str, Any]:
    """Return what the page of a review shows."""
    values: dict[str, Any] = {
        "table": table,
        "sheet": table.sheet,
        "title": table.game.spec.title,
        "ending": table.words(),
        "address": f"/play/{table.sheet.id}",
        "found": None,
        "failure": "",
        "waits": False,
        "done": 0,
        "of": 0,
    }
    try:
        answer = asked_review(table, advice)
    except DicegymError as error:
        return values | {"failure": str(error)}
    values |= {"failure": answer.failure, "waits": not answer.ready, "done": answer.done, "of": answer.of}
    return values if answer.found is None else values | {"found": told(answer.found, table.sheet.seat)}


def told(analysis: Analysis, seat: int) -> dict[str, Any]:
    """Return an analysis in words, for one seat."""
    unit, total = analysis.unit, analysis.totals[seat]
    lucky = "lucky" if total.luck > 0 else "unlucky"
    return {
        "total": total,
        "lost": amount(total.cost, unit),
        "rate": amount(total.error_rate, unit),
        "luck": amount(total.luck, unit, True),
        "lucky": lucky,
        "start": amount(total.start, unit),
        "result": amount(total.result, unit),
        "adjusted": amount(total.adjusted, unit),
        "is_chance": unit == "win rate",
        "worst": [_worst(analysis, one) for one in analysis.worst(WORST, seat)],
        "chart": chances(analysis, seat),
        "legend": [
            (trusted(swatch(number).svg().replace(' role="img"', "", 1)), analysis.names[one])
            for number, one in enumerate(_drawn(analysis, seat))
        ],
        "chances": chance_rows(analysis, seat),
        "sure": f"{sure(analysis.valuer)}.",
        "marks": thresholds(unit),
        "estimated": any(one.error > 0 for one in analysis.decisions),
        "players": [
            (one.name, amount(one.cost, unit), amount(one.luck, unit, True), amount(one.result, unit))
            for one in analysis.totals
        ],
    }


def _worst(analysis: Analysis, one: PricedDecision) -> WorstDecision:
    unit, mark = analysis.unit, one.mark(analysis.unit)
    return WorstDecision(
        one.number - 1,
        one.turn,
        mark.sign if mark else "",
        mark.noun if mark else "a small loss",
        analysis.describe_choice(one),
        analysis.better(one),
        amount(one.cost, unit),
        amount(one.error, unit) if one.error > 0 else "",
        amount(one.value, unit),
        amount(one.best_value, unit),
    )


def chances(analysis: Analysis, seat: int) -> Any:
    """Return what the game was worth to everybody, move by move, as a picture: markup."""
    unit = analysis.unit
    lines = [
        ChartLine(analysis.names[one], [(move, float(value)) for move, value in enumerate(analysis.values[:, one])])
        for one in _drawn(analysis, seat)
    ]
    whole = (0.0, 1.0) if unit == "win rate" else (None, None)
    title = f"{_called(unit)} of {' and '.join(line.name for line in lines)} over the game"
    across = Axis("actions played", lambda at: f"{at:.0f}")
    return trusted(chart(title, lines, across, Axis(_called(unit), _axis(unit), *whole)).svg())


def _drawn(analysis: Analysis, seat: int) -> list[int]:
    """Return the seats whose chances are drawn, in the order of their lines."""
    players = analysis.game.players
    return [seat, *(one for one in range(players) if one != seat)] if players <= LINES else [seat]


def chance_rows(analysis: Analysis, seat: int) -> list[tuple[str, str, str, str]]:
    """Return the same of one seat as a table: number, who moved, what was chosen, what the game was worth before it."""
    return [
        (
            str(one.number),
            analysis.names[one.seat],
            analysis.describe_choice(one),
            amount(one.values[seat], analysis.unit),
        )
        for one in analysis.decisions
    ]


def _called(unit: ValueUnit) -> str:
    return {"win rate": "chance to win", "points": "points to come to"}.get(unit, unit)


def _axis(unit: ValueUnit) -> Any:
    return (lambda at: f"{at:.0%}") if unit == "win rate" else (lambda at: f"{at:g}")
