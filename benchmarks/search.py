"""Simulations a second of the agent ``mcts``, and of OpenSpiel's searches on its nearest games.

Each decision is the first of a game in which there is a choice, and each simulation is played to the end by random
legal actions. All run in turn in one process, on one thread. Our Pig, the example of ``docs/add_a_game.md``, has the
rules of OpenSpiel's.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import dicegym
from benchmarks.figures import Figure, Measure, Plan, Skipped
from benchmarks.peers import HOW
from dicegym.analysis.mcts import MctsPlayer
from dicegym.analysis.playing_on import RANDOM
from dicegym.bench import Work, measure_rate
from dicegym.engine.game import Game
from dicegym.play.turn import Turn

SIMULATIONS = 1_000
"""Of each decision."""
UNIT = "simulations/s"
EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"


def pig() -> Game:
    """Return the game of the example."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    return Game(importlib.import_module("pig.rules").SPEC)


def ours(game: Game) -> Work:
    """Return a loop of first decisions, each of another game; it counts simulations."""
    numbers, act = count(), MctsPlayer(SIMULATIONS, rollouts=RANDOM).join(game, 0, 0)

    def work() -> int:
        state = game.new_game(next(numbers))[0]
        while game.legal(state).sum() == 1:  # Pig begins with a roll
            game.step(state, int(game.legal(state).argmax()))
        act(Turn(game, state, int(state["player"])))
        return SIMULATIONS

    return work


def openspiel(name: str, make_bot: Callable[[Any, Any, int], Any]) -> Work:
    """Return the same loop of a game of OpenSpiel; ``make_bot`` takes the game, who evaluates leaves, and a seed."""
    pyspiel: Any = importlib.import_module("pyspiel")
    game, numbers = pyspiel.load_game(name), count()

    def work() -> int:
        number = next(numbers)
        state = game.new_initial_state()
        while state.is_chance_node():
            outcomes = state.legal_actions()
            state.apply_action(outcomes[number % len(outcomes)])
        make_bot(game, pyspiel.RandomRolloutEvaluator(1, number), number).step(state)
        return SIMULATIONS

    return work


def mcts_bot(game: Any, evaluator: Any, seed: int) -> Any:
    """Return OpenSpiel's search in C++ of games in which nothing is hidden."""
    return importlib.import_module("pyspiel").MCTSBot(game, evaluator, 1.0, SIMULATIONS, 1_000, False, seed, False)


def ismcts_bot(game: Any, evaluator: Any, seed: int) -> Any:
    """Return OpenSpiel's information-set search in C++."""
    return importlib.import_module("pyspiel").ISMCTSBot(seed, evaluator, 1.0, SIMULATIONS)


def python_ismcts_bot(game: Any, evaluator: Any, seed: int) -> Any:
    """Return the same in Python, for Liar's Dice of one die each: there alone it can be told how to redraw dice."""
    import numpy as np

    random = np.random.RandomState(seed)

    def resample(state: Any, player: int) -> Any:
        history = state.history()
        history[1 - player] = int(random.choice(game.new_initial_state().legal_actions()))
        fresh = game.new_initial_state()
        for action in history:
            fresh.apply_action(action)
        return fresh

    module = importlib.import_module("open_spiel.python.algorithms.ismcts")
    rollouts = importlib.import_module("open_spiel.python.algorithms.mcts").RandomRolloutEvaluator(1, random)
    bot = module.ISMCTSBot(game, rollouts, 1.0, SIMULATIONS, random_state=random)
    bot.set_resampler(resample)
    return bot


PEERS = (
    ("pig", "OpenSpiel's MCTSBot", mcts_bot),
    ("liars_dice", "OpenSpiel's ISMCTSBot in Python", python_ismcts_bot),
    ("leduc_poker", "OpenSpiel's ISMCTSBot in C++, which cannot redraw dice", ismcts_bot),
)


def plan(games: list[Game], seconds: float) -> Plan:
    """Return the measures of ``games``, of the games that peers have too, and of the peers that are installed."""
    games = [*games, dicegym.game("liarsdice", dice=1), pig()]
    found: Plan = [_measure(repr(game), "mcts", ours(game), seconds, False) for game in games]
    for name, what, make_bot in PEERS:
        try:
            found.append(_measure(name, what, openspiel(name, make_bot), seconds, True))
        except ImportError as error:
            found.append(Skipped(f"{name}, {what}", f"{error.name or error} is not installed: {HOW}"))
    return found


def _measure(subject: str, what: str, work: Work, seconds: float, peer: bool) -> Measure:
    figure = Figure("search", subject, f"{what}, {SIMULATIONS:,} a decision", UNIT, mode="search", peer=peer)
    return Measure((figure,), partial(_rate, work, seconds), work)


def _rate(work: Work, seconds: float) -> list[float]:
    return [measure_rate(work, seconds)]
