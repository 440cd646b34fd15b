"""Conformance checks for games and agents: `check_game` and `check_agent`.

They work with any game. They play a few random games, look at every state, and raise
`dicegym.errors.ConformanceError` at the first broken promise, with what was seen and what to do. A new game or agent is
correct when they return.
"""

from __future__ import annotations

from dicegym.checks.agent_checks import check_agent
from dicegym.checks.common import check_running, erring_states_of, states_of
from dicegym.checks.facts import check_facts, check_identity, forms
from dicegym.checks.game_checks import check_actions, check_batch, check_branching, check_ending
from dicegym.checks.state_checks import (
    check_action_names,
    check_beginning,
    check_margin,
    check_reading,
    check_secrets,
    check_words,
)
from dicegym.engine.game import Game

__all__ = ["check_agent", "check_game", "forms"]


def check_game(game: Game, games: int = 5, longest: int = 20_000, seed: int = 0) -> None:
    """Check every promise of a game over all states of ``games`` random games.

    Args:
        game: the game with its parameters; `forms` lists those worth checking.
        games: number of games that are checked state by state, for their first 200 decisions.
        longest: decisions after which a game counts as endless.
        seed: seed of the games.

    Raises:
        ConformanceError: a promise is broken; the message says what was seen and what to do.
    """
    check_facts(game)
    check_action_names(game)
    for episode in range(games):
        check_beginning(game, game.new_game(seed, episode)[0], seed, episode)
    others = [state.copy() for state in erring_states_of(game, 50, seed + games)]
    for time, state in enumerate(states_of(game, games, 200, seed)):
        check_running(game, state)
        check_reading(game, state)
        check_margin(game, state)
        check_words(game, state)
        check_secrets(game, state, others[time % len(others)])
        check_actions(game, state)
        check_branching(game, state, time)
    check_ending(game, seed, longest)
    check_batch(game, seed)
    check_identity(game)
