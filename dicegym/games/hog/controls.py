"""Hog for a person: typing or pressing a number of dice, and the story of every turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.hog import rules
from dicegym.games.hog.rules import EXCHANGE, FIRST_NUMBER, MOST_DICE, PIG_OUT, free_bacon, multiplier, swaps
from dicegym.games.hog.text import tell_last_turn
from dicegym.games.keyboard import NUMBER_WORDS, Place, count, dice, name_winners, number_of, percent, unread, winners
from dicegym.games.web_controls import BoardSeat, Fields, FilledForm, GameBoard, Option, PickOne, PlayForm

OPPONENTS = {"easy": "bacon", "normal": "swap", "hard": "best_by_scores"}
SEATS = 2
OPEN = frozenset({"runs", "exchanges", "turns", "chosen", "rolled"})
HELP = RULES = """\
Be the first to reach the goal. Each turn you choose how many dice to roll and
score their sum; but a single 1 among them is a Pig out, and scores 1.
  5        roll five dice; any number from 1 to 10, also `roll 5` and `five`
  bacon    Free bacon, also `0`: 1 + the largest digit of the other's score
  -1       Ham Hijinks, also `exchange`: 1 point, and from then on six-sided
           dice are four-sided, and the other way round
Otherwise the dice have six sides, and four when both scores add up to a
multiple of seven. After two Pig outs in a row your next turn without one
counts double, after three or more three times. If the last two digits of your
score become those of the other's reversed, both scores are swapped."""
_WORDS = {"bacon": 0, "free bacon": 0, "free": 0} | dict.fromkeys(
    ("exchange", "exchange the dice", "exchange dice", "ham", "hijinks", "ham hijinks", "minus one", "minus 1"), -1
)
DICE_NUMBERS = range(1, MOST_DICE + 1)
_ALLOWED = f"1 to {MOST_DICE} to roll that many dice, `bacon` (or 0), or -1 to exchange the dice"


def _scores(state: Any, seat: int) -> tuple[int, int]:
    scores = state["scores"].tolist()
    return scores[seat], scores[1 - seat]


def sides_now(state: Any) -> int:
    """Return how many sides the dice have now."""
    return int(rules.sides(*_scores(state, 0), int(state["exchanges"].sum())))


def table(place: Place, state: Any, full: bool) -> str:
    """Return both scores, the dice in play, and what bacon, an exchange and each number of dice score."""
    seat = place.seat
    own, other = _scores(state, seat)
    goal, run, faces = int(state["goal"]), int(state["runs"][seat]), sides_now(state)
    rival = place.names[1 - seat]
    wild = "a multiple of seven" if (own + other) % rules.WILD == 0 else "no multiple of seven"
    turned = ", and they are exchanged" if state["exchanges"].sum() % 2 else ""
    lines = [
        f"You {own}, {rival} {other}, to {goal}.",
        f"The dice have {NUMBER_WORDS[faces]} sides ({own} + {other} is {wild}{turned}).",
    ]
    factor = int(multiplier(run))
    if factor > 1:
        lines.append(f"After your {run} Pig outs a turn without one counts {factor} times.")
    lines += [
        f"  {name:<7}{certain(place, state, number - FIRST_NUMBER)}" for name, number in (("bacon", 0), ("-1", -1))
    ]
    chances = [weigh_roll(state, seat, number) for number in DICE_NUMBERS]
    lines += [
        "  dice        " + "".join(f"{number:>6}" for number in DICE_NUMBERS),
        "  without a 1 " + "".join(f"{percent(lucky):>6}" for lucky, _ in chances),
        "  mean points " + "".join(f"{mean:>6.1f}" for _, mean in chances),
    ]
    return "\n".join(lines)


def weigh_roll(state: Any, seat: int, number: int) -> tuple[float, float]:
    """Return (chance that this many dice show no 1, mean points of the turn for ``seat``)."""
    faces, factor = sides_now(state), int(multiplier(int(state["runs"][seat])))
    lucky = (1 - 1 / faces) ** number
    return lucky, lucky * number * (faces + 2) / 2 * factor + (1 - lucky) * PIG_OUT


def certain(place: Place, state: Any, action: int) -> str:
    """Return the certain result of an action without dice."""
    after = state.copy()
    place.game.step(after, action)
    before, other = _scores(state, place.seat)
    own, rival = _scores(after, place.seat)
    number = action + FIRST_NUMBER
    points = int(free_bacon(other)) if number == 0 else EXCHANGE
    points *= int(multiplier(int(state["runs"][place.seat])))
    swapped = " by a Swine Swap" if swaps(before + points, other) else ""
    exchanged = "" if number == 0 else "; the dice are exchanged"
    return f"{count(points, 'point')}: you {own}, {place.names[1 - place.seat]} {rival}{swapped}{exchanged}"


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action for a typed number of dice; see `dicegym.games.controls.Controls`."""
    words = re.sub(r"^(?:roll|take|throw|play|choose) ", "", text)
    words = re.sub(r" (?:dice|die)$", "", words)
    number = _WORDS.get(words, number_of(words))
    if number is None:
        if "swap" in words:
            raise ParameterError(f"a Swine Swap comes by itself, when the digits are right: type {_ALLOWED}")
        raise unread(text, _ALLOWED)
    if not FIRST_NUMBER <= number <= MOST_DICE:
        raise ParameterError(f"{number} dice cannot be rolled: type {_ALLOWED}")
    return [number - FIRST_NUMBER]


def list_facts(place: Place, state: Any) -> list[str]:
    """Return which dice are in play, and the opponent's Pig outs; see `dicegym.games.controls.Controls`."""
    other = 1 - place.seat
    exchanged = "exchanged" if state["exchanges"].sum() % 2 else "not exchanged"
    return [
        f"The dice have {NUMBER_WORDS[sides_now(state)]} sides now; they are {exchanged}.",
        f"{place.names[other].capitalize()} has had {count(int(state['runs'][other]), 'Pig out')} in a row.",
    ]


def write_actions(place: Place, state: Any, actions: Sequence[int]) -> str:
    """Return a number of dice as a person types it; see `dicegym.games.controls.Controls`."""
    number = actions[0] + FIRST_NUMBER
    return "bacon" if number == 0 else str(number)


def tell(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return the story of a turn: its dice, its points and their reasons."""
    mover = int(before["player"])
    if fault:
        return [f"{place.does(mover, 'choose')} {action + FIRST_NUMBER} dice, which is out of range: disqualified."]
    score, other = _scores(before, mover)
    number, run = int(after["chosen"][mover]), int(before["runs"][mover])
    faces = [int(face) for face in after["rolled"][mover] if face]
    pig_out = 1 in faces
    factor = 1 if pig_out else int(multiplier(run))
    if number > 0:
        sided = f"{NUMBER_WORDS[sides_now(before)]}-sided {'die' if number == 1 else 'dice'}"
        text = f"{place.does(mover, 'roll')} {number} {sided}: {dice(faces)}"
        points = PIG_OUT if pig_out else sum(faces)
    elif number == 0:
        points = int(free_bacon(other))
        text = f"{place.does(mover, 'take')} Free bacon (1 + the largest digit of {other})"
    else:
        points = EXCHANGE
        text = f"{place.does(mover, 'exchange')} the dice"
    if pig_out:
        outs = int(after["runs"][mover])
        text += ", a Pig out" + (f", number {outs} in a row" if run < outs > 1 else " again" if run else "")
    if factor > 1:
        text += f", {points} times {factor} after {run} Pig outs"
    points *= factor
    lines = [f"{text}: {count(points, 'point')}."]
    if swaps(score + points, other):
        lines.append(f"Swine Swap! {score + points} and {other} change places.")
    own, rival = _scores(after, place.seat)
    lines.append(f"  You {own}, {place.names[1 - place.seat]} {rival}.")
    return lines


def ending(place: Place, state: Any) -> str:
    """Return who has won, and the scores."""
    own, rival = _scores(state, place.seat)
    first = winners(place, state)
    disqualified = max(own, rival) < int(state["goal"])
    return f"{name_winners(place, first)}, " + (
        "the other being disqualified." if disqualified else f"{max(own, rival)} to {min(own, rival)}."
    )


def board(place: Place, state: Any) -> GameBoard:
    """Return both scores, the progress to the goal, and the dice of each last turn."""
    over, goal, mover = bool(state["over"]), int(state["goal"]), int(state["player"])
    seats = []
    for seat, name in enumerate(place.names):
        score = int(state["scores"][seat])
        faces = tuple(int(face) for face in state["rolled"][seat] if face)
        note = tell_last_turn(state, seat, int(state["runs"][seat])) if state["turns"][seat] else ""
        share, wins = min(1.0, score / max(1, goal)), over and int(state["winner"]) == seat
        seats.append(BoardSeat(name, str(score), note, faces, share=share, moves=not over and mover == seat, wins=wins))
    return GameBoard(f"First to {goal}", tuple(seats))


_FORM, _FIELD, _ASKED = "turn", "number", "How many dice"


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return one form: how many dice to roll, bacon or exchange; see `dicegym.games.controls.Controls`."""
    options = []
    for number in DICE_NUMBERS:
        lucky, mean = weigh_roll(state, place.seat, number)
        note = f"no 1 {percent(lucky)}, mean {mean:.1f}"
        options.append(Option(str(number), count(number, "die", "dice"), note))
    for number, name in ((0, "Free bacon"), (-1, "Ham Hijinks")):
        options.append(Option(str(number), name, certain(place, state, number - FIRST_NUMBER)))
    note = f"The dice have {NUMBER_WORDS[sides_now(state)]} sides. A 1 among those you roll makes the turn score 1."
    return [PlayForm(_FORM, _ASKED, (PickOne(_FIELD, _ASKED, tuple(options)),), note)]


def read_form(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action for the chosen number of dice."""
    return [int(FilledForm(forms(place, state), form, fields).one(_FIELD)) - FIRST_NUMBER]
