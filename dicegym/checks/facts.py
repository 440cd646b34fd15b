"""Checks of a game's fact sheet."""

from __future__ import annotations

import pickle

import numpy as np

from dicegym.checks.common import report_break
from dicegym.engine.game import Game
from dicegym.engine.spec import HEADER, GameSpec, Parameter


def forms(spec: GameSpec) -> list[Game]:
    """Return the forms of a game worth checking: default, fewest and most seats, each parameter at either end."""
    ends = [{name: end} for name, parameter in spec.parameters.items() for end in (parameter.low, parameter.high)]
    tables = [Game(spec, seats) for seats in spec.players]
    found = [Game(spec), *tables, *(Game(spec, **end) for end in ends)]
    return list(dict.fromkeys(found))


def check_facts(game: Game) -> None:
    """The fact sheet is consistent."""
    spec = game.spec
    remedy = f"Correct the GameSpec(...) at the end of {spec.kernels.step.__module__}"
    names = spec.declared_record.names or ()
    for position, (name, kind) in enumerate(HEADER):
        if names[position : position + 1] != (name,) or spec.declared_record[name] != np.dtype(kind):
            seen = f"field {position} of the record is not {name!r} of {np.dtype(kind)}"
            raise report_break(game, seen, "Build the record with dicegym.engine.spec.record")
    for name in names:
        if hasattr(np.record, name):
            seen = f"the field {name!r} of the record has the name of an attribute of NumPy's records"
            raise report_break(game, seen, "Rename the field: it could not be read with compilation off")
    low, high = spec.players
    if not 1 <= low <= high:
        raise report_break(game, f"players is {spec.players}, which should be the fewest and the most seats", remedy)
    if spec.n_actions < 1:
        raise report_break(game, f"n_actions is {spec.n_actions}", remedy)
    if len(spec.faults) < 2 or spec.faults[0] or not all(spec.faults[1:]):
        seen = f"faults is {spec.faults!r}, which needs '' first and then a text for each fault, from 1"
        raise report_break(game, seen, remedy)
    for name in ("name", "title", "default_opponent", "baseline"):
        if not getattr(spec, name):
            raise report_break(game, f"{name} is empty", remedy)
    for name, parameter in spec.parameters.items():
        _check_parameter(game, name, parameter, remedy)
    for name, value in spec.sighted.items():
        if name not in spec.parameters or not spec.parameters[name].low <= value <= spec.parameters[name].high:
            raise report_break(game, f"sighted says {name}={value!r}, which is not a value of a parameter", remedy)
    for name in sorted(spec.private | spec.secret | ({spec.public_event} if spec.public_event else set())):
        if name not in names:
            seen = f"{name!r} is not a field of the record, and private, secret or public_event names it"
            raise report_break(game, seen, remedy)
    for name in sorted(spec.private):
        if spec.state[name].shape[:1] < (high,):
            seen = f"the private field {name!r} has no entry for each of {high} seats"
            raise report_break(game, seen, "Give the field the seats as its first dimension")
    for name, length in game.features.items():
        if length < 1:
            seen = f"the observation part {name!r} has length {length}"
            raise report_break(game, seen, "Let features(parameters) list only parts that exist")


def _check_parameter(game: Game, name: str, parameter: Parameter, remedy: str) -> None:
    if name not in (game.spec.state.names or ()):
        seen = f"the parameter {name!r} is not a field of the record, where kernels read it"
        raise report_break(game, seen, "Add a field of that name to STATE")
    if not parameter.low <= parameter.default <= parameter.high:
        raise report_break(game, f"the default of {name!r} is outside its range: {parameter}", remedy)
    for value in (parameter.low, parameter.high):
        held = np.asarray([value]).astype(game.spec.state[name])
        if int(held[0]) != value:
            seen = f"{name}={value} is allowed but does not fit its field of {game.spec.state[name]}"
            raise report_break(game, seen, "Widen the field or narrow the range")


def check_identity(game: Game) -> None:
    """A pickled copy of the game is equal to it and has its fingerprint."""
    again = pickle.loads(pickle.dumps(game))
    if again != game or hash(again) != hash(game):
        remedy = "Keep the fact sheet in the module of the kernels, under the name SPEC"
        raise report_break(game, f"a pickled copy is {again!r}", remedy)
    if again.compute_fingerprint() != game.fingerprint:
        raise report_break(
            game,
            "its fingerprint changes from one computation to the next",
            "Look for a kernel that leaves part of its output unwritten or draws other than by dicegym.engine.dice",
        )
