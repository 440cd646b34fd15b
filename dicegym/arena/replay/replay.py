"""A game that was played, to be played again: seats and actions; the record follows from them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dicegym import games
from dicegym.arena.provenance import package_version
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, ParameterError, ReplayError, one_line, unknown_name
from dicegym.files import read_text, write_text
from dicegym.pictures.watched import WatchedMove, action_in, is_moment, tell_apart, watch_move

if TYPE_CHECKING:
    from dicegym.arena.match import MatchResult

INT_64 = np.iinfo(np.int64)
KIND = "dicegym arena replay"
VERSION = 1
"""The version of the form of files, raised when a key goes or changes its meaning, not when one is added."""
LONGEST_REASON = 300
"""Characters of what was wrong that are shown."""
Notes = Mapping[tuple[int, int], str]
"""Notes on decisions, by seat and number of the seat's decision from 1."""
INSTEAD = "give a file as `dicegym arena replay ID -o FILE.json` writes it"


def describe_rules(game: Game) -> dict[str, str]:
    """Return by which rules ``game`` is played: ``fingerprint``, and ``dicegym``, the version."""
    return {"dicegym": package_version(), "fingerprint": game.fingerprint}


class ReplayIncident(NamedTuple):
    """Something that a player did wrong in the game, as the contest noted it."""

    seat: int
    turn: int
    """Number of the seat's decision in the game, from 1; 0: while it sat down or watched."""
    reason: str


class PlayedAction(NamedTuple):
    """One action of a game that is played again."""

    seat: int
    turn: int
    """Number of the seat's decision, from 1."""
    action: int
    name: str
    """What everybody calls it who may know it."""
    said: str
    """What it meant in the state it was played in, for its own seat and viewers that see everything."""
    fault: str
    """What the rules find wrong with it, in words; empty if nothing."""
    reason: str
    """What the contest noted of this decision; empty if nothing."""
    note: str
    """Of `Notes`; empty without one."""
    public: bool
    """Whether the other seats may know which action it was."""

    @property
    def wrong(self) -> bool:
        """Whether something was wrong with it."""
        return bool(self.reason or self.fault or self.note)

    def may_know(self, seat: int | None) -> bool:
        """Return whether a seat may know which action was played; None: a viewer that sees everything."""
        return self.public or seat in (None, self.seat)

    def words(self, seat: int | None) -> str:
        """Return the action in words, with the faults that a seat may know; None stands for a view of everything.

        What the contest noted may quote what the player was asked, and answered, and what a decision cost tells of the
        player's dice: that is for its own seat.
        """
        own = seat in (None, self.seat)
        wrong = one_line((self.reason or self.fault) if own else self.fault, LONGEST_REASON)
        parts = [self.said if own else self.name, f"({wrong})" if wrong else "", self.note if own else ""]
        return " ".join(filter(None, parts))


class Frame(NamedTuple):
    """A game that is played again, as it stands after something was done."""

    done: tuple[PlayedAction, ...]
    """What was done since the frame before: one action, or where all choose at once those of all; none at first."""
    state: Any
    """A copy of the record."""
    over: bool
    """Whether it is the last one."""


@dataclass(frozen=True)
class Replay:
    """One game that was played: plain values, from which it can be played again as it was.

    Attributes:
        game: the name of the game.
        players: number of seats.
        parameters: of the game.
        seed: names the dice, together with ``number``: ``game.new_game(seed, number)``.
        number: of the game under its seed, from 0.
        seats: the name of the player in each seat.
        actions: of all seats in the order in which they were played, those that were taken for a failure too.
        returns: of each seat at the end.
        incidents: what the players did wrong, in order.
        rules: ``fingerprint`` of the rules that it was played by, and ``dicegym``, the version.
        id: what the store calls it; empty if it is in none.
        unregistered: the game itself if it has no registered name; files do not hold it (`with_game`).
    """

    game: str
    players: int
    parameters: Mapping[str, int]
    seed: int
    number: int
    seats: tuple[str, ...]
    actions: tuple[int, ...]
    returns: tuple[float, ...]
    incidents: tuple[ReplayIncident, ...] = ()
    rules: Mapping[str, Any] = field(default_factory=dict, repr=False)
    id: str = ""
    unregistered: Game | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ParameterError for what cannot be a game."""
        for name, values in (("seats", self.seats), ("returns", self.returns)):
            if len(values) != self.players:
                raise ParameterError(
                    f"{len(values)} {name} do not fit a game of {self.players}: give one for each player"
                )
        if not 0 <= self.number <= INT_64.max:
            raise ParameterError(f"invalid game number {one_line(self.number, 40)}: use 0 to {INT_64.max}")
        for incident in self.incidents:
            self.seat(incident.seat)
        wrong = [action for action in self.actions if not INT_64.min <= action <= INT_64.max]
        if wrong:
            raise ParameterError(f"{one_line(wrong[0], 40)} is no action: actions are numbers of 64 bits")

    @property
    def fingerprint(self) -> str:
        """That of the rules that it was played by; empty if it was not kept."""
        return str(self.rules.get("fingerprint", ""))

    def seat(self, number: int) -> int:
        """Return a seat. Raises ParameterError if there is no such."""
        if not 0 <= number < self.players:
            raise ParameterError(f"seat {number} is no seat of a game of {self.players}: give 0 to {self.players - 1}")
        return number

    def table(self) -> Game:
        """Return the game as it is today, with the parameters of this one: the same one for all games of a contest.

        Raises:
            UnknownNameError: there is no such game, or none with such parameters, any more.
            ParameterError: a parameter is out of the range of today.
        """
        return self.unregistered or _game(self.game, self.players, tuple(self.parameters.items()))

    def with_game(self, game: Game) -> Replay:
        """Return the same replay of a game that is not registered, after it was read from a file.

        Raises ParameterError if ``game`` has another name, other parameters or another number of players.
        """
        if (game.name, game.players, game.parameters) != (self.game, self.players, dict(self.parameters)):
            told = "".join(f", {name}={value}" for name, value in self.parameters.items())
            raise ParameterError(f"{game!r} is not what was played: give {self.game}, players={self.players}{told}")
        return replace(self, unregistered=game)

    def check_rules(self) -> None:
        """Raise ReplayError if it was recorded under other rules than those of today."""
        today = self.table().fingerprint
        if self.fingerprint == today:
            return
        kept = one_line(self.rules.get("dicegym") or "of an unknown version", 40)
        raise ReplayError(
            f"{self._called} was recorded under rules {one_line(self.fingerprint or 'unknown', 40)} (dicegym {kept}), "
            f"and these are {today} (dicegym {package_version()}): to see it, use the version that recorded it"
        )

    @property
    def _called(self) -> str:
        return f"game {self.id}" if self.id else f"game {self.number} of seed {self.seed}"

    def states(self) -> list[np.ndarray]:
        """Play it again; return copies of the record at the beginning and after each action, each an array of one.

        Raises:
            ReplayError: it is not played again as it was: rules have changed, it is over before the last action or not
                over after it, or returns are others than the stored ones.
        """
        return [states for states, _ in self._steps()]

    def end(self) -> np.ndarray:
        """Play it again; return a copy of the record at its end, whatever returns are stored.

        Raises ReplayError as `states` does.
        """
        return self._steps(paid=False)[-1][0]

    def _steps(self, paid: bool = True) -> list[tuple[np.ndarray, int]]:
        """Return copies of the record, each with the fault of the action before it: 0 at the beginning."""
        self.check_rules()
        game = self.table()
        states = game.new_game(self.seed, self.number)
        found = [(states.copy(), 0)]
        for time, action in enumerate(self.actions):
            if states[0]["over"]:
                raise self._misfit(f"it is over after {time} of its {len(self.actions)} actions")
            fault = game.step(states[0], action)
            found.append((states.copy(), fault))
        if not states[0]["over"]:
            raise self._misfit(f"it is not over after its last action, number {len(self.actions)}")
        for name, value, kept in zip(self.seats, game.returns(states[0]).tolist(), self.returns, strict=True):
            if paid and value != kept:
                raise self._misfit(f"{one_line(name)} scores {value:g}, but {kept:g} was stored")
        return found

    def _misfit(self, what: str) -> ReplayError:
        return ReplayError(
            f"{self._called} cannot be replayed: {what}. Its rules have not changed, so its stored record was altered: "
            "store the game again"
        )

    def frames(self, notes: Notes | None = None) -> Iterator[Frame]:
        """Play it again; yield it at the beginning, and after each action, with ``notes``.

        Where all choose at once (``game.spec.joint_action``), after all have chosen. Raises ReplayError before the
        first one, as `states` does.
        """
        game, notes = self.table(), notes or {}
        (first, _), *steps = self._steps()
        noted = {(incident.seat, incident.turn): incident.reason for incident in reversed(self.incidents)}
        before = first[0]
        yield Frame((), before, False)
        turns = [0] * self.players
        done: list[PlayedAction] = []
        for action, (states, fault) in zip(self.actions, steps, strict=True):
            seat, state = int(before["player"]), states[0]
            turns[seat] += 1
            decision = seat, turns[seat]
            done.append(
                PlayedAction(
                    *decision,
                    action,
                    game.action_name(action),
                    action_in(game, before, action),
                    game.spec.faults[fault],
                    noted.get(decision, ""),
                    notes.get(decision, ""),
                    _is_public(game, seat, before, state),
                )
            )
            if is_moment(game, seat, state):
                yield Frame(tuple(done), state, bool(state["over"]))
                done = []
            before = state


@functools.lru_cache(maxsize=64)
def _game(name: str, players: int, parameters: tuple[tuple[str, int], ...]) -> Game:
    """Return a registered game, the same one again and again: what it finds out about itself stays."""
    spec = games.spec(name)
    for parameter, _ in parameters:  # which others have written, `players` or `self` perhaps
        if parameter not in spec.parameters:
            raise unknown_name("parameter", parameter, [*spec.parameters], f"{spec.title} has none of that name now.")
    return Game(spec, players, **dict(parameters))


def _is_public(game: Game, seat: int, before: Any, after: Any) -> bool:
    """Return whether all seats may know an action: it was no secret choice, and left nothing that its seat alone knows.

    What everybody sees, such as the end of a hand with all dice shown, is public whatever else changes with it.
    """
    if game.spec.joint_action is not None:
        return False
    event = game.spec.public_event
    if event is not None and before[event] != after[event]:
        return True
    return all(np.array_equal(before[name][seat], after[name][seat]) for name in game.spec.private)


def replay_of(game: Game, names: Sequence[str], seed: int, result: MatchResult, number: int = 0) -> Replay:
    """Return one game of a match.

    Args:
        game: what was played.
        names: of the players, in the order of the match.
        seed: of the match's games (`dicegym.arena.match.Match.seed`).
        result: what `dicegym.arena.match.play_match` returned.
        number: of the game in the match, from 0.

    Raises ParameterError if the match has no such game.
    """
    if not 0 <= number < len(result.seats):
        raise ParameterError(f"there is no game {number} in a match of {len(result.seats)}: the first is 0")
    order = result.seats[number]
    return Replay(
        game.name,
        game.players,
        dict(game.parameters),
        seed,
        number,
        tuple(names[player] for player in order),
        tuple(result.actions[number]),
        tuple(result.returns[number][player] for player in order),
        tuple(
            ReplayIncident(order.index(one.player), one.turn, one.reason)
            for one in result.incidents
            if one.game == number + 1
        ),
        describe_rules(game),
        unregistered=None if game.spec.registered else game,
    )


def record_replay(game: Game, names: Sequence[str], seed: int, actions: Sequence[int]) -> Replay:
    """Return a game that was played outside of matches, to its end.

    Args:
        game: what was played.
        names: of the players, by seat.
        seed: of the game (`Game.new_game`).
        actions: of all seats in their order.

    Raises ParameterError if the names are too few or too many, StepError if it was over before its last action.
    """
    states = game.new_game(seed)
    for action in actions:
        game.step(states[0], action)
    returns, done = tuple(game.returns(states[0]).tolist()), tuple(map(int, actions))
    return Replay(
        game.name,
        game.players,
        game.parameters,
        seed,
        0,
        tuple(names),
        done,
        returns,
        rules=describe_rules(game),
        unregistered=None if game.spec.registered else game,
    )


# --- words and scenes -------------------------------------------------------------------------------------------------


def moments(replay: Replay, seat: int | None = None, notes: Notes | None = None) -> Iterator[WatchedMove]:
    """Yield the beginning of a game that was played, and each moment after something was done.

    Args:
        replay: the game.
        seat: as this seat was shown it: its own hidden things, and what is public; None: everything.
        notes: told with the moves.

    Raises:
        ReplayError: it is not played again as it was; before the first moment.
        ParameterError: the game has no seat of that number.
    """
    if seat is not None:
        replay.seat(seat)
    game, names = replay.table(), tell_apart(replay.seats)
    for frame in replay.frames(notes):
        yield moment(game, frame, names, seat)


def moment(game: Game, frame: Frame, names: Sequence[str], seat: int | None = None) -> WatchedMove:
    """Return a frame in words and as a scene; ``names`` are those of the seats, no two alike."""
    said: dict[int, list[str]] = {}
    for played in frame.done:
        if played.may_know(seat):
            said.setdefault(played.seat, []).append(played.words(seat))
    lines = tuple(f"{names[one]}: {', '.join(texts)}" for one, texts in said.items())
    return watch_move(game, frame.state, lines, names, seat)


def result_lines(replay: Replay, seat: int | None = None) -> list[str]:
    """Return the result of the game for each seat, and what the contest noted, of this seat alone; a line for each.

    Arguments and errors as of `moments`.
    """
    names = tell_apart(replay.seats)
    came = ", ".join(f"{name} {value:g}" for name, value in zip(names, replay.returns, strict=True))
    when: dict[tuple[int, int], str] = {}
    for number, frame in enumerate(replay.frames()):
        for played in frame.done:
            when[played.seat, played.turn] = f"in move {number}, its decision {played.turn}"
    lines = [f"returns: {came}"]
    for incident in replay.incidents:
        if seat in (None, incident.seat):
            known = when.get((incident.seat, incident.turn), "beside its decisions")
            lines.append(f"noted: {names[incident.seat]}, {known}: {one_line(incident.reason, LONGEST_REASON)}")
    return lines


# --- files ----------------------------------------------------------------------------------------------------------


def to_json(replay: Replay) -> dict[str, Any]:
    """Return a replay as values that JSON can hold, under the names of its attributes."""
    plain = {one.name: getattr(replay, one.name) for one in fields(replay) if one.name != "unregistered"}
    lists = {name: list(plain[name]) for name in ("seats", "actions", "returns")}
    incidents = [incident._asdict() for incident in replay.incidents]
    return {"kind": KIND, "version": VERSION} | plain | lists | {"incidents": incidents}


def from_json(values: Any) -> Replay:
    """Return the replay that `to_json` made these values of. Raises ParameterError for other values."""
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise ParameterError(f"there is no {KIND} in it")
    if values.get("version") != VERSION:
        raise ParameterError(f"its form has the version {values.get('version')!r}, and {VERSION} is known here")
    parameters = _value(values, "parameters", dict)
    _all_are("parameters", parameters.values(), int)
    return Replay(
        _value(values, "game", str),
        _value(values, "players", int),
        parameters,
        _value(values, "seed", int),
        _value(values, "number", int),
        _all_are("seats", _value(values, "seats", list), str),
        _all_are("actions", _value(values, "actions", list), int),
        tuple(map(float, _all_are("returns", _value(values, "returns", list), int, float))),
        tuple(map(_incident, _value(values, "incidents", list))),
        _value(values, "rules", dict),
        _value(values, "id", str),
    )


def _value(values: Mapping[str, Any], name: str, kind: type) -> Any:
    if type(values.get(name)) is not kind:
        raise ParameterError(f"its {name} must be of the kind {kind.__name__}")
    return values[name]


def _all_are(name: str, found: Iterable[Any], *kinds: type) -> tuple[Any, ...]:
    if any(type(one) not in kinds for one in found):
        raise ParameterError(f"its {name} must be {kinds[-1].__name__} alone")
    return tuple(found)


def _incident(values: Any) -> ReplayIncident:
    found: list[Any] = [values.get(name) if isinstance(values, dict) else None for name in ReplayIncident._fields]
    if [type(one) for one in found] != [int, int, str]:
        raise ParameterError("each of its incidents must have a seat, a turn and a reason")
    return ReplayIncident(*found)


def save(replay: Replay, path: str | Path) -> None:
    """Write a replay to a file, on a few lines. Raises OSError as `open` does."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in to_json(replay).items())
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def load(path: str | Path) -> Replay:
    """Return the replay in a file that `save` wrote.

    Raises DamagedFileError for other files: what they hold is checked, and never run.
    """
    text = read_text(path, INSTEAD)
    try:
        return from_json(json.loads(text))
    except ParameterError as error:
        raise DamagedFileError(path, f"holds no replay ({error})", INSTEAD) from None
    except (ValueError, OverflowError, RecursionError):  # no JSON, numbers of thousands of digits, a thousand brackets
        raise DamagedFileError(path, "is no JSON", INSTEAD) from None
