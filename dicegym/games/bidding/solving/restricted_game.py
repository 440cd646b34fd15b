"""A restricted Nash response for two: how to win much of one bot and give little away to who finds out.

See `dicegym.games.bidding.solving.restricted_hand`. A hand is the player's dice against those of the other, and what it
is worth is known against both kinds of others: the bot, and who answers best. Every hand is taken to be against the bot
with the same chance, whatever the hands before have told of who it is: that makes it an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.bidding.solving.hand_by_hand import HandByHand, more_dice_are_better, recall_of
from dicegym.games.bidding.solving.hand_tree import Policy
from dicegym.games.bidding.solving.recall_game import is_solved_so
from dicegym.games.bidding.solving.restricted_hand import FREE, RestrictedHand
from dicegym.games.solved import Solution

Known = Callable[[Game, str], Policy]
"""How an agent of a game plays, by its name."""

NAME = "restricted"
FILE = "restricted.table"
TIMES = 60
"""How often each hand is gone through; twice as often where few dice are left."""
FEW = 8
"""Up to so many dice on the table the last three bids are remembered: the bot remembers them all, and the less of that
is known the less is won of it."""


class RestrictedSolution(HandByHand):
    """A restricted Nash response to a bot; a `dicegym.games.solved.Solution`.

    Args:
        game: for two.
        bot: name of the agent to win of: one that draws nothing, or of which it is known how likely it draws what.
        known: returns how an agent of a name plays; asked when it is solved.
        share: of the games that are against the bot, above 0 and below 1: the more, the more is won of it, and the
            more is given away.

    Raises:
        ParameterError: ``share`` is none.
    """

    name = NAME
    file = FILE

    def __init__(self, game: Game, bot: str, known: Known, share: float) -> None:
        if not 0 < share < 1:
            raise ParameterError(f"share={share!r} is no part of the games: give more than 0 and less than 1")
        dice = int(game.parameters["dice"])
        each = range(1, dice + 1)
        start = np.broadcast_to(more_dice_are_better(dice), (2, 2, dice + 1, dice + 1))
        super().__init__(
            game, [(own, others) for own in each for others in each], TIMES, start, against=bot, share=share
        )
        self.doc = f"beats `{bot}` and gives little away to who finds out: a restricted Nash response"
        self._bot, self._known, self._share = bot, known, share

    def memory(self) -> int:
        """Return the bytes that solving takes at most: most of it for all pairs of rolls in all states."""
        return int(3.2e9) if self.dice > 3 else int(0.8e9)

    def disk(self) -> int:
        """Return the bytes of the table and of what is kept for going on."""
        return int(36e6)

    def minutes(self) -> float:
        """Return about how many minutes it takes: one core does all of it."""
        once = {5: 16.0, 4: 8.0}.get(self.dice, 3.0)
        return once if len(self._times) == 1 else 1.5 * once

    def _solver(self, own: int, others: int, last: bool) -> RestrictedHand:
        recall = recall_of(own, others, FEW) if last else 2
        return RestrictedHand(self.game, own, others, recall, self._known(self.game, self._bot), self._share)

    def _take(self, found: np.ndarray, values: np.ndarray, own: int, others: int) -> None:
        values[:, :, own, others] = found

    def _is_played(self, number: int) -> bool:
        return number == 0

    def _opens(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values[FREE, 0])


def solutions(game: Game, bot: str, known: Known, share: float) -> Sequence[Solution]:
    """Return what can be solved so of ``game``; see `RestrictedSolution`."""
    if is_solved_so(game):
        return (RestrictedSolution(game, bot, known, share),)
    return ()
