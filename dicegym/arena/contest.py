"""The formats of contests; a game's fact sheet names its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from dicegym.arena.entries import Progress, Spec
from dicegym.arena.formats.groups import groups
from dicegym.arena.formats.round_robin import round_robin
from dicegym.arena.report import Report
from dicegym.engine.game import Game
from dicegym.errors import unknown_name
from dicegym.games import game as game_of
from dicegym.sandbox.limits import Limits


class Contest(Protocol):
    """What every format's result offers."""

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""

    def report(self) -> Report:
        """Return what there is to show."""

    def text(self) -> str:
        """Return the report as plain text."""


FORMATS: dict[str, Callable[..., Contest]] = {"round_robin": round_robin, "groups": groups}


def contest(
    game: Game | str,
    entries: Mapping[str, Spec] | Iterable[Spec],
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Any:
    """Hold the contest of a game in its own format.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}.
        seed: names all games and the entries' private randomness.
        workers: number of processes (default: of usable processors).
        progress: called after each check and match with (done, of how many, what was done last).
        limits: what an entry may use; default: 10 s and 512 MiB.

    Returns:
        What the format returns (`dicegym.arena.formats.round_robin.ContestResult`, `...groups.GroupsResult`);
        see `Contest`.

    Raises:
        ParameterError: two entries have one name, or there are too few for the game.
        UnknownNameError: there is no such game or agent.
    """
    game = game_of(game)
    form = game.spec.contest
    if form not in FORMATS:
        raise unknown_name("format of contests", form, list(FORMATS))
    return FORMATS[form](game, entries, seed, workers, progress, limits)
