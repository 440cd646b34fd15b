"""How a bot for Liar's Dice with "spot on" is written: the original interface in words, and a file to begin with."""

from __future__ import annotations

INTERFACE = """\
A file player_bot.py or bot.py, a folder with one of them, or any other Python file, with a class that derives from
Player:

    from player import Player

    class Mine(Player):
        def move(self, bids, player_dice, n_dice): ...

It is made once a game, by Mine(index), and asked by move once a turn. index is the own place in the order of play,
from 0 on, and is there as self.index. bids are those of this round, tuples (quantity, face) in a list, empty for
who opens it. player_dice are the own dice, a list of faces. n_dice is a list of how many dice each player has, by
index. An answer is a bid, which is a tuple (quantity, face), or one of three words:

    Mine(0)
    move([], [5, 3, 3, 2, 1], [5, 5]) -> (2, 3)               open with two threes
    move([(2, 3), (3, 5)], [6, 6, 4, 1], [4, 5]) -> (2, 6)    two sixes are worth four, so more than three fives
    move([(2, 3), (9, 5)], [6, 6, 4, 1], [4, 5]) -> "Liar"
    move([(2, 3), (3, 5)], [5, 6, 4, 1], [4, 5]) -> "Spot on, lose two"
    move([(2, 3), (3, 5)], [5, 6, 4, 1], [4, 5]) -> "Spot on, gain one"

Whoever plays what the rules do not allow, or raises an error, is disqualified from the game: all its dice are lost.
That goes for the 101st bid of a round too; ordinary rounds have no more than 45, but a quantity has no upper limit.

If a file has several such classes, the last one plays; another is chosen by its name, as in bot.py:Mine.
"""

_SOURCE = '''"""My bot for Liar's Dice with "spot on": raise what can be expected, and call the rest.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game liarsdice_spot_on
The rules:  dicegym rules liarsdice_spot_on
"""

from player import Player

PURE = True  # the same question always gets the same answer; take this line out if you remember or draw anything


class Mine(Player):
    """Made anew for each game; self.index is my place in the order of play."""

    def move(self, bids, player_dice, n_dice):
        """Return a bid, (quantity, face), or "Liar", "Spot on, lose two" or "Spot on, gain one".

        bids:        the bids of this round, [(quantity, face), ...]; empty if I open it
        player_dice: my dice, such as [6, 3, 1]
        n_dice:      how many dice everybody has, by index
        """
        hidden = sum(n_dice) - len(player_dice)

        def expected(face):
            """Return how many dice will count for a face on average: sixes count for every face."""
            own = sum(die in (face, 6) for die in player_dice)
            return own + hidden / (6 if face == 6 else 3)

        if not bids:
            best = max(range(1, 6), key=expected)
            return max(1, int(expected(best)) - 1), best
        quantity, face = bids[-1]
        # print(bids, player_dice)  # costs nothing: `dicegym check ... --show` shows it
        # breakpoint()              # stops here under `dicegym check ... --debug`
        worth = quantity * (2 if face == 6 else 1)
        raises = [(worth + 1, other) for other in range(1, 6)] + [(worth // 2 + 1, 6)]  # sixes are worth double
        bid = max(raises, key=lambda bid: expected(bid[1]) - bid[0])
        if bid[0] <= expected(bid[1]) + 0.5:
            return bid
        return "Liar"
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Starter`."""
    return _SOURCE.format(file=file)
