"""Live on what others roll: thieves and attacks, on a small foundation of basic dice.

Thieves cost 60 and 90 and bring at most 10 and 25 points a round, while a multiplier for 22 triples everything: the
game is over before they have paid for themselves. It shows why nobody is afraid of attacks.
"""

from bot import Bot

PURE = True  # the same situation always gets the same order
PRICES = {12: 35, 13: 45, 14: 60, 15: 60, 16: 90}
BASICS = [(0, 1, 100), (1, 3, 194), (2, 6, 300), (3, 9, 350)]
"""Number, price and mean of a die, in hundredths of a point: their sums are exact."""
ENOUGH = 1000


class Raider(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        points = sum(BASICS[kind][2] for kind in dice[index] if kind < len(BASICS))
        for kind, price, mean in BASICS:
            for _ in range(min(shop[kind], max(1, shop[kind] // len(money)))):
                if points < ENOUGH and left >= price:
                    order.append(kind)
                    left -= price
                    points += mean
        if points >= ENOUGH:
            for kind in (16, 14, 12):
                while shop[kind] > order.count(kind) and left >= PRICES[kind]:
                    order.append(kind)
                    left -= PRICES[kind]
        return order
