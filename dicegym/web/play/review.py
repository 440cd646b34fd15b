"""How a person has played a game that is over: its chances over the game, what its decisions cost, and its luck."""

from __future__ import annotations

from typing import Any, NamedTuple

from dicegym.analysis.decisions import Analysis, PricedDecision
from dicegym.analysis.valuers import Stake, amount, sure, thresholds
from dicegym.arena.pages.template import trust
from dicegym.errors import DicegymError
from dicegym.games.parts import Z_95
from dicegym.games.worth import ValueUnit
from dicegym.pictures.charts import Axis, ChartLine, ChartLink, chart, swatch
from dicegym.pictures.drawing import draw
from dicegym.web.play.advice import Advice
from dicegym.web.play.person_table import PlayedTable
from dicegym.web.workers import Answer

LINES = 4
"""Players whose chances are drawn; of more, the person's alone."""


class JudgedDecision(NamedTuple):
    """A decision of the person, in words."""

    number: int
    """Actions that were played before it."""
    turn: int
    """Of the person's own, from 1."""
    sign: str
    mark: str
    """What it is called: ``a mistake``; empty if it has no mark."""
    chosen: str
    better: str
    """The best choice; empty if this was one of the best."""
    lost: str
    cost: float
    forced: bool


def begin_review(table: PlayedTable, advice: Advice) -> Answer[Analysis]:
    """Return how a game was played that is over, now or later. Raises `dicegym.web.workers.TooBusyError`."""
    sheet = table.sheet
    actions, names = list(sheet.actions), table.place.names
    return advice.review(sheet.visitor, (sheet.id, sheet.move), table.game, sheet.seed, actions, names)


def describe_review(table: PlayedTable, advice: Advice, at: int | None = None) -> dict[str, Any]:
    """Return what the page of a review shows; ``at`` is the number of the decision on the board."""
    address = f"/play/{table.sheet.id}"
    values: dict[str, Any] = {
        "table": table,
        "sheet": table.sheet,
        "title": table.game.spec.title,
        "outcome": (table.words().strip().splitlines() or [""])[-1],
        "address": address,
        "found": None,
        "failure": "",
        "waits": False,
        "done": 0,
        "of": 0,
        "ready": False,
        "worst": [],
        **dict.fromkeys(("given_away", "luck", "without_luck", "sure"), ""),
        "analysis": None,
    }
    try:
        answer = begin_review(table, advice)
    except DicegymError as error:
        return values | {"failure": str(error)}
    values |= {"failure": answer.failure, "waits": not answer.ready, "done": answer.done, "of": answer.of}
    if answer.found is None:
        return values
    found = describe_analysis(answer.found, table.sheet.seat, f"{address}/review", at)
    given = {"given_away": found["lost"], "luck": found["luck"], "without_luck": found["adjusted"]}
    return (
        values
        | given
        | {
            "found": found,
            "ready": True,
            "worst": found["worst"],
            "sure": found["sure"],
            "analysis": answer.found,
        }
    )


def describe_analysis(analysis: Analysis, seat: int, address: str = "", at: int | None = None) -> dict[str, Any]:
    """Return an analysis in words, for one seat.

    Args:
        analysis: of a whole game.
        seat: the person's.
        address: of the page that shows it.
        at: the number of the decision on the board (default: the worst one).
    """
    unit, total = analysis.unit, analysis.totals[seat]
    judged = [_judged(analysis, one) for one in analysis.decisions if one.seat == seat]
    worst = sorted((one for one in judged if one.cost > 0), key=lambda one: -one.cost)
    asked = (one for one in judged if one.number == at)
    shown = next(asked, next(iter([*worst, *judged]), None))
    lost = amount(total.cost, unit)
    count = f"{total.unforced} real decision{'' if total.unforced == 1 else 's'}"
    if worst:
        played = f"Your choices lost {lost} in {count}; the worst was {worst[0].chosen} ({worst[0].lost})."
    else:
        played = f"Your choices lost nothing in {count}."
    adjusted = amount(total.adjusted, unit)
    lucky = f"Luck was worth {amount(total.luck, unit, True)} to you; with average luck the result would be {adjusted}."
    return {
        "lost": lost,
        "luck": amount(total.luck, unit, True),
        "adjusted": adjusted,
        "sentences": [played, lucky],
        "is_chance": unit == "win rate",
        "judged": judged,
        "worst": worst,
        "shown": shown,
        "board": _board(analysis, shown),
        "chart": chances(analysis, seat, judged, address),
        "legend": [
            (trust(swatch(number).svg().replace(' role="img"', "", 1)), analysis.names[one])
            for number, one in enumerate(_drawn(analysis, seat))
        ],
        "sure": f"{sure(analysis.valuer)}.",
        "marks": thresholds(unit),
        "players": [
            (one.name, amount(one.cost, unit), amount(one.luck, unit, True), amount(one.result, unit))
            for one in analysis.totals
        ],
    }


def _judged(analysis: Analysis, one: PricedDecision) -> JudgedDecision:
    unit, mark = analysis.unit, one.mark(analysis.unit)
    off = f" \N{PLUS-MINUS SIGN} {amount(Z_95 * one.error, unit)}" if one.error > 0 and one.cost > 0 else ""
    return JudgedDecision(
        one.number - 1,
        one.turn,
        mark.sign if mark else "",
        mark.noun if mark else "",
        analysis.describe_choice(one),
        analysis.better(one) if one.cost > 0 else "",
        f"{amount(one.cost, unit)}{off}",
        one.cost,
        one.stake == Stake.FORCED,
    )


def _board(analysis: Analysis, shown: JudgedDecision | None) -> Any:
    """Return the table before a decision as a picture, hidden things too: the game is over."""
    if shown is None:
        return None
    return trust(draw(analysis.game, analysis.states[shown.number], None, analysis.names).svg())


def chances(analysis: Analysis, seat: int, judged: list[JudgedDecision], address: str) -> Any:
    """Return what the game was worth to everybody, move by move, as a picture: markup."""
    unit = analysis.unit
    lines = [
        ChartLine(analysis.names[one], [(move, float(value)) for move, value in enumerate(analysis.values[:, one])])
        for one in _drawn(analysis, seat)
    ]
    whole = (0.0, 1.0) if unit == "win rate" else (None, None)
    title = f"{_called(unit)} of {' and '.join(line.name for line in lines)} over the game"
    across = Axis("actions played", lambda at: f"{at:.0f}")
    points = [
        ChartLink(
            one.number,
            float(analysis.values[one.number, seat]),
            f"{address}?at={one.number}#at",
            f"{one.chosen}: {one.lost}",
            "bad" if one.sign else "",
        )
        for one in judged
    ]
    drawn = chart(title, lines, across, Axis(_called(unit), _axis(unit), *whole), points=points)
    return trust(drawn.svg().replace(' role="img"', ' role="group"', 1))  # it holds links


def _drawn(analysis: Analysis, seat: int) -> list[int]:
    """Return the seats whose chances are drawn, in the order of their lines."""
    players = analysis.game.players
    return [seat, *(one for one in range(players) if one != seat)] if players <= LINES else [seat]


def _called(unit: ValueUnit) -> str:
    return {"win rate": "chance to win", "points": "expected points"}.get(unit, unit)


def _axis(unit: ValueUnit) -> Any:
    return (lambda at: f"{at:.0%}") if unit == "win rate" else (lambda at: f"{at:g}")
