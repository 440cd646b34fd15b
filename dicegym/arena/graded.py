"""Grades of all entries of a stored contest: their regret in the games that decided it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dicegym.analysis.grades import Grade, grades_of
from dicegym.analysis.valuers import valuer as best_valuer
from dicegym.arena.replay.replay import Replay
from dicegym.arena.replay.stored_replays import replay_from
from dicegym.arena.store.reading import StoreReader
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.parts import Progress
from dicegym.games.worth import Valuer


class ContestGrades(NamedTuple):
    """The regret of the entries of a contest."""

    game: Game
    games: int
    """That were judged."""
    grades: list[Grade]
    """Of all entries that have played, the best first."""
    valuer: Valuer


def contest_grades(
    reader: StoreReader,
    contest: int | None = None,
    values: str | None = None,
    games: int | None = None,
    *,
    progress: Progress | None = None,
) -> ContestGrades:
    """Return the grades of a contest's entries over its stored games.

    Args:
        reader: of the store.
        contest: its number (default: the latest).
        values: a source of values (default: the best that is ready).
        games: at most this number of games of each match, the first ones; default: all, and one where values are
            rollouts.
        progress: told of games.

    Raises:
        UnknownNameError: there is no such contest, or no such source.
        ParameterError: no game of it is stored, or its values are not solved.
        ReplayError: it was played by other rules.
    """
    about = reader.contest(contest)
    matches = [one for one in reader.matches(about.id) if one.failed is None]

    def replays() -> Iterator[Replay]:
        for one in reader.whole(matches):
            yield from (replay_from(one, game) for game in one.games if games is None or game.number < games)

    whole = sum(match.games if games is None else min(games, match.games) for match in matches)
    if whole == 0:
        raise ParameterError(f"contest {about.id} of {reader.name} has no games to judge: run it to its end")
    game = next(replays()).table()
    asked = best_valuer(game, values, progress=progress)
    if games is None and asked.kind == "rollouts":
        games = 1
        whole = len(matches)
    played = ((one.seats, np.concatenate(list(one.states(game))), one.actions) for one in replays())
    found: list[Grade] | None = None
    done = 0
    for found in grades_of(played, asked):
        if found is None:
            done += 1
            if progress is not None:
                progress(done, whole, "games judged")
    return ContestGrades(game, done, found or [], asked)
