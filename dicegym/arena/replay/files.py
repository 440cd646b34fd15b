"""Replays as JSON: what a contest stores, handed on in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dicegym.arena.replay.replay import Replay, ReplayIncident
from dicegym.errors import DamagedFileError, ParameterError
from dicegym.files import read_text, write_text

KIND = "dicegym arena replay"
VERSION = 1
"""Of the form of files: raised when a key goes or means something else, not when one is added."""
INSTEAD = "give a file as `dicegym arena replay ID -o FILE.json` writes it"


def to_json(replay: Replay) -> dict[str, Any]:
    """Return a replay as values that JSON can hold, under the names of its attributes."""
    return {
        "kind": KIND,
        "version": VERSION,
        "id": replay.id,
        "game": replay.game,
        "players": replay.players,
        "parameters": dict(replay.parameters),
        "seed": replay.seed,
        "number": replay.number,
        "seats": list(replay.seats),
        "actions": list(replay.actions),
        "returns": list(replay.returns),
        "incidents": [incident._asdict() for incident in replay.incidents],
        "rules": dict(replay.rules),
    }


def from_json(values: Any) -> Replay:
    """Return the replay of which `to_json` made these values. Raises ParameterError if they are none."""
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise ParameterError(f"there is no {KIND} in it")
    if values.get("version") != VERSION:
        raise ParameterError(f"its form has the version {values.get('version')!r}, and {VERSION} is known here")
    for name, kind in _KINDS.items():
        if not isinstance(values.get(name), kind) or isinstance(values.get(name), bool):
            raise ParameterError(f"what it says of {name!r} is no {kind.__name__}")
    whole = (*values["actions"], *values["parameters"].values())
    if any(type(number) is not int for number in whole):
        raise ParameterError("its actions and parameters are no whole numbers")
    if any(type(number) not in (int, float) for number in values["returns"]):
        raise ParameterError("its returns are no numbers")
    if any(type(name) is not str for name in values["seats"]):
        raise ParameterError("its seats hold no names")
    return Replay(
        values["game"],
        values["players"],
        values["parameters"],
        values["seed"],
        values["number"],
        tuple(values["seats"]),
        tuple(values["actions"]),
        tuple(map(float, values["returns"])),
        tuple(map(_incident, values["incidents"])),
        values["rules"],
        values["id"],
    )


_KINDS: dict[str, type] = {
    "id": str,
    "game": str,
    "players": int,
    "parameters": dict,
    "seed": int,
    "number": int,
    "seats": list,
    "actions": list,
    "returns": list,
    "incidents": list,
    "rules": dict,
}


def _incident(values: Any) -> ReplayIncident:
    seat, turn, reason = (values.get(name) if isinstance(values, dict) else None for name in ReplayIncident._fields)
    if type(seat) is not int or type(turn) is not int or type(reason) is not str:
        raise ParameterError("one of its incidents is none")
    return ReplayIncident(seat, turn, reason)


def save(replay: Replay, path: str | Path) -> None:
    """Write a replay to a file, on a few lines. Raises OSError as `open` does."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in to_json(replay).items())
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def load(path: str | Path) -> Replay:
    """Return the replay in a file that `save` wrote.

    Raises DamagedFileError if there is none in it: what somebody else has written is looked through, and never run.
    """
    text = read_text(path, INSTEAD)
    try:
        return from_json(json.loads(text))
    except ParameterError as error:
        raise DamagedFileError(path, f"holds no replay ({error})", INSTEAD) from None
    except (ValueError, OverflowError, RecursionError):  # no JSON, numbers of thousands of digits, a thousand brackets
        raise DamagedFileError(path, "is no JSON", INSTEAD) from None
