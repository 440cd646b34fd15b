"""Does a game, or an agent, keep the promises that everything else relies on?

`check_game` and `check_agent` know no game by name. They play a few random games, look at every state on the
way and raise `dicegym.errors.ConformanceError` at the first broken promise: what was seen, why it matters,
what to do. A new game or agent is in order when they return.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dicegym import loops
from dicegym.core import HEADER, Game, Parameter, Rules
from dicegym.dice import drawn, game_key, named_seed, private_seed
from dicegym.errors import ConformanceError
from dicegym.players import Act, Player, RandomPlayer, Turn
from dicegym.scene import Scene

GUARD = 32
"""Elements on each side of a buffer that no kernel may touch."""
STRANGE_ACTIONS = (-1, -128, 2**31, 2**63 - 1, -(2**63))
"""Whole numbers that are hardly anybody's action; a contest entry may return them all the same."""
PLAIN = (bool, int, float, str, type(None))

# --- means -------------------------------------------------------------------------------------------------


def _fail(subject: object, seen: str, why: str, remedy: str) -> ConformanceError:
    return ConformanceError(f"{subject}: {seen}. {why}. {remedy}.")


def _random(n: int, *parts: object) -> int:
    """Return a number in 0..n-1 that depends on ``parts`` alone."""
    return drawn(named_seed("check", *parts), 0, 0, 0, n)


def _random_action(game: Game, state: Any, *parts: object) -> int:
    check_running(game, state)
    choices = np.flatnonzero(game.legal(state))
    return int(choices[_random(len(choices), *parts)])


def _bytes(state: Any) -> bytes:
    return bytes(state.tobytes())


def _from_bytes(game: Game, data: bytes) -> Any:
    states = game.new_states(1)
    states[:] = np.frombuffer(data, game.rules.state)
    return states[0]


def _states(game: Game, games: int, longest: int, seed: int) -> Iterator[Any]:
    """Yield every state of some random games, the final ones included. Whoever asks must not change them."""
    for episode in range(games):
        state = game.new_game(seed, episode)[0]
        for time in range(longest):
            yield state
            if state["over"]:
                break
            game.step(state, _random_action(game, state, seed, episode, time))


def _guarded(kernel: Callable[[Any], None], n: int, dtype: type, fill: float) -> tuple[np.ndarray, bool]:
    """Return what ``kernel`` writes into n elements that held ``fill``, and whether it wrote around them."""
    buffer: np.ndarray = np.full(n + 2 * GUARD, fill, dtype)
    inside = buffer[GUARD : GUARD + n]
    kernel(inside)
    around = np.concatenate([buffer[:GUARD], buffer[GUARD + n :]])
    return inside, not np.array_equal(around, np.full(2 * GUARD, fill, dtype))


def forms(rules: Rules) -> list[Game]:
    """Return a game in the forms worth checking: as it is, at its fullest table, each parameter at either end."""
    ends = [{name: end} for name, parameter in rules.parameters.items() for end in (parameter.low, parameter.high)]
    found = [Game(rules), Game(rules, rules.players[1]), *(Game(rules, **end) for end in ends)]
    return list(dict.fromkeys(found))


# --- the facts of a game -----------------------------------------------------------------------------------


def check_facts(game: Game) -> None:
    """The fact sheet agrees with itself."""
    rules = game.rules
    remedy = f"Correct the Rules(...) at the end of {rules.kernels.step.__module__}"
    names = rules.state.names or ()
    for position, (name, kind) in enumerate(HEADER):
        if names[position : position + 1] != (name,) or rules.state[name] != np.dtype(kind):
            raise _fail(
                game, f"field {position} of the record is not {name!r} of {np.dtype(kind)}",
                "The generic loops read and write the fields of dicegym.core.HEADER",
                "Build the record with dicegym.core.record",
            )  # fmt: skip
    low, high = rules.players
    if not 1 <= low <= high:
        raise _fail(game, f"players is {rules.players}", "It names the fewest and the most seats", remedy)
    if rules.n_actions < 1:
        raise _fail(game, f"n_actions is {rules.n_actions}", "A player must have a choice", remedy)
    if len(rules.faults) < 2 or rules.faults[0] or not all(rules.faults[1:]):
        raise _fail(
            game, f"faults is {rules.faults!r}",
            "step answers an illegal action with the number of a fault, and 0 stands for none", remedy,
        )  # fmt: skip
    for name in ("name", "title", "default_opponent", "yardstick"):
        if not getattr(rules, name):
            raise _fail(game, f"{name} is empty", "Reports and environments show it or load it", remedy)
    for name, parameter in rules.parameters.items():
        _check_parameter(game, name, parameter, remedy)
    for name, length in game.features.items():
        if length < 1:
            raise _fail(
                game, f"the observation part {name!r} has length {length}",
                "Parts that a setting leaves out must not be listed under it", "Correct features(parameters)",
            )  # fmt: skip


def _check_parameter(game: Game, name: str, parameter: Parameter, remedy: str) -> None:
    if name not in (game.rules.state.names or ()):
        raise _fail(
            game, f"the parameter {name!r} is no field of the record",
            "Kernels know the parameters from the record alone", "Add a field of that name to STATE",
        )  # fmt: skip
    if not parameter.low <= parameter.default <= parameter.high:
        raise _fail(
            game, f"the default of {name!r} is outside its range: {parameter}",
            "The game could not be made without naming the parameter", remedy,
        )  # fmt: skip
    for value in (parameter.low, parameter.high):
        held = np.asarray([value]).astype(game.rules.state[name])
        if int(held[0]) != value:
            raise _fail(
                game, f"{name}={value} is allowed but does not fit its field of {game.rules.state[name]}",
                "The rules would read another value", "Widen the field or narrow the range",
            )  # fmt: skip


def check_identity(game: Game) -> None:
    """The game survives pickling and is equal to another one made alike, fingerprint included."""
    again = pickle.loads(pickle.dumps(game))
    if again != game or hash(again) != hash(game):
        raise _fail(
            game, f"a pickled copy is {again!r}", "Vector environments send games to other processes",
            "Keep the fact sheet in the module of the kernels, under the name RULES",
        )  # fmt: skip
    if again.fingerprint != game.fingerprint:
        raise _fail(
            game, "its fingerprint changes from one computation to the next",
            "Models are refused by it when the rules have changed",
            "Look for a kernel that leaves part of its output unwritten or draws from outside dicegym.dice",
        )  # fmt: skip


# --- the kernels of a game, state by state -----------------------------------------------------------------


def check_beginning(game: Game, state: Any, seed: int, episode: int) -> None:
    """A new game has its key and parameters, a player to move and something for it to do."""
    expected = {"key": game_key(seed, episode), "players": game.players, **game.parameters}
    for name, value in expected.items():
        if int(state[name]) != value:
            raise _fail(
                game, f"after reset, {name} is {int(state[name])} instead of {value}",
                "Key, players and parameters are set before reset is asked", "Let reset leave them as they are",
            )  # fmt: skip
    if state["over"]:
        raise _fail(game, "a new game is over", "Environments play on at once after a reset", "Correct reset")


def check_running(game: Game, state: Any) -> None:
    """Somebody is to move and has a legal action, or the game is over."""
    if state["over"]:
        return
    if not 0 <= state["player"] < game.players:
        raise _fail(
            game, f"player {int(state['player'])} is to move", f"Seats are 0 to {game.players - 1}",
            "Correct reset or step",
        )  # fmt: skip
    if not game.legal(state).any():
        raise _fail(
            game, f"player {int(state['player'])} has no legal action", "A player must be able to move",
            "Let step pass over such players, or end the game",
        )  # fmt: skip


def check_reading(game: Game, state: Any) -> None:
    """Reading kernels fill their buffers, stay inside them and leave the state alone."""
    kernels = game.rules.kernels
    before = _bytes(state)
    readers: list[tuple[str, Callable[[Any], None], int, type, tuple[float, float]]] = [
        ("returns", partial(kernels.returns, state), game.players, np.float32, (7.0, np.inf)),
    ]
    if not state["over"]:
        readers.append(("legal", partial(kernels.legal, state), game.n_actions, np.bool_, (False, True)))
    for seat in range(game.players):
        look = partial(kernels.observe, state, seat)
        readers.append((f"observe(seat {seat})", look, game.observation_size, np.float32, (7.0, np.inf)))
    for name, reader, length, dtype, fills in readers:
        (one, beyond), (two, beyond_too) = (_guarded(reader, length, dtype, fill) for fill in fills)
        if beyond or beyond_too:
            raise _fail(
                game, f"{name} writes outside its {length} elements", "That is somebody else's memory",
                "Compare its indices with n_actions, players and the sum of features(parameters)",
            )  # fmt: skip
        unlike = (one != two) & ~(np.isnan(one) & np.isnan(two))  # NaN is unlike itself
        if unlike.any():
            where = np.flatnonzero(unlike).tolist()
            raise _fail(
                game, f"{name} leaves the elements {where} as they were",
                "Buffers are used again and hold what another state left there", "Write every element",
            )  # fmt: skip
        if _bytes(state) != before:
            raise _fail(game, f"{name} changes the state", "It is asked any number of times", "Let it read only")
        if not np.isfinite(one).all():
            raise _fail(game, f"{name} is not finite", "Nothing can be learned from that", "Correct the kernel")
        if name.startswith("observe") and (one.min() < 0 or one.max() > 1):
            where = np.flatnonzero((one < 0) | (one > 1)).tolist()
            raise _fail(
                game, f"{name} leaves 0..1 at {_parts_at(game, where)}", "The observation space is Box(0, 1)",
                "Scale the values or cut them off",
            )  # fmt: skip


def _parts_at(game: Game, where: list[int]) -> str:
    """Return the names of the observation parts that hold the elements ``where``."""
    owners = [name for name, length in game.features.items() for _ in range(length)]
    return ", ".join(dict.fromkeys(repr(owners[index]) for index in where))


def check_secrets(game: Game, state: Any) -> None:
    """The key, which names all dice to come, shows in nothing that a player can see."""
    other = state.copy()
    other["key"] = int(state["key"]) ^ 0x5555_5555_5555_5555
    for seat in range(game.players):
        looks: dict[str, Callable[[Any, int], Any]] = {
            "observe": lambda state, seat: game.observe(state, seat).tolist(),
            "view": game.view,
            "scene": game.scene,
        }
        for name, look in looks.items():
            if look(state, seat) != look(other, seat):
                raise _fail(
                    game, f"{name}(seat {seat}) changes with the key of the game",
                    "Whoever sees the key can work out every die to come", "Leave the field 'key' out of it",
                )  # fmt: skip
    if not np.array_equal(game.legal(state), game.legal(other)):
        raise _fail(
            game, "legal changes with the key of the game", "The mask is shown to players",
            "Leave the field 'key' out of it",
        )  # fmt: skip


def check_words(game: Game, state: Any) -> None:
    """Views and scenes exist for every seat, are plain, and leave the state alone."""
    before = _bytes(state)
    for seat in range(game.players):
        view: Any = game.view(state, seat)
        if not (isinstance(view, tuple) and hasattr(view, "_fields")):
            raise _fail(
                game, f"view(seat {seat}) is a {type(view).__name__}", "Agents read its values by name",
                "Return a NamedTuple",
            )  # fmt: skip
        for name in view._fields:
            if strange := _not_plain(getattr(view, name)):
                raise _fail(
                    game, f"view(seat {seat}).{name} holds a {strange}",
                    "Agents may keep a view and get plain Python values, which do not change with the game",
                    "Convert it with int(), .tolist() or tuple()",
                )  # fmt: skip
    for viewer in (None, *range(game.players)):
        scene: Any = game.scene(state, viewer)
        if not isinstance(scene, Scene) or not scene.title or not scene.text().strip():
            raise _fail(
                game, f"scene(seat {viewer}) is {scene!r}", "The terminal and pictures draw it",
                "Return a dicegym.scene.Scene with a title",
            )  # fmt: skip
    if _bytes(state) != before:
        raise _fail(game, "view or scene changes the state", "Looking is free", "Let them read only")


def _not_plain(value: Any) -> str:
    """Return the name of the first type inside ``value`` that is not plain Python, or ''."""
    if isinstance(value, tuple | list | frozenset):
        return next((found for item in value if (found := _not_plain(item))), "")
    if isinstance(value, dict):
        return _not_plain((*value.keys(), *value.values()))
    return "" if type(value) in PLAIN else type(value).__name__


def check_action_names(game: Game) -> None:
    """Every action has a name of its own."""
    names: list[Any] = [game.action_name(action) for action in range(game.n_actions)]
    for action, name in enumerate(names):
        if not isinstance(name, str) or not name.strip() or names.index(name) != action:
            raise _fail(
                game, f"action {action} is called {name!r}", "People choose and read actions by their names",
                "Give each action a text of its own in action_name",
            )  # fmt: skip


def check_actions(game: Game, state: Any) -> None:
    """Mask and step agree on what is legal, and whatever is done leaves a state that can be played."""
    if state["over"]:
        return
    mask = game.legal(state)
    for action in (*range(game.n_actions), *STRANGE_ACTIONS):
        branch = state.copy()
        fault = game.step(branch, action)
        if not 0 <= fault < len(game.rules.faults):
            raise _fail(
                game, f"step({action}) returns {fault}", f"faults has {len(game.rules.faults)} entries",
                "Return 0 or the index of a fault",
            )  # fmt: skip
        if 0 <= action < game.n_actions and (fault == 0) != mask[action]:
            verdict = "takes" if fault == 0 else f"finds fault {fault} with"
            raise _fail(
                game, f"step {verdict} action {action} ({game.action_name(action)}), "
                f"and legal calls it {'legal' if mask[action] else 'illegal'}",
                "Learners choose by the mask and are judged by step", "Let both ask the same function",
            )  # fmt: skip
        for name in ("key", "players", *game.parameters):
            if branch[name] != state[name]:
                raise _fail(
                    game, f"step({action}) changes {name}", "It belongs to the whole game",
                    "Keep what changes in a field of the game's own",
                )  # fmt: skip
        check_running(game, branch)


def check_branching(game: Game, state: Any, time: int) -> None:
    """A copy, or a state saved and loaded, goes on exactly as the original would, and leaves it alone."""
    if state["over"]:
        return
    before = _bytes(state)
    copies = [state.copy(), state.copy(), _from_bytes(game, before)]
    if any(_bytes(copy) != before for copy in copies):
        raise _fail(
            game, "a copy has other bytes than the original", "The bytes of a record are its save file",
            "Build the record with dicegym.core.record, which leaves no gaps between fields",
        )  # fmt: skip
    for copy in copies:
        for step in range(4):
            if not copy["over"]:
                game.step(copy, _random_action(game, copy, "branch", time, step))
    if _bytes(state) != before:
        raise _fail(game, "playing a copy changes the original", "A copy is a branch", "Keep no state elsewhere")
    if len({_bytes(copy) for copy in copies}) > 1:
        raise _fail(
            game, "the same actions from the same state lead to different states",
            "A game is a function of its key and the actions, so that it can be played again",
            "Take all chance from dicegym.dice and all memory from the record",
        )  # fmt: skip


def check_ending(game: Game, seed: int, longest: int) -> None:
    """Games end, under random legal actions as with illegal ones among them, and then nobody may move."""
    for illegal in (False, True):
        state = game.new_game(seed)[0]
        for time in range(longest):
            if state["over"]:
                break
            action = _random_action(game, state, "end", seed, time)
            if illegal and _random(3, "slip", time) == 0:
                action = game.n_actions + _random(50, "slip", time) - 25
            game.step(state, action)
        if not state["over"]:
            raise _fail(
                game, f"after {longest} random decisions{', some illegal,' * illegal} a game is not over",
                "Whoever plays it would wait for ever",
                "Let the rules end it, or pass a higher `longest` if games are that long",
            )  # fmt: skip
        if game.legal(state).any():
            raise _fail(game, "actions are legal after the end", "The end is final", "Use Game.legal as it is")


def check_batch(game: Game, seed: int, rows: int = 5, decisions: int = 50) -> None:
    """Games in a batch go as each would alone, and a finished one gives way to its seed's next episode."""
    batch = game.batch(rows, seed)
    alone = [game.new_game(seed + row)[0] for row in range(rows)]
    episodes = [0] * rows
    for time in range(decisions):
        actions = batch.random_actions(time).copy()
        batch.step(actions)
        for row, action in enumerate(actions.tolist()):
            game.step(alone[row], action)
            over, gained = bool(alone[row]["over"]), game.returns(alone[row])
            if over:
                episodes[row] += 1
                alone[row] = game.new_game(seed + row, episodes[row])[0]
            state = alone[row]
            same = (
                over == bool(batch.overs[row])
                and (not over or np.array_equal(gained, batch.results[row]))
                and _bytes(state) == _bytes(batch.states[row])
                and np.array_equal(game.legal(state), batch.masks[row])
                and np.array_equal(game.observe(state, int(state["player"])), batch.observations[row])
            )
            if not same:
                raise _fail(
                    game, f"game {row} of a batch differs from the same game alone after {time + 1} decisions",
                    "Training sees batches and contests see single games",
                    "Look for a kernel that reads or writes outside its own record",
                )  # fmt: skip


def check_game(game: Game, games: int = 5, longest: int = 20_000, seed: int = 0) -> None:
    """Check every promise of a game over all states of ``games`` random games.

    Args:
        game: the game with its parameters; `forms` lists those worth checking.
        games: how many games are looked at state by state, the first 200 decisions of each.
        longest: decisions after which a game counts as never ending.
        seed: names the games that are played.

    Raises:
        ConformanceError: the first broken promise; the message says what was seen, why it matters, what to do.
    """
    check_facts(game)
    check_action_names(game)
    for episode in range(games):
        check_beginning(game, game.new_game(seed, episode)[0], seed, episode)
    for time, state in enumerate(_states(game, games, 200, seed)):
        check_running(game, state)
        check_reading(game, state)
        check_words(game, state)
        check_secrets(game, state)
        check_actions(game, state)
        check_branching(game, state, time)
    check_ending(game, seed, longest)
    check_batch(game, seed)
    check_identity(game)


# --- agents ------------------------------------------------------------------------------------------------


class _Table:
    """One game in which ``player`` has a seat and random players have the others; played decision by decision."""

    def __init__(self, game: Game, player: Player, seat: int, seed: int) -> None:
        self.game, self.player, self.seat = game, player, seat
        self.state = game.new_game(seed)[0]
        self.chosen: list[int] = []
        key = int(self.state["key"])
        self.acts = {}
        for place in range(game.players):
            self.acts[place] = self._join(player if place == seat else RandomPlayer(), place, private_seed(key, place))

    def _join(self, player: Player, seat: int, seed: int) -> Act:
        try:
            act = player.join(self.game, seat, seed)
        except Exception as error:
            raise self._fail(
                f"join raises {type(error).__name__}: {error}", "Nobody can play with it",
                "Let it play this game, or do not offer it for it",
            ) from error  # fmt: skip
        if not callable(act):
            raise self._fail(
                f"join returns {act!r}", "It is asked for each action", "Return a function from Turn to an action"
            )
        return act

    def _fail(self, seen: str, why: str, remedy: str) -> ConformanceError:
        return _fail(f"agent {self.player.name!r} in seat {self.seat} of {self.game!r}", seen, why, remedy)

    def play(self) -> bool:
        """Play one decision; return whether the game goes on."""
        seat = int(self.state["player"])
        turn = Turn(self.game, self.state, seat)
        action = self._ask(turn) if seat == self.seat else self.acts[seat](turn)
        fault = self.game.step(self.state, action)
        if fault and seat == self.seat:
            raise self._fail(
                f"it answers {action}: {self.game.rules.faults[fault]}",
                "An illegal action costs what the rules say, up to the game",
                "Choose among np.flatnonzero(turn.mask)",
            )
        return not self.state["over"]

    def _ask(self, turn: Turn) -> int:
        before, blank = _bytes(self.state), self.game.blank.tobytes()
        try:
            answer = self.acts[self.seat](turn)
        except Exception as error:
            raise self._fail(
                f"it raises {type(error).__name__}: {error}", "The game cannot go on", "Catch it, or mend the agent"
            ) from error
        if _bytes(self.state) != before or self.game.blank.tobytes() != blank:
            raise self._fail(
                "it changes the game while it is asked", "Players change a game by their actions alone",
                "Work on turn.view, turn.observation and turn.mask, which are copies",
            )  # fmt: skip
        try:
            action = operator.index(answer)
        except TypeError:
            raise self._fail(
                f"it answers {answer!r} of type {type(answer).__name__}", "Actions are whole numbers",
                "Return an int",
            ) from None  # fmt: skip
        self.chosen.append(action)
        return action


def _play_in_turn(tables: list[_Table]) -> list[list[int]]:
    for table in tables:
        while table.play():
            pass
    return [table.chosen for table in tables]


def _play_side_by_side(tables: list[_Table]) -> list[list[int]]:
    going = tables
    while going:
        going = [table for table in going if table.play()]
    return [table.chosen for table in tables]


def check_agent(game: Game, player: Player, games: int = 4, seed: int = 0) -> None:
    """Check an agent in ``games`` games against random players from every seat.

    Raises:
        ConformanceError: it fails, answers with something illegal or with no whole number, changes the game,
            plays the same game differently when it is played again or beside others, or calls itself pure
            and is not. The message says what was seen, why it matters, what to do.
    """

    def tables() -> list[_Table]:
        return [_Table(game, player, seat, seed + i) for seat in range(game.players) for i in range(games)]

    def fail(seen: str, why: str, remedy: str) -> ConformanceError:
        return _fail(f"agent {player.name!r} in {game!r}", seen, why, remedy)

    first = _play_in_turn(tables())
    if first != _play_in_turn(tables()):
        raise fail(
            "it plays the same games with the same seeds differently the second time",
            "Results must be repeatable",
            "Draw from a generator made of the seed given to join, and keep no memory from game to game",
        )
    if first != _play_side_by_side(tables()):
        raise fail(
            "it plays differently when its games are played side by side",
            "Tournaments and environments hold many games at once",
            "Keep the memory of a game in what join returns, not in the player",
        )
    if player.pure:
        _check_pure(game, player, seed, fail)


def _check_pure(game: Game, player: Player, seed: int, fail: Callable[[str, str, str], ConformanceError]) -> None:
    """A pure player answers each state by itself: in any order, for any seed, in rows as one by one."""
    states = game.new_states(64)
    blank_rows = np.arange(len(states))
    seeds = np.uint64(seed) + blank_rows.astype(np.uint64)
    loops.begin_rows(states, blank_rows, game.blank, seeds, np.zeros(len(states), np.uint64))
    for row in range(len(states)):
        for time in range(_random(20, "pure", row)):
            before = states[row].copy()
            game.step(states[row], _random_action(game, states[row], "pure", row, time))
            if states[row]["over"]:
                states[row] = before
                break
    seats = states["player"].astype(np.int64)
    one_by_one = [
        operator.index(player.join(game, int(seats[row]), 1000 + row)(Turn(game, states[row], int(seats[row]))))
        for row in range(len(states))
    ]
    rows = np.flip(blank_rows)
    together = np.asarray(player.act_rows(game, states, rows, seats[rows]))
    if together.shape != rows.shape or together.dtype.kind not in "iu":
        raise fail(
            f"act_rows answers {len(rows)} games with shape {together.shape} of {together.dtype}",
            "Each game needs one action", "Return np.int64, one for each of rows",
        )  # fmt: skip
    if together.tolist() != [one_by_one[row] for row in rows]:
        raise fail(
            "it calls itself pure, but act_rows, other seeds or another order change its answers",
            "Pure players are asked for many games at once, in any order",
            "Set pure = False, or let the answer depend on the turn alone",
        )
