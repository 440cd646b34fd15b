"""Rollouts: they come to the exact values where there are any, by what the player to move may know and nothing else."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dicegym
from dicegym.analysis.mcts import ordinary_action
from dicegym.analysis.playing_on import SLIP, Beliefs, results
from dicegym.analysis.rollouts import RolloutValuer
from dicegym.analysis.valuers import valuer
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.bidding.solving import solution
from dicegym.games.hidden import keep_known
from dicegym.games.parts import CHANCE, need
from dicegym.games.worth import Valuer
from dicegym.games.yatzy.solving import points
from dicegym.play.player import FunctionPlayer, Player, RandomPlayer
from dicegym.players.roster import opponent
from dicegym.registry import GAMES

HAND = ("liarsdice", "liarsdice_spot_on")


def begun(game: Game, player: str, seed: int, steps: int) -> np.ndarray:
    """Return the record after so many decisions of an agent, or at the end."""
    states = game.new_game(seed)
    who = opponent(game, player)
    for _ in range(steps):
        if states[0]["over"]:
            break
        seat = states["player"].astype(np.int64)
        game.step(states[0], int(who.act_rows(game, states, np.arange(1), seat)[0]))
    return states


class Mixing(Player):
    """Plays as a valuer supposes, and says how likely it plays what."""

    at_once, pure, temperature = True, False, 1.0

    def __init__(self, valuer: Valuer) -> None:
        self.name, self._valuer = valuer.name, valuer

    def act_rows(self, game: Game, states: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        bounds = self.chances(game, states[rows]).cumsum(axis=1)
        drawn = np.random.default_rng([*states["key"][rows].tolist(), int(states["n_bids"][rows].sum())])
        actions: np.ndarray = (bounds < (drawn.random(len(rows)) * bounds[:, -1])[:, None]).sum(axis=1)
        return actions

    def chances(self, game: Game, states: np.ndarray) -> np.ndarray:
        return self._valuer.policy_rows(states)


# --- agreement ------------------------------------------------------------------------------------------------


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("games", [100, 400])
@pytest.mark.parametrize("name", HAND)
def test_rollouts_agree_with_exact_values_of_hidden_dice(
    name: str, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Played on by the equilibrium, beliefs weighed by it: a random choice in each of many states on its paths."""
    game = dicegym.game(name, players=2, dice=1)
    monkeypatch.setattr(solution, "AT_ONCE", 60)  # the values are those of the strategy, however far it is learned
    exact = solution.values_at_once.__wrapped__(game)  # not kept for other tests
    monkeypatch.setattr("dicegym.analysis.playing_on.SLIP", 0.0)
    generator, player = np.random.default_rng(5), Mixing(exact)
    inside = asked = seed = 0
    while asked < 20:
        seed += 1
        states = game.new_game(seed)
        for _ in range(int(generator.integers(0, 5))):
            if not states[0]["over"]:
                seat = states["player"].astype(np.int64)
                game.step(states[0], int(player.act_rows(game, states, np.arange(1), seat)[0]))
        if states[0]["over"]:
            continue
        values = exact.action_values(states[0]).values
        action = int(generator.choice(np.flatnonzero(~np.isnan(values))))
        found = RolloutValuer(game, player, games, seed).action_values(states[0])
        inside += abs(found.values[action] - values[action]) <= 1.96 * found.errors[action]
        asked += 1
    assert inside >= 16  # 19 of 20 are expected; fewer than 16 come in one of 390 runs


def test_rollouts_agree_with_exact_values_of_hog() -> None:
    game = dicegym.game("hog", goal=20)
    exact = valuer(game, "exact")
    state = begun(game, "swap", 4, 2)[0]
    values = exact.action_values(state).values
    best = FunctionPlayer(lambda turn: int(exact.policy(turn.record).argmax()), "best")
    found = RolloutValuer(game, best, 500).action_values(state)
    assert (abs(found.values - values) / found.errors).max() < 4
    assert found.values.argmax() in np.flatnonzero(values > values.max() - 0.02)


def test_a_blunder_is_dropped_early() -> None:
    """A bid of all dice is called in most games: it is played no further, so its error stays large."""
    game = dicegym.game("liarsdice", players=2, dice=3)
    found = RolloutValuer(game, games=2_000).action_values(game.new_game(1)[0])
    assert found.values[35] < np.nanmax(found.values) - 0.3
    assert found.errors[35] > 3 * np.nanmin(found.errors)


# --- what is hidden -------------------------------------------------------------------------------------------


def test_beliefs_are_bayes_rule() -> None:
    """Of three players with two dice each; every roll of two is counted through, by asking the bidders one by one."""
    game = dicegym.game("liarsdice", players=3, dice=2)
    states = begun(game, "honest", 4, 2)
    players = [opponent(game, "honest")] * 3
    beliefs = Beliefs(game, states[0], players)
    assert len(beliefs.draws) == 2
    names = [text for _, text in need(game, CHANCE).outcomes(states[0], 0)]
    bids = [int(bid) // 8 for bid in states["bids"][0, :2]]
    for seat, belief in enumerate(beliefs.draws):
        weights: dict[str, float] = {}
        for faces in product(range(6), repeat=2):
            supposed = states.copy()
            supposed["n_bids"], supposed["player"] = seat, seat
            supposed["hands"][0, seat] = np.bincount(faces, minlength=6)
            action = players[0].act_rows(game, supposed, np.arange(1), np.array([seat]))[0]
            legal = int(game.legal(supposed[0]).sum())
            name = "".join(str(face + 1) for face in sorted(faces))
            chance = (1 - SLIP) * (action == bids[seat]) + SLIP / legal
            weights[name] = weights.get(name, 0) + chance
        total = sum(weights.values())
        for name, chance in zip(names, belief.chances.tolist(), strict=True):
            assert chance == pytest.approx(weights[name] / total, abs=1e-12)
    silent = Beliefs(game, states[0], [RandomPlayer()] * 3)  # its actions say nothing of its dice
    assert sorted(set(silent.draws[0].chances.round(9))) == pytest.approx([1 / 36, 2 / 36])
    dealt = beliefs.deal(20_000, np.arange(20_000, dtype=np.uint64), np.random.default_rng(0))
    assert (dealt["hands"][:, 2] == states["hands"][0, 2]).all()
    share = (dealt["hands"][:, 0, 0] == 2).mean()
    assert share == pytest.approx(beliefs.draws[0].chances[names.index("11")], abs=0.012)


def test_secret_choices_are_made_again() -> None:
    """Each seat before the mover orders anew, within its money; the mover's own order so far stays."""
    game = dicegym.game("lucky", players=3)
    states = game.new_game(5)
    for action in (1, 22, 0, 0, 22, 0):  # seats 0 and 1 order and are complete, seat 2 has begun
        game.step(states[0], action)
    players = [opponent(game, "cheapest")] * 3
    dealt = Beliefs(game, states[0], players).deal(8, np.arange(8, dtype=np.uint64), np.random.default_rng(0))
    assert (dealt["player"] == 2).all()
    assert (dealt["order"][:, 2] == states["order"][0, 2]).all()
    assert (dealt["left"][:, 2] == states["left"][0, 2]).all()
    alone = game.new_game(5)
    while alone[0]["player"] == 0:
        game.step(alone[0], int(players[0].act_rows(game, alone, np.arange(1), np.zeros(1, np.int64))[0]))
    assert (dealt["order"][:, 0] == alone["order"][0, 0]).all(), "as who plays on orders, not as the record has it"


# --- runs -----------------------------------------------------------------------------------------------------


def test_the_seed_names_all_dice() -> None:
    game = dicegym.game("liarsdice", dice=2)
    state = begun(game, "honest", 1, 2)[0]
    found = [RolloutValuer(game, games=60, seed=4).action_values(state).values for _ in range(2)]
    assert np.array_equal(*found, equal_nan=True)
    other = RolloutValuer(game, games=60, seed=5).action_values(state).values
    assert not np.array_equal(found[0], other, equal_nan=True)


def test_all_choices_get_the_same_dice() -> None:
    """So differences have smaller errors than they had of games apart."""
    game = dicegym.game("hog", goal=10)
    values, errors, behind = RolloutValuer(game, "always_roll(5)", games=500).action_values(game.new_game(1)[0])
    assert behind is not None
    others = np.arange(game.n_actions) != values.argmax()
    assert (behind[others] < np.hypot(errors, errors[values.argmax()])[others]).all()
    assert np.nanmin(errors) >= 1 / 500  # what never came may still come


def test_players_of_all_kinds_play_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that is asked game by game, and a twin that plays alike."""
    game = dicegym.game("hog", goal=30)
    with pytest.raises(ParameterError, match="games"):
        RolloutValuer(game, games=0)
    with pytest.raises(UnknownNameError, match="nobody"):
        RolloutValuer(game, "nobody")
    state = game.new_game(3)[0]
    by_hand = FunctionPlayer(lambda turn: 6, "five dice")
    values = [RolloutValuer(game, who, games=100).action_values(state).values for who in (by_hand, "always_roll(5)")]
    assert np.array_equal(*values)
    assert ((values[0] > 0) & (values[0] < 1)).all()
    lucky = dicegym.game("lucky", players=3)
    states = lucky.new_game()
    states["over"] = True
    states["money"][0, :3] = 7, 7, 2
    assert results(lucky, states).tolist() == [[0.5, 0.5, 0.0]]  # the first place is shared
    monkeypatch.setattr("dicegym.analysis.playing_on.MOST_DECISIONS", 3)
    with pytest.raises(ParameterError, match="not over after 3 decisions"):
        RolloutValuer(game, games=10).action_values(state)


# --- values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_valuer_of_rollouts_that_reads_nothing_hidden(name: str) -> None:
    game = dicegym.game(name, **({"dice": 2} if name in HAND else {}))
    asked = RolloutValuer(game, games=4)
    state = begun(game, game.spec.baseline, 6, 3)[0]
    values, errors, behind = asked.action_values(state)
    legal = game.legal(state)
    assert np.array_equal(np.isnan(values), ~legal)
    assert np.array_equal(np.isnan(errors), ~legal)
    told = keep_known(game, state, int(state["player"]))[0]
    assert np.array_equal(asked.action_values(told).values, values, equal_nan=True)
    assert behind is not None
    assert np.nanmin(behind) == 0
    assert asked.action_value(state, int(np.nanargmax(values))) == pytest.approx(np.nanmax(values), abs=1e-9)
    assert asked.policy(state).sum() == pytest.approx(1)
    if game.players > 1:
        assert asked.values_rows(np.array([state])).sum() == pytest.approx(1)


def test_a_wide_action_is_the_ordinary_one_that_always_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other dice that happen to show the same numbers do not make two actions one."""
    game = dicegym.game("yatzy", players=1)
    # Two ways to read one table must agree on any table: that of the solved game takes five seconds.
    monkeypatch.setattr(points, "_solved", [np.random.default_rng(1).random((1 << points.BOXES, points.SUMS))])
    exact, planner = valuer(game, "exact"), opponent(game, "planner")
    for seed in range(12):
        states = game.new_game(seed)
        (wide,) = planner.act_rows(game, states, np.arange(1), np.zeros(1, np.int64)).tolist()
        ordinary = ordinary_action(game, states[0], wide)
        assert ordinary is not None
        assert wide >= game.n_actions > ordinary
        assert exact.action_values(states[0]).values[ordinary] == exact.action_value(states[0], wide)
