"""Bots of Yatzy: files as players, players as files, and a starter file.

By the rules, an invalid or illegal command is an error, and the bot is asked again. ``interface.py`` is the bot's half.
The protocol is `dicegym.games.parts.Adapter`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dicegym.bots.calls import show_value, without_addresses
from dicegym.bots.export import network_source
from dicegym.bots.program import Asked, explaining
from dicegym.engine.game import Game
from dicegym.games.yatzy.interface import ENTRY_POINT
from dicegym.games.yatzy.protocol import (
    OPEN,
    UNREADABLE,
    CommandError,
    action_of,
    name_dice,
    table_message,
    write_command,
)
from dicegym.games.yatzy.rules import read_fields
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

START_RATING = 1200


def sit(program: Asked, command: Callable[..., Any], game: Game, seat: int) -> Act:
    """Return the function that asks ``command`` for an action."""
    names, ratings = [f"player_{seat}" for seat in range(game.players)], [START_RATING] * game.players

    def act(turn: Turn) -> int:
        view: Any = turn.view
        standing = table_message(view, names, ratings)
        try:
            answer = command(standing)
            program.last = in_words, answer, (view,)
            return action_of(answer)
        except CommandError:
            return UNREADABLE
        except BaseException as error:
            raise program.failure(error, f"in {ENTRY_POINT}(standing), {_moment(view)}") from error

    return explaining(act, program)


def _moment(view: Any) -> str:
    return f"in round {view.round_number} with {view.rolls_left} rolls left and the dice {list(view.dice)}"


def in_words(answer: object, view: Any) -> str:
    """Return an answer in words: what, when, and whether it is invalid by itself."""
    try:
        action_of(answer)
        why = ""
    except CommandError as error:
        why = f" ({without_addresses(error.message)})"
    return f"{ENTRY_POINT}(standing) returned {show_value(answer)}{why}, {_moment(view)}"


_INTERFACE = """
PURE = True  # the same standing always gets the same command


def command(standing):
    rows, mover = standing["standing"], standing["currentPlayer"]
    seat = [row["playerName"] for row in rows].index(mover["playerName"])
    scores = [
        [-1 if field.strip() == OPEN else int(field) for field in row["score"].split(",")] for row in rows
    ]
    shown = types.SimpleNamespace(player=seat, scores=scores, dice=mover["dice"])
    shown.round_number, shown.rolls_left = standing["roundNumber"], mover["rollsLeft"]
    state = known_state()
    vars(state).update(read_fields(shown))
    return write_command(*name_dice(chosen(state, seat), state.dice))
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that plays like ``player``; see `dicegym.bots.export`."""
    return network_source(player, game, f"OPEN = {OPEN!r}\n{_INTERFACE}", read_fields, name_dice, write_command)


INTERFACE = """\
The original interface consists of messages between a server and its clients: JSON objects over TCP or WebSocket. A bot
in a file turns one message into the next. It is a file yatzy.py, or a folder with one in it, that defines

    command(standing) -> command

It is called when it is its turn, with the STANDING as a dict, and returns a ROLL_DICE or a SCORE_BOX, also a dict.

    {"key": "STANDING", "roundNumber": 1,
     "standing": [{"playerName": "Anna", "rating": 1200, "score": "3,-,-,-,-,-,-,-,-,-,-,-,-,-,-"},
                  {"playerName": "Ben", "rating": 1216, "score": "-,-,-,-,-,-,-,-,-,-,-,-,-,-,-"}],
     "currentPlayer": {"playerName": "Ben", "rollsLeft": 2, "dice": [4, 1, 6, 6, 4]}}

    {"type": "ROLL_DICE", "dice": [1, 3]}                   roll the dice at places 1 and 3 again; places are 0 to 4
    {"type": "SCORE_BOX", "box": 7, "dice": [2, 3]}         score box 7, One Pair, with the dice at places 2 and 3
    {"type": "SCORE_BOX", "box": 15, "dice": [0, 1, 2, 3, 4]}   cross out box 15: the dice do not fit, so it scores 0

roundNumber runs from 1 to 15. score has the points in boxes 1 to 15; "-" is open. rollsLeft is 2, 1 or 0.
currentPlayer is the bot that is asked. An invalid or illegal command changes nothing, and the bot is asked again;
after the tenth in a turn, and after an exception, the server plays that turn.

On a server there are more messages ("key" names a command as well as "type"):

    {"key": "LOGIN", "secret": "abc", "playerName": "Anna"}    the first message; {"key": "LOGIN"} logs in a guest
    {"key": "WELCOME", "playerName": "Anna", "rating": 1200}   the answer
    {"key": "ERROR", "code": "no-rolls-left", "message": "..."}   the answer to a command that cannot be carried out
    {"key": "FINAL", "standing": [...]}                        at the end: totals, places and new ratings

A client that logs in with {"key": "LOGIN", "secret": "abc"} alone gets the messages of the original server: a STANDING
when it is to move, and nothing else. All others get a STANDING after every change, and wait unless currentPlayer names
them. `dicegym server join yatzy HOST:PORT --agent yatzy.py` makes the same file play on a server.
"""

_SOURCE = '''"""My bot for Yatzy: keep the most frequent number, roll the rest, and score the box with the most points.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game yatzy
Play on a server: dicegym server join yatzy HOST:PORT --agent {file}
The rules:  dicegym games yatzy --rules
"""

PURE = True  # the same message always gets the same answer; take this line out if you remember or draw anything

ALL = [0, 1, 2, 3, 4]  # the places of the dice


def places_for(box, dice):
    """Return the places of the dice for a box, and their points; with any other dice the box scores 0."""

    def of(face, number=5):
        return [place for place in ALL if dice[place] == face][:number]

    if box == 15:
        return (ALL, 50) if dice.count(dice[0]) == 5 else ([], 0)
    places = []
    often = [face for face in range(6, 0, -1) if dice.count(face) >= 2]
    straight = {{11: [1, 2, 3, 4, 5], 12: [2, 3, 4, 5, 6]}}.get(box)
    if box <= 6:
        places = of(box)
    elif box in (7, 9, 10):  # two, three or four of a kind
        number = {{7: 2, 9: 3, 10: 4}}[box]
        places = next((of(face, number) for face in often if dice.count(face) >= number), [])
    elif box == 8 and len(often) == 2:
        places = of(often[0], 2) + of(often[1], 2)
    elif box == 14 or sorted(dice) == straight or (box == 13 and sorted(map(dice.count, often)) == [2, 3]):
        places = ALL
    return places, sum(dice[place] for place in places)


def command(standing):
    """Return {{"type": "ROLL_DICE", "dice": places}} or {{"type": "SCORE_BOX", "box": 1 to 15, "dice": places}}.

    standing: the message, such as
        {{"key": "STANDING", "roundNumber": 1,
         "standing": [{{"playerName": "Anna", "rating": 1200, "score": "-,-,...,-"}}, ...],
         "currentPlayer": {{"playerName": "Anna", "rollsLeft": 2, "dice": [4, 1, 6, 6, 4]}}}}
    """
    me = standing["currentPlayer"]
    dice = me["dice"]
    score = next(row["score"] for row in standing["standing"] if row["playerName"] == me["playerName"])
    is_open = [box for box, points in enumerate(score.split(","), 1) if points == "-"]
    best = max(is_open, key=lambda box: places_for(box, dice)[1])
    places, points = places_for(best, dice)
    # print(dice, best, points)  # costs nothing: `dicegym check ... --show` shows it
    # breakpoint()               # stops here under `dicegym check ... --debug`
    most = max(dice, key=lambda face: (dice.count(face), face))
    again = [place for place in ALL if dice[place] != most]
    if me["rollsLeft"] and again and points < 15:
        return {{"type": "ROLL_DICE", "dice": again}}
    if not points:  # nothing fits: cross out the box that is worth least
        best = next((box for box in (1, 15, 12, 11, 10, 2) if box in is_open), best)
    return {{"type": "SCORE_BOX", "box": best, "dice": places or ALL}}
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Adapter`."""
    return _SOURCE.format(file=file)
