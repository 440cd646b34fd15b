"""Games for a server's store, and those stored in it."""

from __future__ import annotations

import json

from dicegym.arena.store.schema import SERVER_GAMES
from dicegym.server.game_results import ForcedTurn, GameResult, SeatResult
from dicegym.server.history import games_of, places_and_incidents
from dicegym.server.result_store import ResultStore


def made_result(
    number: int, first: str = "anna", second: str = "bob", after: tuple[float, float] = (1216.0, 1184.0)
) -> GameResult:
    """Return an invented game of two players, in which the server played a turn."""
    places = (SeatResult(first, 231, 1, 1200.0, after[0]), SeatResult(second, 198, 2, 1200.0, after[1]))
    return GameResult(number, 2**64 - 1, 1.5, tuple(range(60)), places, (ForcedTurn(1, 4, "took more than 10 s"),))


def stored_results(store: ResultStore) -> list[GameResult]:
    """Return every game, in the order in which they were stored."""
    with store.engine.connect() as connection:
        games = connection.execute(games_of(store.game, SERVER_GAMES).order_by(SERVER_GAMES.c.id)).all()
        return [
            GameResult(
                game.number,
                int(game.seed),
                game.seconds,
                tuple(json.loads(game.actions)),
                *places_and_incidents(connection, game.id),
            )
            for game in games
        ]


WRITER = """
import sys, time
from sqlalchemy.exc import OperationalError
from dicegym.server.game_results import GameResult, SeatResult
from dicegym.server.result_store import ResultStore
store = ResultStore(sys.argv[1], "yatzy")
store.begin_run(1)
for number in range(10**6):
    places = (SeatResult("anna", 1, 1, 0.0, float(number)), SeatResult("bob", 0, 2, 0.0, -float(number)))
    while True:
        try:
            store.write([GameResult(number, 0, 0.0, (), places, ())])
            break
        except OperationalError as error:  # a file whose turn did not come in time: the server too tries it again
            if "locked" not in str(error):
                raise
    print(number, flush=True)
    time.sleep(0.002)  # others have work to do
"""
"""A program that stores games of anna and bob, from number 0, and says each number when that game is stored."""
