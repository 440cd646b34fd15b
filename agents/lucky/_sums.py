"""What `investor` and `strategist` share: what an order is worth by the end of the game.

No agent: the roster passes over files whose names begin with ``_``. A bot that imports this file needs it beside its
own, so whoever copies one of them to another folder copies this one too.
"""

PRICES = [1, 3, 6, 9, 12, 16, 21, 10, 13, 22, 34, 50, 35, 45, 60, 60, 90, 65, 90, 110, 120, 170]
MEANS = [1.0, 1.94, 3.0, 3.5, 4.0, 5.06, 6.0]
FACTORS = {7: 3.5 / 3, 8: 3.5 / 2, 9: 3.5, 10: 7.0, 11: 10.5}
BY_VALUE = sorted(range(7), key=lambda kind: PRICES[kind] / MEANS[kind])
ESPECIAL = (21, 20, 19, 18, 11, 10, 9, 8, 7)
CHOOSE = [[1], [1, 1], [1, 2, 1], [1, 3, 3, 1]]
LEAD = 200
LONGEST = 4
CAP = 1_000_000


def holdings(dice):
    """Return (mean of basic dice, mean product of multipliers, coins 18, 19, 20 and 21)."""
    basic, product, coins = 0.0, 1.0, [0, 0, 0, 0]
    for kind in dice:
        if kind < 7:
            basic += MEANS[kind]
        elif kind < 12:
            product *= FACTORS[kind]
        elif kind > 17:
            coins[kind - 18] += 1
    return basic, product, tuple(coins)


def income(basic, product, coins):
    """Return the expected points of a round, each outcome of the coins counting up to CAP: more is only won once."""
    again, every, squares, cubes = coins
    if not (every or squares or cubes):
        return min(basic * (1 + again / 2) * product, CAP)
    total = 0.0
    for e in range(every + 1):
        points = min(basic * (1 + again / 2 + e) * product ** (1 + e), CAP)
        for s in range(squares + 1):
            for c in range(cubes + 1):
                weight = CHOOSE[every][e] * CHOOSE[squares][s] * CHOOSE[cubes][c]
                power = 2**s * 3**c
                total += weight * (CAP if points > CAP ** (1 / power) else points**power)
    return total / 2 ** (every + squares + cubes)


def rounds_left(money, incomes):
    """Return in how many rounds, this one included, somebody is LEAD ahead of everybody else if all go on as now."""
    for rounds in range(1, LONGEST):
        second, first = sorted(have + rounds * got for have, got in zip(money, incomes, strict=True))[-2:]
        if first - second >= LEAD:
            return rounds
    return LONGEST


def bundles(money, limits, most):
    """Return about MOST pairs (multipliers and coins, money left after them), nothing first."""
    found = [((), money)]
    for kind in ESPECIAL:
        price = PRICES[kind]
        if price <= money and limits[kind] > 0:
            for bundle, left in found[:]:
                for count in range(1, min(limits[kind], left // price, 3) + 1):
                    found.append((bundle + (kind,) * count, left - count * price))
            if len(found) > most:
                break
    return found


def best_order(money, limits, base, rounds, most):
    """Return the best order: each bundle is filled up with the basic dice that pay, the best for their price first."""
    best, order = None, []
    for bundle, rest in bundles(money, limits, most):
        basic, product, coins = base
        left = rest
        if bundle:
            coins = list(coins)
            for kind in bundle:
                if kind > 17:
                    coins[kind - 18] += 1
                else:
                    product *= FACTORS[kind]
        basics = []
        rate = rounds * product * (1 + coins[0] / 2)
        for kind in BY_VALUE:
            price = PRICES[kind]
            if left >= price and limits[kind] > 0 and rate * MEANS[kind] > price:
                count = min(limits[kind], left // price)
                basics.append((kind, count))
                basic += count * MEANS[kind]
                left -= count * price
        value = rounds * income(basic, product, coins) + left
        if best is None or value > best:
            best, order = value, [(kind, 1) for kind in bundle] + basics
    return [kind for kind, count in order for _ in range(count)]


def fair(money, index, shop):
    """Return how many of each die this player can ask for so that all who can afford the die could do the same."""
    limits = []
    for kind, price in enumerate(PRICES):
        rivals = sum(have >= price for seat, have in enumerate(money) if seat != index)
        limits.append(min(shop[kind], max(shop[kind] // (1 + rivals), rivals < shop[kind])))
    return limits
