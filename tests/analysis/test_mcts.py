"""The search finds what is best where that is known, and knows nothing that its seat does not know."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from rough_yatzy import rough_table
from variants import each_game, play

import dicegym
from dicegym.analysis.mcts import MctsPlayer, SearchResult, search
from dicegym.analysis.playing_on import fork
from dicegym.analysis.valuers import valuer
from dicegym.arena import contest
from dicegym.arena.entries import entries_of
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.games.hidden import keep_known
from dicegym.learning.evaluate import evaluate
from dicegym.play.drive import play_game
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn
from dicegym.players.agent_info import agent_card, describe_agent
from dicegym.players.roster import SEARCHES, agent_name, agent_names


def plain(found: SearchResult) -> list[list[float]]:
    return [np.asarray(column).tolist() for column in found]


def midway(game: Game, seed: int = 2) -> Any:
    """Return a state after a few random decisions, in which somebody is to move."""
    for decisions in (5, 4, 3, 2, 1, 0):
        state = play(game, seed, decisions)
        if not state["over"]:
            return state
    raise AssertionError("a game begins")


# --- it finds what is best -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [(99, 60), (95, 95), (90, 97), (80, 99)])
def test_it_finds_the_best_roll_near_the_end_of_hog(scores: tuple[int, int]) -> None:
    game = dicegym.game("hog")
    state = game.new_game(1)[0]
    state["scores"] = scores
    exact = valuer(game, "exact").action_values(state).values
    found = search(game, state, 3_000, c=3, seed=4)
    assert exact[found.best] > np.nanmax(exact) - 0.02


def test_it_finds_the_best_last_turn_of_yatzy() -> None:
    """With one box open, random play from here on is as good as any after the last roll."""
    game = dicegym.game("yatzy", players=1)
    for seed, box in enumerate((5, 13, 14)):  # sixes, chance, Yatzy
        state = game.new_game(seed)[0]
        state["scores"][0], state["scores"][0, box], state["round_number"], state["rolls_left"] = 0, -1, 15, 1
        with rough_table():  # which is exact in the last turn
            values = valuer(game, "exact").action_values(state).values
        found = search(game, state, 4_000, seed=seed)
        assert values[found.best] > np.nanmax(values) - 0.3
        assert abs(found.values[0] - values[found.best]) < 1


def test_it_calls_a_bid_that_cannot_be_true_and_makes_one_that_is() -> None:
    game = dicegym.game("liarsdice", dice=1)
    state = game.new_game(3)[0]
    assert search(game, state, 500, rollouts="random").best in np.flatnonzero(state["hands"][0]), "own"
    game.step(state, 6 + 3)  # two of a number, of two dice
    own = state["hands"][1].argmax()
    if own == 3:
        game.step(state, 6 + 4)
    found = search(game, state, 500, rollouts="random")
    assert game.action_name(found.best) == game.action_name(int(np.flatnonzero(game.legal(state))[-1])), "liar"


# --- it is a function of what its seat knows and of its seed ---------------------------------------------------


@each_game
def test_nothing_hidden_is_read(name: str) -> None:
    """Of two states that are equal to the seat, and of what the seat knows alone, the searches are equal."""
    game = dicegym.game(name)
    state = midway(game)
    seat = int(state["player"])
    others = [fork(game, state, seed)[0] for seed in (1, 2)]
    assert len({one.tobytes() for one in others}) == 2
    results = [plain(search(game, one, 40, seed=5)) for one in (state, *others, keep_known(game, state, seat)[0])]
    assert results.count(results[0]) == 4
    act = MctsPlayer(20).join(game, seat, 7)
    assert len({act(Turn(game, one, seat)) for one in (state, *others)}) == 1


@each_game
def test_the_same_seed_finds_the_same_in_any_number_of_threads(name: str) -> None:
    game = dicegym.game(name)
    state = midway(game, 3)
    before = state.tobytes()
    alone = [plain(search(game, state, 50, seed=seed)) for seed in range(4)]
    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(lambda seed: plain(search(game, state, 50, seed=seed)), range(4)))
    assert together == alone
    assert state.tobytes() == before
    assert sum(alone[0][1]) == 50
    assert len({str(found) for found in alone}) > (1 if game.n_actions < 20 else 2), "other seeds search otherwise"


def test_a_long_search_has_fresh_dice_where_its_states_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.analysis.mcts._STATES", 64)
    game = dicegym.game("liarsdice", players=3, dice=1)
    found = search(game, game.new_game(0)[0], 2_500, seed=1)
    assert found.visits.sum() == 2_500
    assert found.visits.tolist() == sorted(found.visits, reverse=True)
    assert found.nodes > 10


# --- it plays ------------------------------------------------------------------------------------------------


class Watched(Player):
    """Plays as another player and keeps what it chose that the rules do not allow."""

    def __init__(self, player: Player) -> None:
        self.player, self.illegal, self.asked = player, list[int](), 0

    def join(self, game: Game, seat: int, seed: int) -> Act:
        act = self.player.join(game, seat, seed)

        def watched(turn: Turn) -> int:
            action, self.asked = act(turn), self.asked + 1
            self.illegal += [action] if game.step(turn.record.copy(), action) else []
            return action

        return watched


@each_game
def test_it_plays_whole_games_by_the_rules(name: str) -> None:
    few = {"dice": 2} if "dice" in dicegym.game(name).parameters else {}
    game = dicegym.game(name, players=3, **few) if dicegym.game(name).spec.players[1] > 2 else dicegym.game(name)
    watched = Watched(dicegym.agent(game, "mcts(3)"))
    state = play_game(game, [watched] * game.players, 1)
    assert state["over"]
    assert watched.asked > 2
    assert not watched.illegal


def test_it_is_an_opponent_and_an_entry() -> None:
    env = gym.make("dicegym/LiarsDice-v0", opponent="mcts(5)", seat=0)
    seen = []
    for _ in range(2):
        observation, info = env.reset(seed=3)
        for _ in range(4):
            seen.append(observation.tobytes())
            observation, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
            if over:
                break
    half = len(seen) // 2
    assert seen[:half] == seen[half:]
    envs = gym.make_vec("dicegym/Hog-v0", num_envs=3, opponent={"mcts(2)": 1, "always_roll(5)": 1})
    envs.reset(seed=1)
    envs.step(np.full(3, 5))
    found = contest("liarsdice", ["mcts(4)", "honest"], seed=2, workers=1, games=4)
    assert {row.name for row in found.standings} == {"mcts(4)", "honest"}


@pytest.mark.slow
def test_it_is_the_same_entry_in_any_number_of_processes() -> None:
    one, two = (contest("liarsdice", ["mcts(4)", "honest"], seed=2, workers=workers, games=4) for workers in (1, 2))
    assert one.standings == two.standings


# --- how it is named -----------------------------------------------------------------------------------------


def test_it_is_named_with_its_numbers() -> None:
    named = {
        "mcts": "mcts(1000)",
        "mcts()": "mcts(1000)",
        " mcts( 200 ) ": "mcts(200)",
        "mcts(simulations=30)": "mcts(30)",
        "mcts(200, c=0.5)": "mcts(200, c=0.5)",
        "mcts(200, 1)": "mcts(200)",
        "mcts(200, rollouts=thrifty)": "mcts(200, rollouts=thrifty)",
        "mcts(7, 2, random)": "mcts(7, c=2, rollouts=random)",
    }
    for name, shown in named.items():
        assert dicegym.agent("yatzy", name).name == agent_name("yatzy", name) == shown
    assert entries_of(dicegym.game("hog"), {"a": "mcts(9)"}).records[0].given == "mcts(9)"
    copied = pickle.loads(pickle.dumps(dicegym.agent("hog", "mcts(200, c=0.5, rollouts=swap)")))
    assert (copied.simulations, copied.c, copied.rollouts) == (200, 0.5, "swap")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mcts(0)", r"simulations=0 cannot be used as the number of simulations of a search: give a whole number from"),
        ("mcts(1000001)", "simulations=1000001 cannot be used"),
        ("mcts(1.5)", r"simulations=1\.5 cannot be used"),
        ("mcts('a')", "simulations='a' cannot be used"),
        ("mcts(10, c=0)", "c=0 cannot be used as the exploration of a search: give a number above 0"),
        ("mcts(10, c=1e999)", "c=inf cannot be used"),
        ("mcts(1, 2, 3, 4)", r"each given once: simulations, c, rollouts, as in 'mcts\(1000, c=0\.5\)'"),
        ("mcts(5, simulations=4)", "each given once"),
        ("mcts(5, simulations=4, simulations=3)", "each given once"),
        ("mcts(print(1))", r"simulations='print\(1\)' cannot be used"),
        ("mcts(1)(2)", r"simulations='1\)\(2' cannot be used"),
        ("mcts(1", "there is no agent of Hog"),
        ("mcts(sims=3)", "there is no argument 'sims'"),
        ("mtcs", r"Did you mean 'mcts'\?"),
    ],
)
def test_wrong_names_are_refused(name: str, message: str) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        dicegym.agent("hog", name)
    with pytest.raises(ParameterError, match=r"temperature=0\.5 is for models"):
        dicegym.agent("hog", "mcts(3)", temperature=0.5)


def test_rollouts_are_played_by_compiled_agents_alone() -> None:
    game = dicegym.game("hog")
    state = game.new_game(0)[0]
    found = {name: str(plain(search(game, state, 200, rollouts=name))) for name in ("", "swap", "bacon", "random")}
    assert found[""] == found["swap"], "the strongest compiled agent that people are offered"
    assert len(set(found.values())) == 3
    with pytest.raises(UnknownNameError, match=r"compiled agent of Hog for rollouts 'taught'.*random"):
        search(game, state, 9, rollouts="taught")
    with pytest.raises(UnknownNameError, match="rollouts"):
        dicegym.agent(game, "mcts(9, rollouts=taught)").join(game, 0, 0)
    for wrong in ({"simulations": 0}, {"c": -1.0}):
        with pytest.raises(ParameterError, match="cannot be used"):
            search(game, state, **wrong)
    state["over"] = True
    with pytest.raises(ParameterError, match="the game is over"):
        search(game, state)


def test_a_compiled_policy_carries_a_search_through_hidden_dice_and_whole_orders() -> None:
    """Few simulations are enough to play about as well as the policy does, where random rollouts lose every game."""
    # Random rollouts win none of these games; who won one in twenty would win three of six once in 450 times.
    assert evaluate("liarsdice", "mcts(30)", "bayes", games=6, seed=1).value > 0.4
    game = dicegym.game("lucky")
    state = game.new_game(1)[0]
    found = search(game, state, 60)
    wide = [action for action in found.actions.tolist() if action >= game.n_actions]
    assert wide, "the policy's whole order is an action of its own"
    assert game.step(state, wide[0]) == 0


def test_it_is_listed_beside_the_games_own_agents(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "mcts" in SEARCHES
    assert "mcts" not in agent_names("hog"), "contests of all agents would take hours"
    assert describe_agent(dicegym.game("hog"), "mcts").startswith("Monte Carlo tree search")
    assert "simulations" in agent_card(dicegym.game("hog"), "mcts(7)")

    monkeypatch.setenv("DICEGYM_AGENTS", str(tmp_path))
    (tmp_path / "hog").mkdir()
    (tmp_path / "hog" / "mcts.py").write_text("def final_strategy(score, opponent_score):\n    return 4\n")
    assert not isinstance(dicegym.agent("hog", "mcts"), MctsPlayer), "a file of this name goes first"
