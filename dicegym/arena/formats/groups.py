"""The contest in groups, for games at whose table fewer can sit than have entered.

Qualifying: all play equally often at tables drawn afresh, until it is clear who the best tableful are. Then these
play among themselves for the first places, the next tableful for the places below, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.grouping import MOST_GAMES, Decided, Group, Qualified, Session, Tally, playoff, qualify
from dicegym.arena.formats.groups_result import KEPT_MISPLAYS, GroupsResult, GroupStanding
from dicegym.arena.incidents import MisplayLog, misplays_of
from dicegym.arena.luck import Places, deserved, leads_of_games
from dicegym.arena.match import Match
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.sandbox.jobs import Failure


def groups(director: Director) -> GroupsResult:
    """Let all entries qualify for groups, and let each group play for its places.

    A full table has the game's number of players; if more have entered, they qualify (`qualify`), and the groups of
    the playoffs are the best tableful, the next, and so on. What is left over plays at a smaller table, one entry alone
    not at all. Place p is worth (most players of the game) + 1 - p points at every table. If an entry must be struck
    while it plays, the contest begins anew without it.
    """
    while True:
        try:
            return _hold(_Sessions(director))
        except _StruckError as error:
            name, reason = error.args
            director.struck[name] = reason


GROUPS = Format(groups, fewest=lambda game: max(2, game.spec.players[0]))


class _StruckError(Exception):
    """An entry did what the rules have no answer to."""


class _Sessions:
    """Plays sessions, and keeps what went wrong in them."""

    def __init__(self, director: Director) -> None:
        self.director = director
        self.entries = {entry.name: entry for entry in director.entries}
        self.misplays = MisplayLog(KEPT_MISPLAYS)

    def _job(self, session: Session) -> Match:
        """Return the session as a job, at a table that is as large as its group."""
        game = self.director.game
        if len(session.group) != game.players:
            game = Game(game.spec, len(session.group), **game.parameters)
        entries = tuple(self.entries[name] for name in session.group)
        return Match(game, entries, named_seed("groups", self.director.seed, *session.label), session.games)

    def play(self, sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        """Play ``sessions``; see `Play` in ``grouping.py``. Raises _StruckError by the first faulty session."""
        jobs = [self._job(session) for session in sessions]
        numbers = {job.seed: number for number, job in enumerate(jobs)}
        outcomes: dict[int, Any] = {}
        for job, outcome in self.director.play(jobs):
            outcomes[numbers[job.seed]] = outcome
        found: list[Sequence[Sequence[float]]] = []
        for number, session in enumerate(sessions):
            outcome = outcomes[number]
            if isinstance(outcome, Failure):
                raise _StruckError(session.group[outcome.actor], outcome.reason)
            for misplay in misplays_of(session.group, outcome):
                self.misplays.add(misplay)
            found.append([tuple(map(float, returns)) for returns in outcome["returns"]])
        return found


def _hold(sessions: _Sessions) -> GroupsResult:
    """Qualify and play off. Raises _StruckError."""
    director = sessions.director
    game, seed, names = director.game, director.seed, sorted(sessions.entries)
    most_games = MOST_GAMES if director.options.games is None else director.options.games
    most, size = game.spec.players[1], game.players
    if len(names) > size:
        qualified = qualify(names, size, most, seed, sessions.play)
    else:
        qualified = Qualified(names, Tally(names, most), 0, [])
    remarks = list(qualified.remarks)
    standings: list[GroupStanding] = []
    for number, first in enumerate(range(0, len(names), size), 1):
        group: Group = tuple(sorted(qualified.order[first : first + size]))
        if len(group) >= max(2, game.spec.players[0]):
            decided = playoff(group, number, most, sessions.play, most_games)
        else:
            decided = Decided(list(group), Tally(group, most), [])
        remarks += decided.remarks
        standings += _rows(decided, number, first, qualified.tally)
    common = director.common()
    return GroupsResult(
        **common | {"remarks": (*common["remarks"], *remarks)},
        standings=tuple(standings),
        misplays=sessions.misplays.kept,
        table=size,
        cycles=qualified.cycles,
        most_games=most_games,
    )


def _rows(decided: Decided, number: int, above: int, before: Tally) -> list[GroupStanding]:
    """Return the ranking of a group, below ``above`` other entries."""
    rows: list[GroupStanding] = []
    tally = decided.tally
    found = deserved(leads_of_games(np.array([tally.history[name] for name in decided.order], np.float64)))
    for position, name in enumerate(decided.order, 1):
        tied = rows and tally.merit(rows[-1].name) == tally.merit(name)
        place = rows[-1].place if tied else above + position
        best, worst = found[position - 1]
        could_be = Places(above + best, above + worst)
        rows.append(
            GroupStanding(
                place,
                name,
                number,
                tally.points[name],
                tally.wins[name],
                tally.games[name],
                before.points[name],
                before.wins[name],
                before.games[name],
                could_be,
            )
        )
    return rows
