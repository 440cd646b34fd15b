"""Trying out a bot: some games against players that move at random, in which nothing may go wrong.

The test that games use whose original contest had none; an ``adapter.py`` may offer a better one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dicegym.engine.dice import private_seed
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.play.audience import Audience
from dicegym.play.player import Player, RandomPlayer, whole
from dicegym.play.turn import Turn

GAMES = 20
"""Games of a trial; seats are taken in turn."""


def examine(game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
    """Play `GAMES` games; return what the player got in each: float64[GAMES].

    ``asked(i)`` is called before game i. Raises AgentError at the first failure or illegal action of ``player``.
    """
    results = np.zeros(GAMES)
    for number in range(GAMES):
        asked(number)
        results[number] = _play(game, player, number)
    return results


def question(game: Game, i: int) -> str:
    """Name question ``i`` of `examine` in words."""
    return f"game {i + 1} of {GAMES} against random players"


def _play(game: Game, player: Player, number: int) -> float:
    """Play one game; return what ``player`` got."""
    state = game.new_game(0, number)[0]
    own, turn = number % game.players, 0
    acts = {
        seat: (player if seat == own else RandomPlayer()).join(game, seat, private_seed(int(state["key"]), seat))
        for seat in range(game.players)
    }
    turns = {seat: Turn(game, state, seat) for seat in acts}
    audience = Audience(game, state, {own: acts[own]})
    while not state["over"]:
        seat = int(state["player"])
        turn += seat == own
        try:
            action = whole(acts[seat](turns[seat]), player)
        except AgentError as error:
            raise AgentError(player.name, f"{error.reason}, in turn {turn} of {question(game, number)}") from error
        fault = game.step(state, action)
        if fault and seat == own:
            raise AgentError(player.name, f"{game.spec.faults[fault]}, in turn {turn} of {question(game, number)}")
        audience.tell()
    return float(game.returns(state)[own])
