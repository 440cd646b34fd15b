"""What states are worth, and what can be won of a player: as in all games of hidden dice and rising bids."""

from __future__ import annotations

from dicegym.engine.game import Game
from dicegym.games.bidding import values
from dicegym.games.bidding.values import check_best_reply, sources
from dicegym.games.liarsdice.luck import WAYS
from dicegym.games.worth import Bracket, Progress, SearchTime
from dicegym.play.player import Player

__all__ = ["best_reply", "check_best_reply", "exploitability", "sources"]


def exploitability(player: Player, game: Game, *, time: SearchTime, progress: Progress | None = None) -> Bracket:
    """Return the bounds of how often the best reply to ``player`` wins; see `dicegym.games.bidding.values`."""
    return values.exploitability(player, game, WAYS, time=time, progress=progress)


def best_reply(player: Player, game: Game, gap: float) -> Bracket:
    """Return bounds of the same that are at most ``gap`` apart; see `dicegym.games.bidding.values`."""
    return values.best_reply(player, game, WAYS, gap)
