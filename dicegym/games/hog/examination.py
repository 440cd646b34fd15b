"""The test that bots took before Hog's contest: one question for each pair of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.errors import AgentError, one_line
from dicegym.games.hog.interface import ENTRY_POINT
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE
from dicegym.games.hog.situations import every_situation, situations
from dicegym.play.player import Player
from dicegym.play.turn import Turn


def action_of(name: str, answer: object, score: int, opponent_score: int) -> int:
    """Return the action that a strategy's ``answer`` means. Raises AgentError unless it is a number -1..10."""
    asked = f"{ENTRY_POINT}({score}, {opponent_score})"
    if not is_whole_number(answer):
        if callable(answer):
            raise AgentError(name, f"{asked} returned a function instead of a number")
        kind = (
            ""
            if answer is None
            else f", {'an' if type(answer).__name__[0] in 'aeiou' else 'a'} {type(answer).__name__}"
        )
        raise AgentError(name, f"{asked} returned {_shown(answer)}{kind} instead of an integer")
    if not FIRST_NUMBER <= answer <= MOST_DICE:
        raise AgentError(name, f"{asked} returned {_shown(answer)}, outside {FIRST_NUMBER}..{MOST_DICE}")
    return int(answer) - FIRST_NUMBER


def _shown(answer: object) -> str:
    try:
        return one_line(repr(answer), 60)
    except Exception:
        return "something"


def examine(game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
    """Ask ``player`` for every pair of scores once; return the numbers of dice: int8[goal, goal], own score first.

    ``asked(i)`` is called before question i. Raises AgentError.
    """
    goal = game.parameters["goal"]
    if player.pure:
        asked(goal * goal - 1)
        return _examine_at_once(game, player)
    state = game.new_game()[0]
    act = player.join(game, 0, 0)
    scores, turn = state["scores"], Turn(game, state, 0)
    table = np.zeros(goal * goal, np.int8)
    pairs = [divmod(i, goal) for i in range(goal * goal)]
    many: Callable[[list[tuple[int, int]]], Iterator[int]] | None = getattr(act, "many", None)
    actions = None if many is None else many(pairs)
    for i, pair in enumerate(pairs):
        asked(i)
        if actions is None:
            scores[0], scores[1] = pair
            table[i] = action_of(player.name, act(turn) + FIRST_NUMBER, *pair)
        else:
            table[i] = next(actions)  # of the game's own adapter, which has looked at the answer
    table += FIRST_NUMBER
    table.shape = goal, goal
    return table


def _examine_at_once(game: Game, player: Player) -> np.ndarray:
    """Ask a pure player for all pairs of scores in one call: a network takes milliseconds instead of seconds."""
    goal = game.parameters["goal"]
    states = every_situation(game)
    actions = player.act_rows(game, states, np.arange(len(states)), np.zeros(len(states), np.int64))
    asked = zip(actions.tolist(), states["scores"].tolist(), strict=True)
    numbers = [action_of(player.name, action + FIRST_NUMBER, *pair) + FIRST_NUMBER for action, pair in asked]
    return np.array(numbers, np.int8).reshape(goal, goal)


def actions(game: Game, answers: np.ndarray) -> np.ndarray | None:
    """Return the action in each situation of `dicegym.games.hog.situations`: the pairs of scores in the same order.

    None if that numbers none.
    """
    numbered = situations(game) is not None
    return answers.ravel().astype(np.int64) - FIRST_NUMBER if numbered else None


def question(game: Game, i: int) -> str:
    """Name question ``i`` of `examine` in words."""
    score, opponent_score = divmod(i, game.parameters["goal"])
    return f"{ENTRY_POINT}({score}, {opponent_score})"
