"""Exact values of classic Liar's Dice with one die each: against games played out, and against other ways to count."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from command_line import Run

import dicegym
from dicegym.analysis.exploitability import exploitability
from dicegym.errors import AgentError, ParameterError
from dicegym.games.bidding.solving import solution
from dicegym.games.bidding.solving.hand_values import EquilibriumValues
from dicegym.games.liarsdice import exact as liarsdice
from dicegym.games.liarsdice.exact import LIAR, N_BIDS
from dicegym.games.parts import solver
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.play.player import FunctionPlayer, Player
from dicegym.play.turn import Act, Turn

GAME = dicegym.game("liarsdice", dice=1)


@cache
def agent(name: str) -> Player:
    return dicegym.agent(GAME, name)


@cache
def table_of(name: str) -> np.ndarray:
    """Return the table of an agent, which nobody may change."""
    found = liarsdice.tabulate(agent(name), GAME)
    found.flags.writeable = False
    return found


@cache
def solver_values() -> EquilibriumValues:
    """Return what the solver finds, which is exact after 200 steps; others are left with those of all steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solution, "AT_ONCE", 200)
        return solution.values_at_once.__wrapped__(GAME)


@cache
def solved() -> np.ndarray:
    """Return the equilibrium of the solver as a table."""
    strategy, table = solver_values().strategies[1, 1], np.zeros(liarsdice.SHAPE)
    for made in range(1 << N_BIDS):
        path = strategy.hand.numbers_of(bids_of(made))
        assert path is not None
        choices = strategy.choices(path)
        table[:, made, strategy.hand.bids] = choices[:N_BIDS].T
        table[:, made, LIAR] = choices[N_BIDS]
    return table


def bids_of(made: int) -> list[int]:
    return [bid for bid in range(N_BIDS) if made >> bid & 1]


def is_true(bid: int, faces: tuple[int, int]) -> bool:
    return faces.count(bid % 6) >= bid // 6 + 1


def test_only_two_dice_are_solved_and_tables_must_fit() -> None:
    assert solver(GAME) is not None
    for other in (dicegym.game("liarsdice", dice=2), dicegym.game("liarsdice", players=3, dice=1)):
        assert solver(other) is None
        with pytest.raises(ParameterError, match="has no exact values: give players=2, dice=1"):
            liarsdice.tabulate(agent("even"), other)
    for bad in (np.zeros((6, 4096)), np.zeros(liarsdice.SHAPE, np.int64), np.full(liarsdice.SHAPE, 0.5)):
        with pytest.raises(ParameterError, match="is no strategy of Liar's Dice"):
            liarsdice.win_rate(bad, bad, GAME)


def test_a_table_holds_what_the_player_plays() -> None:
    """Every state of games among pure players is looked up."""
    tables = {name: table_of(name) for name in ("even", "honest")}
    for seed in range(60):
        names = ("even", "honest") if seed % 2 else ("honest", "even")
        state = GAME.new_game(seed)[0]
        acts = [agent(name).join(GAME, seat, 0) for seat, name in enumerate(names)]
        faces = [int(state["hands"][seat].argmax()) for seat in (0, 1)]
        made = 0
        while not state["over"]:
            seat = int(state["player"])
            action = acts[seat](dicegym.play.turn.Turn(GAME, state, seat))
            assert tables[names[seat]][faces[seat], made, min(action, LIAR)] == 1
            made |= 1 << action
            GAME.step(state, action)


class Drawing(Player):
    """Draws by chances that follow from all that a seat sees; never bids what is divisible by five."""

    name = "drawing"

    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        def draw(turn: Turn) -> int:
            raise AssertionError("it is asked how likely it does what, not to draw")

        return draw

    def chances(self, game: dicegym.Game, states: np.ndarray) -> np.ndarray:
        found = np.zeros((len(states), game.n_actions))
        for row, state in enumerate(states):
            seen = game.observe(state, int(state["player"])).astype(np.float64)
            told = float((np.arange(len(seen)) + 1) @ seen)
            found[row] = np.sin((np.arange(game.n_actions) + 1) * told) ** 2
            found[row, ::5] = 0
            found[row] *= game.legal(state)
        return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-12)


def test_a_table_holds_how_likely_a_player_does_what_it_draws() -> None:
    """Asked state by state along games in which anything is bid."""
    player, generator, met = Drawing(), np.random.default_rng(3), 0
    table = liarsdice.tabulate(player, GAME)
    for seed in range(30):
        state, made = GAME.new_game(seed)[0], 0
        seat, possible = seed % 2, True
        while not state["over"]:
            if state["player"] == seat and possible:
                likely = player.chances(GAME, np.array([state]))[0, :N_BIDS]
                row = table[int(state["hands"][seat].argmax()), made]
                np.testing.assert_allclose(row, [*likely, 1 - likely.sum()], atol=1e-15)
                met += 1
            bid = int(generator.choice(np.flatnonzero(GAME.legal(state))))
            possible &= state["player"] != seat or bid >= N_BIDS or row[bid] > 0
            made |= 1 << bid
            GAME.step(state, bid)
    assert met > 25
    assert not table[:, :, :N_BIDS][..., ::5].any()


def test_the_win_rate_is_that_of_all_36_hands_played_out() -> None:
    """The keys of enough games hold every pair of dice; each is counted once for each seat."""
    wins: dict[tuple[int, int, int], float] = {}
    seed = 0
    while len(wins) < 72:
        seed += 1
        start = GAME.new_game(seed)[0]
        faces = [int(start["hands"][seat].argmax()) for seat in (0, 1)]
        for seat in (0, 1):
            if (*faces, seat) not in wins:
                table = [agent("even"), agent("even")]
                table[seat] = agent("honest")
                wins[*faces, seat] = float(GAME.returns(play_game(GAME, table, seed))[seat] > 0)
    assert liarsdice.win_rate(agent("honest"), agent("even"), GAME) == pytest.approx(np.mean(list(wins.values())))


def test_the_matrix_is_fair() -> None:
    matrix = liarsdice.win_rate_matrix([table_of(name) for name in ("even", "honest", "timid")], GAME)
    assert matrix + matrix.T == pytest.approx(np.ones((3, 3)))
    assert matrix.diagonal() == pytest.approx([0.5] * 3)


def reply_by_hand(opponent: np.ndarray, seat: int, own: int) -> float:
    """The best win probability with an own face against a strategy: by beliefs instead of weighted sums."""

    def value(made: int, belief: tuple[float, ...]) -> float:
        bids = bids_of(made)
        higher = range(bids[-1] + 1 if bids else 0, N_BIDS)
        if len(bids) % 2 == seat:
            called = sum(p for face, p in enumerate(belief) if bids and not is_true(bids[-1], (own, face)))
            return max([called, *(value(made | 1 << bid, belief) for bid in higher)])
        total = sum(
            p * opponent[face, made, LIAR] * (not bids or is_true(bids[-1], (own, face)))
            for face, p in enumerate(belief)
        )
        for bid in higher:
            joint = [p * opponent[face, made, bid] for face, p in enumerate(belief)]
            if (chance := sum(joint)) > 0:
                total += chance * value(made | 1 << bid, tuple(p / chance for p in joint))
        return float(total)

    return value(0, (1 / 6,) * 6)


def best_by_hand(opponent: np.ndarray) -> float:
    return float(np.mean([reply_by_hand(opponent, seat, own) for seat, own in product((0, 1), range(6))]))


@pytest.mark.parametrize("name", ["even", "honest", "timid"])
def test_the_best_reply_is_that_of_another_way_to_count(name: str) -> None:
    low, high, how = exploitability(agent(name), GAME, seconds=30)
    assert (low, high) == pytest.approx((best_by_hand(table_of(name)),) * 2, abs=1e-9)
    assert how.startswith("exact")


@pytest.mark.slow
def test_the_equilibrium_of_the_solver() -> None:
    """Whoever opens wins 4 of 9 hands, and nothing that players see helps against it, as the solver says."""
    table = solved()
    assert liarsdice._chances(table, table).mean() == pytest.approx(4 / 9, abs=1e-5)
    gained = best_by_hand(table) - 0.5
    assert 0 <= gained < 1e-5
    assert gained == pytest.approx(solver_values().exploitability, abs=1e-9)
    for name in ("even", "honest", "timid"):
        assert liarsdice.win_rate(table, table_of(name), GAME) > 0.5
    assert 0.48 < liarsdice.win_rate(agent("bayes"), table, GAME) < 0.51  # its answers are drawn
    assert table.sum(axis=2) == pytest.approx(np.ones((6, 1 << N_BIDS)))
    assert not table[:, 0, LIAR].any()


def test_who_fails_is_taken_to_call() -> None:
    def fail(turn: dicegym.play.turn.Turn) -> int:
        raise AgentError("bad", "has no idea")

    table = liarsdice.tabulate(FunctionPlayer(fail, "bad", pure=True), GAME)
    assert (table[:, 0, LIAR] == 1).all()
    assert liarsdice.win_rate(agent("even"), table, GAME) == pytest.approx(
        liarsdice.win_rate(agent("even"), FunctionPlayer(lambda turn: 10**9, "wild", pure=True), GAME)
    )


def test_evaluation_and_the_command_line_use_it(run: Run) -> None:
    score = evaluate(GAME, "honest", "even")
    assert score.measure == "exact win rate"
    settings = ["--game", "liarsdice", "--against", "even", "-p", "dice=1", "-p", "players=2"]
    status, out, _ = run("evaluate", "honest", *settings)
    assert status == 0
    assert out.startswith(f"{score}\n")
