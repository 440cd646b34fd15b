"""How a bot for Lucky & Co is written: the original interface in words, and a file to begin with."""

from __future__ import annotations

INTERFACE = """\
A file bot.py, or a folder with one in it, with a class that derives from Bot:

    from bot import Bot

    class Mine(Bot):
        def get_orders(self, money, dice, index, shop): ...

It is made once a game, by Mine(random), where random is a random.Random of its own: the only randomness it may use.
A class without __init__ finds it as self.random. get_orders is asked once a round, and returns a list of numbers of
dice. money is a tuple: how much each player has. dice is a tuple of each player's dice, a tuple of numbers each.
index is the own place in both. shop is a dict, from a die's number to how many are left.

    get_orders((5, 5), ((), ()), 0, {0: 20, 1: 20, 2: 20, ...}) -> [1, 0, 0]      one die 1, two dice 0: 5 money
    get_orders((40, 31), ((1, 0, 0), (1,)), 1, {0: 18, 1: 18, 2: 20, ...}) -> [6]    one die 6: 21 money
    get_orders((4, 90), ((1,), (1, 6)), 0, {0: 20, 1: 18, 2: 20, ...}) -> []    nothing

All numbers from 0 to 21 are in shop. An order that is no list of such numbers, asks for more than the shop has or
costs more than the own money buys nothing at all, and so does an error.

If a file has several such classes, the last one plays; another is chosen by its name, as in bot.py:Mine.
"""

_SOURCE = '''"""My bot for Lucky & Co: the dearest basic dice first, then multipliers.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game lucky
The rules:  dicegym rules lucky
"""

from bot import Bot

PURE = True  # the same question always gets the same answer; take this line out if you remember or draw anything

PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]  # of dice 0 to 21
BASIC = range(0, 7)
MULTIPLIERS = range(7, 12)


class Mine(Bot):
    """Made anew for each game, with a random.Random of its own, self.random."""

    def get_orders(self, money, dice, index, shop):
        """Return what to buy: a list of numbers of dice, such as [1, 0, 0].

        money: how much each player has, such as (5, 5)
        dice:  each player's dice, such as ((), (1, 0, 0))
        index: my place in both
        shop:  how many of each die are left, such as {{0: 20, 1: 19, ...}}
        """
        left, order, shop = money[index], [], dict(shop)

        def buy(kind):
            """Order one die if it is there and can be paid."""
            nonlocal left
            if shop[kind] < 1 or PRICES[kind] > left:
                return False
            shop[kind] -= 1
            left -= PRICES[kind]
            order.append(kind)
            return True

        basics = sum(die in BASIC for die in dice[index])
        if basics >= 5:  # multipliers multiply what the basic dice roll
            for kind in reversed(MULTIPLIERS):
                while kind >= 9 and buy(kind):
                    pass
        for kind in reversed(BASIC):
            while buy(kind):
                pass
        # print(money, order)  # costs nothing: `dicegym check ... --show` shows it
        # breakpoint()         # stops here under `dicegym check ... --debug`
        return order
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Starter`."""
    return _SOURCE.format(file=file)
