"""Games in words for language models: observations as text, and parsed answers.

An observation (`observation_text`) is the scene as the seat sees it, further known facts, and every legal action as it
is written. An answer is one JSON object, ``{"action": "roll 5"}``. The action is what a person types at the keyboard,
and goes through the same parser (`dicegym.games.controls.Controls.read`). Nothing is extracted from prose: an answer
that cannot be read raises `UnreadableAnswerError`, and one that the rules forbid `IllegalAnswerError`.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import check_seat
from dicegym.errors import ParameterError, one_line
from dicegym.games.hidden import keep_known
from dicegym.games.keyboard import Place, UnreadError
from dicegym.players.sitting import controls_of

ACTION = "action"
"""The only key of an answer."""
MOST_CHARACTERS = 1_000
"""Limit of an answer."""
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {ACTION: {"type": "string", "description": "your action, written as the legal actions are"}},
    "required": [ACTION],
    "additionalProperties": False,
}
"""The JSON schema of an answer."""
RESPONSE_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "answer", "strict": True, "schema": ANSWER_SCHEMA},
}
"""The same, as chat completions take it for ``response_format``."""
ANSWER_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "play", "description": "Play one action.", "strict": True, "parameters": ANSWER_SCHEMA},
}
"""The same, as a tool whose arguments are the answer."""
INSTRUCTION = f'Answer with one JSON object and nothing else: {{"{ACTION}": "..."}}, with your action for the dots.'
"""The end of the system prompt."""


class AnswerError(ParameterError):
    """An answer of a language model is not a playable action; see the two subclasses."""


class UnreadableAnswerError(AnswerError):
    """An answer is not one JSON object with an action of this game."""


class IllegalAnswerError(AnswerError):
    """An answer is an action that the rules do not allow now."""


def rules_text(game: Game) -> str:
    """Return the game in a few lines, and how actions are written, for all decisions of a game."""
    settings = {"players": game.players, **game.parameters}
    listed = ", ".join(f"{name}={value}" for name, value in settings.items())
    return f"You play {game.spec.title} ({listed}).\n{controls_of(game).RULES}"


def observation_text(game: Game, state: Any, seat: int | None = None) -> str:
    """Return what a seat may know as text, with its legal actions if it is to move (the default).

    What the seat may not know is not read (`dicegym.games.hidden`).
    """
    place, shown = _seated(game, state, seat)
    lines = [game.scene(shown, place.seat).text()]
    if not shown["over"]:
        lines += controls_of(game).list_facts(place, shown)
        if place.seat == shown["player"]:
            lines.append(f"You are player {place.seat}, and it is your turn.")
            if game.spec.joint_action is None:
                legal = np.flatnonzero(game.legal(shown)).tolist()
                lines.append(f"Legal actions: {', '.join(_write(place, shown, [action]) for action in legal)}.")
    return "\n".join(lines)


def write_actions(game: Game, state: Any, actions: Sequence[int]) -> str:
    """Return the text of one decision, which `read_action` reads as the same actions.

    Raises ParameterError if the rules do not allow them, or no text describes them.
    """
    place, shown = _seated(game, state)
    if actions:
        with contextlib.suppress(AnswerError):
            _check_legal(place, shown, "", actions)
            read_action(game, state, text := _write(place, shown, actions))
            return text
    raise ParameterError(f"actions={list(actions)} cannot be written: give those of one decision that is legal now")


def write_answer(game: Game, state: Any, actions: Sequence[int]) -> str:
    """Return the answer, a JSON object, which `read_answer` reads as these actions. Raises as `write_actions`."""
    return json.dumps({ACTION: write_actions(game, state, actions)})


def read_answer(game: Game, state: Any, answer: object) -> list[int]:
    """Return the actions of an answer: one, or all actions of an order.

    Raises:
        UnreadableAnswerError: it is not one JSON object with the key ``action``, or the action is unknown.
        IllegalAnswerError: the rules do not allow the action.
    """
    wanted = f'the answer must be one JSON object such as {{"{ACTION}": "..."}}'
    if not isinstance(answer, str) or len(answer) > MOST_CHARACTERS:
        what = f"{len(answer):,} characters" if isinstance(answer, str) else repr(type(answer).__name__)
        raise UnreadableAnswerError(f"{what} cannot be an answer: {wanted}")
    try:
        found = json.loads(answer, object_pairs_hook=list)
    except (ValueError, RecursionError):
        raise UnreadableAnswerError(f"{one_line(answer, 80)!r} is not JSON: {wanted}") from None
    if not (isinstance(found, list) and len(found) == 1 and isinstance(found[0], tuple) and found[0][0] == ACTION):
        raise UnreadableAnswerError(f"{one_line(answer, 80)!r} does not have the key {ACTION!r} alone: {wanted}")
    text = found[0][1]
    if not isinstance(text, str) or not text.strip():
        raise UnreadableAnswerError(f"the action {one_line(text, 80)!r} is not a text: {wanted}")
    return read_action(game, state, text)


def read_action(game: Game, state: Any, text: str) -> list[int]:
    """Return the actions that ``text`` describes; see `read_answer`."""
    place, shown = _seated(game, state)
    words = " ".join(text.lower().split())
    try:
        actions = list(controls_of(game).read(place, shown, words))
    except UnreadError:
        raise UnreadableAnswerError(f"{one_line(text, 80)!r} means nothing here: {_how(place, shown)}") from None
    except ParameterError as error:
        reason = re.split(r"[:?] ", str(error))[0]  # the rest tells a person what to type
        raise IllegalAnswerError(f"{reason}: {_how(place, shown)}") from None
    _check_legal(place, shown, text, actions)
    return actions


def _how(place: Place, shown: Any) -> str:
    """Return a hint how an action is written."""
    if not (legal := np.flatnonzero(place.game.legal(shown))[-1:].tolist()):
        return "the game is over"
    return f"write a legal action as the rules show it, such as {_write(place, shown, legal)!r}"


def decision_start(game: Game, state: Any, seat: int) -> Any:
    """Return the record at the beginning of the decision of ``seat``; a copy if decisions have several actions."""
    if game.spec.joint_action is None:
        return state
    begun = state.copy()
    game.spec.joint_action.withdraw(begun, seat)
    return begun


def _check_legal(place: Place, shown: Any, text: str, actions: Sequence[int]) -> None:
    """Raise IllegalAnswerError unless the actions are one whole, legal decision."""
    game, state = place.game, shown.copy()
    for number, action in enumerate(actions):
        if number and (state["over"] or state["player"] != place.seat):
            raise IllegalAnswerError(f"{one_line(text, 80)!r} is more than one decision: give only the next one")
        is_wide = action >= game.n_actions and not game.step(state.copy(), action)  # several actions at once, legal
        if not is_wide and not (0 <= action < game.n_actions and game.legal(state)[action]):
            raise IllegalAnswerError(f"{one_line(text, 80)!r} is not allowed now: {_how(place, shown)}")
        game.step(state, action)


def _seated(game: Game, state: Any, seat: int | None = None) -> tuple[Place, Any]:
    """Return the place of a seat, and the record with only what the seat may know."""
    sits = check_seat(game, int(state["player"]) if seat is None else seat)
    names = tuple(f"player {number}" for number in range(game.players))
    return Place(game, sits, names), keep_known(game, state, sits)[0]


def _write(place: Place, shown: Any, actions: Sequence[int]) -> str:
    return controls_of(place.game).write_actions(place, shown, actions)
