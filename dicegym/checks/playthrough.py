"""Golden playthroughs: games written out in full, for people to read and for tests to compare.

A change of rules, observations, names or screens shows in them as a difference that can be reviewed.
To write them anew: ``dicegym games GAME --playthrough > tests/playthroughs/GAME.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dicegym import games
from dicegym.checks import forms
from dicegym.engine.dice import draw_number, named_seed
from dicegym.engine.game import Game
from dicegym.play.drive import walk

HEAD, TAIL = 16, 3
"""Decisions that are shown at the beginning and the end of a game."""
LONGEST = 5_000
"""Decisions after which a game is stopped."""
SLIP = 3
"""The decision at which the second game tries something illegal."""


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def compact(values: np.ndarray) -> str:
    """Return one part of an observation in short form: ``#3`` is one-hot at 3, ``-`` all zero."""
    if len(values) > 1 and set(values.tolist()) <= {0.0, 1.0}:
        ones = np.flatnonzero(values)
        return "#" + ",".join(map(str, ones)) if len(ones) else "-"
    return " ".join(_number(value) for value in values.tolist())


def observation_text(game: Game, state: Any, seat: int) -> str:
    """Return what ``seat`` observes, part by part, on one line."""
    ends = np.cumsum(list(game.features.values()))
    parts = zip(game.features, np.split(game.observe(state, seat), ends[:-1]), strict=True)
    return " | ".join(f"{name}: {compact(values)}" for name, values in parts)


def ranges(numbers: Sequence[int]) -> str:
    """Return increasing whole numbers in short form: ``0 2-5 9``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


def _illegal_action(game: Game, state: Any, otherwise: int) -> int:
    """Return an action that the rules find a fault with, if possible one that is masked out."""
    masked_out = np.flatnonzero(~game.legal(state)).tolist()
    for action in (*masked_out, -1, game.n_actions):
        if game.step(state.copy(), action):
            return int(action)
    return otherwise


def _decision(game: Game, state: Any, time: int, action: int) -> Iterator[str]:
    """Yield the lines of one decision, played in a copy of its record."""
    state = state.copy()
    seat = int(state["player"])
    legal = np.flatnonzero(game.legal(state)).tolist()
    yield f"--- decision {time}: player {seat}"
    yield game.scene(state).text()
    yield f"observation  {observation_text(game, state, seat)}"
    yield f"legal        {ranges(legal)}"
    name = game.action_name(action) if action in legal else "illegal"
    fault = game.step(state, action)
    yield f"action       {action} ({name})" + (f" -> fault {fault}: {game.spec.faults[fault]}" if fault else "")
    yield f"returns      {' '.join(_number(value) for value in game.returns(state).tolist())}"


def _game(game: Game, seed: int, slip: int | None) -> Iterator[str]:
    """Yield the lines of one random game; at decision ``slip`` something illegal is tried."""
    state = game.new_game(seed)[0]
    decisions: list[list[str]] = []

    def choose(state: Any, time: int) -> int:
        legal = np.flatnonzero(game.legal(state))
        action = int(legal[draw_number(named_seed("playthrough", seed), 0, time, 0, len(legal))])
        if time == slip:
            action = _illegal_action(game, state, action)
        decisions.append(list(_decision(game, state, time, action)))
        return action

    for _ in walk(game, state, choose, LONGEST):
        pass
    left_out = len(decisions) - HEAD - TAIL
    for time, lines in enumerate(decisions):
        if left_out <= 0 or time < HEAD or time >= len(decisions) - TAIL:
            yield from lines
        elif time == HEAD:
            yield f"--- {left_out} decisions left out"
    yield f"--- the {'end' if state['over'] else 'game is broken off here'}"
    yield game.scene(state).text()
    for seat in range(game.players):
        yield f"player {seat}     {observation_text(game, state, seat)}"


def playthrough(name: str, **parameters: int) -> str:
    """Return the golden playthrough of a registered game: its facts, a whole game, and one with an illegal action.

    The second has the most players, unless ``parameters`` (as for `dicegym.game`) set them.
    """
    game = games.game(name, **parameters)
    lines = [f"{game.spec.title}: {game!r}", f"actions      {game.n_actions}", "observation  length of each part"]
    lines += [f"  {length:4d}  {part}" for part, length in game.features.items()]
    lines += ["fingerprints"]
    lines += [f"  {form.fingerprint}  {form!r}" for form in forms(game.spec)]
    fullest = games.game(name, **{"players": game.spec.players[1], **parameters})
    for table, seed, slip in ((game, 1, None), (fullest, 2, SLIP)):
        lines += ["", f"=== {table!r}, seed {seed}", *_game(table, seed, slip)]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"
