"""Who is told of what happens between its own turns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.play.turn import Act, Follower, Turn, follows


class Audience:
    """The followers of one game, which are told whenever its public event has passed; most games have none.

    Args:
        game: the game.
        state: its record, which changes while it is played.
        acts: who sits in each seat.
        order: see `Turn`.
    """

    def __init__(self, game: Game, state: Any, acts: Mapping[int, Act], order: Sequence[int] | None = None) -> None:
        self._public_event = game.spec.public_event
        self._state = state
        self._followers = [
            (act, Turn(game, state, seat, order)) for seat, act in acts.items() if self._public_event and follows(act)
        ]
        self._seen = self._now() if self._followers else 0

    def __bool__(self) -> bool:
        """Return whether there is anybody to tell."""
        return bool(self._followers)

    def _now(self) -> int:
        return int(self._state[self._public_event])

    def due(self) -> list[tuple[Follower, Turn]]:
        """Return who is to be told now, and of what: nobody unless the public event has changed since the last call."""
        if not self._followers or (now := self._now()) == self._seen:
            return []
        self._seen = now
        return self._followers

    def tell(self) -> None:
        """Tell everybody who is due. That one of them fails to take note is nobody's loss but its own."""
        for follower, turn in self.due():
            with contextlib.suppress(AgentError):
                follower.follow(turn)
