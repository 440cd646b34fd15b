"""Lucky & Co for a person: typing or picking whole orders, and the story of every round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.keyboard import Place, count, dice, list_names, name_winners, number_of, unread, winners
from dicegym.games.lucky.catalogue import DONE, N_ACTIONS, N_DICE, PRICES, order_actions, order_limits
from dicegym.games.lucky.rules import AT
from dicegym.games.lucky.scoring import MOST
from dicegym.games.lucky.text import EFFECTS, SHOWN, faces_rolled, list_dice
from dicegym.games.web_controls import Basket, BoardSeat, Fields, FilledForm, GameBoard, Item, PlayForm, Stepper

OPPONENTS = {"easy": "cheapest", "normal": "compound", "hard": "strategist"}
SEATS = 4
OPEN = frozenset({"rolled"})
_GAME = """\
Each round everybody orders dice in secret, pays for them, and then rolls all
dice it owns: points are money. If all orders together ask for more of a die
than the shop has, nobody gets it.
  2x3 1x7     order two of die 3 and one of die 7; `3 3 7` is the same
  nothing     order nothing and save
"""
_KINDS = """\
Dice 0 to 6 are basic: their faces are added up. 7 to 11 multiply that sum, 12
to 16 attack others, 17 to 21 are coins that succeed half the time."""
HELP = f"""\
{_GAME}\
  fast        order nothing for ten rounds; `fast 30` for thirty
  shop        what all the dice do, and what they cost
{_KINDS}"""
_SHOP = "; ".join(f"{kind}: {effect}, {int(PRICES[kind])}" for kind, effect in enumerate(EFFECTS))
RULES = f"""\
{_GAME}{_KINDS}
What each die does, and its price: {_SHOP}."""
_NOTHING = ("nothing", "none", "pass", "done", "save")
FAST = 10
MOST_FAST = 1000
_IN_SHORT = 8
"""The most dice of the shop that are shown without being asked for."""
_TYPE = "an order such as `2x3 1x7`, `nothing`, or `fast` to skip rounds"


def amount(value: float) -> str:
    """Return points as text, below 1,000 with one decimal."""
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _unscaled(part: float, scale: float) -> float:
    """Return x, given the observed x / (x + scale)."""
    return scale * part / (1 - part) if part < 1 else float(MOST)


def gains(place: Place, state: Any) -> list[float]:
    """Return how many more points a round the person would make with one more of each die."""
    observed = place.game.observe(state, place.seat)
    return [_unscaled(float(observed[AT.gain + kind]), int(PRICES[kind])) for kind in range(N_DICE)]


def income(place: Place, state: Any) -> float:
    """Return how many points a round the person's dice make, its order included."""
    return _unscaled(float(place.game.observe(state, place.seat)[AT.income + 2]), 1000)


def _counts(counts: Sequence[int]) -> str:
    return " ".join(f"{number}x{kind}" for kind, number in enumerate(counts) if number)


def table(place: Place, state: Any, full: bool) -> str:
    """Return everybody's money and dice, and the shop, with the points that one more of each die would add."""
    seat, players = place.seat, range(place.game.players)
    names = [place.who(player) for player in players]
    width = max(map(len, names))
    lines = [f"Round {int(state['played']) + 1}. The game ends when the first is {int(state['lead']):,} ahead."]
    lines += [
        f"  {names[player]:<{width}} {int(state['money'][player]):>7,} money  "
        f"{_counts(state['dice'][player].tolist()) or 'no dice'}"
        for player in players
    ]
    more = gains(place, state)
    lines.append(f"Your dice make about {amount(income(place, state))} points a round.")
    limits = order_limits(state, seat)
    shown = list(range(N_DICE)) if full else [kind for kind in range(N_DICE) if limits[kind]]
    if len(shown) > _IN_SHORT and not full:
        shown = sorted(sorted(shown, key=lambda kind: -more[kind] / PRICES[kind])[:_IN_SHORT])
    if not shown:
        return "\n".join([*lines, "You can pay for nothing: type `nothing`, or `fast` to skip rounds."])
    lines.append("  die  price  in shop  you can buy  more points  what it does")
    lines += [
        f"  {kind:>3}  {int(PRICES[kind]):>5}  {int(state['shop'][kind]):>7}  {limits[kind]:>11}  "
        f"{amount(more[kind]):>11}  {EFFECTS[kind]}"
        for kind in shown
    ]
    left_out = sum(limit > 0 for limit in limits) - len(shown)
    if left_out > 0:
        lines.append(f"  and {left_out} more that bring less for their price: `shop` shows all.")
    return "\n".join(lines)


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the actions of a whole order, or of empty orders for several rounds."""
    words = text.replace(",", " ").replace(";", " ").replace("+", " ")
    words = " ".join(re.sub(r"^(?:buy|order|get|i buy|take)\b|\b(?:and|die|dice)\b", " ", words).split())
    if words in _NOTHING:
        return [DONE]
    verb, _, rest = words.partition(" ")
    if verb in ("fast", "ff", "f"):
        rounds = number_of(rest.removesuffix(" rounds")) if rest else FAST
        if rounds is None or not 1 <= rounds <= MOST_FAST:
            raise unread(text, f"`fast` and a number of rounds from 1 to {MOST_FAST}, such as `fast 20`")
        return [DONE] * rounds
    limits = order_limits(state, place.seat)
    counts = [0] * N_DICE
    orders = re.sub(r"(?<=\w) ?(?:x|\*|of|times) ?(?=\d)", "x", words).split()
    if not orders or len(orders) > sum(limits) + N_DICE:
        raise unread(text, _TYPE)
    for order in orders:
        many, mark, kind_word = order.rpartition("x")
        number = number_of(many) if mark else 1
        if number is None or number < 1:
            raise unread(text, _TYPE)
        counts[_kind(number_of(kind_word), text)] += number
    return _allowed(place, state, counts)


def list_facts(place: Place, state: Any) -> list[str]:
    """Return the largest order of each die; see `dicegym.games.controls.Controls`."""
    limits = enumerate(order_limits(state, place.seat))
    some = ", ".join(f"{limit}x{kind}" for kind, limit in limits if limit)
    return [f"At most you can order one of these: {some}." if some else "You can pay for no die."]


def write_actions(place: Place, state: Any, actions: Sequence[int]) -> str:
    """Return an order as a person types it; see `dicegym.games.controls.Controls`."""
    counts = [0] * N_DICE
    for action in actions:
        if action < DONE:
            counts[action] += 1
        elif action > DONE:
            more, kind = divmod(action - N_ACTIONS, N_DICE)
            counts[kind] += more + 2
    return _counts(counts) or "nothing"


def _kind(number: int | None, text: str) -> int:
    """Return the number of a die. Raises ParameterError if there is no such die."""
    if number is None:
        raise unread(text, _TYPE)
    if not 0 <= number < N_DICE:
        raise ParameterError(f"there is no die {number}: they are numbered 0 to {N_DICE - 1}, and `shop` shows them")
    return number


def _allowed(place: Place, state: Any, counts: Sequence[int]) -> list[int]:
    """Return the actions of an order. Raises ParameterError if the shop or the money does not allow it."""
    shop = (state["shop"] - state["order"][place.seat]).tolist()
    for kind, number in enumerate(counts):
        if number > shop[kind]:
            raise ParameterError(f"the shop has {shop[kind]} of die {kind}, not {number}: order fewer")
    price = sum(int(PRICES[kind]) * number for kind, number in enumerate(counts))
    money = int(state["left"][place.seat])
    if price > money:
        raise ParameterError(f"{_counts(counts)} costs {price:,}, and you have {money:,}: order less")
    return order_actions(counts)


# --- what happens ----------------------------------------------------------------------------------------------


def tell(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return what everybody bought and rolled in a round, after the last order; before it, nothing."""
    if after["played"] == before["played"]:
        return []
    players = range(place.game.players)
    names = [place.who(player) for player in players]
    money = [f"{int(after['points'][player]):+,} = {int(after['money'][player]):,}" for player in players]
    if brief:
        parts = ", ".join(f"{name} {what}" for name, what in zip(names, money, strict=True))
        return [f"Round {int(after['played'])}: {parts}."]
    width, wide = max(map(len, names)), max(map(len, money))
    lines = [f"Round {int(after['played'])}, points = money:"]
    lines += [
        f"  {names[player]:<{width}}  {money[player]:<{wide}}  {_story(before, after, player)}" for player in players
    ]
    wanted = before["order"][place.seat]
    missed = [
        f"{int(wanted[kind])}x{kind}"
        for kind in range(N_DICE)
        if wanted[kind] and after["dice"][place.seat, kind] == before["dice"][place.seat, kind]
    ]
    if missed:
        lines.append(f"You did not get {list_names(missed)}: all orders together were more than the shop had.")
    return lines


def _story(before: Any, after: Any, player: int) -> str:
    """Return what a player bought and rolled."""
    bought = (after["dice"][player] - before["dice"][player]).tolist()
    parts = [f"bought {_counts(bought)}"] if any(bought) else []
    faces = faces_rolled(after, player)
    if faces:
        parts.append(f"rolled {dice(faces) if len(faces) <= SHOWN else f'{len(faces)} dice'}")
    return "; ".join(parts) or "nothing"


def ending(place: Place, state: Any) -> str:
    """Return who has won, and everybody's money."""
    money = state["money"].tolist()
    order = sorted(range(place.game.players), key=lambda player: -money[player])
    sums = ", ".join(f"{place.who(player)} {money[player]:,}" for player in order)
    return f"{name_winners(place, winners(place, state))} after {count(int(state['played']), 'round')}: {sums}."


def board(place: Place, state: Any) -> GameBoard:
    """Return everybody's money, dice and last roll; the form of an order shows the shop."""
    over, mover, played = bool(state["over"]), int(state["player"]), int(state["played"])
    first = int(state["money"][: place.game.players].max())
    seats = []
    for seat, name in enumerate(place.names):
        money = int(state["money"][seat])
        note = list_dice(state["dice"][seat].tolist()) or "no dice"
        faces = faces_rolled(state, seat)
        said = f"scored {int(state['points'][seat]):,}" if played else ""
        if len(faces) > SHOWN:
            said += f" with {len(faces)} dice"
            faces = []
        moves, wins = not over and mover == seat, over and money == first
        seats.append(BoardSeat(name, f"{money:,}", note, tuple(faces), said, moves=moves, wins=wins))
    return GameBoard(f"Round {played + (not over)}; a lead of {int(state['lead'])} wins", tuple(seats))


_ORDER_FORM, _NOTHING_FORM, _FAST_FORM = "order", "nothing", "fast"
_DICE, _ROUNDS = "die", "rounds"


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms to order, to skip, and to skip several rounds; see `dicegym.games.controls.Controls`."""
    left = (state["shop"] - state["order"][place.seat]).tolist()
    budget, more = int(state["left"][place.seat]), gains(place, state)
    items = tuple(
        Item(str(kind), EFFECTS[kind], f"+{amount(more[kind])}", int(PRICES[kind]), max(0, left[kind]))
        for kind in range(N_DICE)
    )
    shown = [
        PlayForm(_NOTHING_FORM, "Order nothing"),
        PlayForm(_FAST_FORM, "Save for several rounds", (Stepper(_ROUNDS, "Rounds", 1, MOST_FAST, FAST),)),
    ]
    if any(kind.most and kind.price <= budget for kind in items):
        note = f"Your dice score about {amount(income(place, state))} points a round; + is what one more die adds"
        basket = Basket(_DICE, "Your order", items, budget, "money")
        shown.insert(0, PlayForm(_ORDER_FORM, "Order", (basket,), note))
    return shown


def read_form(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the actions of a whole order, or of empty orders for several rounds."""
    filled = FilledForm(forms(place, state), form, fields)
    if filled.form.name == _NOTHING_FORM:
        return [DONE]
    if filled.form.name == _FAST_FORM:
        return [DONE] * filled.number(_ROUNDS)
    wanted = filled.basket(_DICE)
    return order_actions([wanted.get(str(kind), 0) for kind in range(N_DICE)])
