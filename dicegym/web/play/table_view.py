"""The values for the page of a table, all read at one moment."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from dicegym.analysis.valuers import MARKS
from dicegym.arena.pages.template import trust
from dicegym.escape import harmless
from dicegym.games.web_controls import DiceToggles, GameBoard, PickOne, PlayForm
from dicegym.pictures.drawing import draw
from dicegym.web.play.advice import Advice
from dicegym.web.play.person_table import PlayedTable, ToldMove

LONGEST_SAID = 700
"""Most characters for screen readers after a move; the page has the rest."""
_PIPS = re.compile("[\N{DIE FACE-1}-\N{DIE FACE-6}]")
"""Symbols of dice in a line of text; the number follows them."""


def describe_table(table: PlayedTable, advice: Advice, *, hint: bool = False, notice: str = "") -> dict[str, Any]:
    """Return the values for the page of a table; ``notice`` says what was wrong with the last request."""
    with table.lock:
        sheet = table.sheet
        key = (sheet.id, sheet.move)
        asked = advice.hint(sheet.visitor, key, table.turn()) if hint and table.yours else None
        forms = () if sheet.asked else table.forms()
        # No board if the controls have none, and before the game is restored.
        board = None if table.state is None else table.controls.board(table.place, table.state)
        since = table.since()
        ending = table.words() if table.over else ""
        values: dict[str, Any] = {
            "table": table,
            "sheet": sheet,
            "tutor_asks": next((mark.noun for mark in MARKS if mark.level == sheet.tutor), ""),
            "title": table.game.spec.title,
            "notice": notice,
            "board": board,
            "forms": forms,
            "shows_dice": any(isinstance(one, DiceToggles) for form in forms for one in form.widgets),
            "told": _list_moves(table.told, sheet.seat) if len(table.told) > len(since) else "",
            "picture": None if board or table.state is None else _draw(table),
            "ending": ending,
            "words": table.words() if table.yours else "",
            "hint": asked,
            "waits": bool(table.busy) or (asked is not None and not asked.ready),
        }
        now, before = _summarize(table, since, ending)
    values |= _card_form(board, forms)
    said = _announce(table, since, ending, notice)
    return values | {"now": now, "before": _list_moves(before, sheet.seat), "said": said}


def _list_moves(moves: Sequence[ToldMove], seat: int) -> Any:
    """Return moves as HTML list items."""
    return trust("".join(_item(move.lines, move.seat == seat) for move in moves if move.lines))


@functools.lru_cache(8192)
def _item(lines: tuple[str, ...], own: bool) -> str:
    """Return a move as a list item, cached because each page lists the whole game."""
    said = "".join(f"<span>{escape(harmless(line))}</span>" for line in lines)
    return f'<li class="own">{said}</li>' if own else f"<li>{said}</li>"


def _card_form(board: GameBoard | None, forms: Sequence[PlayForm]) -> dict[str, Any]:
    """Return the form of the board's score card, and its options by value, each with its points."""
    card = board.card if board else None
    form = next((one for one in forms if card and one.name == card.form), None)
    widget = form.widgets[0] if form else None
    if not isinstance(widget, PickOne):
        return {"filling": None, "options": {}}
    options = {}
    for one in widget.options:
        if not one.refused:  # the cell shows the number in a note such as "20 points"
            options[one.value] = one, next((word for word in one.note.split() if word.isdecimal()), one.note)
    return {"filling": form, "options": options}


def _draw(table: PlayedTable) -> Any:
    return trust(draw(table.game, table.state, table.place.seat, table.place.names, table.controls.OPEN).svg())


def _summarize(table: PlayedTable, since: list[ToldMove], ending: str) -> tuple[str, list[ToldMove]]:
    """Return a line about the last move or what the person waits for, and the moves before it."""
    if table.busy:
        return f"{table.busy[:1].upper()}{table.busy[1:]}.", since
    if table.over:
        return (ending.strip().splitlines() or ["The game is over."])[-1].strip(), since
    last = next((move for move in reversed(since) if move.lines), None)
    if last is None:
        return "Your turn.", []
    main = [line for line in last.lines if not line.startswith(" ")] or [line.strip() for line in last.lines]
    if main[-1].endswith(":"):  # a heading: the next line is about the person
        main += [line for line in last.lines if line.startswith(" ")][:1]
    left = [line for line in last.lines if line not in main and line.strip() not in main]
    before = [one._replace(lines=tuple(left)) if one is last else one for one in since if one is not last or left]
    return _PIPS.sub("", " ".join(" ".join(main).split())), [one for one in before if one.lines]


def _announce(table: PlayedTable, since: list[ToldMove], ending: str, notice: str) -> str:
    """Return the text for screen readers."""
    told = " ".join(" ".join(line.split()) for move in since for line in move.lines)
    if len(told) > LONGEST_SAID:
        told = f"... {told[-LONGEST_SAID:].partition(' ')[2]}"
    if table.busy:
        now = f"{table.busy}."
    elif table.broken:
        now = f"The game cannot continue: {table.broken}."
    elif table.over:
        now = f"The game is over. {ending.strip().splitlines()[-1] if ending.strip() else ''}"
    elif table.sheet.asked:
        now = table.sheet.words
    else:
        now = "Your turn."
    return " ".join(part for part in (notice, told, now) if part)
