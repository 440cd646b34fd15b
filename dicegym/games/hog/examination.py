"""The test that bots took before Hog's contest: one question for each pair of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.errors import AgentError, one_line
from dicegym.games.hog.interface import ENTRY_POINT
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE
from dicegym.games.hog.twins import every_situation, situations
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

UNIT = "questions"
"""What the test consists of; see `dicegym.games.parts.Examination`."""
SCORES_ALONE = "by_scores_alone"
"""What functions that are asked for actions carry if they look at both scores and nothing else: at the first two of
``turn.view``, which may be a plain pair. What they return is an action, or they raise AgentError."""
RUNS, PARITIES = LONGEST_RUN + 1, 2
"""How many runs and parities of exchanges there are to remember."""


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

    In a game with ``memory`` a player that is told more than both scores is asked for every pair with everything that
    there is to remember: int8[goal, goal, RUNS, PARITIES], also by the own run of Pig outs and the parity of the own
    exchanges. ``asked(i)`` is called before question i. Raises AgentError.
    """
    goal, act = game.parameters["goal"], player.join(game, 0, 0)
    by_scores_alone = getattr(act, SCORES_ALONE, False)
    remembered = (RUNS, PARITIES) if game.parameters["memory"] and not by_scores_alone else ()
    tables = []
    for number, (run, parity) in enumerate(np.ndindex(remembered or (1, 1))):
        first, last = number * goal * goal, (number + 1) * goal * goal - 1
        if player.pure and not by_scores_alone:
            asked(last)
            states = every_situation(game)
            states["runs"][:, 0], states["exchanges"][:, 0] = run, parity
            tables.append(_examine_at_once(game, player, states))
            continue
        actions = _actions(game, player, player.join(game, 0, 0) if number else act, run, parity)
        table = np.empty(goal * goal, np.int8)
        for i in range(goal * goal):
            asked(first + i)
            table[i] = next(actions) + FIRST_NUMBER
        tables.append(table)
    return np.stack(tables, axis=-1).reshape(goal, goal, *remembered)


class _Told:
    """A turn for strategies of both scores alone: making a record and its view takes longer than most strategies do."""

    __slots__ = ("view",)
    view: tuple[int, int]


def _actions(game: Game, player: Player, act: Act, run: int, parity: int) -> Iterator[int]:
    """Yield what a seated player chooses for every pair of scores, one after the other."""
    pairs = [divmod(i, game.parameters["goal"]) for i in range(game.parameters["goal"] ** 2)]
    many: Callable[[list[tuple[int, int]]], Iterator[int]] | None = getattr(act, "many", None)
    if many is not None:
        yield from many(pairs)  # of the game's own adapter, which has looked at the answers
        return
    state, told = game.new_game()[0], _Told()
    state["runs"][0], state["exchanges"][0] = run, parity
    by_scores_alone: Callable[[Any], int] | None = act if getattr(act, SCORES_ALONE, False) else None
    scores, turn = state["scores"], Turn(game, state, 0)
    for pair in pairs:
        if by_scores_alone is not None:
            told.view = pair
            yield by_scores_alone(told)  # which has looked at the answer too
        else:
            scores[0], scores[1] = pair
            yield action_of(player.name, act(turn) + FIRST_NUMBER, *pair)


def _examine_at_once(game: Game, player: Player, states: np.ndarray) -> np.ndarray:
    """Ask a pure player for all pairs of scores in one call: a network takes milliseconds instead of seconds."""
    actions = player.act_rows(game, states, np.arange(len(states)), np.zeros(len(states), np.int64))
    if actions.dtype == np.int64 and actions.min() >= 0 and actions.max() <= MOST_DICE - FIRST_NUMBER:
        return (actions + FIRST_NUMBER).astype(np.int8)
    asked = zip(actions.tolist(), states["scores"].tolist(), strict=True)
    numbers = [action_of(player.name, action + FIRST_NUMBER, *pair) + FIRST_NUMBER for action, pair in asked]
    return np.array(numbers, np.int8)


def actions(game: Game, answers: np.ndarray) -> np.ndarray | None:
    """Return the action in each situation of `dicegym.games.hog.twins`: the pairs of scores in the same order.

    None if that numbers none.
    """
    numbered = situations(game) is not None
    return answers.ravel().astype(np.int64) - FIRST_NUMBER if numbered else None


def question(game: Game, i: int) -> str:
    """Name question ``i`` of `examine` in words."""
    remembered, pair = divmod(i, game.parameters["goal"] ** 2)
    score, opponent_score = divmod(pair, game.parameters["goal"])
    run, parity = divmod(remembered, PARITIES)
    told = f" with a run of {run} and {parity} exchanges" if remembered else ""
    return f"{ENTRY_POINT}({score}, {opponent_score}){told}"
