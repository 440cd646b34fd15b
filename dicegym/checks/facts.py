"""Does the fact sheet of a game say what a fact sheet must?"""

from __future__ import annotations

import pickle

import numpy as np

from dicegym.checks.common import report_break
from dicegym.engine.game import Game
from dicegym.engine.spec import HEADER, GameSpec, Parameter


def forms(spec: GameSpec) -> list[Game]:
    """Return a game in the forms worth checking: as it is, with fewest and most seats, each parameter at either end."""
    ends = [{name: end} for name, parameter in spec.parameters.items() for end in (parameter.low, parameter.high)]
    tables = [Game(spec, seats) for seats in spec.players]
    found = [Game(spec), *tables, *(Game(spec, **end) for end in ends)]
    return list(dict.fromkeys(found))


def check_facts(game: Game) -> None:
    """The fact sheet agrees with itself."""
    spec = game.spec
    remedy = f"Correct the GameSpec(...) at the end of {spec.kernels.step.__module__}"
    names = spec.declared_record.names or ()
    for position, (name, kind) in enumerate(HEADER):
        if names[position : position + 1] != (name,) or spec.declared_record[name] != np.dtype(kind):
            raise report_break(
                game,
                f"field {position} of the record is not {name!r} of {np.dtype(kind)}",
                "The generic loops read and write the fields of dicegym.engine.spec.HEADER",
                "Build the record with dicegym.engine.spec.record",
            )
    for name in names:
        if hasattr(np.record, name):
            raise report_break(
                game,
                f"the field {name!r} of the record is called like an attribute that NumPy's records have",
                f"With compilation off, state.{name} is that attribute",
                "Give the field another name",
            )
    low, high = spec.players
    if not 1 <= low <= high:
        raise report_break(game, f"players is {spec.players}", "It names the fewest and the most seats", remedy)
    if spec.n_actions < 1:
        raise report_break(game, f"n_actions is {spec.n_actions}", "A player must have a choice", remedy)
    if len(spec.faults) < 2 or spec.faults[0] or not all(spec.faults[1:]):
        raise report_break(
            game,
            f"faults is {spec.faults!r}",
            "step answers an illegal action with the number of a fault, and 0 stands for none",
            remedy,
        )
    for name in ("name", "title", "default_opponent", "baseline"):
        if not getattr(spec, name):
            raise report_break(game, f"{name} is empty", "Reports and environments show it or load it", remedy)
    for name, parameter in spec.parameters.items():
        _check_parameter(game, name, parameter, remedy)
    for name, value in spec.sighted.items():
        if name not in spec.parameters or not spec.parameters[name].low <= value <= spec.parameters[name].high:
            raise report_break(
                game, f"sighted says {name}={value!r}", "It names parameters of the game, with values they take", remedy
            )
    for name in sorted(spec.private | spec.secret | ({spec.public_event} if spec.public_event else set())):
        if name not in names:
            raise report_break(
                game, f"{name!r} is not a field of the record", "private, secret and public_event name fields", remedy
            )
    for name in sorted(spec.private):
        if spec.state[name].shape[:1] < (high,):
            raise report_break(
                game,
                f"the private field {name!r} has no entry for each of {high} seats",
                "Each seat may know its own entry alone",
                "Give the field the seats as its first dimension",
            )
    for name, length in game.features.items():
        if length < 1:
            raise report_break(
                game,
                f"the observation part {name!r} has length {length}",
                "Parts that a setting leaves out must not be listed under it",
                "Correct features(parameters)",
            )


def _check_parameter(game: Game, name: str, parameter: Parameter, remedy: str) -> None:
    if name not in (game.spec.state.names or ()):
        raise report_break(
            game,
            f"the parameter {name!r} is not a field of the record",
            "Kernels know the parameters from the record alone",
            "Add a field of that name to STATE",
        )
    if not parameter.low <= parameter.default <= parameter.high:
        raise report_break(
            game,
            f"the default of {name!r} is outside its range: {parameter}",
            "The game could not be made without naming the parameter",
            remedy,
        )
    for value in (parameter.low, parameter.high):
        held = np.asarray([value]).astype(game.spec.state[name])
        if int(held[0]) != value:
            raise report_break(
                game,
                f"{name}={value} is allowed but does not fit its field of {game.spec.state[name]}",
                "The rules would read another value",
                "Widen the field or narrow the range",
            )


def check_identity(game: Game) -> None:
    """The game survives pickling and is equal to another one made alike, fingerprint included."""
    again = pickle.loads(pickle.dumps(game))
    if again != game or hash(again) != hash(game):
        raise report_break(
            game,
            f"a pickled copy is {again!r}",
            "Vector environments send games to other processes",
            "Keep the fact sheet in the module of the kernels, under the name SPEC",
        )
    if again.compute_fingerprint() != game.fingerprint:
        raise report_break(
            game,
            "its fingerprint changes from one computation to the next",
            "Models are refused by it when the rules have changed",
            "Look for a kernel that leaves part of its output unwritten or draws from outside dicegym.engine.dice",
        )
