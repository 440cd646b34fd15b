"""Hog's original bot interface: a file ``hog.py`` with ``final_strategy(score, opponent_score)`` -> -1..10.

The file may be the whole course project: the modules ``dice`` and ``ucb`` that it imports are supplied here,
and ``@main`` does not run it. See `dicegym.bots.program` for what every adapter offers.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.program import Program
from dicegym.bots.source import Source
from dicegym.bots.surroundings import PrivateRandom
from dicegym.engine.game import Game
from dicegym.errors import AgentError, one_line
from dicegym.games.hog.rules import FIRST_NUMBER, MOST_DICE
from dicegym.games.hog.strategy_file import strategy_source
from dicegym.games.hog.twins import every_situation
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

ENTRY_FILES = ("hog.py",)
ENTRY_POINT = "final_strategy"
_UNKNOWN = np.iinfo(np.int16).min


def supplied_modules(rng: PrivateRandom) -> Mapping[str, types.ModuleType]:
    """Return the course's modules ``dice`` and ``ucb``; the dice roll with ``rng``."""
    draw = rng.random

    def four_sided() -> int:
        """Roll a fair die with four sides."""
        return int(draw() * 4) + 1

    def six_sided() -> int:
        """Roll a fair die with six sides."""
        return int(draw() * 6) + 1

    def make_fair_dice(sides: int) -> Callable[[], int]:
        """Return a fair die."""
        return lambda: int(draw() * sides) + 1

    def make_test_dice(*outcomes: int) -> Callable[[], int]:
        """Return a die that shows ``outcomes`` in turn, over and over."""
        position = -1

        def roll() -> int:
            nonlocal position
            position = (position + 1) % len(outcomes)
            return outcomes[position]

        return roll

    def main(function: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``function``: a bot is asked, its program is not run."""
        return function

    def trace(function: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``function``: nobody reads the trace."""
        return function

    def silent(*_: object, **__: object) -> None:
        """Do nothing: there is nobody at the terminal."""

    dice, ucb = types.ModuleType("dice"), types.ModuleType("ucb")
    vars(dice).update(
        four_sided=four_sided, six_sided=six_sided, make_fair_dice=make_fair_dice, make_test_dice=make_test_dice
    )
    vars(ucb).update(main=main, trace=trace, log_current_line=silent, interact=silent)
    return {"dice": dice, "ucb": ucb}


def find(program: Program) -> Callable[..., Any]:
    """Return the strategy in a program: (score, opponent_score) -> number. Raises AgentError."""
    return program.entry(ENTRY_POINT)


def action_of(name: str, answer: object, score: int, opponent_score: int) -> int:
    """Return the action that a strategy's ``answer`` means. Raises AgentError unless it is a number -1..10."""
    asked = f"{ENTRY_POINT}({score}, {opponent_score})"
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, int | np.integer):
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


def sit(program: Program, strategy: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``strategy`` for actions."""

    def act(turn: Turn) -> int:
        score, opponent_score, *_ = turn.view
        try:
            answer = strategy(score, opponent_score)
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}({score}, {opponent_score})") from error
        if type(answer) is int and FIRST_NUMBER <= answer <= MOST_DICE:
            return answer - FIRST_NUMBER
        return action_of(program.name, answer, score, opponent_score)

    return act


class HogBot(BotPlayer):
    """A file of the original interface; a pure one is asked once for each pair of scores and then looked up."""

    _known: np.ndarray | None = None  # int16[goal, goal]: the action for each pair, or _UNKNOWN

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an action for each row; see `Player.act_rows`."""
        goal = game.parameters["goal"]
        if self._known is None or len(self._known) != goal:
            self._known = np.full((goal, goal), _UNKNOWN, np.int16)
        scores = states["scores"]
        own, opponent = scores[rows, seats], scores[rows, 1 - seats]
        actions: np.ndarray = self._known[own, opponent].astype(np.int64)
        missing = np.flatnonzero(actions == _UNKNOWN)
        if len(missing):
            actions[missing] = super().act_rows(game, states, rows[missing], seats[missing])
            self._known[own[missing], opponent[missing]] = actions[missing]
        return actions


def recognises(text: str) -> bool:
    """Return whether a file with this text looks like a bot of this game."""
    return ENTRY_POINT in text


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that chooses as ``player`` does; see `dicegym.bots.export`."""
    heading = f"The choices of {player.name} in Hog, written out.\n\nMade by `dicegym export`."
    return strategy_source(examine(game, player, lambda question: None), heading)


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return HogBot(source, name, supplied_modules, find, sit, keep, seed)


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
    for i in range(goal * goal):
        asked(i)
        scores[0], scores[1] = divmod(i, goal)
        table[i] = action_of(player.name, act(turn) + FIRST_NUMBER, *divmod(i, goal))
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


def question(game: Game, i: int) -> str:
    """Name question ``i`` of `examine` in words."""
    score, opponent_score = divmod(i, game.parameters["goal"])
    return f"{ENTRY_POINT}({score}, {opponent_score})"
