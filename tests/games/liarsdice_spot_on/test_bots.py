"""Bots of Liar's Dice with "spot on" in their original interface: what they are told, and how they are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bidding_tables import bid, left, table

import dicegym
from dicegym import arena
from dicegym.errors import AgentError
from dicegym.games.liarsdice_spot_on.rules import LIAR, NO_ANSWER
from dicegym.play.turn import Turn
from dicegym.players.roster import agent

NAME = "liarsdice_spot_on"
Write = Callable[..., Path]

NOTING = """
from player import Player

noted = []

class Noting(Player):
    def move(self, bids, player_dice, n_dice):
        noted.append((self.index, bids, player_dice, n_dice))
        return "Liar" if bids else (2, 5)
"""


def answering(answer: str) -> str:
    return f"class Bot(Player):\n    def move(self, bids, player_dice, n_dice):\n        return {answer}\n"


def seated(file: Any, game: dicegym.Game, seat: int = 0) -> tuple[Any, Any]:
    """Return what is asked for actions, and the bot's namespace."""
    player: Any = agent(game, file, keep=True)
    return player.join(game, seat, 0), player._program.namespace


def test_7_what_move_is_told(write: Write) -> None:
    """Plain lists of ints, and tuples of a quantity and a value: (3, 5) is three fives."""
    game, state = table(NAME, [[2, 3], [6, 1, 4], [], [5]])
    game.step(state, bid(3, 5))
    game.step(state, bid(2, 6))
    act, space = seated(write(NOTING), game, 3)
    assert act(Turn(game, state, 3)) == LIAR
    index, bids, dice, n_dice = space["noted"][0]
    assert (index, bids, dice, n_dice) == (3, [(3, 5), (2, 6)], [5], [2, 3, 0, 1])
    assert all(type(value) is list for value in (bids, dice, n_dice))
    assert all(type(one) is tuple and type(one[0]) is int for one in bids)
    bids.append(9)
    act(Turn(game, state, 3))
    assert space["noted"][1][1] == [(3, 5), (2, 6)]  # lists of its own each time
    act, space = seated(write(NOTING), game, 1)
    act(Turn(game, state, 1))
    assert sorted(space["noted"][0][2]) == [1, 4, 6]


def test_7_the_indices_are_the_order_of_play(write: Write) -> None:
    """A player with an index of 1 plays after the one with 0."""
    source = NOTING.replace('"Liar" if bids else (2, 5)', '"Liar" if len(bids) == 3 else (len(bids) + 1, 5)')
    game = dicegym.game(NAME, players=4, dice=1)
    bots: list[Any] = [agent(game, write(source, f"{name}.py"), keep=True) for name in "abcd"]
    result = arena.play_match(game, bots, 3, 1)
    for number, bot in enumerate(bots):
        noted = bot._program.namespace["noted"]
        assert {index for index, *_ in noted} == {result.seats[0].index(number)}
    state = game.new_game(3)[0]
    opener = int(state["player"])
    firsts = [bots[result.seats[0][(opener + step) % 4]]._program.namespace["noted"][0] for step in range(4)]
    assert [len(bids) for _, bids, _, _ in firsts] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "source",
    [
        "from player import Player\n" + answering("(2, 5)"),
        answering("(2, 5)"),  # just named
        "import player\n" + answering("(2, 5)").replace("Player", "player.Player"),
        answering("'Liar'").replace("Bot", "First") + answering("(2, 5)"),  # the last one defined
        "from abc import ABC, abstractmethod\n"
        + answering("(2, 5)")
        + "class Idea(Player):\n    @abstractmethod\n    def think(self): ...\n",
        answering("(2, 5)").replace("(Player)", "(Player)") + "class Better(Bot):\n    pass\n",
        answering("(self.mine, 5)") + "    def __init__(self, index):\n        self.index, self.mine = index, 2\n",
        answering("(self.mine, 5)")
        + "    def __init__(self, index):\n        super().__init__(index)\n        self.mine = self.index + 2\n",
    ],
)
@pytest.mark.parametrize("name", ["bot.py", "player_bot.py", "other.py"])
def test_7_how_bots_are_found_and_made(write: Write, source: str, name: str) -> None:
    game, state = table(NAME, [[1], [1]])
    file = write(source, f"mine/{name}")
    act, _ = seated(file if name == "other.py" else file.parent, game)
    assert act(Turn(game, state, 0)) == bid(2, 5)


def test_7_a_class_is_named_with_a_colon(write: Write) -> None:
    file = write(answering("(2, 5)").replace("Bot", "First") + answering("(3, 5)"))
    game, state = table(NAME, [[1], [1]])
    assert seated(f"{file}:First", game)[0](Turn(game, state, 0)) == bid(2, 5)
    with pytest.raises(AgentError, match="no class Third"):
        agent(NAME, f"{file}:Third")


def test_a_bid_too_many_is_told_with_the_answer_and_the_limit(write: Write) -> None:
    game = dicegym.game(NAME)
    body = "        return (bids[-1][0] + 1, 2) if bids else (1, 2)\n"
    source = "from player import Player\nclass Mine(Player):\n    def move(self, bids, player_dice, n_dice):\n" + body
    raiser = agent(game, write(source, "raiser.py"), keep=True)
    (incident,) = arena.play_match(game, [raiser, raiser], 0, 1).incidents
    assert "move([(1, 2), ..., (92, 2), " in incident.reason
    assert "(100, 2)], [" in incident.reason
    assert incident.reason.endswith("returned (101, 2) after the 100 bids that a round may have: make a challenge")


def test_7_of_several_classes_the_last_plays_and_it_is_said(write: Write) -> None:
    game = dicegym.game(NAME)
    head, two = "from player import Player\nclass Base(Player):\n", "    def move(self, *_):\n        return {}\n"
    one = head + two.format("1, 1") + "class Mine(Base):\n" + two.format("1, 2")
    player: Any = agent(game, write(one, "one.py"), keep=True)
    assert player.remarks == (), "a class that another derives from does not play itself"
    path = write(one + "class Other(Player):\n" + two.format("1, 3"), "both.py")
    player = agent(game, path, keep=True)
    (remark,) = player.remarks
    assert "2 classes derive from Player: Mine, Other. The last one, Other, plays" in remark
    assert "both.py:Mine" in remark
    chosen: Any = agent(game, f"{path}:Mine", keep=True)
    assert chosen.remarks == ()


def test_6_no_answer_disqualifies(write: Write) -> None:
    game, state = table(NAME, [[1, 1], [2, 2], [3, 3]])
    assert game.spec.forfeit == NO_ANSWER
    game.step(state, NO_ANSWER)
    assert left(state) == [0, 2, 2]
