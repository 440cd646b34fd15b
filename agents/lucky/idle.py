"""Buy nothing and keep the first five coins: whoever spends without earning ends behind this.

The one bot that no conflict over dice and no bad luck can hurt.
"""

from bot import Bot

PURE = True  # the same situation always gets the same order


class Idle(Bot):
    def get_orders(self, money, dice, index, shop):
        return []
