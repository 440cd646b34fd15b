"""Replays of games that a server has held. Needs the extra ``arena``."""

from __future__ import annotations

import dataclasses
import re

from dicegym import games
from dicegym.arena.replay.replay import Replay, ReplayIncident
from dicegym.arena.store.reading import ServedGame, StoreReader
from dicegym.errors import DicegymError, ParameterError, ReplayError, one_line
from dicegym.games.parts import WIRE, part

SERVER = "server:"
"""What the name of a server's game begins with."""


def served_id(text: str) -> int | None:
    """Return the number of a server's game that ``server:NUMBER`` names; None if it names none of a server's.

    Raises ParameterError if no number follows.
    """
    if not text.startswith(SERVER):
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text.removeprefix(SERVER), re.ASCII):
        raise ParameterError(
            f"{one_line(text)!r} names no game of a server: give server:NUMBER, such as server:12, with a number that "
            "`dicegym server games` shows"
        )
    return int(text.removeprefix(SERVER))


def served_replay(reader: StoreReader, number: int) -> Replay:
    """Return a game that a server has held.

    A server keeps what each seat has reached, and no returns: these follow from playing it again, to those totals.

    Args:
        reader: of the store.
        number: of the game.

    Raises:
        ReplayError: it is not played again as it was: rules have changed, or what is stored has been.
        ParameterError: what is stored of it is nonsense.
        UnknownNameError: there is no such game in the store.
    """
    called = f"{SERVER}{number}"
    try:
        found = reader.served_game(number)
        return _replay(found, called)
    except DicegymError:
        raise
    except (ValueError, TypeError, LookupError, RecursionError):
        raise ParameterError(f"what is stored of game {called} is nonsense: see another one") from None


def _replay(found: ServedGame, called: str) -> Replay:
    seats = len(found.names)
    table = games.game(found.game, seats)
    rules = found.rules
    if rules is None:
        raise ReplayError(f"nobody noted the rules of game {called}, so it cannot be played again")
    replay = Replay(
        found.game,
        seats,
        rules.parameters,
        found.seed,
        found.number,
        found.names,
        found.actions,
        (0.0,) * seats,
        tuple(ReplayIncident(*one) for one in found.incidents),
        rules.described,
        called,
    )
    table = replay.table()
    replay.check_rules(table)
    wire = part(table, WIRE)
    if wire is None:
        raise ParameterError(f"game {called} is one of {table.spec.title}, whose server there is not any more")
    states = table.new_game(found.seed, found.number)
    for time, action in enumerate(found.actions):
        if states[0]["over"]:
            raise _misfit(called, f"it is over after {time} of its {len(found.actions)} actions")
        table.step(states[0], action)
    if not states[0]["over"]:
        raise _misfit(called, f"it is not over after its last action, number {len(found.actions)}")
    for name, total, kept in zip(found.names, wire.totals_of(table, states[0]), found.totals, strict=True):
        if total != kept:
            raise _misfit(called, f"{one_line(name)} comes to {total}, and came to {kept}")
    return dataclasses.replace(replay, returns=tuple(table.returns(states[0]).tolist()))


def _misfit(called: str, what: str) -> ReplayError:
    return ReplayError(f"game {called} cannot be replayed: {what}. Its stored record was altered")
