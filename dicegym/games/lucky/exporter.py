"""Players as files of the original interface, which answer as orders of a class."""

from __future__ import annotations

from dicegym.bots.export import network_source
from dicegym.engine.game import Game
from dicegym.play.player import Player

_INTERFACE = """
from bot import Bot


class Exported(Bot):
    def __init__(self, random):
        self.played = 0

    def get_orders(self, money, dice, index, shop):
        state = known_state()
        state.players, state.player, state.played = len(money), index, self.played
        self.played += 1
        state.money[: len(money)] = state.left[: len(money)] = money
        for seat, owned in enumerate(dice):
            for kind in owned:
                state.dice[seat, kind] += 1
        for kind, count in shop.items():
            state.shop[kind] = count
        order = []
        while (kind := chosen(state, index)) != DONE:
            order.append(kind)
            state.order[index, kind] += 1
            state.left[index] -= PRICES[kind]
        return order
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that orders as ``player`` does; see `dicegym.bots.export`."""
    return network_source(player, game, _INTERFACE)
