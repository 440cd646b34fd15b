"""Find replays by id: games of matches and of Yatzy servers. Needs the extra ``arena``."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import sqlalchemy as sa

from dicegym.arena.replay.replay import Replay, ReplayIncident
from dicegym.arena.store.opening import in_words
from dicegym.arena.store.reading import StoreReader, rules_from
from dicegym.arena.store.schema import RULES, SERVER_GAMES, SERVER_INCIDENTS, SERVER_RESULTS, SERVER_RUNS, whole_numbers
from dicegym.arena.store.stored_rows import PlayedGame, WholeMatch
from dicegym.errors import ParameterError, ReplayError, UnknownNameError, one_line
from dicegym.games.yatzy.protocol import totals_of
from dicegym.games.yatzy.rules import SPEC

SERVER = "server:"
"""Prefix of the ids of servers' games."""


def game_id(text: str) -> tuple[int, int]:
    """Return (match, game), both from 1, for ``MATCH`` or ``MATCH.GAME``; (0, id in the store) for ``server:NUMBER``.

    Raises ParameterError for another text.
    """
    if text.startswith(SERVER):
        if not re.fullmatch(r"[1-9][0-9]{0,17}", text.removeprefix(SERVER), re.ASCII):
            raise ParameterError(
                f"{one_line(text)!r} names no game of a server: give server:NUMBER, such as server:12, with a number "
                "that `dicegym server games` shows"
            )
        return 0, int(text.removeprefix(SERVER))
    found = re.fullmatch(r"([1-9][0-9]{0,17})(?:\.([1-9][0-9]{0,8}))?", text.strip(), re.ASCII)
    if found is None:
        raise ParameterError(
            f"{one_line(text)!r} names no game: give MATCH or MATCH.GAME, such as 12 or 12.3, or a game's .json file"
        )
    return int(found[1]), int(found[2] or 1)


def find_replay(reader: StoreReader, wanted: str) -> Replay:
    """Return a game of a store; ``wanted``: see `game_id`.

    Raises:
        ParameterError: ``wanted`` is not an id, or the stored values are damaged.
        UnknownNameError: there is no such match or game.
        ReplayError: a server's game cannot be played again.
    """
    number, game = game_id(wanted)
    if not number:
        with in_words(reader.name, reads=True):
            return _served_replay(reader, game, wanted)
    match = reader.match(number)
    if match.failed is not None:
        raise ParameterError(f"match {match.id} has no games to see, as {match.failed} ended it: {match.reason}")
    with in_words(reader.name, reads=True):
        (whole,) = reader.whole([match])
        found = next((one for one in whole.games if one.number == game - 1), None)
        if found is None:
            there = f"give {match.id}.1 to {match.id}.{len(whole.games)}"
            raise UnknownNameError(f"match {match.id} has no game {game}: {there}")
        return _match_replay(whole, found)


def _match_replay(whole: WholeMatch, game: PlayedGame) -> Replay:
    """Return a game of a match."""
    match, rules, number = whole.match, whole.rules, game.number + 1
    seats = tuple(match.entries[player] for player in game.seats)
    returns = tuple(float(game.returns[player]) for player in game.seats)
    noted = [one for one in whole.misplays if one.game == number]
    incidents = tuple(ReplayIncident(seats.index(one.name), one.turn, one.reason) for one in noted)
    about = rules.game, rules.players, rules.parameters, match.seed, game.number
    return Replay(*about, seats, game.actions, returns, incidents, rules.described, f"{match.id}.{number}")


def _served_replay(reader: StoreReader, number: int, called: str) -> Replay:
    """Return a game of a server.

    A server stores totals, not returns: these are computed by playing the game again, which must give the totals.
    """
    games, runs, results, incidents = SERVER_GAMES.c, SERVER_RUNS.c, SERVER_RESULTS.c, SERVER_INCIDENTS.c
    asked = sa.select(SERVER_GAMES, runs.game, runs.rules).join(SERVER_RUNS, runs.id == games.run)
    reached = sa.select(results.name, results.total).where(results.game == number).order_by(results.seat)
    forced = sa.select(incidents.seat, incidents.turn, incidents.reason).where(incidents.game == number)
    with reader.connection() as connection:
        row = connection.execute(asked.where(games.id == number)).first()
        if row is None:
            what = f"game {number} of a server"
            raise reader.make_number_error(what, SERVER_GAMES, "`dicegym server games` lists them")
        seats = connection.execute(reached).all()
        noted = tuple(ReplayIncident(*one) for one in connection.execute(forced.order_by(incidents.id)))
        by = connection.execute(sa.select(RULES).where(RULES.c.id == row.rules)).first()
        rules = None if by is None else rules_from(by)
        seed, actions = int(row.seed), whole_numbers(json.loads(row.actions))
    if rules is None:
        raise ReplayError(f"the rules of game {called} were not stored, so it cannot be played again")
    if not seats or any(not 0 <= one.seat < len(seats) for one in noted):
        raise ValueError(f"game {called} has no such seats")
    names, returns = tuple(seat.name for seat in seats), (0.0,) * len(seats)
    played = names, actions, returns, noted, rules.described
    replay = Replay(row.game, len(seats), rules.parameters, seed, row.number, *played, called)
    table = replay.table()
    end = replay.end()[0]
    if table.spec is not SPEC:  # the server plays Yatzy alone
        raise ReplayError(f"game {called} is one of {table.spec.title}, which has no server any more")
    for seat, total in zip(seats, totals_of(table, end), strict=True):
        if total != seat.total:
            said = f"{one_line(seat.name)} scores {total}, but {seat.total} was stored"
            raise ReplayError(f"game {called} cannot be replayed: {said}. Its stored record was altered")
    return replace(replay, returns=tuple(table.returns(end).tolist()))
