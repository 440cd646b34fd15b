"""How a bot for classic Liar's Dice is written: the original interface in words, and a file to begin with."""

from __future__ import annotations

INTERFACE = """\
A file player.py that defines get_play, or bot.py that defines play, or a folder with one of them:

    get_play(me, hands, history) -> play
    play(me, hands, history) -> play

me is the own id: "A", "B", ... in the order in which players were named.

hands are all seats in playing order: own dice sorted from high to low, an x for each hidden one, nothing for who is
out. When hands are shown, who was out before is left out.

history are the plays of this hand so far, empty for who opens it.

A play is a whole number, quantity * 10 + face; 0 is liar. What is returned goes through int().

    get_play("A", "A:53321,B:xxxxx", "") -> 23           open with "two threes"
    get_play("B", "A:xx,B:6611,C:,D:x", "D:13,A:22") -> 26   "two sixes"; C is out
    get_play("A", "A:53321,B:xxxxx", "A:23,B:105") -> 0  "liar"

After each hand every player, out or not, is called once more, with all hands and a history that ends with the call.
What it returns then, or raises, is ignored:

    get_play("A", "A:53321,B:66542", "A:23,B:105,A:0") -> 0

A play that is not higher than the last one calls liar, as 0 does. Whatever else the rules do not allow is taken as
calling liar too, and so is an error; both are counted as faults. A bot may be named as it was in the original:
folder:file:function, or name:folder:file:function.

    dicegym liarsdice play p_human p_computer
    dicegym liarsdice tournament 100 p_robot mine:my_folder:player:get_play
"""

_SOURCE = '''"""My bot for Liar's Dice: raise while the bid can be expected, else call liar.

Try it:     dicegym check {file} --show
Measure it: dicegym evaluate {file} --game liarsdice
Play it:    dicegym liarsdice play p_human {file}
The rules:  dicegym rules liarsdice
"""

PURE = True  # the same question always gets the same answer; take this line out if you remember or draw anything

LIAR = 0


def {function}(me, hands, history):
    """Return a play: quantity * 10 + face, such as 23 for "two threes", or 0 for "liar".

    me:      my id, such as "A"
    hands:   all hands, such as "A:53321,B:xx,C:": mine is shown, and C is out
    history: the plays of this hand, such as "A:23,B:33"; empty if I open it
    """
    if history.endswith(":0"):
        return LIAR  # the hand is over, and all dice are shown: learn from it here, if you like (and remove PURE)
    cups = dict(hand.split(":") for hand in hands.split(","))
    mine = cups[me]
    hidden = sum(len(dice) for dice in cups.values()) - len(mine)
    best = max("654321", key=mine.count)  # the face I have most of
    if not history:
        return 10 * mine.count(best) + int(best)
    last = int(history.split(":")[-1])
    quantity, face = divmod(last, 10)
    # print(mine, quantity, face)  # costs nothing: `dicegym check ... --show` shows it
    # breakpoint()                 # stops here under `dicegym check ... --debug`
    if quantity > mine.count(str(face)) + hidden / 6 + 1:
        return LIAR  # one more than there will be on average
    raised = quantity if int(best) > face else quantity + 1  # the least that is higher
    most = 5 * len(cups)  # the rules allow no more, however many dice are left; all who started are in hands
    return 10 * raised + int(best) if raised <= most else LIAR
'''


def starter(form: str, file: str) -> str:
    """Return the source of a bot of the original interface; see `dicegym.games.parts.Starter`."""
    return _SOURCE.format(file=file, function="play" if form == "bot.py" else "get_play")
