"""Recorded games: seats and actions, from which a game is played again."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
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
"""Version of the form of files: raised when a key goes or changes its meaning, not when one is added."""
LONGEST_REASON = 300
"""Most characters of a reason that are shown."""
Notes = Mapping[tuple[int, int], str]
"""Notes on decisions, by seat and number of the seat's decision from 1."""
INSTEAD = "give a file as `dicegym arena replay ID -o FILE.json` writes it"
KINDS: dict[str, Any] = {
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
    "id": str,
}
"""Types of the values in files."""
ELEMENTS = {"parameters": (int,), "seats": (str,), "actions": (int,), "returns": (int, float)}
"""Types of their elements."""


def describe_rules(game: Game) -> dict[str, str]:
    """Return the rules of ``game`` as ``fingerprint`` and ``dicegym``, the version."""
    return {"dicegym": package_version(), "fingerprint": game.fingerprint}


class ReplayIncident(NamedTuple):
    """Something that a player did wrong in the game, as the contest noted it."""

    seat: int
    turn: int
    """Number of the seat's decision in the game, from 1; 0: while it sat down or watched."""
    reason: str


class PlayedAction(NamedTuple):
    """One action of a replayed game."""

    seat: int
    turn: int
    """Number of the seat's decision, from 1."""
    action: int
    name: str
    """Its name, for all who may know it."""
    said: str
    """Its meaning in the state before it, for its own seat and viewers that see everything."""
    fault: str
    """The rules' objection; empty if it was legal."""
    reason: str
    """What the contest noted at this decision; empty if nothing."""
    note: str
    """From `Notes`; empty without one."""
    public: bool
    """Whether the other seats may know the action."""

    @property
    def wrong(self) -> bool:
        """Whether something was wrong with it."""
        return bool(self.reason or self.fault or self.note)

    def may_know(self, seat: int | None) -> bool:
        """Return whether a seat may know the action; None: a viewer that sees everything."""
        return self.public or seat in (None, self.seat)

    def words(self, seat: int | None) -> str:
        """Return the action as text, with the faults that a seat may know; None: a viewer that sees everything.

        Reasons and notes are for the own seat: they may quote the player's questions and answers, and the cost of a
        decision tells something about the player's dice.
        """
        own = seat in (None, self.seat)
        wrong = one_line((self.reason or self.fault) if own else self.fault, LONGEST_REASON)
        parts = [self.said if own else self.name, f"({wrong})" if wrong else "", self.note if own else ""]
        return " ".join(filter(None, parts))


class Frame(NamedTuple):
    """A state of a replayed game."""

    done: tuple[PlayedAction, ...]
    """Actions since the frame before: one, or those of all seats where all choose at once; none at first."""
    state: Any
    """A copy of the record."""
    over: bool
    """Whether the game is over."""


@dataclass(frozen=True)
class Replay:
    """One recorded game: plain values, from which it can be played again.

    Attributes:
        game: the name of the game.
        players: number of seats.
        parameters: of the game.
        seed: names the dice, together with ``number``: ``game.new_game(seed, number)``.
        number: number of the game under its seed, from 0.
        seats: the name of the player in each seat.
        actions: of all seats in the order played, forfeits included.
        returns: of each seat at the end.
        incidents: what the players did wrong, in order.
        rules: ``fingerprint`` of the rules, and ``dicegym``, the version.
        id: its name in the store; empty if it is in none.
        unregistered: the game itself if it has no registered name; not in files.
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
        """Raise ParameterError if the values do not fit together."""
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
            raise ParameterError(f"invalid action {one_line(wrong[0], 40)}: actions are 64-bit numbers")

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its rules; empty if it was not recorded."""
        return str(self.rules.get("fingerprint", ""))

    def seat(self, number: int) -> int:
        """Return a seat. Raises ParameterError if it does not exist."""
        if not 0 <= number < self.players:
            raise ParameterError(f"seat {number} is no seat of a game of {self.players}: give 0 to {self.players - 1}")
        return number

    def table(self) -> Game:
        """Return the present game with these parameters, the same object for all games of a contest.

        Raises:
            UnknownNameError: the game, or a parameter, does not exist any more.
            ParameterError: a parameter is out of the present range.
        """
        return self.unregistered or _game(self.game, self.players, tuple(self.parameters.items()))

    def check_rules(self) -> None:
        """Raise ReplayError if it was recorded under other rules than the present ones."""
        today = self.table().fingerprint
        if self.fingerprint == today:
            return
        version = one_line(self.rules.get("dicegym") or "of an unknown version", 40)
        rules = one_line(self.fingerprint or "unknown", 40)
        raise ReplayError(
            f"{self._called} was recorded under rules {rules} (dicegym {version}), "
            f"and these are {today} (dicegym {package_version()}): to see it, use the version that recorded it"
        )

    @property
    def _called(self) -> str:
        return f"game {self.id}" if self.id else f"game {self.number} of seed {self.seed}"

    def states(self) -> list[np.ndarray]:
        """Play it again; return copies of the record at the beginning and after each action, each an array of one.

        Raises:
            ReplayError: the rules have changed, it ends before or not after its last action, or its returns differ.
        """
        return [states for states, _ in self._steps()]

    def end(self) -> np.ndarray:
        """Play it again without a check of its returns; return a copy of the record at its end.

        Raises ReplayError as `states` does.
        """
        return self._steps(paid=False)[-1][0]

    def _steps(self, paid: bool = True) -> list[tuple[np.ndarray, int]]:
        """Return copies of the record, each with the fault of the action before it; 0 at the beginning."""
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
        """Play it again; yield a frame at the beginning and after each action, with ``notes``.

        Where all choose at once (``game.spec.joint_action``), a frame follows when all have chosen. Raises ReplayError
        before the first frame, as `states` does.
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
            words = game.action_name(action), action_in(game, before, action), game.spec.faults[fault]
            said = noted.get(decision, ""), notes.get(decision, "")
            done.append(PlayedAction(*decision, action, *words, *said, _is_public(game, seat, before, state)))
            if is_moment(game, seat, state):
                yield Frame(tuple(done), state, bool(state["over"]))
                done = []
            before = state


@functools.lru_cache(maxsize=64)
def _game(name: str, players: int, parameters: tuple[tuple[str, int], ...]) -> Game:
    """Return a registered game, cached, so that it keeps what it has computed about itself."""
    spec = games.spec(name)
    for parameter, _ in parameters:  # untrusted names: `players` or `self` perhaps
        if parameter not in spec.parameters:
            raise unknown_name("parameter", parameter, [*spec.parameters], f"{spec.title} has none of that name now.")
    return Game(spec, players, **dict(parameters))


def _is_public(game: Game, seat: int, before: Any, after: Any) -> bool:
    """Return whether all seats may know an action: it was not secret, and changed nothing that only its seat knows.

    Public events, such as the end of a hand with all dice shown, are public whatever else changes.
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
        game: the game.
        names: of the players, in the order of the match.
        seed: of the match's games (`dicegym.arena.match.Match.seed`).
        result: from `dicegym.arena.match.play_match`.
        number: number of the game in the match, from 0.

    Raises ParameterError if the match has no such game.
    """
    if not 0 <= number < len(result.seats):
        raise ParameterError(f"there is no game {number} in a match of {len(result.seats)}: the first is 0")
    order = result.seats[number]
    noted = [one for one in result.incidents if one.game == number + 1]
    return _record(
        game,
        seed,
        number,
        seats=tuple(names[player] for player in order),
        actions=tuple(result.actions[number]),
        returns=tuple(result.returns[number][player] for player in order),
        incidents=tuple(ReplayIncident(order.index(one.player), one.turn, one.reason) for one in noted),
    )


def record_replay(game: Game, names: Sequence[str], seed: int, actions: Sequence[int]) -> Replay:
    """Return a game that was played to its end outside of matches.

    Args:
        game: the game.
        names: of the players, by seat.
        seed: of the game (`Game.new_game`).
        actions: of all seats in their order.

    Raises ParameterError if the number of names is wrong, StepError if the game was over before its last action.
    """
    states = game.new_game(seed)
    for action in actions:
        game.step(states[0], action)
    returns = tuple(game.returns(states[0]).tolist())
    return _record(game, seed, 0, seats=tuple(names), actions=tuple(map(int, actions)), returns=returns)


def _record(game: Game, seed: int, number: int, **played: Any) -> Replay:
    played |= {"rules": describe_rules(game), "unregistered": None if game.spec.registered else game}
    return Replay(game.name, game.players, dict(game.parameters), seed, number, **played)


# --- words and scenes -------------------------------------------------------------------------------------------------


def moments(replay: Replay, seat: int | None = None, notes: Notes | None = None) -> Iterator[WatchedMove]:
    """Yield the beginning of a recorded game, and each moment after an action.

    Args:
        replay: the game.
        seat: as this seat saw it, with its hidden things and what is public; None: everything.
        notes: shown with the moves.

    Raises:
        ReplayError: it cannot be played again; raised before the first moment.
        ParameterError: the game has no such seat.
    """
    if seat is not None:
        replay.seat(seat)
    game, names = replay.table(), tell_apart(replay.seats)
    for frame in replay.frames(notes):
        yield moment(game, frame, names, seat)


def moment(game: Game, frame: Frame, names: Sequence[str], seat: int | None = None) -> WatchedMove:
    """Return a frame as text and as a scene; ``names`` are those of the seats, all different."""
    said: dict[int, list[str]] = {}
    for played in frame.done:
        if played.may_know(seat):
            said.setdefault(played.seat, []).append(played.words(seat))
    lines = tuple(f"{names[one]}: {', '.join(texts)}" for one, texts in said.items())
    return watch_move(game, frame.state, lines, names, seat)


def result_lines(replay: Replay, seat: int | None = None) -> list[str]:
    """Return the returns of all seats, and a line for each incident that ``seat`` may know.

    Arguments and errors are as for `moments`.
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
    """Return a replay as values for JSON, by the names of its attributes."""
    plain = {one.name: getattr(replay, one.name) for one in fields(replay) if one.name != "unregistered"}
    lists = {name: list(plain[name]) for name in ("seats", "actions", "returns")}
    incidents = [incident._asdict() for incident in replay.incidents]
    return {"kind": KIND, "version": VERSION} | plain | lists | {"incidents": incidents}


def from_json(values: Any) -> Replay:
    """Return the replay from the values of `to_json`. Raises ParameterError for other values."""
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise ParameterError(f"there is no {KIND} in it")
    if values.get("version") != VERSION:
        raise ParameterError(f"its form has the version {values.get('version')!r}, and {VERSION} is known here")
    found: dict[str, Any] = {}
    for name, kind in KINDS.items():
        value: Any = values.get(name)
        if type(value) is not kind:
            raise ParameterError(f"its {name} must be of the kind {kind.__name__}")
        kinds = ELEMENTS.get(name)
        if kinds and any(type(one) not in kinds for one in (value.values() if kind is dict else value)):
            raise ParameterError(f"its {name} must be {kinds[-1].__name__} alone")
        found[name] = tuple(value) if kind is list else value
    found["returns"] = tuple(map(float, found["returns"]))
    found["incidents"] = tuple(map(_incident, found["incidents"]))
    return Replay(**found)


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

    Raises DamagedFileError for other files. Their content is checked and never run.
    """
    text = read_text(path, INSTEAD)
    try:
        return from_json(json.loads(text))
    except ParameterError as error:
        raise DamagedFileError(path, f"holds no replay ({error})", INSTEAD) from None
    except (ValueError, OverflowError, RecursionError):  # also huge numbers and deep nesting
        raise DamagedFileError(path, "is no JSON", INSTEAD) from None
