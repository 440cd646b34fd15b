"""The compiled twins of both Liar's Dice games, beside the files in ``agents/`` whose twins they are.

The random ones are compared by what they may do and how likely: a stand-in for ``random`` goes through all that the
file can be dealt, and the compiled bot is asked under many keys.
"""

from __future__ import annotations

import functools
import importlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bidding_tables import bid, table

import dicegym
from dicegym import games
from dicegym.engine.dice import draw_number
from dicegym.engine.game import Game
from dicegym.engine.twin_kernels import list_twins
from dicegym.games.bidding.twins import EVEN_NEED, MOST_ANSWERS
from dicegym.play.turn import Act, Turn
from dicegym.players.roster import agent

GAMES = ("liarsdice", "liarsdice_spot_on")
TABLES = [(2, 5), (2, 3), (2, 1), (3, 5), (4, 5), (4, 2), (5, 4), (6, 5)]
"""Players and dice."""
BLUFF = {"liarsdice": 0.2, "liarsdice_spot_on": 0.15}
CALL = 0.25
KEYS = 400


def bayes_answers(name: str) -> Any:
    return importlib.import_module(f"dicegym.games.{name}.twins").bayes_answers


@functools.cache
def twins(name: str) -> dict[str, Any]:
    """Return the compiled bots of a game by name."""
    return {name: twin.kernel for twin in list_twins(games.spec(name).module) for name in twin.names}


class Dealt:
    """A stand-in for the module ``random`` that goes through all a bot can be dealt, with the chances of it.

    What ``random()`` returns stands for a whole stretch: the bots compare it with the numbers in ``cuts`` alone.
    """

    def __init__(self, *cuts: float) -> None:
        self._floor = sorted({0.0, *cuts})
        self._script: list[int] = []
        self._open: list[tuple[list[int], float]] = []

    def _deal(self, weights: list[float]) -> int:
        if self._at == len(self._script):
            total = sum(weights)
            for other in range(1, len(weights)):
                self._open.append(([*self._script, other], self._chance * weights[other] / total))
            self._script.append(0)
            self._chance *= weights[0] / total
        self._at += 1
        return self._script[self._at - 1]

    def random(self) -> float:
        return self._floor[self._deal([b - a for a, b in zip(self._floor, [*self._floor[1:], 1.0], strict=True)])]

    def randint(self, low: int, high: int) -> int:
        return low + self._deal([1.0] * (high - low + 1))

    def choice(self, options: list[Any]) -> Any:
        return options[self._deal([1.0] * len(options))]

    def chances(self, act: Act, turn: Turn) -> dict[int, float]:
        """Return each action that the bot may give, and how likely it does."""
        found: Counter[int] = Counter()
        self._open = [([], 1.0)]
        while self._open:
            self._script, self._chance = self._open.pop()
            self._at = 0
            action = act(turn)
            found[action] += self._chance
        return dict(found)


def wild(game: Game, state: Any, generator: np.random.Generator) -> int:
    """Return an action that bots seldom meet: a small raise of any face, a call, or what is not allowed at all."""
    kind = generator.random()
    if kind < 0.04:
        return int(generator.choice([-1, -2, 0, game.n_actions + 5, game.n_actions + 900]))
    legal = np.flatnonzero(game.legal(state))
    calls = legal[legal >= 180]
    if kind < 0.2 and len(calls):
        return int(generator.choice(calls))
    return int(generator.choice(legal[:9]))


def situations(name: str, rounds: int, seed: int = 0) -> Iterator[tuple[Game, Any, int]]:
    """Yield (game, state, time) at each decision of whole games on all tables, played by all bots and at random."""
    bots = list(twins(name).values())
    for players, dice in TABLES:
        game = dicegym.game(name, players=players, dice=dice)
        for episode in range(rounds):
            generator = np.random.default_rng([seed, players, dice, episode])
            state, time = game.new_game(seed, episode)[0], 0
            while not state["over"]:
                yield game, state, time
                if generator.random() < 0.3:
                    action = wild(game, state, generator)
                else:
                    action = int(bots[int(generator.integers(len(bots)))](state))
                game.step(state, action)
                time += 1


class Beside:
    """A file's bot, seated anew in each game that `situations` begins."""

    def __init__(self, name: str, bot: str, dealt: Dealt | None = None) -> None:
        self._name, self._bot, self._dealt = name, bot, dealt
        self._players: dict[Game, Any] = {}
        self._acts: dict[int, Act] = {}

    def at(self, game: Game, state: Any, time: int) -> tuple[Act, Turn]:
        """Return what to ask, and with what."""
        if game not in self._players:
            player: Any = agent(game, self._bot, keep=True)
            if self._dealt:
                player._program.namespace["random"] = self._dealt
            self._players[game] = player
        if time == 0:
            self._acts = {seat: self._players[game].join(game, seat, 0) for seat in range(game.players)}
        seat = int(state["player"])
        return self._acts[seat], Turn(game, state, seat)


@functools.cache
def pure_bots(name: str) -> tuple[str, ...]:
    return tuple(bot for bot in twins(name) if agent(name, bot).pure)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", GAMES)
def test_move_for_move(name: str) -> None:
    """Also where others did what is not allowed, or bid more than there are dice."""
    asked = {bot: Beside(name, bot) for bot in pure_bots(name)}
    assert len(asked) >= 3
    compared = 0
    for game, state, time in situations(name, 4):
        for bot, beside in asked.items():
            act, turn = beside.at(game, state, time)
            assert twins(name)[bot](state) == act(turn), (bot, turn.view)
        compared += 1
    assert compared > 500


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", GAMES)
def test_bayes_draws_among_the_same_answers(name: str) -> None:
    dealt = Dealt()
    beside, actions, sizes = Beside(name, "bayes", dealt), np.zeros(MOST_ANSWERS, np.int64), set()
    for game, state, time in situations(name, 1, seed=1):
        act, turn = beside.at(game, state, time)
        expected = dealt.chances(act, turn)
        found = actions[: bayes_answers(name)(state, actions)].tolist()
        assert sorted(found) == sorted(expected), turn.view
        assert expected == pytest.approx(dict.fromkeys(found, 1 / len(found)))
        sizes.add(len(found))
    assert len(sizes) > 5


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    ("name", "bot"),
    [*((name, bot) for name in GAMES for bot in ("bayes", "bluffer", "haphazard")), ("liarsdice", "reckless")],
)
def test_random_bots_draw_with_the_same_chances(name: str, bot: str) -> None:
    """Under many keys; five standard deviations of each count are allowed."""
    dealt = Dealt(BLUFF[name], CALL, 0.5)
    beside, checked = Beside(name, bot, dealt), 0
    for game, state, time in situations(name, 1, seed=2):
        act, turn = beside.at(game, state, time)
        expected = dealt.chances(act, turn)  # always asked, as bots remember
        if time % 8 == 0:
            found, copy = Counter[int](), state.copy()
            for key in range(KEYS):
                copy["key"] = draw_number(key, 0, 0, 0, 1 << 31)
                found[int(twins(name)[bot](copy))] += 1
            assert set(found) <= set(expected), turn.view
            for action, chance in expected.items():
                assert abs(found[action] - KEYS * chance) <= 5 * (KEYS * chance * (1 - chance)) ** 0.5 + 1e-6
            checked += len(expected) > 1
    assert checked > 10


@pytest.mark.parametrize("name", GAMES)
def test_a_bot_sees_its_own_dice_alone_and_changes_nothing(name: str) -> None:
    """Nor do the dice to come matter: bots that draw nothing do the same under another key."""
    for game, state, _ in situations(name, 1, seed=3):
        other, before = state.copy(), state.tobytes()
        for seat in range(game.players):
            if seat != state["player"] and state["rolled"][seat]:
                other["hands"][seat] = 0
                other["hands"][seat, 5] = state["rolled"][seat]
        for bot, choose in twins(name).items():
            action = choose(state)
            assert choose(other) == action
            if bot in pure_bots(name):
                key, other["key"] = other["key"], 12345
                assert choose(other) == action
                other["key"] = key
        assert state.tobytes() == before


def test_a_bot_draws_anew_for_each_decision() -> None:
    """The opening bid of haphazard is any of six: in forty hands, and after forty bids, it draws each of them."""
    game, state = table("liarsdice", [[1] * 5] * 6)
    choose, openings, answers = twins("liarsdice")["haphazard"], set(), set()
    for state["finished"] in range(40):
        openings.add(int(choose(state)))
    assert openings == set(range(6))
    game.step(state, bid(1, 1))
    for _ in range(20):
        answers.add(int(choose(state)))
        for face in (2, 3):
            state["bids"][state["n_bids"]] = bid(1, face) * 8
            state["n_bids"] += 1
    assert len(answers) > 4


@pytest.mark.nojit
@pytest.mark.parametrize("name", GAMES)
def test_without_compilation(name: str) -> None:
    game, state = table(name, [[1, 2, 2, 5, 6], [3, 3, 4, 6], [1, 1]])
    for action in (None, bid(2, 2), bid(3, 2), bid(3, 3)):
        if action is not None:
            game.step(state, action)
        for bot, choose in twins(name).items():
            chosen = int(choose(state))
            assert game.legal(state)[chosen]
            if bot in pure_bots(name):
                seat = int(state["player"])
                assert agent(game, bot).join(game, seat, 0)(Turn(game, state, seat)) == chosen


def test_even_needs() -> None:
    """Of 9 dice one match is as likely as not (1 - (5/6)^9 = 0.81) but two are not (0.457); of 3 none is (0.42)."""
    assert EVEN_NEED[0, [0, 3, 4, 9]].tolist() == [0, 0, 1, 1]
    assert EVEN_NEED[1, [0, 1, 2, 30]].tolist() == [0, 0, 1, 10]
