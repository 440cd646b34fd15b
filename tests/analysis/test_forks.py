"""A fork is another game that the player to move may be in: what it knows is kept, dice and hidden things are fresh."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from variants import play

import dicegym
from dicegym.analysis.playing_on import fork
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.games.hidden import keep_known
from dicegym.registry import GAMES

TABLES = [dicegym.game(name) for name in GAMES] + [
    dicegym.game("hog", memory=1),
    dicegym.game("yatzy", players=1),
    dicegym.game("liarsdice", players=4, dice=2),
]
AGAINST = {"liarsdice": "honest", "liarsdice_spot_on": "honest", "lucky": "cheapest"}
"""Agents that are loaded at once."""
each_table = pytest.mark.parametrize("game", TABLES, ids=repr)


@each_table
def test_a_fork_keeps_what_the_player_to_move_knows_and_reads_nothing_else(game: Game) -> None:
    for steps in (0, 3):
        state = play(game, 4, steps)
        seat, against = int(state["player"]), AGAINST.get(game.name)
        seen = keep_known(game, state, seat)
        forks = [fork(game, state, seed, against=against)[0] for seed in range(3)]
        for number, found in enumerate(forks):
            assert keep_known(game, found, seat).tobytes() == seen.tobytes()
            assert np.array_equal(game.observe(found, seat), game.observe(state, seat))
            assert found["key"] != state["key"]
            assert fork(game, seen[0], number, against=against).tobytes() == found.tobytes()
        assert len({found.tobytes() for found in forks}) == 3


@each_table
def test_forks_have_other_dice_to_come_and_copies_the_same(game: Game) -> None:
    state = play(game, 4, 60 if game.spec.joint_action else 3)
    outcomes: dict[str, set[bytes]] = {"copy": set(), "fork": set()}
    for seed in range(10):
        forked = fork(game, state, seed, against=AGAINST.get(game.name))[0]
        for kind, other in (("copy", state.copy()), ("fork", forked)):
            for _ in range(2 * game.players):
                if not other["over"]:
                    game.step(other, int(np.flatnonzero(game.legal(other))[-1]))
            other["key"] = 0
            outcomes[kind].add(other.tobytes())
    assert len(outcomes["copy"]) == 1
    assert len(outcomes["fork"]) > 2
    state["over"] = True
    with pytest.raises(ParameterError, match="the game is over"):
        fork(game, state)


def test_hidden_dice_are_drawn_as_the_player_to_move_may_believe() -> None:
    game = dicegym.game("liarsdice", dice=1)
    state = game.new_game(0)[0]
    other = 1 - int(state["player"])

    def drawn(state: Any, times: int) -> list[int]:
        forks = [fork(game, state, seed, against="honest")[0] for seed in range(times)]
        counted = Counter(int(found["hands"][other].argmax()) for found in forks)
        return [counted[face] for face in range(6)]

    faces = drawn(state, 150)
    assert sum(faces) == 150
    assert min(faces) > 5  # 25 each, and four standard deviations are 18
    assert max(faces) < 46
    game.step(state, 3)  # a four; now the other one is to move, and believes it
    other = 1 - int(state["player"])
    assert np.argmax(drawn(state, 60)) == 3


def test_a_planner_sees_what_may_happen_and_a_copied_environment_what_will() -> None:
    env = gym.make("dicegym/Hog-v0", opponent="always_roll(5)", seat=0).unwrapped
    seen, _ = env.reset(seed=3)
    ahead = copy.deepcopy(env)
    results: dict[bool, set[bytes]] = {True: set(), False: set()}
    for seed in range(20):
        begins, _ = ahead.reset(options={"state": fork(env.game, env.state, seed)})
        assert np.array_equal(begins, seen)
        results[True].add(ahead.step(6)[0].tobytes())
        results[False].add(copy.deepcopy(env).step(6)[0].tobytes())
    assert len(results[True]) > 5
    assert results[False] == {env.step(6)[0].tobytes()}
