"""What game servers have held in a store, as whoever reads contests sees it; `dicegym.server.archive` tells more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.store.reading import StoreReader
from dicegym.arena.store.selecting import rules_from
from dicegym.arena.store.stored import StoredRules
from dicegym.arena.store.tables import (
    RULES,
    SERVER_GAMES,
    SERVER_INCIDENTS,
    SERVER_RATINGS,
    SERVER_RESULTS,
    SERVER_RUNS,
)
from dicegym.errors import UnknownNameError


class StoredServer(NamedTuple):
    """What servers of a game have held."""

    game: str
    runs: int
    games: int
    """Finished in all of them."""
    rated: int
    """Names with a rating."""
    began: str
    """The last run, UTC, as ISO 8601 has it."""
    ended: str | None
    """None: it goes on, or was killed."""


class ServedGame(NamedTuple):
    """A game that a server has held; all sequences are by seat."""

    game: str
    seed: int
    number: int
    names: tuple[str, ...]
    totals: tuple[int, ...]
    actions: tuple[int, ...]
    incidents: tuple[tuple[int, int, str], ...]
    """Seat, decision and reason of each turn that the server had to play."""
    rules: StoredRules | None
    """By which it was played; None: its result was moved here from another store, without them."""


def runs_on(reader: StoreReader, number: int) -> bool:
    """Return whether the server of a game may still run: its seed names the dice of all its games, later ones too."""
    r = SERVER_RUNS.c
    asked = sa.select(r.ended).join(SERVER_GAMES, SERVER_GAMES.c.run == r.id).where(SERVER_GAMES.c.id == number)
    with reader.connection() as connection:
        return connection.execute(asked).scalar() is None


def servers(reader: StoreReader, game: str | None = None) -> list[StoredServer]:
    """Return what servers have held in a store, by game, or those of one game."""
    r = SERVER_RUNS.c
    asked = sa.select(r.game, sa.func.count().label("runs"), sa.func.max(r.id).label("last")).group_by(r.game)
    if game is not None:
        asked = asked.where(r.game == game)
    with reader.connection() as connection:
        counts: Mapping[str, Any] = _by_game(
            connection,
            sa.select(r.game, sa.func.count())
            .select_from(SERVER_GAMES)
            .join(SERVER_RUNS, r.id == SERVER_GAMES.c.run)
            .group_by(r.game),
        )
        own = SERVER_RATINGS.c
        rated = _by_game(connection, sa.select(own.game, sa.func.count()).where(own.games > 0).group_by(own.game))
        found = []
        for row in sorted(connection.execute(asked).all()):
            began, ended = connection.execute(sa.select(r.began, r.ended).where(r.id == row.last)).one()
            found.append(
                StoredServer(row.game, row.runs, counts.get(row.game, 0), rated.get(row.game, 0), began, ended)
            )
    return found


def _by_game(connection: sa.Connection, asked: sa.Select[Any]) -> dict[str, int]:
    return {name: int(count) for name, count in connection.execute(asked)}


def served_game(reader: StoreReader, number: int) -> ServedGame:
    """Return a game by its number in a store. Raises UnknownNameError if there is none."""
    g, r, s, i = SERVER_GAMES.c, SERVER_RUNS.c, SERVER_RESULTS.c, SERVER_INCIDENTS.c
    one = sa.select(SERVER_GAMES, r.game, r.rules).join(SERVER_RUNS, r.id == g.run).where(g.id == number)
    with reader.connection() as connection:
        row = connection.execute(one).first()
        if row is None:
            last = connection.execute(sa.select(sa.func.max(g.id))).scalar()
            known = f"they go up to {last}" if last else "there is none"
            raise UnknownNameError(
                f"there is no game {number} of a server in {reader.name}: {known}; `dicegym server games` lists them"
            )
        results = connection.execute(sa.select(s.name, s.total).where(s.game == number).order_by(s.seat)).all()
        forced = connection.execute(sa.select(i.seat, i.turn, i.reason).where(i.game == number).order_by(i.id)).all()
        rules = connection.execute(sa.select(RULES).where(RULES.c.id == row.rules)).first()
    return ServedGame(
        row.game,
        int(row.seed),
        row.number,
        tuple(name for name, _ in results),
        tuple(total for _, total in results),
        tuple(json.loads(row.actions)),
        tuple((seat, turn, reason) for seat, turn, reason in forced),
        None if rules is None else rules_from(rules),
    )
