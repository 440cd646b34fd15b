"""The review of a finished game: win probabilities over the game, regret of each decision, luck."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from dicegym.analysis.decisions import Analysis, PricedDecision
from dicegym.analysis.valuers import Mark, Stake, amount, sure, thresholds
from dicegym.arena.pages.template import trust
from dicegym.arena.replay import Replay
from dicegym.engine.validate import whole_number
from dicegym.games.parts import Z_95
from dicegym.pictures.charts import Axis, ChartLine, ChartLink, chart, swatch
from dicegym.pictures.drawing import draw
from dicegym.web.pages import render_page, web_of
from dicegym.web.play.game_sessions import GameSessions

GAME_COST = 250.0
"""Requests that a new game or review counts for."""
MOST_LINES = 4
"""Most players with a line each in the chart; with more, one line is drawn."""


class JudgedDecision(NamedTuple):
    """A decision of a player, in words."""

    number: int
    """The number of actions before it."""
    turn: int
    """The number among the player's own decisions, from 1."""
    mark: Mark | None
    chosen: str
    better: str
    """The best choice, or an empty text if this was one."""
    lost: str
    cost: float
    forced: bool


def render_review(
    request: Request,
    replay: Replay,
    seat: int,
    at: int | None,
    *,
    title: str,
    back: str,
    own: bool = False,
    outcome: str = "",
) -> Response:
    """Return the review of a seat's decisions, or the progress of computing it; the first call starts it.

    The board shows decision number ``at`` (default: the worst one). ``back`` is the address of the game, ``own``
    whether the visitor played it, ``outcome`` its result. Raises ParameterError for an invalid seat.
    """
    whole_number("seat", seat, 0, replay.players - 1, "a seat of this game")
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("at", "seat")]
    views = [] if own else [f"?{urlencode([*kept, ('seat', str(one))])}" for one in range(replay.players)]
    web = web_of(request)
    pay = functools.partial(web.limits.pay, request, GAME_COST)
    answer = web.get(GameSessions).advice.review(request.state.visitor, replay, pay)
    waits, analysis = not answer.ready, answer.found
    return render_page(
        request,
        "play/review.html",
        answer=answer,
        waits=waits,
        found=describe_analysis(analysis, seat, f"{views[seat]}&" if views else "?") if analysis is not None else None,
        at=at,
        title=title,
        back=back,
        own=own,
        outcome=outcome,
        seats=list(zip(views, replay.seats, strict=bool(views))),
        seat=seat,
    )


def describe_analysis(analysis: Analysis, seat: int, address: str = "?") -> dict[str, Any]:
    """Return an analysis in words for one seat. ``address`` is the start of its page's query, before ``at=``."""
    unit, total = analysis.unit, analysis.totals[seat]
    judged = [_judge(analysis, one) for one in analysis.decisions if one.seat == seat]
    worst = sorted((one for one in judged if one.cost > 0), key=lambda one: -one.cost)
    count = f"{total.unforced} real decision{'' if total.unforced == 1 else 's'}"
    played = f"The choices lost nothing in {count}."
    if worst:
        lost = amount(total.cost, unit)
        played = f"The choices lost {lost} in {count}; the worst was {worst[0].chosen} ({worst[0].lost})."
    adjusted = amount(total.adjusted, unit)
    lucky = f"Luck was worth {amount(total.luck, unit, True)}; with average luck the result would be {adjusted}."
    return {
        "sentences": [played, lucky],
        "is_chance": unit == "win rate",
        "judged": judged,
        "worst": next(iter([*worst, *judged]), None),
        "draw": lambda one: trust(draw(analysis.game, analysis.states[one.number], None, analysis.names).svg()),
        "address": address,
        "chart": draw_chances(analysis, seat, judged, address),
        "legend": [
            (trust(swatch(number).svg().replace(' role="img"', "", 1)), analysis.names[one])
            for number, one in enumerate(_charted_seats(analysis, seat))
        ],
        "sure": f"{sure(analysis.valuer)}.",
        "marks": thresholds(unit),
        "players": [
            (one.name, amount(one.cost, unit), amount(one.luck, unit, True), amount(one.result, unit))
            for one in analysis.totals
        ],
    }


def _judge(analysis: Analysis, one: PricedDecision) -> JudgedDecision:
    unit = analysis.unit
    off = f" \N{PLUS-MINUS SIGN} {amount(Z_95 * one.error, unit)}" if one.error > 0 and one.cost > 0 else ""
    return JudgedDecision(
        one.number - 1,
        one.turn,
        one.mark(unit),
        analysis.describe_choice(one),
        analysis.better(one) if one.cost > 0 else "",
        f"{amount(one.cost, unit)}{off}",
        one.cost,
        one.stake == Stake.FORCED,
    )


def draw_chances(analysis: Analysis, seat: int, judged: list[JudgedDecision], address: str) -> Any:
    """Return the chart of the game's value to each player after each action, as markup."""
    called = {"win rate": "chance to win", "points": "expected points"}.get(analysis.unit, analysis.unit)
    lines = [
        ChartLine(analysis.names[one], [(move, float(value)) for move, value in enumerate(analysis.values[:, one])])
        for one in _charted_seats(analysis, seat)
    ]
    points = [
        ChartLink(
            one.number,
            float(analysis.values[one.number, seat]),
            f"{address}at={one.number}#at",
            f"{one.chosen}: {one.lost}",
            "bad" if one.mark else "",
        )
        for one in judged
    ]
    title = f"{called} of {' and '.join(line.name for line in lines)} over the game"
    across, up = Axis("actions played", lambda at: f"{at:.0f}"), Axis(called, "{:g}".format)
    if analysis.unit == "win rate":
        up = Axis(called, "{:.0%}".format, 0.0, 1.0)
    drawn = chart(title, lines, across, up, points=points)
    return trust(drawn.svg().replace(' role="img"', ' role="group"', 1))  # it contains links


def _charted_seats(analysis: Analysis, seat: int) -> list[int]:
    """Return the seats with a line in the chart, in the order of lines."""
    players = analysis.game.players
    return [seat, *(one for one in range(players) if one != seat)] if players <= MOST_LINES else [seat]
