"""Buy dice at random until the money is gone or a coin says stop.

Each die that the shop has and the money pays for is as likely as any other.
"""

from bot import Bot

PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]


class Haphazard(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        while self.random.random() < 0.8:
            kinds = [kind for kind, stock in shop.items() if stock > order.count(kind) and PRICES[kind] <= left]
            if not kinds:
                break
            order.append(self.random.choice(kinds))
            left -= PRICES[order[-1]]
        return order
