"""The bots of Liar's Dice with "spot on" as players: from what ``move`` answers to actions.

The bot's own half is ``interface.py``. What adapters offer: `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import shown
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Asked, explaining
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.games.bidding.table import FACES, N_BIDS
from dicegym.games.liarsdice_spot_on import interface
from dicegym.games.liarsdice_spot_on.interface import ENTRY_POINT
from dicegym.games.liarsdice_spot_on.rules import LARGEST, MOST_BIDS, N_CHALLENGES, NO_MOVE
from dicegym.games.liarsdice_spot_on.text import CHALLENGES
from dicegym.play.turn import Act, Turn

ACTIONS = {word: action for action, word in CHALLENGES.items()}
"""The challenges by their words."""
SHOWN_BIDS = 10
"""Of a round that had more, those in the middle are left out where a question is told."""


def action_of(answer: object) -> int:
    """Return the action that an answer of ``move`` means; a wide one if it is neither a bid nor a challenge."""
    if isinstance(answer, str):
        return ACTIONS.get(answer, NO_MOVE)
    if not isinstance(answer, tuple) or len(answer) != 2:
        return NO_MOVE
    quantity, face = answer
    if type(quantity) is not int or type(face) is not int:
        if not (is_whole_number(quantity) and is_whole_number(face)):
            return NO_MOVE
        quantity, face = int(quantity), int(face)
    if quantity < 1 or not 1 <= face <= FACES:
        return NO_MOVE
    bid = (min(quantity, LARGEST) - 1) * FACES + face - 1
    return bid if bid < N_BIDS else bid + N_CHALLENGES


def sit(program: Asked, move: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``move`` for actions."""

    def act(turn: Turn) -> int:
        view: Any = turn.view
        try:
            answer = move([bid[1:] for bid in view.bids], list(view.hand), list(view.left))
            program.last = in_words, answer, (view,)
            return action_of(answer)
        except BaseException as error:
            raise program.failure(error, f"in {_call(view)}") from error

    return explaining(act, program)


def _call(view: Any) -> str:
    """Return the question as it would be typed; of a long round its first bid and its last ones."""
    bids = [shown(tuple(bid[1:])) for bid in view.bids]
    if len(bids) > SHOWN_BIDS:
        bids[1 : 1 - SHOWN_BIDS] = ["..."]
    return f"{ENTRY_POINT}([{', '.join(bids)}], {shown(list(view.hand))}, {shown(list(view.left))})"


def in_words(answer: object, view: Any) -> str:
    """Return what was answered, to what, and what is wrong with it by itself."""
    full = len(view.bids) == MOST_BIDS and not isinstance(answer, str)
    rule = f" after the {MOST_BIDS} bids that a round may have: make a challenge" if full else ""
    return f"{_call(view)} returned {shown(answer, 60)}{_wrong(answer) or rule}"


def _wrong(answer: object) -> str:
    words = ", ".join(f"{word!r}" for word in ACTIONS)
    if isinstance(answer, str):
        return "" if answer in ACTIONS else f", which is not one of {words}"
    if not isinstance(answer, tuple):
        return f": a {type(answer).__name__}, where a bid is a tuple (quantity, face), and a challenge one of {words}"
    if len(answer) != 2:
        return f": a tuple of {len(answer)}, where a bid is (quantity, face)"
    if not all(map(is_whole_number, answer)):
        return ", where quantity and face are whole numbers"
    if answer[0] < 1:
        return ", where a quantity is at least 1"
    return "" if 1 <= answer[1] <= FACES else f", of which {answer[1]} is no face 1 to {FACES}"


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> BotPlayer:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return BotPlayer(source, name, interface, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a class with ``move``, or of such a function; see `LiveBot`."""
    return LiveBot(bot, name, interface, sit, ENTRY_POINT)
