"""The bots of classic Liar's Dice as players: hands and plays as the text that a bot reads, and its plays as actions.

The bot's own half is ``interface.py``. What adapters offer: `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.calls import call_text, shown
from dicegym.bots.live_bot import LiveBot
from dicegym.bots.program import Asked
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.bidding.table import FACES, MOST_QUANTITY
from dicegym.games.bidding.view import Bid, Showdown, View
from dicegym.games.liarsdice import interface
from dicegym.games.liarsdice.rules import LIAR, NO_PLAY
from dicegym.play.turn import Act, Turn

IDS = "ABCDEF"
CALL = 0
"""The play that calls liar."""


def play_of(quantity: int, face: int) -> int:
    """Return the play that bids ``quantity`` of ``face``."""
    return quantity * 10 + face


def action_of(play: int) -> int:
    """Return the action that a play means; a wide one if it is no play at all."""
    if play == CALL:
        return LIAR
    quantity, face = divmod(play, 10)
    if 1 <= quantity <= MOST_QUANTITY and 1 <= face <= FACES:
        return (quantity - 1) * FACES + face - 1
    return NO_PLAY


def meaning_of(play: int, bids: Sequence[Bid]) -> int:
    """Return the action that a play means after ``bids``: one that is not higher than the last one calls liar."""
    action = action_of(play)
    return LIAR if bids and action < LIAR and play <= play_of(bids[-1].quantity, bids[-1].face) else action


def in_words(answer: object, me: str, hands: str, history: str) -> str:
    """Return what was answered, to what, and what is wrong with it by itself."""
    return f"returned {shown(answer, 60)}{_wrong(answer)} when asked {call_text('', (me, hands, history), 600)}"


def _wrong(answer: Any) -> str:
    try:
        play = int(answer)
    except Exception:
        return ", which is no number"
    quantity, face = divmod(play, 10)
    if play == CALL:
        return ""
    if play < 0:
        return ", which is below 0"
    if not 1 <= face <= FACES:
        return f", of which the last digit, {face}, is no face 1 to {FACES}"
    if quantity < 1:
        return f", a quantity of 0 (one {face} is {play_of(1, face)})"
    if quantity > MOST_QUANTITY:
        return f", a quantity of {quantity}, where no table has more than {MOST_QUANTITY} dice"
    return ""


@lru_cache(maxsize=1024)
def _digits(hand: tuple[int, ...]) -> str:
    return "".join(map(str, hand))


@lru_cache(maxsize=4096)
def _said(ids: Sequence[str], bid: Bid) -> str:
    return f"{ids[bid.seat]}:{play_of(bid.quantity, bid.face)}"


@lru_cache(maxsize=1024)
def ids_of(order: tuple[int, ...]) -> tuple[str, ...]:
    """Return the id of each seat: that of the player in it, by the order in which players were named."""
    return tuple(IDS[number] for number in order)


def history_text(bids: Sequence[Bid], ids: tuple[str, ...], caller: int | None = None) -> str:
    """Return the plays of a hand, with the call that ended it if there is a ``caller``."""
    plays = [_said(ids, bid) for bid in bids]
    if caller is not None:
        plays.append(f"{ids[caller]}:{CALL}")
    return ",".join(plays)


def hidden_hands(view: View, ids: Sequence[str]) -> str:
    """Return all hands as one player sees them while the hand is played."""
    hands = [f"{ids[seat]}:{'x' * left}" for seat, left in enumerate(view.left)]
    hands[view.seat] = f"{ids[view.seat]}:{_digits(view.hand)}"
    return ",".join(hands)


def shown_hands(showdown: Showdown, ids: Sequence[str]) -> str:
    """Return all hands at the showdown, without the players who were out before."""
    return ",".join([f"{ids[seat]}:{_digits(hand)}" for seat, hand in enumerate(showdown.hands) if hand])


class Seated:
    """A bot in its seat: asked for actions, and called to observe each showdown."""

    def __init__(self, program: Asked, get_play: Callable[..., Any]) -> None:
        self._program = program
        self._get_play = get_play
        self.explain = program.explain

    def __call__(self, turn: Turn) -> int:
        """Return the action that the bot plays. Raises AgentError if it gives none."""
        view: Any = turn.view
        ids = ids_of(turn.order)
        me, hands, history = ids[view.seat], hidden_hands(view, ids), history_text(view.bids, ids)
        try:
            answer = self._get_play(me, hands, history)
        except BaseException as error:
            raise self._program.failure(error, f"when asked ({me!r}, {hands!r}, {history!r})") from error
        self._program.last = in_words, answer, (me, hands, history)
        try:
            return meaning_of(int(answer), view.bids)
        except (TypeError, ValueError, OverflowError) as error:
            raise AgentError(self._program.name, in_words(answer, me, hands, history)) from error
        except BaseException as error:  # an object of the bot's own class may raise anything
            raise self._program.failure(error, f"when asked ({me!r}, {hands!r}, {history!r})") from error

    def follow(self, turn: Turn) -> None:
        """Show the bot how the hand ended; what it returns is ignored. Raises AgentError if it fails."""
        view: Any = turn.view
        if view.showdown is None:
            return
        ids = ids_of(turn.order)
        me, hands = ids[view.seat], shown_hands(view.showdown, ids)
        history = history_text(view.showdown.bids, ids, view.showdown.caller)
        try:
            self._get_play(me, hands, history)
        except BaseException as error:
            raise self._program.failure(error, f"at the showdown ({me!r}, {hands!r}, {history!r})") from error


def sit(program: Asked, get_play: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return what asks ``get_play`` for actions, and shows it how each hand ended."""
    return Seated(program, get_play)


class LiarsDiceBot(BotPlayer):
    """A file of the original interface. One that remembers nothing is not called to observe showdowns."""

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        seated: Any = super().join(game, seat, seed)
        act: Act = seated.__call__ if self.pure else seated
        return act


def load(source: Source, name: str, keep: bool = False, seed: int = 0) -> LiarsDiceBot:
    """Return the player of a file; see `BotPlayer`. Raises AgentError."""
    return LiarsDiceBot(source, name, interface, sit, keep, seed)


def live(bot: Callable[..., Any], name: str) -> LiveBot:
    """Return the player of a function (me, hands, history) -> play; see `LiveBot`."""
    return LiveBot(bot, name, interface, sit)
