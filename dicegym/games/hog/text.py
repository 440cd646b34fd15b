"""How Hog reads on a screen: names of actions, and one screen of a state."""

from __future__ import annotations

from typing import Any

from dicegym.engine.game import Game
from dicegym.engine.scene import Line, Scene
from dicegym.games.hog.rules import FIRST_NUMBER, LONGEST_RUN, MOST_DICE, sides
from dicegym.games.keyboard import count

_FACES = 6


def action_name(action: int) -> str:
    """Return what an action means, in words."""
    number = action + FIRST_NUMBER
    if number == -1:
        return "exchange the dice (-1)"
    if number == 0:
        return "Free bacon (0)"
    return f"roll {number}" if 1 <= number <= MOST_DICE else f"{number} dice (out of range)"


def tell_last_turn(state: Any, player: int, run: int, rolled: bool = False) -> str:
    """Return a player's last choice and its ``run`` of Pig outs; name a roll only if ``rolled``."""
    number = int(state["chosen"][player])
    said = {0: "took Free bacon", FIRST_NUMBER: "exchanged the dice"}.get(number, f"rolled {number}" if rolled else "")
    return "; ".join(filter(None, (said, f"{count(run, 'Pig out')} in a row" if run else "")))


def scene(state: Any, seat: int | None) -> Scene:
    """Return the table as ``seat`` sees it (only its own dice and run), or all of it for None."""
    lines = []
    for player in (0, 1):
        text = f"score {int(state['scores'][player]):3d}"
        dice: tuple[int, ...] = ()
        if seat in (None, player) and state["turns"][player]:
            run = int(state["runs"][player])
            text += f"   chose {int(state['chosen'][player])}"
            text += f"   {count(run, 'Pig out')} in a row" if run else ""
            dice = tuple(int(face) for face in state["rolled"][player] if face)
        label = f"player {player}" + (" (you)" if seat == player else "")
        lines.append(Line(label, text, dice, not state["over"] and int(state["player"]) == player))
    footer = f"player {int(state['winner'])} wins" if state["over"] else ""
    if not state["over"] and seat is None:
        own, other = (int(score) for score in state["scores"])
        footer = f"the dice have {sides(own, other, int(state['exchanges'].sum()))} sides"
    return Scene(f"Hog to {int(state['goal'])}", tuple(lines), footer)


def limits(game: Game) -> dict[str, tuple[Any, Any]]:
    """Return the least and the largest value of each field; see `dicegym.games.positions.FieldLimits`."""
    return {
        "scores": (0, game.parameters["goal"] - 1 + MOST_DICE * _FACES * LONGEST_RUN),
        "runs": (0, LONGEST_RUN),
        "exchanges": (0, 32_000),
        "turns": (0, 2_000_000_000),
        "chosen": (FIRST_NUMBER, MOST_DICE),
        "rolled": (0, _FACES),
        "winner": (-1, 1),
    }


def impossible(game: Game, state: Any, seat: int | None) -> str:
    """Return why a record cannot occur, or the part of it that ``seat`` knows; empty if compiled code can play it on.

    Tables of values have a row for each score below the goal, and the winner is a place in arrays.
    """
    if not state["over"] and int(state["scores"].max()) >= game.parameters["goal"]:
        return f"somebody has {int(state['scores'].max())} points, but the game is not over"
    if bool(state["over"]) != (state["winner"] >= 0):
        return "the game is over without a winner, or has one and is not over"
    return ""
