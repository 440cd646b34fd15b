"""Buy basic dice and no others, those with most points for their price first, and never more than a fair share.

A fair share of a die is what the shop has, divided among the players, at least one. It never stops buying and never
learns what multipliers are.
"""

from bot import Bot

PURE = True  # the same situation always gets the same order
PRICES = [1, 3, 6, 9, 12, 16, 21]
MEANS = [1.0, 1.94, 3.0, 3.5, 4.0, 5.06, 6.0]


class Thrifty(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        for kind in sorted(range(7), key=lambda kind: PRICES[kind] / MEANS[kind]):
            share = min(shop[kind], max(1, shop[kind] // len(money)))
            count = min(share, left // PRICES[kind])
            order += [kind] * count
            left -= count * PRICES[kind]
        return order
