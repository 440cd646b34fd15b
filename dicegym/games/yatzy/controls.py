"""How a person plays Yatzy: dice are kept by what they show or by a press, boxes are scored by their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from dicegym.errors import ParameterError
from dicegym.games.keyboard import (
    NUMBER_WORDS,
    Place,
    count,
    dice,
    list_names,
    name_winners,
    number_of,
    unread,
    winners,
)
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
    FIRST_BOX,
    ROLL_PLACES,
    SCORE_PLACES,
    bonus,
    total,
)
from dicegym.games.yatzy.tables import (
    BEST,
    BOX_NAMES,
    BOXES,
    CHANCE,
    DICE,
    FACES,
    FOUR,
    FULL_HOUSE,
    HANDFULS,
    KEEPS,
    LARGE,
    PAIR,
    ROLLS,
    SETS,
    SMALL,
    THREE,
    TWO_PAIRS,
    UPPER,
    YATZY,
    hand_of,
    places_kept,
)

OPPONENTS = {"easy": "gather", "normal": "thrifty", "hard": "planner"}
SEATS = 2
OPEN: frozenset[str] = frozenset()
HELP = f"""\
Fifteen rounds; in each you roll five dice up to three times and fill a box.
  keep 6 6          keep two sixes and roll the others; also `keep sixes`
  roll 1 3          roll a die that shows 1 and one that shows 3 again;
                    `roll all` rolls all five, `roll #1 #3` those in the first
                    and the third place
  score full house  fill a box, by its name or number; `full house` will do
A box takes the best dice for it. If none fit it scores 0, and is used up.
{BONUS_FROM} points or more in the boxes 1 to 6 earn {BONUS} more."""
RULES = HELP
_ALIASES = {
    "pair": PAIR,
    "1p": PAIR,
    "two pair": TWO_PAIRS,
    "2 pairs": TWO_PAIRS,
    "2 pair": TWO_PAIRS,
    "2p": TWO_PAIRS,
    "3 of a kind": THREE,
    "three of kind": THREE,
    "3k": THREE,
    "4 of a kind": FOUR,
    "four of kind": FOUR,
    "4k": FOUR,
    "small": SMALL,
    "ss": SMALL,
    "large": LARGE,
    "big straight": LARGE,
    "ls": LARGE,
    "house": FULL_HOUSE,
    "full": FULL_HOUSE,
    "fullhouse": FULL_HOUSE,
    "fh": FULL_HOUSE,
    "ch": CHANCE,
    "yahtzee": YATZY,
    "y": YATZY,
}
_TYPE = "`keep 6 6`, `roll 1 3` or `score full house`"
_ALL = ("all", "everything", "all five", "all dice", "all of them", "all 5", "five dice", "5 dice", "all five dice")
_HEAD, _WIDTH = 20, 79
"""Columns of the names of boxes, and of a whole card."""


def worth(state: Any) -> list[int]:
    """Return what each box would score with the dice that lie there."""
    points: list[int] = BEST[hand_of(state["dice"])].tolist()
    return points


def _rolls(state: Any) -> str:
    left = int(state["rolls_left"])
    return f"{count(left, 'roll')} left" if left else "no rolls left: score a box"


def table(place: Place, state: Any, full: bool) -> str:
    """Return the card at the beginning of a turn, the dice, and what each open box would score now."""
    shown = [_card(place, state)] if full or state["rolls_left"] == ROLLS else []
    shown.append(f"Your dice: {dice(state['dice'].tolist())}   ({_rolls(state)})")
    points, scores = worth(state), state["scores"][place.seat]
    open_boxes = sorted((box for box in range(BOXES) if scores[box] < 0), key=lambda box: -points[box])
    now = [f"{BOX_NAMES[box]} {points[box]}" for box in open_boxes if points[box]]
    others = "; any other open box 0" if len(now) < len(open_boxes) else ""
    shown.append(f"Worth now: {', '.join(now)}{others}." if now else "Worth now: nothing in any open box.")
    return "\n".join(shown)


def _card(place: Place, state: Any) -> str:
    """Return everybody's boxes, a column each."""
    players = range(place.game.players)
    names = [place.who(player) for player in players]
    width = min(max(9, max(map(len, names)) + 2), (_WIDTH - _HEAD) // len(names))
    rows = [(f"Round {int(state['round_number'])} of {BOXES}", [_short(name, width - 1) for name in names])]
    for box, name in enumerate(BOX_NAMES):
        filled = [int(state["scores"][player, box]) for player in players]
        rows.append((f"{box + 1:>2} {name}", ["." if points < 0 else str(points) for points in filled]))
        if box + 1 == UPPER:
            uppers = [int(state["upper"][player]) for player in players]
            earned = [f"{upper} + {bonus(upper)}" if bonus(upper) else f"{upper}" for upper in uppers]
            rows.append((f"   sum, bonus at {BONUS_FROM}", earned))
    rows.append(("   total", [str(int(total(state, player))) for player in players]))
    return "\n".join(f"{head:<{_HEAD}}" + "".join(f"{cell:>{width}}" for cell in cells) for head, cells in rows)


def _short(name: str, width: int) -> str:
    """Return a name cut to ``width``, with the number that tells it from others alike: ``plann(2)``."""
    stem, mark, number = name.partition(" (")
    return name if len(name) <= width else f"{stem[: width - len(number) - 1]}({number}" if mark else name[:width]


# --- what a person types ---------------------------------------------------------------------------------------


def read(place: Place, state: Any, text: str) -> list[int]:
    """Return the action that keeps, rolls or scores; see `dicegym.games.keyboard.Keyboard`."""
    verb, _, rest = text.partition(" ")
    if verb in ("keep", "hold", "k"):
        return [rolling(state, _kept(state, rest))]
    if verb in ("roll", "reroll", "r", "throw"):
        return [_rolled(state, rest)]
    named = rest if verb in ("score", "take", "fill", "cross", "s", "box", "use") else text
    named = re.sub(r"^(?:in|into|out|box|the) ", "", named)
    if not named or (named == verb and named.isdecimal()):
        raise unread(text, _TYPE)
    return [_box(state, place.seat, named)]


def _kept(state: Any, words: str) -> list[int]:
    """Return the faces that are to be kept."""
    if words in _ALL:
        raise ParameterError("to keep all dice is to score: type `score` and a box, such as `score chance`")
    if not words:
        raise unread("keep", "`keep 6 6` with what the dice show, or `roll all` to keep none")
    if words in ("none", "nothing"):
        return []
    return _named(state, words)


def _rolled(state: Any, words: str) -> int:
    """Return the action that rolls what was named."""
    if words in _ALL:
        return rolling(state, [])
    if not words:
        raise unread("roll", "`roll all`, or what the dice show that you roll again: `roll 1 3`")
    if words in ("none", "nothing"):
        raise ParameterError("to roll none is to score: type `score` and a box, such as `score chance`")
    if "#" in words or re.match(r"places?\b", words):
        return _rolled_places(state, words)
    left = Counter(state["dice"].tolist()) - Counter(_named(state, words))
    return rolling(state, list(left.elements()))


def _rolled_places(state: Any, words: str) -> int:
    """Return the action that rolls the dice in places 1 to 5."""
    named = [number_of(word) or 0 for word in re.findall(r"[\w+-]+", re.sub(r"places?|#", " ", words))]
    if not named or not all(1 <= number <= DICE for number in named):
        raise ParameterError(f"the dice lie in places 1 to {DICE}: type `roll #1 #3`")
    rolled = sum(1 << (number - 1) for number in set(named))
    _check_rolls(state)
    return ROLL_PLACES + rolled


def _check_rolls(state: Any) -> None:
    if not state["rolls_left"]:
        raise ParameterError("there is no roll left: type `score` and a box, such as `score chance`")


def rolling(state: Any, kept: Sequence[int]) -> int:
    """Return the action that keeps these faces."""
    _check_rolls(state)
    if len(kept) == DICE:
        raise ParameterError("to keep all dice is to score: type `score` and a box, such as `score chance`")
    return SETS.index(tuple(sorted(kept)))


def _named(state: Any, words: str) -> list[int]:
    """Return the faces of the dice that are named: ``6 6``, ``66``, ``sixes``, ``two sixes``.

    Raises ParameterError for what names no dice, or others than those that lie there.
    """
    found = re.findall(r"[\w+-]+", re.sub(r"\b(?:and|the|a|of|die|dice|all|both|my)\b", " ", words))
    apart = [digit for word in found for digit in (word if re.fullmatch(r"[1-6]{2,5}", word) else [word])]
    if not apart or re.fullmatch(r"\w+ dice", words):
        raise ParameterError("which dice? Name them by what they show, such as `6 6`, or by place: `roll #1 #3`")
    shown = Counter(state["dice"].tolist())
    faces: list[int] = []
    waiting = iter([*zip(apart, [*apart[1:], ""], strict=True)])
    for word, following in waiting:
        every, number = _every(following), 2 if word == "pair" else number_of(word)
        if every is not None and number is not None:
            faces += [every] * number
            next(waiting)
        elif (every := _every(word)) is not None:
            if not shown[every]:
                raise ParameterError(f"none of your dice shows a {every}: they are {_shown(state)}")
            faces += [every] * shown[every]
        elif word == "one" and following in NUMBER_WORDS:
            face = number_of(following)
            raise ParameterError(f"one {following}, or a one and a {following}? Type `{face}` or `1 {face}`")
        else:
            faces.append(_face(word))
    _check_shown(state, faces)
    return faces


def _every(word: str) -> int | None:
    """Return the face of which all dice are meant by ``sixes`` or ``6s``."""
    singular = {"sixes": "six"}.get(word, word.removesuffix("s")) if word.endswith("s") else word
    face = number_of(singular) if singular != word else None
    return face if face is not None and 1 <= face <= FACES else None


def _face(word: str) -> int:
    face = number_of(word)
    if face is None or not 1 <= face <= FACES:
        raise unread(word, "what the dice show, such as `6 6`")
    return face


def _shown(state: Any) -> str:
    return " ".join(map(str, state["dice"].tolist()))


def _check_shown(state: Any, faces: Sequence[int]) -> None:
    """Raise ParameterError if dice were named that are not there."""
    missing = Counter(faces) - Counter(state["dice"].tolist())
    if missing:
        face = next(iter(missing))
        more = "more " if face in state["dice"] else ""
        raise ParameterError(
            f"there is no {more}{NUMBER_WORDS[face]} among your dice: they are {_shown(state)}; "
            "name them by what they show, or by place: `roll #1 #3`"
        )


def _box(state: Any, seat: int, name: str) -> int:
    """Return the action that scores the box ``name``."""
    number = int(name) if name.isascii() and name.isdecimal() and len(name) < 9 else None
    if number is not None:
        if not 1 <= number <= BOXES:
            raise ParameterError(f"there is no box {number}: they are numbered 1 to {BOXES}")
        found = [number - 1]
    elif name in _ALIASES:
        found = [_ALIASES[name]]
    else:
        whole = [box for box, known in enumerate(BOX_NAMES) if known.lower() == name]
        begun = [box for box, known in enumerate(BOX_NAMES) if known.lower().startswith(name)]
        found = whole or begun or [box for box, known in enumerate(BOX_NAMES) if name in known.lower().split()]
    if len(found) > 1 and name not in BOX_NAMES:
        open_ones = [box for box in found if state["scores"][seat, box] < 0]
        names = list_names([f"`{BOX_NAMES[box].lower()}`" for box in open_ones or found], "or")
        raise ParameterError(f"{name!r} may be {names}: type one of them")
    if not found:
        raise unread(name, f"{_TYPE}; `table` shows all boxes")
    box = found[0]
    filled = int(state["scores"][seat, box])
    if filled >= 0:
        raise ParameterError(f"{BOX_NAMES[box]} is filled already, with {count(filled, 'point')}: score another box")
    return FIRST_BOX + box


def list_facts(place: Place, state: Any) -> list[str]:
    """Return nothing: the scene shows the whole table; see `dicegym.games.keyboard.Keyboard`."""
    return []


def write_actions(place: Place, state: Any, actions: Sequence[int]) -> str:
    """Return which dice are kept or rolled, or which box is scored, as a person does with the best dice for it."""
    (action,) = actions
    if action >= SCORE_PLACES:
        action = FIRST_BOX + (action - SCORE_PLACES) // HANDFULS
    if action >= ROLL_PLACES:
        return f"roll {' '.join(f'#{at + 1}' for at in range(DICE) if action - ROLL_PLACES >> at & 1)}"
    if action >= FIRST_BOX:
        return f"score {BOX_NAMES[action - FIRST_BOX].lower()}"
    return f"keep {' '.join(map(str, SETS[action]))}" if SETS[action] else "roll all"


# --- what happens ----------------------------------------------------------------------------------------------


def _rolled_by(before: Any, action: int) -> int:
    """Return the places that an allowed action rolls, as bits; 0 if it rolls none."""
    if 0 <= action < KEEPS:
        return HANDFULS - 1 - int(places_kept(before["dice"], action))
    return action - ROLL_PLACES if ROLL_PLACES <= action < SCORE_PLACES else 0


def tell(place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
    """Return what was rolled, and what was scored; nobody is told of another's errors."""
    mover = int(before["player"])
    lines = []
    first = before["rolls_left"] == ROLLS and mover != place.seat and not before["errors"]
    if first:
        lines.append(f"{place.does(mover, 'roll')} {dice(before['dice'].tolist())}.")
    indent = "" if mover == place.seat else "  "
    rolled = 0 if fault else _rolled_by(before, action)
    if rolled:
        kept = sorted(face for at, face in enumerate(before["dice"].tolist()) if not rolled >> at & 1)
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
    return f"{text}; {place.whose(player)} total is {int(total(after, player))}."


def ending(place: Place, state: Any) -> str:
    """Return the cards, who has won, and the totals."""
    players = range(place.game.players)
    totals = [int(total(state, player)) for player in players]
    if len(totals) == 1:
        return f"{_card(place, state)}\nThat makes {totals[0]} points."
    order = sorted(players, key=lambda player: -totals[player])
    sums = ", ".join(f"{place.who(player)} {totals[player]}" for player in order)
    return f"{_card(place, state)}\n{name_winners(place, winners(place, state))}: {sums}."


_ROLL, _SCORE = "roll", "score"
_KEEP, _BOX = "keep", "box"


def board(place: Place, state: Any) -> GameBoard:
    """Return everybody's totals, the dice, and the card whose open boxes the person fills."""
    over, players = bool(state["over"]), range(place.game.players)
    totals = [int(total(state, player)) for player in players]
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
    uppers = [int(state["upper"][player]) for player in players]
    sums = tuple(f"{upper} + {bonus(upper)}" if bonus(upper) else str(upper) for upper in uppers)
    rows.insert(UPPER, CardRow(f"Sum; {BONUS_FROM} earn {BONUS}", sums))
    at = "Game over" if over else f"Round {int(state['round_number'])} of {BOXES}"
    dice = () if over else tuple(state["dice"].tolist())
    return GameBoard(at, seats, dice, ScoreCard(_SCORE, tuple(rows)))


def forms(place: Place, state: Any) -> list[PlayForm]:
    """Return the forms of another roll and of a box; see `dicegym.games.web_controls.Controls`."""
    left = int(state["rolls_left"])
    shown = []
    if left:
        dice = DiceToggles(
            _KEEP, "Choose the dice to keep", tuple(state["dice"].tolist()), most=DICE - 1, on="keep", off="roll"
        )
        shown.append(PlayForm(_ROLL, "Roll the others", (dice,), f"{count(left, 'roll')} left"))
    points, scores = worth(state), state["scores"][place.seat].tolist()
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
    return [_roll_but(state, filled.dice(_KEEP))]


def _roll_but(state: Any, kept: list[int]) -> int:
    """Return the action that rolls all dice but those in the places ``kept``, an ordinary one where that does it."""
    action = rolling(state, [int(state["dice"][at]) for at in kept])
    mask = sum(1 << at for at in kept)
    return action if int(places_kept(state["dice"], action)) == mask else ROLL_PLACES + HANDFULS - 1 - mask
