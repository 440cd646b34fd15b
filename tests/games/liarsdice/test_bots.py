"""Bots of classic Liar's Dice in their original interface: what they are told, when, and under which name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bidding_tables import bid, left, table

import dicegym
from dicegym import arena
from dicegym.errors import AgentError, UnknownNameError
from dicegym.games.liarsdice.adapter import action_of
from dicegym.games.liarsdice.rules import LIAR, NO_ANSWER
from dicegym.play.drive import Audience
from dicegym.play.turn import Turn
from dicegym.players.roster import agent, agent_name

NAME = "liarsdice"
Write = Callable[..., Path]

NOTING = """
noted = []

def get_play(me, hands, history):
    noted.append((me, hands, history))
    return 0 if history.endswith(":0") or history else 11
"""


def seated(file: Any, game: dicegym.Game, seat: int = 0) -> tuple[Any, Any]:
    """Return what is asked for actions, and the bot's namespace."""
    player: Any = agent(game, file, keep=True)
    return player.join(game, seat, 0), player._program.namespace


def test_the_words_of_the_text(write: Write) -> None:
    """A:23135,B:xx,C:xxxx is the text's example of hands, but for the order: own dice are sorted high to low."""
    game, state = table(NAME, [[2, 3, 1, 3, 5], [1, 1], [4, 4, 4, 4]])
    act, space = seated(write(NOTING), game)
    assert act(Turn(game, state, 0)) == bid(1, 1)
    assert space["noted"] == [("A", "A:53321,B:xx,C:xxxx", "")]
    for one in (bid(2, 3), bid(3, 3)):
        game.step(state, one)
    act, space = seated(write(NOTING), game, 2)
    assert act(Turn(game, state, 2)) == LIAR
    assert space["noted"] == [("C", "A:xxxxx,B:xx,C:4444", "A:23,B:33")]


def test_3_who_is_out_has_no_dice_and_is_left_out_at_the_showdown(write: Write) -> None:
    game, state = table(NAME, [[2, 3], [1], []])
    act, space = seated(write(NOTING), game)
    act(Turn(game, state, 0))
    assert space["noted"].pop() == ("A", "A:32,B:x,C:", "")
    audience = Audience(game, state, {0: act})
    game.step(state, bid(1, 1))
    audience.tell()
    assert space["noted"] == []
    game.step(state, LIAR)  # wrongly: B loses its last die, and was not out in this hand
    audience.tell()
    assert space["noted"] == [("A", "A:32,B:1", "A:11,B:0")]


def test_4_everybody_is_called_once_after_each_hand(write: Write) -> None:
    """Also who is out, also at the end of the game, also after a hand without bids."""
    game, state = table(NAME, [[2, 3], [1], []])
    bots = [seated(write(NOTING.replace("else 11", "else 0")), game, seat) for seat in range(3)]
    audience = Audience(game, state, {seat: act for seat, (act, _) in enumerate(bots)})
    game.step(state, LIAR)
    audience.tell()
    audience.tell()
    for seat, (_, space) in enumerate(bots):
        assert space["noted"] == [("ABC"[seat], "A:32,B:1", "A:0")]
    game.step(state, bid(2, 6))
    game.step(state, LIAR)  # it is B who bid, as A called before: A calls rightly
    audience.tell()
    assert state["over"]
    for seat, (_, space) in enumerate(bots):
        assert len(space["noted"]) == 2
        assert (space["noted"][1][0], space["noted"][1][2]) == ("ABC"[seat], "B:26,A:0")


def test_4_what_happens_at_a_showdown_changes_nothing(write: Write) -> None:
    """What it returns or raises then is ignored; the report names what was raised."""
    quiet = "def get_play(me, hands, history):\n    return 0 if history else 25\n"
    loud = quiet.replace("    return", "    if history[-2:] == ':0':\n        raise OSError('eyes shut')\n    return")
    odd = quiet.replace("return 0", "return None if history[-2:] == ':0' else 0")
    game, results = dicegym.game(NAME, dice=2), []
    for source in (quiet, loud, odd):
        bots = [agent(game, write(text, f"{name}.py"), keep=True) for text, name in ((source, "a"), (quiet, "b"))]
        results.append(arena.play_match(game, bots, 4, 20))
    assert results[0].wins == results[1].wins == results[2].wins
    assert results[0].incidents == results[2].incidents == ()
    assert results[1].faults == (0, 0)
    assert 'raised OSError (says: "eyes shut") at the showdown' in results[1].incidents[0].reason


def test_5_ids_follow_the_order_in_which_players_are_named(write: Write) -> None:
    """Whatever seats are drawn; the hands are in the order of play."""
    game = dicegym.game(NAME, players=3, dice=1)
    bots: list[Any] = [agent(game, write(NOTING, f"{name}.py"), keep=True) for name in "abc"]
    result = arena.play_match(game, bots, 0, 30)
    orders = set()
    for number, bot in enumerate(bots):
        noted = bot._program.namespace["noted"]
        assert {me for me, _, _ in noted} == {"ABC"[number]}
        orders |= {"".join(part[0] for part in hands.split(",")) for _, hands, _ in noted if hands.count(",") == 2}
    assert orders == {"".join("ABC"[player] for player in order) for order in result.seats}
    assert len(orders) == 6


THIRD = "def get_play(*_):\n    return 0\ndef third(*_):\n    return 25\n"


@pytest.mark.parametrize(
    ("name", "source", "spec"),
    [
        ("player.py", "def get_play(me, hands, history):\n    return 25\n", "{folder}"),
        ("bot.py", "def play(me, hands, history):\n    return 25\n", "{folder}"),
        ("bot.py", "def play(me, hands, history):\n    return 25\n", "{folder}/bot.py"),
        ("mine.py", "def get_play(me, hands, history):\n    return 25\n", "{folder}:mine"),
        ("mine.py", THIRD, "{folder}:mine:third"),
        ("mine.py", THIRD, "{folder}:mine.py:third"),
        ("player.py", "def make(n):\n    return lambda *_: n\nget_play = make(25)\n", "{folder}"),
    ],
)
def test_5_entries(write: Write, name: str, source: str, spec: str) -> None:
    file = write(source, f"robot/{name}")
    game, state = table(NAME, [[1], [1]])
    act, _ = seated(spec.format(folder=file.parent), game)
    assert act(Turn(game, state, 0)) == bid(2, 5)


def test_5_a_folder_goes_by_its_name(write: Write) -> None:
    assert agent_name(NAME, write(NOTING, "robot/player.py").parent) == "robot"
    with pytest.raises(AgentError, match=r"holds no player\.py or bot\.py"):
        agent(NAME, write("", "empty/x.py").parent)
    with pytest.raises(UnknownNameError):
        agent(NAME, "nobody")


def test_2_a_play_that_is_not_higher_calls_liar_and_is_no_fault(write: Write) -> None:
    """In a contest, in the check, and with the result and the actions of a bot that answers 0."""
    game, found = dicegym.game(NAME), []
    for play in (0, 11):  # 11 is higher than nothing
        source = f"def get_play(me, hands, history):\n    return {play} if history else 22\n"
        bot = write(source, f"calls_{play}.py")
        result = arena.play_match(game, [agent(game, bot, keep=True), agent(game, "even", keep=True)], 0, 20)
        assert result.faults == (0, 0)
        assert not result.incidents
        assert arena.check(bot, game, debug=True).ok
        found.append((result.returns, result.actions))
    assert found[0] == found[1]


def test_2_no_answer_costs_what_liar_costs(write: Write) -> None:
    game, state = table(NAME, [[1, 1], [2, 2]])
    game.step(state, bid(1, 1))
    file = write("def get_play(me, hands, history):\n    return hands[99]\n", "player.py")
    with pytest.raises(AgentError, match=r"when asked \('B', 'A:xx,B:22', 'A:11'\) \(player.py, line 2\)"):
        seated(file, game, 1)[0](Turn(game, state, 1))
    assert game.spec.forfeit == NO_ANSWER
    game.step(state, NO_ANSWER)
    assert left(state) == [2, 1]


def test_all_plays_have_an_action_and_back() -> None:
    actions = {action_of(10 * quantity + face) for quantity in range(1, 31) for face in range(1, 7)}
    assert actions == set(range(180))
