"""Simulations a second of `dicegym.analysis.search`, and of OpenSpiel's searches in C++ on its nearest games.

Each search begins at the first decision of a game and plays each simulation to the end by random legal actions. All
run in turn in one process, on one thread.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from benchmarks.figures import Figure, Measure, Plan, Skipped
from benchmarks.peers import HOW
from dicegym.analysis import search
from dicegym.bench import Work, measure_rate
from dicegym.engine.game import Game

SIMULATIONS = 1_000
"""Of each search."""
UNIT = "simulations/s"
PEERS = {
    "pig": "OpenSpiel's MCTSBot",
    "liars_dice(numdice=5)": "OpenSpiel's MCTSBot, which sees hidden dice",
    "leduc_poker": "OpenSpiel's ISMCTSBot",
}
"""Games of OpenSpiel, and who searches there. Its ISMCTSBot does not play its Liar's Dice, which redraws no dice."""


def ours(game: Game) -> Work:
    """Return a loop of searches, each from the beginning of another game; it counts simulations."""
    numbers = count()

    def work() -> int:
        number = next(numbers)
        search(game, game.new_game(number)[0], SIMULATIONS, seed=number)
        return SIMULATIONS

    return work


def openspiel(name: str) -> Work:
    """Return the same loop of OpenSpiel."""
    pyspiel: Any = importlib.import_module("pyspiel")
    game = pyspiel.load_game(name)
    hides = "ISMCTS" in PEERS[name]
    numbers = count()

    def work() -> int:
        number = next(numbers)
        evaluator = pyspiel.RandomRolloutEvaluator(1, number)
        bot = (
            pyspiel.ISMCTSBot(number, evaluator, 1.0, SIMULATIONS)
            if hides
            else pyspiel.MCTSBot(game, evaluator, 1.0, SIMULATIONS, 1_000, False, number, False)
        )
        state = game.new_initial_state()
        while state.is_chance_node():
            outcomes = state.chance_outcomes()
            state.apply_action(outcomes[number % len(outcomes)][0])
        bot.step(state)
        return SIMULATIONS

    return work


def plan(games: list[Game], seconds: float) -> Plan:
    """Return the measures of all games, and of the peers that are installed."""
    found: Plan = [_measure(repr(game), "dicegym.analysis.search", ours(game), seconds, False) for game in games]
    for name, what in PEERS.items():
        try:
            found.append(_measure(name, what, openspiel(name), seconds, True))
        except ImportError as error:
            found.append(Skipped(f"{name}, {what}", f"{error.name or error} is not installed: {HOW}"))
    return found


def _measure(subject: str, what: str, work: Callable[[], int], seconds: float, peer: bool) -> Measure:
    figure = Figure("search", subject, f"{what}, {SIMULATIONS:,} a decision", UNIT, mode="search", peer=peer)
    return Measure((figure,), partial(_rate, work, seconds), work)


def _rate(work: Work, seconds: float) -> list[float]:
    return [measure_rate(work, seconds)]
