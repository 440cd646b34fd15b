"""What a Yatzy server tells: STANDING, FINAL and ERROR, and after which changes of the table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dicegym.engine.game import Game
from dicegym.games.yatzy.protocol_words import ERROR, FINAL, OPEN, STANDING
from dicegym.games.yatzy.rules import MOST_HELP, SERVER_TURN, total

_SCORE_TEXTS = (*map(str, range(128)), OPEN)  # -1, an open box, is the last


@lru_cache(maxsize=4096)  # most rows of a table are as they were when somebody was asked last
def score_text(scores: tuple[int, ...]) -> str:
    """Return fifteen points, -1 for an open box, as they stand in a STANDING."""
    return ",".join([_SCORE_TEXTS[points] for points in scores])


def table_message(
    scores: Sequence[tuple[int, ...]],
    player: int,
    round_number: int,
    rolls_left: int,
    dice: Sequence[int],
    names: Sequence[str],
    ratings: Sequence[int],
) -> dict[str, Any]:
    """Return the STANDING of a table given as plain values, all by seat; see `standing_message`."""
    return {
        "key": STANDING,
        "roundNumber": round_number,
        "standing": [
            {"playerName": name, "rating": rating, "score": score_text(row)}
            for name, rating, row in zip(names, ratings, scores, strict=True)
        ],
        "currentPlayer": {"playerName": names[player], "rollsLeft": rolls_left, "dice": list(dice)},
    }


def standing_message(game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> dict[str, Any]:
    """Return the STANDING that goes to every player after every change.

    Args:
        game: a game of Yatzy.
        state: its record.
        names: of the players, by seat.
        ratings: likewise.
    """
    return table_message(
        _rows(game, state),
        int(state["player"]),
        int(state["round_number"]),
        int(state["rolls_left"]),
        state["dice"].tolist(),
        names,
        ratings,
    )


def _rows(game: Game, state: Any) -> list[tuple[int, ...]]:
    return list(map(tuple, state["scores"][: game.players].tolist()))


def totals_of(game: Game, state: Any) -> list[int]:
    """Return each seat's points, the bonus included."""
    return [int(total(state, seat)) for seat in range(game.players)]


def final_message(game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> dict[str, Any]:
    """Return the FINAL of a game that is over: names, boxes, totals, places and new ratings, best first.

    Equal totals share the better place, and the next places are skipped.
    """
    totals = totals_of(game, state)
    scores = _rows(game, state)
    order = sorted(range(game.players), key=lambda seat: -totals[seat])
    return {
        "key": FINAL,
        "standing": [
            {
                "playerName": names[seat],
                "rating": ratings[seat],
                "score": score_text(scores[seat]),
                "total": totals[seat],
                "place": 1 + sum(better > totals[seat] for better in totals),
            }
            for seat in order
        ],
    }


def error_message(code: str, message: str) -> dict[str, Any]:
    """Return the ERROR that answers a command which cannot be carried out."""
    return {"key": ERROR, "code": code, "message": message}


def given_up(state: Any, seat: int) -> bool:
    """Return whether the server plays the rest of the game for this seat."""
    return bool(state["helped"][seat] >= MOST_HELP)


def interludes(game: Game, state: Any, action: int) -> list[Any]:
    """Return the tables that ``action`` leads through before it leads to the next who plays for itself.

    The rules play the turns of seats that have given up within the step that leads to them. Whoever follows the game
    is to see each of them begin: these are the records, in their order, in which such a seat is shown its five dice.

    Args:
        game: a game of Yatzy.
        state: its record before ``action``; it is not changed.
        action: what is played next.
    """
    if max(state["helped"].tolist()) < MOST_HELP:
        return []
    after, table = state.copy(), state.copy()
    game.step(after, action)
    found: list[Any] = []
    while True:
        # With one turn less on their account they are waited for, and the server's turn then puts it back.
        table["helped"] = table["helped"].clip(max=MOST_HELP - 1)
        game.step(table, SERVER_TURN if found else action)
        if table["over"] or not given_up(after, int(table["player"])):
            return found
        found.append(table.copy())


def as_original(standing: dict[str, Any]) -> dict[str, Any]:
    """Return a STANDING as the original server writes it: ``score`` is an array, with -1 for an open box."""
    rows = [
        row | {"score": [-1 if text == OPEN else int(text) for text in row["score"].split(",")]}
        for row in standing["standing"]
    ]
    return standing | {"standing": rows}
