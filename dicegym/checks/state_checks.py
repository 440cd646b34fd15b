"""Checks of what a game shows of a state: beginnings, observations, secrets, words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dicegym.checks.common import PLAIN, bytes_of, report_break, run_guarded
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.scene import Scene


def check_beginning(game: Game, state: Any, seed: int, episode: int) -> None:
    """A new game has its key and parameters, and is not over."""
    expected = {"key": game_key(seed, episode), "players": game.players, **game.all_parameters}
    for name, value in expected.items():
        if int(state[name]) != value:
            seen = f"after reset, {name} is {int(state[name])} instead of {value}"
            raise report_break(game, seen, "Let reset keep key, players and parameters")
    if state["over"]:
        raise report_break(game, "a new game is over", "Let reset begin a game in which somebody is to move")


def check_reading(game: Game, state: Any) -> None:
    """Reading kernels fill their buffers, stay inside them and do not change the state."""
    kernels = game.spec.kernels
    before = bytes_of(state)
    readers: list[tuple[str, Callable[[Any], None], int, type, tuple[float, float]]] = [
        ("returns", partial(kernels.returns, state), game.players, np.float32, (7.0, np.inf))
    ]
    if game.has_margin:
        readers.append(("margin", partial(kernels.margin, state), game.players, np.float32, (7.0, np.inf)))
    if not state["over"]:
        readers.append(("legal", partial(kernels.legal, state), game.n_actions, np.bool_, (False, True)))
    for seat in range(game.players):
        look = partial(kernels.observe, state, seat)
        readers.append((f"observe(seat {seat})", look, game.observation_size, np.float32, (7.0, np.inf)))
    for name, reader, length, dtype, fills in readers:
        (one, beyond), (two, beyond_too) = (run_guarded(reader, length, dtype, fill) for fill in fills)
        if beyond or beyond_too:
            remedy = "Compare its indices with n_actions, players and the sum of features(parameters)"
            raise report_break(game, f"{name} writes outside its {length} elements", remedy)
        unlike = (one != two) & ~(np.isnan(one) & np.isnan(two))  # NaN is not equal to itself
        if unlike.any():
            seen = f"{name} leaves the elements {np.flatnonzero(unlike).tolist()} unwritten"
            raise report_break(game, seen, "Write every element: buffers still hold another state's values")
        if bytes_of(state) != before:
            raise report_break(game, f"{name} changes the state", "Let it read only")
        if not np.isfinite(one).all():
            raise report_break(game, f"{name} is not finite", "Correct the kernel")
        if name.startswith("observe") and (one.min() < 0 or one.max() > 1):
            owners = [repr(part) for part, length in game.features.items() for _ in range(length)]
            parts = dict.fromkeys(owners[index] for index in np.flatnonzero((one < 0) | (one > 1)))
            remedy = "The observation space is Box(0, 1): scale or clip the values"
            raise report_break(game, f"{name} leaves 0..1 at {', '.join(parts)}", remedy)


def check_margin(game: Game, state: Any) -> None:
    """Margins sum to zero, and at the end a seat with a higher return has a higher margin."""
    leads, gained = game.margin(state), game.returns(state)
    if abs(leads.sum()) > 1e-4 * max(1.0, np.abs(leads).max()):
        seen = f"margin writes {leads.tolist()}, which sum to {leads.sum():g}"
        raise report_break(game, seen, "Write each seat's own less the mean of the others'")
    if game.has_margin and state["over"]:
        higher = gained[:, None] > gained[None, :]
        if (higher & ~(leads[:, None] > leads[None, :])).any():
            seen = f"at the end margin writes {leads.tolist()} and returns {gained.tolist()}"
            raise report_break(game, seen, "Let a seat with a higher return be further ahead")


def check_secrets(game: Game, state: Any, source: Any) -> None:
    """What a seat can see does not depend on what it may not know.

    That is the key, which determines all future dice, the ``secret`` fields, and other seats' entries of ``private``
    fields. Each is changed in turn: the key's bits, and other fields to their values in ``source``, a state of another
    game.
    """
    looks: dict[str, Callable[[Any, int], Any]] = {
        "observe": lambda state, seat: game.observe(state, seat).tolist(),
        "view": game.view,
        "scene": game.scene,
    }
    private = game.spec.private
    for seat in range(game.players):
        seen = {name: look(state, seat) for name, look in looks.items()}
        for field in ("key", *sorted(private | game.spec.secret)):
            other = state.copy()
            other[field] = int(state[field]) ^ 0x5555_5555_5555_5555 if field == "key" else source[field]
            if field in private:
                other[field][seat] = state[field][seat]
            changed = [f"{name}(seat {seat})" for name, look in looks.items() if seen[name] != look(other, seat)]
            if seat == state["player"] and not np.array_equal(game.legal(state), game.legal(other)):
                changed.append("legal")
            if changed:
                whose = f"the {field} of {'the game' if field in {'key'} | game.spec.secret else 'other seats'}"
                remedy = f"Do not use the field {field!r} there: this player may not know it"
                raise report_break(game, f"{changed[0]} changes with {whose}", remedy)


def check_words(game: Game, state: Any) -> None:
    """Views and scenes exist for every seat, are plain, and do not change the state."""
    before = bytes_of(state)
    for seat in range(game.players):
        view: Any = game.view(state, seat)
        if not (isinstance(view, tuple) and hasattr(view, "_fields")):
            raise report_break(game, f"view(seat {seat}) is a {type(view).__name__}", "Return a NamedTuple")
        for name in view._fields:
            if strange := _not_plain(getattr(view, name)):
                remedy = "Convert it with int(), .tolist() or tuple(): agents may keep a view"
                raise report_break(game, f"view(seat {seat}).{name} holds a {strange}", remedy)
    beginning = game.new_game()[0]
    for viewer in (None, *range(game.players)):
        scene: Any = game.scene(state, viewer)
        if not isinstance(scene, Scene) or not scene.title or not scene.text().strip():
            remedy = "Return a dicegym.engine.scene.Scene with a title"
            raise report_break(game, f"scene(seat {viewer}) is {scene!r}", remedy)
        lines, first = len(scene.lines), len(game.scene(beginning, viewer).lines)
        if lines != first:
            seen = f"scene(seat {viewer}) has {lines} lines, and {first} at the beginning"
            raise report_break(game, seen, "Return an empty Line instead: all pictures have one size")
    if bytes_of(state) != before:
        raise report_break(game, "view or scene changes the state", "Let them read only")


def _not_plain(value: Any) -> str:
    """Return the name of the first type inside ``value`` that is not plain Python, or ''."""
    if isinstance(value, tuple | list | frozenset):
        return next((found for item in value if (found := _not_plain(item))), "")
    if isinstance(value, dict):
        return _not_plain((*value.keys(), *value.values()))
    return "" if type(value) in PLAIN else type(value).__name__


def check_action_names(game: Game) -> None:
    """Every action has a unique name."""
    names: list[Any] = [game.action_name(action) for action in range(game.n_actions)]
    for action, name in enumerate(names):
        if not isinstance(name, str) or not name.strip() or names.index(name) != action:
            remedy = "Return a unique text for each action in action_name"
            raise report_break(game, f"action {action} is called {name!r}", remedy)
