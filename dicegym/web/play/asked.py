"""What a person asks for before a game: read of a form or an address, and shown in a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.datastructures import FormData, ImmutableMultiDict

from dicegym import games
from dicegym.analysis.valuers import MARKS
from dicegym.errors import DicegymError, ParameterError, one_line
from dicegym.players.sitting import usual_rivals, usual_seats
from dicegym.registry import GAMES
from dicegym.web.context import Web
from dicegym.web.learn.places import model_of
from dicegym.web.play.seating import checked_parameters, rivals

PARAMETER = "p-"
"""What the fields of a game's own parameters begin with."""
MODEL = ".zip"
TUTOR = "mistake"
"""From which level on the tutor asks, unless another one is chosen."""


class AskedGame(NamedTuple):
    """What was filled in, as text; nothing of it is checked yet."""

    game: str
    players: str = ""
    rivals: tuple[str, ...] = ()
    seat: str = ""
    seed: str = ""
    tutor: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    def wanted(self, web: Web) -> dict[str, Any]:
        """Return it as `dicegym.web.play.hall.PlayHall.begin` takes it.

        Raises ParameterError if something is no number, UnknownNameError if there is no such model.
        """
        players = _number("players", self.players)
        named = [name for name in self.rivals if name]
        given = {name: _number(name, value) for name, value in self.parameters if value.strip()}
        models = {name: model_of(web, name) for name in named if name.endswith(MODEL)}
        return {
            "game": self.game,
            "players": players,
            "rivals": named if players is None else named[: max(0, players - 1)],
            "seat": _number("seat", self.seat),
            "seed": _number("seed", self.seed),
            "tutor": self.tutor,
            "parameters": given,
            "models": models,
        }

    def shown(self, web: Web, wrong: str = "") -> dict[str, Any]:
        """Return what the form shows, and what was wrong with it. Raises UnknownNameError if there is no such game."""
        spec = games.spec(self.game or GAMES[0])
        try:
            table = checked_parameters(spec.name, _number("players", self.players), {})
            seats = table.players if self.players else usual_seats(table)
        except DicegymError:
            seats = usual_seats(checked_parameters(spec.name, None, {}))
        table = checked_parameters(spec.name, seats, {})
        usual = usual_rivals(table)
        chosen = [*self.rivals[: seats - 1]]
        chosen += [(chosen or usual)[number % len(chosen or usual)] for number in range(len(chosen), seats - 1)]
        return {
            "spec": spec,
            "seats": seats,
            "asked": self,
            "chosen": chosen,
            "rivals": rivals(table),
            "models": [name for name in dict.fromkeys(chosen) if name.endswith(MODEL)],
            "levels": MARKS,
            "tutor": self.tutor or ("" if wrong else TUTOR),
            "given": dict(self.parameters),
            "wrong": wrong,
        }


def asked_of(query: ImmutableMultiDict[str, str]) -> AskedGame:
    """Return what an address asks for: ``game``, ``players``, ``against`` for each other seat, and so on."""
    return _asked(query, [*query.getlist("rival"), *query.getlist("against")])


def asked_in(form: FormData) -> AskedGame:
    """Return what a form asks for."""
    texts = ImmutableMultiDict([(name, value) for name, value in form.multi_items() if isinstance(value, str)])
    return _asked(texts, texts.getlist("rival"))


def _asked(given: ImmutableMultiDict[str, str], named: Sequence[str]) -> AskedGame:
    parameters = tuple(
        (name.removeprefix(PARAMETER), value) for name, value in given.multi_items() if name.startswith(PARAMETER)
    )
    words: Mapping[str, str] = {name: given.get(name, "") for name in ("game", "players", "seat", "seed", "tutor")}
    return AskedGame(**words, rivals=tuple(named), parameters=parameters)


def _number(name: str, text: str) -> int | None:
    """Return a number that was filled in, None if nothing was."""
    text = text.strip()
    if not text:
        return None
    if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 20):
        raise ParameterError(f"{name} {one_line(text, 40)!r} is no whole number: write one in figures, such as 3")
    return int(text)
