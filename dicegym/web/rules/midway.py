"""A state that shows what a game looks like: the middle of one that its baseline plays against itself."""

from __future__ import annotations

import functools
from typing import Any

from dicegym.arena.pages.template import trust
from dicegym.engine.game import Game
from dicegym.pictures.drawing import draw
from dicegym.pictures.watched import is_moment
from dicegym.play.drive import Referee
from dicegym.players.roster import opponent

SEED = 3


@functools.cache
def picture_of(game: Game) -> Any:
    """Return a picture of a game as markup, as its first player sees it."""
    names = ["you", "a rival", *(f"rival {seat}" for seat in range(2, game.players))][: game.players]
    return trust(draw(game, midway(game), 0, names).svg())


def midway(game: Game, seed: int = SEED) -> Any:
    """Return the record of a game that is half played: the same one whenever it is asked for."""
    player = opponent(game, game.spec.baseline)
    players = [player] * game.players
    moves = sum(1 for _ in Referee(game, game.new_game(seed), players).moves())
    referee, shown = Referee(game, game.new_game(seed), players), game.new_game(seed)[0]
    for number, seat in enumerate(referee.moves()):
        if is_moment(game, seat, referee.state) and not referee.state["over"]:
            shown = referee.state.copy()
        if number >= moves // 2:
            break
    return shown
