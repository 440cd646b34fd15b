"""Do the sums of `investor` for every rival too, and take what they are going to leave in the shop.

Careful players ask for a fair share of each die, so that all of them can have it, and shares are rounded down. What
remains, or what nobody dares to touch because there are fewer than players, belongs to whoever asks for all of it.
So this bot predicts what each rival orders and takes the best order within what that leaves over. It is a bet on
being the only one to think so. Once it does not get a die that it asked for, it knows that the bet is lost, and is
content with fair shares for the rest of the game. At a table with several of its kind it therefore does badly.
"""

from _sums import best_order, fair, holdings, income, rounds_left
from bot import Bot


class Strategist(Bot):
    def __init__(self, random):
        self.bold = True
        self.asked = []
        self.before = ()

    def get_orders(self, money, dice, index, shop):
        if len(dice[index]) < len(self.before) + len(self.asked):
            self.bold = False
        held = [holdings(owned) for owned in dice]
        rounds = rounds_left(money, [income(*each) for each in held])
        limits = fair(money, index, shop)
        if self.bold:
            limits = [shop[kind] for kind in range(22)]
            for seat in range(len(money)):
                if seat != index:
                    for kind in best_order(money[seat], fair(money, seat, shop), held[seat], rounds, 40):
                        limits[kind] -= 1
        self.before = dice[index]
        self.asked = best_order(money[index], limits, held[index], rounds, 200)
        return self.asked
