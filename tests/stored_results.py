"""The games that a server has stored, as it wrote them."""

from __future__ import annotations

import json

from dicegym.arena.store.schema import SERVER_GAMES
from dicegym.server.game_results import GameResult
from dicegym.server.history import games_of, places_and_incidents
from dicegym.server.result_store import ResultStore


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
