"""A game from its beginning to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dicegym.engine.dice import private_seed
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.play.audience import Audience
from dicegym.play.player import Player, answer, sit_down
from dicegym.play.turn import Act, Turn, follows


def play_game(game: Game, players: Sequence[Player], seed: int = 0, episode: int = 0) -> Any:
    """Play one game to its end; return its record. ``players[s]`` sits in seat s.

    Raises AgentError if a player fails and the rules do not say what that costs, ParameterError if there are
    more or fewer players than seats.
    """
    state = game.new_game(seed, episode)[0]
    if len(players) != game.players:
        raise ParameterError(f"{len(players)} players cannot play {game!r}: give {game.players}")
    acts = join_table(game, dict(enumerate(players)), int(state["key"]))
    turns = [Turn(game, state, seat) for seat in acts]
    audience = Audience(game, state, acts)
    while not state["over"]:
        seat = int(state["player"])
        game.step(state, acts[seat](turns[seat]))
        audience.tell()
    return state


def join_table(game: Game, players: Mapping[int, Player], key: int) -> dict[int, Act]:
    """Seat ``players`` (seat -> player) in the game with this key; return who to ask in each seat.

    What is returned answers with an int. When a player fails, that is the action that the game's rules take it
    for (``forfeit``), with a warning; AgentError is raised if they know none.
    """
    found: dict[int, Act] = {}
    for seat, player in players.items():
        act = sit_down(player, game, seat, private_seed(key, seat))
        found[seat] = (_FollowingSeat if follows(act) else _Seat)(act, player)
    return found


class _Seat:
    """A seated player whose answers are whole numbers."""

    __slots__ = ("_act", "_player")

    def __init__(self, act: Act, player: Player) -> None:
        self._act = act
        self._player = player

    def __call__(self, turn: Turn) -> int:
        return answer(self._act, turn, self._player)


class _FollowingSeat(_Seat):
    """One that follows the game."""

    __slots__ = ()

    def follow(self, turn: Turn) -> None:
        self._act.follow(turn)  # type: ignore[attr-defined]  # made of followers alone
