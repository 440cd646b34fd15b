"""Players of Hog as files of the original interface: all their choices, written out."""

from __future__ import annotations

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.escape import docstring
from dicegym.games.hog.examination import examine, for_a_file
from dicegym.games.hog.strategy_file import strategy_source
from dicegym.play.player import Player, draws_openly


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that chooses as ``player`` does; see `dicegym.bots.export`."""
    if draws_openly(player):
        raise ParameterError(
            f"{player.name!r} draws its actions, and files of {game.spec.title} are asked for each pair of scores "
            "once: export its best actions, at temperature 0"
        )
    heading = f"The choices of {docstring(player.name)} in Hog, written out.\n\nMade by `dicegym export`."
    table = for_a_file(examine(game, player, lambda question: None), repr(player.name))
    return strategy_source(table, heading)
