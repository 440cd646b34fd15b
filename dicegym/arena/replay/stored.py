"""Replays in a store of contests. Needs the extra ``arena``."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from dicegym.arena.replay.replay import Replay, ReplayIncident
from dicegym.arena.store.opening import brought_up, engine_at, engine_of, location_of
from dicegym.arena.store.schema import SCHEMA, in_words, schema_of
from dicegym.arena.store.tables import AGENTS, GAMES, MATCHES, MISPLAYS, RULES, SEATS
from dicegym.errors import ParameterError, UnknownNameError, one_line

FORMS = "give MATCH or MATCH.GAME, such as 12, 12.3 or 3fa2c1.1: the number of a match or the beginning of its key"
SHORTEST_KEY = 4
"""Digits of a key that a match may be called by, at least."""
LARGEST_NUMBER = 1 << 62


class GameId(NamedTuple):
    """What a stored game is called."""

    match: str
    """The number of its match in the store, or the beginning of its key."""
    game: int
    """Its number in the match, from 1."""


def game_id(text: str) -> GameId:
    """Return what ``MATCH`` or ``MATCH.GAME`` names. Raises ParameterError if it is neither."""
    found = re.fullmatch(r"([0-9a-f]{1,64})(?:\.([1-9][0-9]{0,8}))?", text.strip().lower(), re.ASCII)
    if found is None:
        raise ParameterError(f"{one_line(text)!r} names no game: {FORMS}")
    return GameId(found[1], int(found[2] or 1))


def stored_replay(connection: sa.Connection, wanted: str) -> Replay:
    """Return a game of a store.

    Args:
        connection: to the store.
        wanted: see `game_id`.

    Raises:
        ParameterError: ``wanted`` is no name of a game, or of several; what is stored of it is nonsense.
        UnknownNameError: there is no such match or game in it.
    """
    asked = game_id(wanted)
    match = _match(connection, asked.match)
    if match.failure is not None:
        raise ParameterError(
            f"match {match.id} has no games to see: {one_line(json.loads(match.failure))}: see `dicegym arena matches`"
        )
    row = connection.execute(
        sa.select(GAMES).where(GAMES.c.match == match.id, GAMES.c.number == asked.game - 1)
    ).one_or_none()
    if row is None:
        there = f"give {match.id}.1 to {match.id}.{match.games}"
        raise UnknownNameError(f"match {match.id} has no game {asked.game}: {there}")
    rules = connection.execute(sa.select(RULES).where(RULES.c.id == match.rules)).one()
    own = sa.select(AGENTS.c.name).join(SEATS, SEATS.c.agent == AGENTS.c.id)
    names = connection.execute(own.where(SEATS.c.match == match.id).order_by(SEATS.c.player)).scalars().all()
    noted = connection.execute(
        sa.select(MISPLAYS).where(MISPLAYS.c.match == match.id, MISPLAYS.c.game == asked.game).order_by(MISPLAYS.c.id)
    ).all()
    try:
        order = [int(player) for player in json.loads(row.seats)]
        returns = [float(value) for value in json.loads(row.returns)]
        return Replay(
            rules.game,
            int(rules.players),
            {str(name): int(value) for name, value in json.loads(rules.parameters).items()},
            int(match.seed),
            asked.game - 1,
            tuple(names[player] for player in order),
            tuple(int(action) for action in json.loads(row.actions)),
            tuple(returns[player] for player in order),
            tuple(ReplayIncident(order.index(one.player), one.turn, one.reason) for one in noted),
            _described(rules),
            f"{match.id}.{asked.game}",
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        called = f"{match.id}.{asked.game}"
        raise ParameterError(f"what is stored of game {called} is nonsense: see another one") from None


def _described(rules: sa.Row[Any]) -> dict[str, Any]:
    """Return the rules of a game as `dicegym.arena.replay.described` told of them, as far as they are stored."""
    told = json.loads(rules.description) if rules.description else {}
    return {**told, "fingerprint": rules.fingerprint, "dicegym": told.get("dicegym", rules.version)}


def _match(connection: sa.Connection, called: str) -> sa.Row[Any]:
    """Return the row of a match, by its number or the beginning of its key."""
    if called.isdecimal() and int(called) < LARGEST_NUMBER:
        row = connection.execute(sa.select(MATCHES).where(MATCHES.c.id == int(called))).one_or_none()
        if row is not None:
            return row
    begins = MATCHES.c.key.startswith(called, autoescape=True)
    found = connection.execute(sa.select(MATCHES).where(begins).order_by(MATCHES.c.id).limit(2)).all()
    if not found or (len(called) < SHORTEST_KEY and called.isdecimal()):
        most = connection.execute(sa.select(sa.func.max(MATCHES.c.id))).scalar()
        there = f"the last one is {most}" if most else "it holds none yet"
        raise UnknownNameError(f"the store has no match {called!r}: {there}, and `dicegym arena matches` lists them")
    if len(found) > 1:
        raise ParameterError(f"{called!r} begins the keys of several matches, {found[0].key} for one: give more digits")
    return found[0]


@contextlib.contextmanager
def reading(where: str | os.PathLike[str]) -> Iterator[sa.Connection]:
    """Yield a connection that reads from a store and changes nothing in it.

    Args:
        where: path of its file, or the URL of its database.

    Raises:
        ParameterError: there is no such file, or it cannot be read as a store.
        DependencyError: it is on a server, and what speaks to that is not installed.
    """
    location = location_of(where)
    if location.path is None:
        engine = engine_at(location)
    elif location.path.is_file():
        engine = engine_of(location.path, writes=False)
    else:
        raise ParameterError(
            f"{location.path} is no store: contests write dicegym-arena.sqlite where they are held; give its --store"
        )
    with in_words(Path(location.name)):
        try:
            with engine.connect() as connection:
                schema = schema_of(connection, Path(location.name))
            if schema != SCHEMA and schema is not None:
                engine = brought_up(engine, schema)
            with engine.connect() as connection, connection.begin():
                yield connection
        finally:
            engine.dispose()
