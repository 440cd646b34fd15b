"""Bots of Liar's Dice with "spot on": files as players, players as files, and a file to begin with.

The bot's own half is ``interface.py``. The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dicegym.bots.calls import show_value
from dicegym.bots.export import network_source
from dicegym.bots.program import Asked, explaining
from dicegym.engine.game import Game
from dicegym.engine.validate import is_whole_number
from dicegym.games.bidding import examination
from dicegym.games.bidding.table import FACES, N_BIDS
from dicegym.games.liarsdice_spot_on.interface import ENTRY_POINT
from dicegym.games.liarsdice_spot_on.rules import LARGEST, LIAR, MOST_BIDS, N_CHALLENGES, NO_MOVE, WILD
from dicegym.games.liarsdice_spot_on.text import CHALLENGES
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

set_table = partial(examination.set_table, wild=WILD, liar=LIAR)
"""Opponents of bots in smoke games."""

ACTIONS = {word: action for action, word in CHALLENGES.items()}
"""The challenges by their words."""
SHOWN_BIDS = 10
"""The most bids of a question in messages; those in the middle are left out."""


def action_of(answer: object) -> int:
    """Return the action of an answer of ``move``; `NO_MOVE` if it is neither a bid nor a challenge."""
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
    """Return a chooser that asks ``move`` for actions."""

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
    """Return the question as a call, with the first bid and the last ones of a long round."""
    bids = [show_value(tuple(bid[1:])) for bid in view.bids]
    if len(bids) > SHOWN_BIDS:
        bids[1 : 1 - SHOWN_BIDS] = ["..."]
    return f"{ENTRY_POINT}([{', '.join(bids)}], {show_value(list(view.hand))}, {show_value(list(view.left))})"


def in_words(answer: object, view: Any) -> str:
    """Return an answer with its question, and what is wrong with it."""
    full = len(view.bids) == MOST_BIDS and not isinstance(answer, str)
    rule = f" after the {MOST_BIDS} bids that a round may have: make a challenge" if full else ""
    return f"{_call(view)} returned {show_value(answer, 60)}{_wrong(answer) or rule}"


def _wrong(answer: object) -> str:
    if action_of(answer) != NO_MOVE:
        return ""
    words = ", ".join(map(repr, ACTIONS))
    return f", which is neither a tuple (quantity from 1 on, face 1 to {FACES}) of whole numbers nor one of {words}"


_INTERFACE = """
from player import Player


class Learned(Player):
    def move(self, bids, player_dice, n_dice):
        state, seat = known_state(), self.index
        state.players, state.player = len(n_dice), seat
        for other, dice in enumerate(n_dice):
            state.left[other] = state.rolled[other] = dice
        for face in player_dice:
            state.hands[seat, face - 1] += 1
        state.n_bids, bidder = len(bids), seat
        for number in range(len(bids) - 1, -1, -1):  # turns go round: the last bid was made by the player before
            bidder = next(
                other for step in range(1, len(n_dice) + 1) if n_dice[other := (bidder - step) % len(n_dice)]
            )
            quantity, face = bids[number]
            state.bids[number] = bid_index(min(quantity, LARGEST), face) * SEATS + bidder
        action = chosen(state, seat)
        return CHALLENGES[action] if action in CHALLENGES else (action // FACES + 1, action % FACES + 1)
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that plays as ``player`` does; see `dicegym.bots.export`.

    Bots are not told which seats were disqualified in the present round; a model that sees it may choose otherwise.
    """
    words = f"CHALLENGES = {CHALLENGES}\nLARGEST = {LARGEST}\n"
    return network_source(player, game, words + _INTERFACE)


INTERFACE = """\
A file player_bot.py or bot.py, a folder with one of them, or any other Python file, with a class that derives from
Player:

    from player import Player

    class Mine(Player):
        def move(self, bids, player_dice, n_dice): ...

It is made once a game, by Mine(index), and asked by move once a turn. index is your place in the order of play, from 0
on, and is also self.index. bids is the list of this round's bids, tuples (quantity, face); it is empty if you open the
round. player_dice is the list of your dice. n_dice is the list of how many dice each player has, by index. An answer
is a bid, a tuple (quantity, face), or one of three words:

    Mine(0)
    move([], [5, 3, 3, 2, 1], [5, 5]) -> (2, 3)               open with two threes
    move([(2, 3), (3, 5)], [6, 6, 4, 1], [4, 5]) -> (2, 6)    two sixes are worth four, so more than three fives
    move([(2, 3), (9, 5)], [6, 6, 4, 1], [4, 5]) -> "Liar"
    move([(2, 3), (3, 5)], [5, 6, 4, 1], [4, 5]) -> "Spot on, lose two"
    move([(2, 3), (3, 5)], [5, 6, 4, 1], [4, 5]) -> "Spot on, gain one"

A bot that breaks the rules, or raises an error, is disqualified from the game: it loses all its dice.
This includes the 101st bid of a round: ordinary rounds have at most 45, but a quantity has no upper limit.

If a file has several such classes, the last one plays; choose another by its name, as in bot.py:Mine.
"""

_SOURCE = '''"""My bot for Liar's Dice with "spot on": raise what can be expected, and call the rest.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game liarsdice_spot_on
The rules:  dicegym games liarsdice_spot_on --rules
"""

from player import Player

PURE = True  # the same question always has the same answer; remove this line if you remember or draw anything


class Mine(Player):
    """Made anew for each game; self.index is my place in the order of play."""

    def move(self, bids, player_dice, n_dice):
        """Return a bid, (quantity, face), or "Liar", "Spot on, lose two" or "Spot on, gain one".

        bids:        the bids of this round, [(quantity, face), ...]; empty if I open it
        player_dice: my dice, such as [6, 3, 1]
        n_dice:      how many dice everybody has, by index
        """
        hidden = sum(n_dice) - len(player_dice)

        def expected(face):
            """Return the mean number of dice that count for a face: sixes count for every face."""
            own = sum(die in (face, 6) for die in player_dice)
            return own + hidden / (6 if face == 6 else 3)

        if not bids:
            best = max(range(1, 6), key=expected)
            return max(1, int(expected(best)) - 1), best
        quantity, face = bids[-1]
        # print(bids, player_dice)  # costs nothing: `dicegym check ... --show` shows it
        # breakpoint()              # stops here under `dicegym check ... --debug`
        worth = quantity * (2 if face == 6 else 1)
        raises = [(worth + 1, other) for other in range(1, 6)] + [(worth // 2 + 1, 6)]  # sixes are worth double
        bid = max(raises, key=lambda bid: expected(bid[1]) - bid[0])
        if bid[0] <= expected(bid[1]) + 0.5:
            return bid
        return "Liar"
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _SOURCE.format(file=file)
