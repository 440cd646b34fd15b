"""The contest in groups, for games at whose table fewer can sit than have entered.

Qualifying: all play equally often at tables drawn afresh, until it is clear who the best tableful are. Then these
play among themselves for the first places, the next tableful for the places below, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dicegym.arena.director import Director, Format
from dicegym.arena.formats.grouping import MOST_GAMES, Decided, Group, Qualified, Session, Tally, playoff, qualify
from dicegym.arena.formats.groups_result import KEPT_MISPLAYS, GroupsResult, GroupStanding
from dicegym.arena.formats.settling import PlayedMatch, settle, table_for
from dicegym.arena.incidents import MisplayLog
from dicegym.arena.luck import Places, deserved, leads_of_games
from dicegym.arena.match import Match
from dicegym.arena.rows import MatchRow
from dicegym.engine.dice import named_seed


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
        except _StruckError:
            continue


GROUPS = Format(
    groups,
    fewest=lambda game: max(2, game.spec.players[0]),
    name="groups",
    takes=frozenset({"games", "players", "less_luck"}),
)


class _StruckError(Exception):
    """An entry did what the rules have no answer to, and is struck."""


class _Sessions:
    """Plays sessions, and keeps what went wrong in them."""

    def __init__(self, director: Director) -> None:
        self.director = director
        self.entries = {entry.name: entry for entry in director.entries}
        self.misplays = MisplayLog(KEPT_MISPLAYS)
        self.rows: list[MatchRow] = []

    def _job(self, session: Session) -> Match:
        """Return the session as a job, at a table that is as large as its group."""
        game = table_for(self.director.game, len(session.group))
        entries = tuple(self.entries[name] for name in session.group)
        return Match(game, entries, named_seed("groups", self.director.seed, *session.label), session.games)

    def play(self, sessions: Sequence[Session]) -> list[Sequence[Sequence[float]]]:
        """Play ``sessions``; see `Play` in ``grouping.py``. Raises _StruckError if somebody was struck."""
        settled = settle(self.director, map(self._job, sessions), returns=True)
        played = [found for _, found in settled if isinstance(found, PlayedMatch)]
        if len(played) < len(sessions):
            raise _StruckError
        for found in played:
            self.rows.append(found.row)
            for misplay in found.misplays:
                self.misplays.add(misplay)
        return [found.returns for found in played]


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
        matches=tuple(sessions.rows),
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
