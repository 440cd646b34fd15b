"""How a person plays games of hidden dice and rising bids: the part that both Liar's Dice games share.

Each game's ``controls.py`` has the words for challenges, and what a challenge costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dicegym.errors import ParameterError
from dicegym.games.bidding.table import FACES, MOST_QUANTITY, ODDS, bid_index, counting, odds_row
from dicegym.games.bidding.text import FACE_NAMES, SHOWN_BIDS, TableText, bid_text, bids_of, dice_text, face_plural
from dicegym.games.bidding.view import View, bid_of, faces_of
from dicegym.games.keyboard import Place, dice, list_names, name_winners, number_of, percent, unread, winners
from dicegym.games.web_controls import BoardSeat, Fields, FilledForm, GameBoard, Option, PickOne, PlayForm, Stepper

SEATS = 3
OPEN: frozenset[str] = frozenset()
CHALLENGES = (
    "liar",
    "call",
    "call liar",
    "calling liar",
    "you liar",
    "doubt",
    "i doubt it",
    "bluff",
    "challenge",
    "lie",
)
"""The words that call a liar."""
_FACE_WORDS = {word: face for face, name in enumerate(FACE_NAMES, 1) for word in (name, face_plural(face))}


def bid_chance(view: View, quantity: int, face: int, wild: bool) -> tuple[float, float]:
    """Return the probabilities by the own dice that a bid is true, and that it is exact."""
    ways = counting(view.faces, face, wild)
    own = view.hand.count(face) + (view.hand.count(view.faces) if ways > 1 else 0)
    others = sum(view.rolled) - view.rolled[view.seat]

    def at_least(need: int) -> float:
        return float(ODDS[odds_row(view.faces, ways), others, max(0, min(need, MOST_QUANTITY + 1))])

    return at_least(quantity - own), at_least(quantity - own) - at_least(quantity - own + 1)


# --- typed bids --------------------------------------------------------------------------------------------------


def read_bid(text: str, faces: int) -> tuple[int, int] | None:
    """Return the (quantity, face) of a bid: ``3 4``, ``three fours``, ``3x4``, ``34``; None for other text.

    Raises ParameterError for a face or quantity that does not exist, and half a bid.
    """
    words = re.sub(r"^(?:i )?(?:bid|say|raise to|raise|play) ", "", text).strip("()[] .!")
    words = re.sub(r"\b(?:of|times|dice|a)\b", " ", words)
    words = re.sub(r"(?<=\d)'?s\b", "", words)
    found = re.findall(r"-?\d+|[a-z]+", re.sub(r"(?<=\d) ?[x*] ?(?=\d)", " ", words))
    if len(found) == 1 and found[0].isdecimal() and 2 <= len(found[0]) <= 3:
        found = [found[0][:-1], found[0][-1]]  # a play of the original interface: quantity * 10 + face
    if len(found) == 1 and (number_of(found[0]) is not None or found[0] in _FACE_WORDS):
        raise unread(text, "how many of which face you bid, such as `3 4` for three fours")
    if len(found) != 2:
        return None
    quantity = number_of(found[0])
    face = number_of(found[1]) if found[1] not in _FACE_WORDS else _FACE_WORDS[found[1]]
    if quantity is None or face is None:
        return None
    if not 1 <= face <= faces:
        such = "`3 4` for three fours" if faces > 3 else "`2 1` for two ones"
        raise ParameterError(f"no die shows a {face}: bid a face of 1 to {faces}, such as {such}")
    if quantity < 1:
        raise ParameterError(f"invalid quantity {quantity}: bid at least one, such as `3 4` for three fours")
    return quantity, face


def list_facts(place: Place, state: Any) -> list[str]:
    """Return the dice at the beginning, and all bids of the hand; see `dicegym.games.controls.Controls`."""
    view: Any = place.game.view(state, place.seat)
    bids = ", ".join(f"{place.names[bid.seat]} {bid_text(bid.quantity, bid.face)}" for bid in view.bids)
    return [
        f"Dice show 1 to {view.faces}. Everybody began with {dice_text(view.dice)}.",
        f"All bids of this hand, the first one first: {bids or 'none yet'}.",
    ]


# --- the course of a game ----------------------------------------------------------------------------------------


def _broken(place: Place, mover: int, fault: str) -> list[str]:
    """Return the fault of an illegal action, in a sentence."""
    return [f"{place.does(mover, 'make')} an illegal play: {fault}."] if fault else []


def _showdown(place: Place, after: Any) -> list[str]:
    hands = [(seat, faces_of(tuple(counts))) for seat, counts in enumerate(after["shown"].tolist()) if any(counts)]
    width = max(len(place.who(seat)) for seat, _ in hands)
    return [f"  {place.who(seat):<{width}}  {dice(hand)}" for seat, hand in hands]


def _cost(place: Place, after: Any) -> str:
    """Return who loses or gains dice, and who opens next."""
    changed, change = int(after["changed"]), int(after["change"])
    left, own = int(after["left"][changed]), changed == place.seat
    text = f"{place.does(changed, 'gain' if change > 0 else 'lose')} {dice_text(abs(change))} and "
    if left:
        text += f"{'have' if own else 'has'} {left} {'now' if change > 0 else 'left'}"
    else:
        text += "are out" if own else "is out"
    if after["over"]:
        return f"{text}."
    return f"{text}. {place.does(int(after['player']), 'open')} the next hand."


def ending(place: Place, state: Any) -> str:
    """Return who has won."""
    first = winners(place, state)
    left = dice_text(int(state["left"][first[0]]))
    return f"{name_winners(place, first)}, with {left} left after {int(state['finished'])} hands."


def board(place: Place, state: Any) -> GameBoard:
    """Return all dice that the person may know, and the bids of this hand."""
    over, mover, bids = bool(state["over"]), int(state["player"]), bids_of(state)
    latest = {bid.seat: bid for bid in bids}
    last = bids[-1].seat if bids else -1
    seats = []
    for seat, name in enumerate(place.names):
        left, rolled = int(state["left"][seat]), int(state["rolled"][seat])
        own = faces_of(tuple(state["hands"][seat].tolist())) if seat == place.seat else (0,) * rolled
        note = dice_text(left) if left else f"out, {dice_text(rolled)} still count" if rolled and not over else "out"
        bid = latest.get(seat)
        said = "" if bid is None or over else bid_text(bid.quantity, bid.face)
        seats.append(
            BoardSeat(
                name,
                note=note,
                dice=() if over else own,
                said=f"bids {said}" if said and seat == last else said,
                moves=not over and mover == seat,
                wins=over and left > 0,
                out=not left,
            )
        )
    hand = "Game over" if over else f"Hand {int(state['finished']) + 1}, {dice_text(int(state['rolled'].sum()))}"
    return GameBoard(hand, tuple(seats))


BID, CHALLENGE = "bid", "challenge"
"""The names of the forms."""
_QUANTITY, _FACE, _CALL = "quantity", "face", "call"


class Challenge(NamedTuple):
    """A way to challenge the last bid."""

    action: int
    word: str
    """The word to type: ``lose two``."""
    label: str
    """The text of its button."""
    key: str
    said: str = "liar"
    """Its name on the table."""
    exact: bool = False
    """Whether it is right if the bid is exactly true; otherwise it is right if the bid is false."""

    def chance(self, view: View, wild: bool) -> str:
        """Return the probability by the own dice that it is right about the last bid."""
        true, exact = bid_chance(view, view.bids[-1].quantity, view.bids[-1].face, wild)
        return percent(exact if self.exact else 1 - true)


class BidControls(NamedTuple):
    """The bids and challenges of one of the games, at the keyboard and on a page."""

    text: TableText
    most: Callable[[Any], int]
    """Returns the largest quantity that a person may bid in a record."""
    challenges: tuple[Challenge, ...]
    refuse: Callable[[int, Any, int], str] = lambda action, state, seat: ""
    """Returns why a seat may not make a challenge now; empty if it may."""

    def lowest(self, state: Any, view: View) -> list[tuple[int, int]]:
        """Return for each face the lowest legal bid (quantity, face), if there is one."""
        _, quantity, face = view.bids[-1] if view.bids else (0, 0, 0)
        bids = [(int(self.text.least(state)(quantity, face, raised)), raised) for raised in range(1, view.faces + 1)]
        return [bid for bid in bids if bid[0] <= self.most(state)]

    def table(self, place: Place, state: Any, full: bool) -> str:
        """Return cups, bids and chances; see `dicegym.games.controls.Controls`."""
        view: Any = place.game.view(state, place.seat)
        wild = self.text.wild
        fewer = f" with faces 1 to {view.faces}{f', {face_plural(view.faces)} wild,' if wild else ''}"
        kind = fewer if view.faces < FACES else ""
        lines = [f"Hand {view.finished + 1}, {dice_text(sum(view.rolled))}{kind} on the table:"]
        width = max(len(place.who(seat)) for seat in range(place.game.players))
        for seat, (left, rolled) in enumerate(zip(view.left, view.rolled, strict=True)):
            shown = dice(view.hand) if seat == place.seat else dice((0,) * rolled)
            out = "out" if not rolled else "disqualified, its dice still count" if not left else ""
            lines.append(f"  {place.who(seat):<{width}}  {'  '.join(part for part in (shown, out) if part)}")
        if view.bids:
            latest = [f"{place.who(bid.seat)}: {bid_text(bid.quantity, bid.face)}" for bid in view.bids[-SHOWN_BIDS:]]
            lines.append(f"Bids: {'... ' if len(view.bids) > SHOWN_BIDS else ''}{', '.join(latest)}.")
            _, quantity, face = view.bids[-1]
            chances = {one.said: one.chance(view, wild) for one in self.challenges}
            said = [f"`{word}` {chance}" for word, chance in chances.items()]
            lines.append(f"How likely you are right about {bid_text(quantity, face)}, by your dice: {', '.join(said)}.")
        else:
            lines.append("You open this hand.")
        likely = [
            f"{bid_text(quantity, face)} {percent(bid_chance(view, quantity, face, wild)[0])}"
            for quantity, face in self.lowest(state, view)
        ]
        if likely:
            lines.append(f"The lowest bids, and how likely they are true: {', '.join(likely)}.")
        return "\n".join(lines)

    def read(self, place: Place, state: Any, text: str, words: Mapping[str, int], challenges: str) -> int:
        """Return the action of a bid, or of a challenge in ``words``; errors list the ``challenges``.

        Raises ParameterError for other text, and an illegal bid.
        """
        view: Any = place.game.view(state, place.seat)
        text = " ".join(text.replace(",", " ").strip(" .!?").split())
        instead = f"a bid such as `3 4` or `three fours`{f', or {challenges}' if view.bids else ''}"
        if text in words:
            if not view.bids:
                raise ParameterError("there is no bid to challenge yet: type a bid, such as `3 4` for three fours")
            return words[text]
        bid = read_bid(text, view.faces)
        if bid is None:
            raise unread(text, instead)
        quantity, face = bid
        most = self.most(state)
        if quantity > most:
            raise ParameterError(f"{bid_text(quantity, face)} is more than can be bid: at most {dice_text(most)}")
        allowed = self.lowest(state, view)
        if view.bids and quantity < int(self.text.least(state)(view.bids[-1].quantity, view.bids[-1].face, face)):
            last = bid_text(view.bids[-1].quantity, view.bids[-1].face)
            higher = f"at least {list_names([bid_text(*one) for one in allowed], 'or')}, or " if allowed else ""
            raise ParameterError(f"{bid_text(quantity, face)} is not higher than {last}: type {higher}{challenges}")
        return int(bid_index(quantity, face))

    def write_actions(self, place: Place, state: Any, actions: Sequence[int]) -> str:
        """Return a bid as it is typed, ``3 4``, or the word of a challenge; see `dicegym.games.controls.Controls`."""
        words = {one.action: one.word for one in self.challenges}
        return words.get(actions[0], f"{actions[0] // FACES + 1} {actions[0] % FACES + 1}")

    def tell(
        self, place: Place, before: Any, after: Any, said: str, fault: str, bid: tuple[int, int] | None
    ) -> list[str]:
        """Return the text of a bid, or of a challenge with all dice and what it costs.

        ``said`` follows "You" if the action is no bid, and ends before the bid: ``call liar on``.
        """
        mover = int(before["player"])
        watching = not before["left"][place.seat]
        lines = _broken(place, mover, fault)
        if after["finished"] == before["finished"]:
            if bid is not None:
                return [] if watching else [f"{place.does(mover, 'bid')} {bid_text(*bid)}."]
            return [*lines, f"{place.does(mover, 'are')} disqualified, and out."]
        verb, _, rest = said.partition(" ")
        text = f"{place.does(mover, verb)} {rest}"
        if not before["n_bids"]:
            lines.append(f"{text.rpartition(' ')[0]} before any bid.")
        else:
            bidder, quantity, face = bid_of(int(after["shown_bid"]))
            lines.append(f"{text} {place.whose(bidder)} {bid_text(quantity, face)}.")
            if not watching:
                lines += _showdown(place, after)
            highest = int(after["faces"])
            counted = {face, highest} if self.text.wild else {face}
            found = sum(int(after["shown"][:, one - 1].sum()) for one in counted)
            others = f" ({face_plural(highest)} count)" if self.text.wild and face != highest else ""
            are = "is" if found == 1 else "are"
            dice_found = bid_text(found, face) if found else f"no {face_plural(face)}"
            lines.append(f"There {are} {dice_found}{others}.")
        lines.append(_cost(place, after))
        return lines

    def forms(self, place: Place, state: Any) -> list[PlayForm]:
        """Return the forms of a bid and of a challenge; see `dicegym.games.controls.Controls`."""
        view: Any = place.game.view(state, place.seat)
        found = self._bid_form(state, view)
        if view.bids:
            calls = tuple(
                Option(
                    str(one.action),
                    one.label,
                    f"{'exact' if one.exact else 'fewer'}: {one.chance(view, self.text.wild)} likely",
                    self.refuse(one.action, state, place.seat),
                    key=one.key,
                )
                for one in self.challenges
            )
            last = bid_text(view.bids[-1].quantity, view.bids[-1].face)
            found.append(PlayForm(CHALLENGE, f"Or challenge {last}", (PickOne(_CALL, "Call", calls),)))
        return found

    def _bid_form(self, state: Any, view: View) -> list[PlayForm]:
        """Return the form of a bid, filled with the likeliest of the lowest bids; nothing if no bid is left."""
        low = {face: quantity for quantity, face in self.lowest(state, view)}
        if not low:
            return []
        chances = {face: bid_chance(view, quantity, face, self.text.wild)[0] for face, quantity in low.items()}
        first = max(low, key=lambda face: (chances[face], -low[face], -face))
        options = tuple(
            Option(
                str(face),
                face_plural(face),
                f"{low[face]}+: {percent(chances[face])}" if face in low else "",
                "" if face in low else "no higher bid is left",
                face,
                low.get(face, 0),
            )
            for face in range(1, view.faces + 1)
        )
        widgets = (
            Stepper(_QUANTITY, "How many", min(low.values()), self.most(state), low[first]),
            PickOne(_FACE, "Of which face", options, str(first)),
        )
        note = "How likely the lowest bid of each face is true, by your own dice."
        return [PlayForm(BID, "Bid", widgets, note)]

    def read_form(self, place: Place, state: Any, form: str, fields: Fields) -> list[int]:
        """Return the action of a bid or of a challenge. Raises ParameterError."""
        filled = FilledForm(self.forms(place, state), form, fields)
        if filled.form.name == CHALLENGE:
            return [int(filled.one(_CALL))]
        return [int(bid_index(filled.number(_QUANTITY), int(filled.one(_FACE))))]
