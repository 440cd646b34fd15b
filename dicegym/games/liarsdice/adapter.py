"""Bots of classic Liar's Dice: files as players, players as files, and a file to begin with.

The bot's own half is ``interface.py``. The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dicegym.bots.calls import call_text, show_value
from dicegym.bots.export import network_source
from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.bidding import examination
from dicegym.games.bidding.table import FACES, MOST_QUANTITY
from dicegym.games.bidding.view import Bid, Showdown, View
from dicegym.games.liarsdice.interface import ENTRY_FILES
from dicegym.games.liarsdice.rules import LIAR, NO_PLAY, WILD
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

set_table = partial(examination.set_table, wild=WILD, liar=LIAR)
"""Opponents of bots in smoke games."""

IDS = "ABCDEF"
"""The players' ids, in the order in which they were named."""
CALL = 0
"""The play that calls liar."""


def play_of(quantity: int, face: int) -> int:
    """Return the play that bids ``quantity`` of ``face``."""
    return quantity * 10 + face


def action_of(play: int) -> int:
    """Return the action of a play; `NO_PLAY` for an invalid one."""
    if play == CALL:
        return LIAR
    quantity, face = divmod(play, 10)
    if 1 <= quantity <= MOST_QUANTITY and 1 <= face <= FACES:
        return (quantity - 1) * FACES + face - 1
    return NO_PLAY


def meaning_of(play: int, bids: Sequence[Bid]) -> int:
    """Return the action of a play after ``bids``: a bid that is not higher than the last one calls liar."""
    action = action_of(play)
    return LIAR if bids and action < LIAR and play <= play_of(bids[-1].quantity, bids[-1].face) else action


def in_words(answer: object, me: str, hands: str, history: str) -> str:
    """Return an answer with its question, and what is wrong with it."""
    return f"returned {show_value(answer, 60)}{_wrong(answer)} when asked {call_text('', (me, hands, history), 600)}"


def _wrong(answer: Any) -> str:
    try:
        play = int(answer)
    except Exception:
        return ", which is not a number"
    if play == CALL or action_of(play) != NO_PLAY:
        return ""
    return f", which is not a play: 0 is liar, and a bid is 10 * quantity (1 to {MOST_QUANTITY}) + face (1 to {FACES})"


def history_text(bids: Sequence[Bid], ids: Sequence[str], caller: int | None = None) -> str:
    """Return the plays of a hand, and the call that ended it if there is a ``caller``."""
    plays = [f"{ids[seat]}:{play_of(quantity, face)}" for seat, quantity, face in bids]
    if caller is not None:
        plays.append(f"{ids[caller]}:{CALL}")
    return ",".join(plays)


def write_hidden_hands(view: View, ids: Sequence[str]) -> str:
    """Return all hands as one player sees them during the hand."""
    hands = [f"{ids[seat]}:{'x' * left}" for seat, left in enumerate(view.left)]
    hands[view.seat] = f"{ids[view.seat]}:{''.join(map(str, view.hand))}"
    return ",".join(hands)


def write_shown_hands(showdown: Showdown, ids: Sequence[str]) -> str:
    """Return all hands at the showdown, without players that were out before it."""
    return ",".join([f"{ids[seat]}:{''.join(map(str, hand))}" for seat, hand in enumerate(showdown.hands) if hand])


class Seated:
    """A bot in its seat: asked for actions, and called to observe each showdown."""

    def __init__(self, program: Asked, get_play: Callable[..., Any]) -> None:
        self._program = program
        self._get_play = get_play
        self.explain = program.explain

    def _ask(self, when: str, *question: str) -> Any:
        """Return the bot's answer. Raises AgentError if it fails."""
        try:
            return self._get_play(*question)
        except BaseException as error:
            raise self._program.failure(error, f"{when} {question!r}") from error

    def __call__(self, turn: Turn) -> int:
        """Return the bot's action. Raises AgentError if it gives none."""
        view: Any = turn.view
        ids = [IDS[number] for number in turn.order]
        question = ids[view.seat], write_hidden_hands(view, ids), history_text(view.bids, ids)
        answer = self._ask("when asked", *question)
        self._program.last = in_words, answer, question
        try:
            return meaning_of(int(answer), view.bids)
        except (TypeError, ValueError, OverflowError) as error:
            raise AgentError(self._program.name, in_words(answer, *question)) from error
        except BaseException as error:  # an object of the bot's own class may raise anything
            raise self._program.failure(error, f"when asked {question!r}") from error

    def follow(self, turn: Turn) -> None:
        """Show the bot the end of a hand; its answer is ignored. Raises AgentError if it fails."""
        view: Any = turn.view
        if view.showdown is None:
            return
        ids = [IDS[number] for number in turn.order]
        history = history_text(view.showdown.bids, ids, view.showdown.caller)
        self._ask("at the showdown", ids[view.seat], write_shown_hands(view.showdown, ids), history)


def sit(program: Asked, get_play: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return a chooser that asks ``get_play`` for actions, and shows it the end of each hand."""
    return Seated(program, get_play)


_INTERFACE = """
PURE = True  # the same hands and history always get the same play


def get_play(me, hands, history):
    if history.endswith(":0"):
        return 0
    names = [hand.partition(":")[0] for hand in hands.split(",")]
    state = known_state()
    seat = names.index(me)
    state.players, state.player = len(names), seat
    for other, hand in enumerate(hands.split(",")):
        dice = hand.partition(":")[2]
        state.left[other] = state.rolled[other] = len(dice)
        if other == seat:
            for face in dice:
                state.hands[seat, int(face) - 1] += 1
    for said in history.split(",") if history else ():
        name, _, play = said.partition(":")
        state.bids[state.n_bids] = action_of(int(play)) * SEATS + names.index(name)
        state.n_bids += 1
    action = chosen(state, seat)
    return 0 if action == LIAR else play_of(action // FACES + 1, action % FACES + 1)
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that plays as ``player`` does; see `dicegym.bots.export`."""
    interface = _INTERFACE if form == ENTRY_FILES[0] else _INTERFACE.replace("get_play", "play")
    return network_source(player, game, interface, action_of, play_of)


INTERFACE = """\
A file player.py that defines get_play, or bot.py that defines play, or a folder with one of them:

    get_play(me, hands, history) -> play
    play(me, hands, history) -> play

me is your id: "A", "B", ... in the order in which the players were named.

hands has all seats in playing order: your dice from high to low, an x for each hidden die, nothing for a player that
is out. When all hands are shown, players that were out before are omitted.

history has the plays of this hand so far; it is empty if you open the hand.

A play is a whole number, quantity * 10 + face; 0 is liar. The returned value is converted by int().

    get_play("A", "A:53321,B:xxxxx", "") -> 23           open with "two threes"
    get_play("B", "A:xx,B:6611,C:,D:x", "D:13,A:22") -> 26   "two sixes"; C is out
    get_play("A", "A:53321,B:xxxxx", "A:23,B:105") -> 0  "liar"

After each hand every player, out or not, is called once more, with all hands and a history that ends with the call.
What it returns or raises then is ignored:

    get_play("A", "A:53321,B:66542", "A:23,B:105,A:0") -> 0

A play that is not higher than the last one calls liar, as 0 does. Any other illegal play, and an error, count as
calling liar too, and are faults. A bot may be named as in the original: folder:file:function. Your
name for it comes first, with =.

    dicegym tournament liarsdice p_robot mine=my_folder:player:get_play
"""

_SOURCE = '''"""My bot for Liar's Dice: raise while the bid can be expected, else call liar.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game liarsdice
Play it:    dicegym play liarsdice --against {file}
The rules:  dicegym games liarsdice --rules
"""

PURE = True  # the same question always has the same answer; remove this line if you remember or draw anything

LIAR = 0


def {function}(me, hands, history):
    """Return a play: quantity * 10 + face, such as 23 for "two threes", or 0 for "liar".

    me:      my id, such as "A"
    hands:   all hands, such as "A:53321,B:xx,C:": mine is shown, and C is out
    history: the plays of this hand, such as "A:23,B:33"; empty if I open it
    """
    if history.endswith(":0"):
        return LIAR  # the hand is over, and all dice are shown: learn from it here if you like (and remove PURE)
    cups = dict(hand.split(":") for hand in hands.split(","))
    mine = cups[me]
    hidden = sum(len(dice) for dice in cups.values()) - len(mine)
    best = max("654321", key=mine.count)  # my most frequent face
    if not history:
        return 10 * mine.count(best) + int(best)
    last = int(history.split(":")[-1])
    quantity, face = divmod(last, 10)
    # print(mine, quantity, face)  # costs nothing: `dicegym check ... --show` shows it
    # breakpoint()                 # stops here under `dicegym check ... --debug`
    if quantity > mine.count(str(face)) + hidden / 6 + 1:
        return LIAR  # one more than the mean
    raised = quantity if int(best) > face else quantity + 1  # the lowest higher bid
    most = 5 * len(cups)  # the limit of the rules, however many dice are left; hands has all who started
    return 10 * raised + int(best) if raised <= most else LIAR
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _SOURCE.format(file=file, function="play" if form == "bot.py" else "get_play")
