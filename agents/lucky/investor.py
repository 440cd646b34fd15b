"""Work out what every affordable order is worth by the end of the game, and place the best.

Money is the score, so a die is worth what it earns in the rounds that are left, less its price. How many those are
follows from everybody's money and expected income: the game ends when somebody would be 200 ahead. Multipliers and
coins are tried in all affordable bundles, and the rest of the money goes into basic dice as long as they pay. Of no
die it takes more than all who can afford it could take without coming away empty-handed. A square or a cube of a great
many points counts as a million: it wins the game once, and no more. The sums are in ``_sums.py``.
"""

from _sums import best_order, fair, holdings, income, rounds_left
from bot import Bot

PURE = True  # the same situation always gets the same order


class Investor(Bot):
    def get_orders(self, money, dice, index, shop):
        held = [holdings(owned) for owned in dice]
        rounds = rounds_left(money, [income(*each) for each in held])
        return best_order(money[index], fair(money, index, shop), held[index], rounds, 200)
