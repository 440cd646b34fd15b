"""Basic dice, and then a coin that squares or cubes everything: one success ends most games at once.

It buys up to 15 points of basic dice, saves for a square, buys a cube as soon as it can, and adds a multiplier
whenever one is affordable beside that.
"""

from bot import Bot

PURE = True  # the same situation always gets the same order
PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]
MEANS = [100, 194, 300, 350, 400, 506, 600]  # hundredths of a point: their sums are exact
SQUARE, CUBE = 20, 21


class Gambler(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        points = sum(MEANS[kind] for kind in dice[index] if kind < 7)
        for coin in (CUBE, SQUARE):
            if points >= 1000 and shop[coin] and left >= PRICES[coin]:
                order.append(coin)
                left -= PRICES[coin]
        for kind in sorted(range(7), key=lambda kind: PRICES[kind] / MEANS[kind]):
            share = min(shop[kind], max(1, shop[kind] // len(money)))
            while share and left >= PRICES[kind] and points < 1500:
                share -= 1
                left -= PRICES[kind]
                points += MEANS[kind]
                order.append(kind)
        if points >= 1500 and shop[9] and left >= PRICES[9] and 9 not in dice[index]:
            order.append(9)
        return order
