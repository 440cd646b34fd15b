"""What states are worth: as in all games of hidden dice and rising bids."""

from dicegym.games.bidding.values import sources

__all__ = ["sources"]
