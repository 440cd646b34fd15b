"""Replays in a store of contests. Needs the extra ``arena``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from dicegym.arena.replay.replay import Replay, ReplayIncident
from dicegym.arena.store.reading import PlayedGame, StoredMatch, StoredMisplay, StoredRules, StoreReader
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


def stored_replay(reader: StoreReader, wanted: str) -> Replay:
    """Return a game of a store.

    Args:
        reader: of the store.
        wanted: see `game_id`.

    Raises:
        ParameterError: ``wanted`` is no name of a game, or of several; what is stored of it is nonsense.
        UnknownNameError: there is no such match or game in it.
    """
    asked = game_id(wanted)
    match = _match(reader, asked.match)
    called = f"{match.id}.{asked.game}"
    if match.failed is not None:
        raise ParameterError(f"match {match.id} has no games to see, as {match.failed} ended it: {match.reason}")
    try:
        games = {game.number: game for game in reader.games([match.id])}
        if asked.game - 1 not in games:
            there = f"give {match.id}.1 to {match.id}.{len(games)}"
            raise UnknownNameError(f"match {match.id} has no game {asked.game}: {there}")
        rules = reader.rules([match.id])[match.id]
        noted = [one for one in reader.misplays([match.id]) if one.game == asked.game]
        return replay_from(rules, match, games[asked.game - 1], noted)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        if isinstance(error, UnknownNameError):
            raise
        raise ParameterError(f"what is stored of game {called} is nonsense: see another one") from None


def replay_from(rules: StoredRules, match: StoredMatch, game: PlayedGame, misplays: Iterable[StoredMisplay]) -> Replay:
    """Return a game of a match, of which ``misplays`` are what went wrong in it."""
    return Replay(
        rules.game,
        rules.players,
        rules.parameters,
        match.seed,
        game.number,
        tuple(match.entries[player] for player in game.seats),
        game.actions,
        tuple(float(game.returns[player]) for player in game.seats),
        tuple(
            ReplayIncident(game.seats.index(match.entries.index(one.name)), one.turn, one.reason) for one in misplays
        ),
        rules.described,
        f"{match.id}.{game.number + 1}",
    )


def _match(reader: StoreReader, called: str) -> StoredMatch:
    """Return a match by its number, or by the beginning of its key."""
    found = reader.keyed(called) if len(called) >= SHORTEST_KEY else []
    if called.isdecimal() and int(called) < LARGEST_NUMBER:
        try:
            return reader.match(int(called))
        except UnknownNameError:
            if not found:
                raise
    if not found:
        there = "`dicegym arena matches` lists those of a contest"
        raise UnknownNameError(f"{reader.name} has no match whose key begins with {called!r}: {there}")
    match = reader.match(found[0])
    if len(found) > 1:
        raise ParameterError(f"{called!r} begins the keys of several matches, {match.key} for one: give more digits")
    return match
