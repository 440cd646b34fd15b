"""Always buy the cheapest die there is, with all the money.

The cheapest dice pay back soonest, but everybody wants them, and if all orders together are more than the shop
has, nobody gets any.
"""

from bot import Bot

PURE = True  # the same situation always gets the same order
PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]


class Cheapest(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        for kind in sorted(shop, key=PRICES.__getitem__):
            count = min(shop[kind], left // PRICES[kind])
            order += [kind] * count
            left -= count * PRICES[kind]
        return order
