"""What the figures of a training mean, in words for people."""

from __future__ import annotations

from dicegym.engine.game import Game
from dicegym.learning.evaluate import Score


def meaning(game: Game, score: Score) -> str:
    """Return what ``score`` says, as a sentence or two."""
    if game.players == 1:
        return f"It means {score.value:.4g} a game on average. {_certainty(score)}"
    even = f"{1 / game.players:.2f}".rstrip("0")
    table = "" if game.players == 2 else f", at a table of {game.players}"
    return (
        f"It means {score.value:.1%} of games won against {score.opponent}{table}; {even} is even. {_certainty(score)}"
    )


def _certainty(score: Score) -> str:
    """Return how far luck may have decided."""
    if not score.games:
        return "It is exact: computed, with no luck in it."
    return (
        f"It was played in {score.games:,} games: the true value is between {score.low:.4f} and {score.high:.4f} "
        "in 19 cases of 20."
    )
