"""Buy basic dice first, then put every coin into multipliers: points grow by the product of both.

While the basic dice bring less than FOUNDATION on average it buys basic dice, the best for their price first.
After that it saves for the dearest multiplier that it could have within two rounds. It never looks at the others.
"""

from bot import Bot

PURE = True  # the same situation always gets the same order
PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50]
MEANS = [100, 194, 300, 350, 400, 506, 600]  # hundredths of a point: their sums are exact
FACTORS = {7: 3.5 / 3, 8: 3.5 / 2, 9: 3.5, 10: 7.0, 11: 10.5}
FOUNDATION = 1200


class Compound(Bot):
    def get_orders(self, money, dice, index, shop):
        left, order = money[index], []
        points = sum(MEANS[kind] for kind in dice[index] if kind < 7)
        for kind in sorted(range(7), key=lambda kind: PRICES[kind] / MEANS[kind]):
            share = min(shop[kind], max(1, shop[kind] // len(money)))
            while share and left >= PRICES[kind] and points < FOUNDATION:
                share -= 1
                left -= PRICES[kind]
                points += MEANS[kind]
                order.append(kind)
        if points < FOUNDATION:
            return order
        income = points / 100
        for kind in dice[index]:
            income *= FACTORS.get(kind, 1)
        for kind in (11, 10, 9, 8):
            if shop[kind] and PRICES[kind] <= left + income:
                if PRICES[kind] <= left:
                    order.append(kind)
                break
        return order
