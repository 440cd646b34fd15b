"""How Yatzy reads on a screen: names of actions, and one screen of a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.scene import Line, Scene
from dicegym.games.keyboard import count
from dicegym.games.yatzy.rules import (
    BEST,
    BOX_NAMES,
    BOXES,
    DICE,
    FACES,
    FIRST_BOX,
    HANDFULS,
    KEEPS,
    MOST,
    MOST_ERRORS,
    MOST_HELP,
    N_ACTIONS,
    ROLL_PLACES,
    ROLLS,
    SCORE_PLACES,
    SEATS,
    SERVER_TURN,
    SETS,
    UPPER,
    bonus,
    hand_of,
    total,
)

_SHORT = ("1s", "2s", "3s", "4s", "5s", "6s", "1P", "2P", "3K", "4K", "SS", "LS", "FH", "Ch", "Y")
_OPEN = "-"


def _places(places: int) -> str:
    named = [str(place + 1) for place in range(DICE) if places >> place & 1]
    return f"dice in places {', '.join(named)}" if named else "no dice"


def action_name(action: int) -> str:
    """Return what an action means, in words."""
    if 0 <= action < KEEPS:
        return f"keep {'-'.join(map(str, SETS[action]))}" if SETS[action] else "roll all"
    if FIRST_BOX <= action < N_ACTIONS:
        return BOX_NAMES[action - FIRST_BOX]
    if ROLL_PLACES <= action < ROLL_PLACES + HANDFULS:
        return f"roll {_places(action - ROLL_PLACES)}"
    if SCORE_PLACES <= action < SCORE_PLACES + BOXES * HANDFULS:
        box, places = divmod(action - SCORE_PLACES, HANDFULS)
        return f"{BOX_NAMES[box]} with {_places(places)}"
    return "let the server play" if action == SERVER_TURN else f"{action} (no action)"


def action_in(state: Any, action: int) -> str:
    """Return what an action means with the dice shown: ``keep 4 4``, ``score 20 in Full House``."""
    if ROLL_PLACES < action < ROLL_PLACES + HANDFULS:  # ROLL_PLACES itself rolls nothing
        action = SETS.index(faces_at(state, ~(action - ROLL_PLACES)))
    if 0 <= action < KEEPS and SETS[action]:
        return f"keep {' '.join(map(str, SETS[action]))}"
    if FIRST_BOX <= action < FIRST_BOX + BOXES:
        box = action - FIRST_BOX
        return f"score {points_now(state)[box]} in {BOX_NAMES[box]}"
    if SCORE_PLACES <= action < SCORE_PLACES + BOXES * HANDFULS:
        box, places = divmod(action - SCORE_PLACES, HANDFULS)
        faces = faces_at(state, places)
        return f"{BOX_NAMES[box]} with {'-'.join(map(str, faces)) if faces else 'no dice'}"
    return action_name(action)


def faces_at(state: Any, places: int) -> tuple[int, ...]:
    """Return the faces of the dice in a bit mask of places, lowest first."""
    return tuple(sorted(face for place, face in enumerate(state["dice"].tolist()) if places >> place & 1))


def points_now(state: Any) -> list[int]:
    """Return the points of the dice shown in each box."""
    points: list[int] = BEST[hand_of(state["dice"])].tolist()
    return points


def totals_of(state: Any) -> list[int]:
    """Return each player's points so far, the bonus included."""
    return [int(total(state, player)) for player in range(int(state["players"]))]


def upper_text(state: Any, player: int) -> str:
    """Return a player's sum of boxes 1 to 6, with the bonus once it is earned: ``66 + 50``."""
    upper = int(state["upper"][player])
    return f"{upper} + {bonus(upper)}" if bonus(upper) else str(upper)


def scene(state: Any, seat: int | None) -> Scene:
    """Return the table; nothing is hidden, and ``seat`` is marked as "you"."""
    over, mover, totals = bool(state["over"]), int(state["player"]), totals_of(state)
    lines = [Line("", cells=(*_SHORT, "Bon", "Sum"))]
    for player, points in enumerate(totals):
        row = state["scores"][player].tolist()
        extra = int(bonus(state["upper"][player]))
        cells = [_OPEN if filled < 0 else str(filled) for filled in row]
        cells += [str(extra) if extra else _OPEN, str(points)]
        label = f"player {player}" + (" (you)" if seat == player else "")
        lines.append(Line(label, cells=tuple(cells), active=not over and player == mover))
    dice = tuple(state["dice"].tolist())
    if over:  # as many lines as before
        first = [str(player) for player, points in enumerate(totals) if points == max(totals)]
        lines += [Line("last dice", dice=dice), Line("")]
        return Scene("Yatzy", tuple(lines), f"player {' and '.join(first)}: {max(totals)} points")
    lines.append(Line("dice", f"{count(int(state['rolls_left']), 'roll')} left ", dice))
    now = [str(points) if state["scores"][mover, box] < 0 else "" for box, points in enumerate(points_now(state))]
    lines.append(Line("worth now", cells=tuple(now)))
    return Scene(f"Yatzy, round {int(state['round_number'])} of {BOXES}", tuple(lines))


def limits(game: Game) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of each field; see `dicegym.games.positions.FieldLimits`."""
    seated = np.arange(SEATS) < game.players
    return {
        "round_number": (1, BOXES),
        "dice": (1, FACES),
        "rolls_left": (0, ROLLS),
        "scores": (-1, np.where(seated[:, None], MOST, -1)),
        "totals": (0, seated * int(MOST.sum())),
        "upper": (0, seated * int(MOST[:UPPER].sum())),
        "errors": (0, MOST_ERRORS - 1),
        "helped": (0, seated * MOST_HELP),
    }


def impossible(game: Game, state: Any, seat: int | None) -> str:
    """Return why a record cannot occur, or the part of it that ``seat`` knows; empty if compiled code can play it on.

    The player to move must have an open box: compiled code looks for one. Everything else that cannot occur is
    harmless.
    """
    for one in range(game.players):
        filled = int((state["scores"][one] >= 0).sum())
        turns = BOXES if state["over"] else int(state["round_number"]) - 1 + (one < state["player"])
        if filled != turns:
            return f"seat {one} has filled {filled} boxes in {turns} turns"
    return ""
