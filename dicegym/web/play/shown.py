"""A table as its page shows it: plain values for a template, all read in one moment."""

from __future__ import annotations

import shlex
from typing import Any, NamedTuple

from dicegym.arena.pages.template import trusted
from dicegym.errors import DicegymError
from dicegym.pictures.drawing import draw
from dicegym.players.human import keyboard_of
from dicegym.web.play.advice import Advice, Answer, GivenHint
from dicegym.web.play.sheets import TableSheet
from dicegym.web.play.tables import PlayedTable, ToldMove

LONGEST_SAID = 700
"""Characters that are read out after a move: what is longer can be read on the page."""
BRIEF = 6
"""Lines of what was done that stand above what can be done; where there are more they stand below it."""


class ShownSeat(NamedTuple):
    """Somebody at the table."""

    name: str
    agent: str
    """As it was chosen: a strength or an agent."""
    to_move: bool


class ShownHint(NamedTuple):
    """A hint, or why there is none yet."""

    thinking: bool
    failure: str
    found: GivenHint | None


def table_shown(
    table: PlayedTable, advice: Advice, *, hint: bool = False, notice: str = "", owner: bool = True
) -> dict[str, Any]:
    """Return what the page of a table shows.

    Args:
        table: the table.
        advice: who gives hints.
        hint: whether what is best now is asked for.
        notice: what was wrong with what was sent last.
        owner: whether it is shown to its player, who may move.
    """
    with table.lock:
        asked = _hint(table, advice) if hint and owner and table.yours else None
        sheet = table.sheet
        values: dict[str, Any] = {
            "table": table,
            "sheet": sheet,
            "title": table.game.spec.title,
            "owner": owner,
            "notice": notice,
            "seats": _seats(table),
            "forms": table.forms() if owner and not sheet.asked else (),
            "since": table.since(),
            "told": list(table.told),
            "picture": _picture(table),
            "ending": table.words() if table.over else "",
            "words": table.words() if owner and table.yours else "",
            "hint": asked,
            "tutor": advice.about(table.game) if sheet.tutor and owner else "",
            "command": command(table.sheet),
            "waits": bool(table.busy) or (asked is not None and asked.thinking),
        }
    values["brief"] = sum(len(move.lines) for move in values["since"]) <= BRIEF
    return values | {"said": _said(table, values["since"], values["ending"], notice)}


def _hint(table: PlayedTable, advice: Advice) -> ShownHint:
    try:
        key = (table.sheet.id, table.sheet.move)
        answer: Answer[GivenHint] = advice.hint(key, table.turn())
    except DicegymError as error:
        return ShownHint(False, str(error), None)
    return ShownHint(not answer.ready, answer.failure, answer.found)


def _seats(table: PlayedTable) -> list[ShownSeat]:
    seat = table.sheet.seat
    rivals = iter(table.sheet.rivals)
    mover = table.mover if table.state is not None and not table.over else -1
    found = []
    for number, name in enumerate(table.place.names):
        asked = "" if number == seat else next(rivals)
        found.append(ShownSeat(name, asked, number == mover))
    return found


def _picture(table: PlayedTable) -> Any:
    if table.state is None:
        return None
    opened = keyboard_of(table.game).OPEN
    return trusted(draw(table.game, table.state, table.sheet.seat, table.place.names, opened).svg())


def _said(table: PlayedTable, since: list[ToldMove], ending: str, notice: str) -> str:
    """Return what is read out to those who do not see the page."""
    told = " ".join(" ".join(line.split()) for move in since for line in move.lines)
    if len(told) > LONGEST_SAID:
        told = f"... {told[-LONGEST_SAID:].partition(' ')[2]}"
    if table.busy:
        now = f"{table.busy}."
    elif table.broken:
        now = f"The game cannot go on: {table.broken}."
    elif table.over:
        now = f"The game is over. {ending.strip().splitlines()[-1] if ending.strip() else ''}"
    elif table.sheet.asked:
        now = table.sheet.words
    else:
        now = "It is your turn."
    return " ".join(part for part in (notice, told, now) if part)


def command(sheet: TableSheet) -> str:
    """Return what plays the same game in a terminal."""
    words = ["dicegym", "play", sheet.game, "-p", f"players={sheet.players}"]
    for name in sheet.rivals:
        words += ["--against", name]
    for name, value in sheet.parameters.items():
        words += ["-p", f"{name}={value}"]
    return shlex.join([*words, "--seed", str(sheet.seed), "--seat", str(sheet.seat)])
