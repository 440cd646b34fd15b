"""Players as files of the original interface, which answer as moves of a class."""

from __future__ import annotations

from dicegym.bots.export import network_source
from dicegym.engine.game import Game
from dicegym.games.liarsdice_spot_on.rules import LARGEST
from dicegym.games.liarsdice_spot_on.text import CHALLENGES
from dicegym.play.player import Player

_INTERFACE = """
from player import Player


class Learned(Player):
    def move(self, bids, player_dice, n_dice):
        state, seat = known_state(), self.index
        state.players, state.player = len(n_dice), seat
        for other, dice in enumerate(n_dice):
            state.left[other] = state.rolled[other] = dice
        for face in player_dice:
            state.hands[seat, face - 1] += 1
        state.n_bids, bidder = len(bids), seat
        for number in range(len(bids) - 1, -1, -1):  # turns go round: the last bid was made by the player before
            bidder = next(
                other for step in range(1, len(n_dice) + 1) if n_dice[other := (bidder - step) % len(n_dice)]
            )
            quantity, face = bids[number]
            state.bids[number] = bid_index(min(quantity, LARGEST), face) * SEATS + bidder
        action = chosen(state, seat)
        return CHALLENGES[action] if action in CHALLENGES else (action // FACES + 1, action % FACES + 1)
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that chooses as ``player`` does; see `dicegym.bots.export`.

    Who was disqualified in the present round is not told to bots: there a model that sees it may choose otherwise.
    """
    words = f"CHALLENGES = {CHALLENGES}\nLARGEST = {LARGEST}\n"
    return network_source(player, game, words + _INTERFACE)
