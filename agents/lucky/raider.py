"""Live on what others roll: thieves and attacks, on a small foundation of basic dice.

Thieves cost 60 and 90 and bring at most 10 and 25 points a round, while a multiplier for 22 triples everything: the
game is over before they have paid for themselves. It shows why nobody is afraid of attacks.
"""

from bot import Bot

PRICES = {12: 35, 13: 45, 14: 60, 15: 60, 16: 90}
BASICS = [(0, 1, 1.0), (1, 3, 1.94), (2, 6, 2.89), (3, 9, 3.5)]
ENOUGH = 10


class Raider(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        points = sum({0: 1.0, 1: 1.94, 2: 2.89, 3: 3.5}.get(kind, 0) for kind in dice[index])
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
