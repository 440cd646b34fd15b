"""Yatzy for a person: keeping dice by their faces or by a press, and scoring boxes by their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.keyboard import NUMBER_WORDS, Place, count, dice, list_names, name_winners, unread, winners
from dicegym.games.web_controls import (
    BoardSeat,
    CardRow,
    DiceToggles,
    Fields,
    FilledForm,
    GameBoard,
    Option,
    PickOne,
    PlayForm,
    ScoreCard,
)
from dicegym.games.yatzy.rules import (
    BONUS,
    BONUS_FROM,
    BOX_NAMES,
    BOXES,
    DICE,
    FACES,
    FIRST_BOX,
    HANDFULS,
    KEEPS,
    ROLL_PLACES,
    ROLLS,
    SCORE_PLACES,
    SETS,
    UPPER,
    bonus,
    places_kept,
)
from dicegym.games.yatzy.text import faces_at, points_now, totals_of, upper_text

OPPONENTS = {"easy": "gather", "normal": "thrifty", "hard": "planner"}
SEATS = 2
HELP = RULES = f"""\
Fifteen rounds; in each you roll five dice up to three times and fill a box.
  keep 6 6          keep two sixes and roll the others
  roll 1 3          roll a die that shows 1 and one that shows 3 again;
                    `roll all` rolls all five
  score full house  fill a box, by its name or number; `full house` will do
A box takes the best dice for it. If none fit, it scores 0 and is used up.
{BONUS_FROM} points or more in the boxes 1 to 6 earn {BONUS} more."""
_TYPE = "`keep 6 6`, `roll 1 3` or `score full house`"
_HEAD, _WIDTH = 20, 79
"""Width of the box names, and of the whole card, in characters."""


def _rolls(state: Any) -> str:
    left = int(state["rolls_left"])
    return f"{count(left, 'roll')} left" if left else "no rolls left: score a box"


def table(place: Place, state: Any, full: bool) -> str:
    """Return the card at the beginning of a turn, the dice, and what each open box would score now."""
    shown = [_card(place, state)] if full or state["rolls_left"] == ROLLS else []
    shown.append(f"Your dice: {dice(state['dice'].tolist())}   ({_rolls(state)})")
    points, scores = points_now(state), state["scores"][place.seat]
    open_boxes = sorted((box for box in range(BOXES) if scores[box] < 0), key=lambda box: -points[box])
    now = [f"{BOX_NAMES[box]} {points[box]}" for box in open_boxes if points[box]]
    others = "; any other open box 0" if len(now) < len(open_boxes) else ""
    shown.append(f"Worth now: {', '.join(now)}{others}." if now else "Worth now: nothing in any open box.")
    return "\n".join(shown)


def _card(place: Place, state: Any) -> str:
    """Return the card, a column for each player."""
    players = range(place.game.players)
    names = [place.who(player) for player in players]
    width = min(max(9, max(map(len, names)) + 2), (_WIDTH - _HEAD) // len(names))
    rows = [(f"Round {int(state['round_number'])} of {BOXES}", [_short(name, width - 1) for name in names])]
    for box, name in enumerate(BOX_NAMES):
        filled = [int(state["scores"][player, box]) for player in players]
        rows.append((f"{box + 1:>2} {name}", ["." if points < 0 else str(points) for points in filled]))
        if box + 1 == UPPER:
            rows.append((f"   sum, bonus at {BONUS_FROM}", [upper_text(state, player) for player in players]))
    rows.append(("   total", [str(points) for points in totals_of(state)]))
    return "\n".join(f"{head:<{_HEAD}}" + "".join(f"{cell:>{width}}" for cell in cells) for head, cells in rows)


def _short(name: str, width: int) -> str:
    """Return a name cut to ``width``, with the number that distinguishes equal names: ``plann(2)``."""
    stem, mark, number = name.partition(" (")
    return name if len(name) <= width else f"{stem[: width - len(number) - 1]}({number}" if mark else name[:width]


# --- what a person types ---------------------------------------------------------------------------------------


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action that keeps, rolls or scores; see `dicegym.games.controls.Controls`."""
    verb, _, rest = text.partition(" ")
    if verb in ("keep", "hold"):
        return [rolling(state, [] if rest == "none" else _faces(state, rest, text))]
    if verb in ("roll", "reroll"):
        rolled = state["dice"].tolist() if rest == "all" else _faces(state, rest, text)
        return [rolling(state, list((Counter(state["dice"].tolist()) - Counter(rolled)).elements()))]
    return [_box(state, place.seat, rest if verb in ("score", "take", "cross") else text, text)]


def _faces(state: Any, words: str, text: str) -> list[int]:
    """Return the faces named in ``6 6`` or ``66``. Raises ParameterError if the dice do not show them."""
    digits = re.sub(r"\band\b|[, ]", "", words)
    if not re.fullmatch(f"[1-{FACES}]{{1,{DICE}}}", digits):
        raise unread(text, f"{_TYPE}, with what the dice show")
    faces = [int(digit) for digit in digits]
    missing = Counter(faces) - Counter(state["dice"].tolist())
    if missing:
        face = next(iter(missing))
        more = "more " if face in state["dice"] else ""
        shown = " ".join(map(str, state["dice"].tolist()))
        raise ParameterError(f"there is no {more}{NUMBER_WORDS[face]} among your dice: they are {shown}")
    return faces


def rolling(state: Any, kept: Sequence[int]) -> int:
    """Return the action that keeps these faces."""
    if not state["rolls_left"]:
        raise ParameterError("there is no roll left: type `score` and a box, such as `score chance`")
    if len(kept) == DICE:
        raise ParameterError("to keep all dice is to score: type `score` and a box, such as `score chance`")
    return SETS.index(tuple(sorted(kept)))


def _box(state: Any, seat: int, name: str, text: str) -> int:
    """Return the action that scores a box, given its name, the beginning of its name, or ``score`` and its number."""
    name, names = name.removeprefix("box "), [known.lower() for known in BOX_NAMES]
    if name.isascii() and name.isdecimal() and len(name) < 9 and name != text:
        if not 1 <= int(name) <= BOXES:
            raise ParameterError(f"there is no box {name}: they are numbered 1 to {BOXES}")
        found = [int(name) - 1]
    elif name in names:
        found = [names.index(name)]
    else:
        found = [box for box, known in enumerate(names) if name and known.startswith(name)]
        found = found or [box for box, known in enumerate(names) if name in known.split()]
    if not found:
        raise unread(text, f"{_TYPE}; `table` shows all boxes")
    if len(found) > 1:
        meant = list_names([f"`{names[box]}`" for box in found], "or")
        raise ParameterError(f"{name!r} may be {meant}: type one of them")
    filled = int(state["scores"][seat, found[0]])
    if filled >= 0:
        raise ParameterError(
            f"{BOX_NAMES[found[0]]} is filled already, with {count(filled, 'point')}: score another box"
        )
    return FIRST_BOX + found[0]


def write_actions(place: Place, state: Any, actions: Sequence[int]) -> str:
    """Return an action as a person types it; a box is scored with the best dice for it."""
    (action,) = actions
    if action >= SCORE_PLACES:
        action = FIRST_BOX + (action - SCORE_PLACES) // HANDFULS
    if action >= ROLL_PLACES:
        action = SETS.index(faces_at(state, ~(action - ROLL_PLACES)))
    if action >= FIRST_BOX:
        return f"score {BOX_NAMES[action - FIRST_BOX].lower()}"
    return f"keep {' '.join(map(str, SETS[action]))}" if SETS[action] else "roll all"


# --- what happens ----------------------------------------------------------------------------------------------


def _rolled_by(before: Any, action: int) -> int:
    """Return the bit mask of the places that a legal action rolls."""
    if 0 <= action < KEEPS:
        return HANDFULS - 1 - int(places_kept(before["dice"], action))
    return action - ROLL_PLACES if ROLL_PLACES <= action < SCORE_PLACES else 0


def tell(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return what was rolled and scored; errors of other players are not told."""
    mover = int(before["player"])
    lines = []
    first = before["rolls_left"] == ROLLS and mover != place.seat and not before["errors"]
    if first:
        lines.append(f"{place.does(mover, 'roll')} {dice(before['dice'].tolist())}.")
    indent = "" if mover == place.seat else "  "
    rolled = 0 if fault else _rolled_by(before, action)
    if rolled:
        kept = faces_at(before, ~rolled)
        fresh = [face for at, face in enumerate(after["dice"].tolist()) if rolled >> at & 1]
        what = place.does(mover, "keep" if kept else "roll")
        what += f" {' '.join(map(str, kept))}; the others show" if kept else " all again:"
        lines.append(f"{indent}{what} {dice(fresh)}.")
    for player in range(place.game.players):  # also turns that the server played
        for box in range(BOXES):
            if before["scores"][player, box] < 0 <= after["scores"][player, box]:
                lines.append(f"{indent}{_scored(place, before, action, after, player, box)}")
    return lines


def _scored(place: Place, before: Any, action: int, after: Any, player: int, box: int) -> str:
    points = int(after["scores"][player, box])
    crossed = "" if points else ", which crosses it out"
    text = f"{place.does(player, 'score')} {count(points, 'point')} in {BOX_NAMES[box]}{crossed}"
    earned = int(bonus(after["upper"][player])) - int(bonus(before["upper"][player]))
    if earned:
        text += f", and earn{'' if player == place.seat else 's'} the bonus of {earned}"
    return f"{text}; {place.whose(player)} total is {totals_of(after)[player]}."


def ending(place: Place, state: Any) -> str:
    """Return the cards, who has won, and the totals."""
    totals = totals_of(state)
    if len(totals) == 1:
        return f"{_card(place, state)}\nThat makes {totals[0]} points."
    order = sorted(range(len(totals)), key=lambda player: -totals[player])
    sums = ", ".join(f"{place.who(player)} {totals[player]}" for player in order)
    return f"{_card(place, state)}\n{name_winners(place, winners(place, state))}: {sums}."


_ROLL, _SCORE, _KEEP, _BOX = "roll", "score", "keep", "box"


def board(place: Place, state: Any) -> GameBoard:
    """Return all totals, the dice, and the card whose open boxes the person fills."""
    over, totals = bool(state["over"]), totals_of(state)
    players = range(len(totals))
    seats = tuple(
        BoardSeat(
            name,
            str(totals[player]),
            moves=not over and int(state["player"]) == player,
            wins=over and totals[player] == max(totals),
        )
        for player, name in enumerate(place.names)
    )
    rows = [
        CardRow(
            name,
            tuple("" if points < 0 else str(points) for points in state["scores"][:, box].tolist()[: len(players)]),
            str(box + 1),
            box >= UPPER,
        )
        for box, name in enumerate(BOX_NAMES)
    ]
    sums = tuple(upper_text(state, player) for player in players)
    rows.insert(UPPER, CardRow(f"Sum; {BONUS_FROM} earn {BONUS}", sums))
    at = "Game over" if over else f"Round {int(state['round_number'])} of {BOXES}"
    dice = () if over else tuple(state["dice"].tolist())
    return GameBoard(at, seats, dice, ScoreCard(_SCORE, tuple(rows)))


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of another roll and of a box; see `dicegym.games.controls.Controls`."""
    left = int(state["rolls_left"])
    shown = []
    if left:
        dice = DiceToggles(
            _KEEP, "Choose the dice to keep", tuple(state["dice"].tolist()), most=DICE - 1, on="keep", off="roll"
        )
        shown.append(PlayForm(_ROLL, "Roll the others", (dice,), f"{count(left, 'roll')} left"))
    points, scores = points_now(state), state["scores"][place.seat].tolist()
    options = [
        Option(str(box + 1), BOX_NAMES[box], count(points[box], "point") if points[box] else "score 0 here")
        for box in range(BOXES)
        if scores[box] < 0
    ]
    send = "Or score a box with these dice" if left else "Score a box"
    shown.append(PlayForm(_SCORE, send, (PickOne(_BOX, "Box", tuple(options)),)))
    return shown


def read_form(place: Place, state: Any, form: str, fields: Fields) -> list[int]:
    """Return the action that rolls or scores."""
    filled = FilledForm(forms(place, state), form, fields)
    if filled.form.name == _SCORE:
        return [FIRST_BOX + int(filled.one(_BOX)) - 1]
    kept = filled.dice(_KEEP)
    action = rolling(state, [int(state["dice"][at]) for at in kept])
    mask = sum(1 << at for at in kept)  # the ordinary action keeps the first of equal dice
    return [action if int(places_kept(state["dice"], action)) == mask else ROLL_PLACES + HANDFULS - 1 - mask]
