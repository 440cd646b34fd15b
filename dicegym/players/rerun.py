"""A game of a person that is gone on with: what was played before is played again, and all of it is told.

What a person's game at a terminal (`dicegym.players.sitting`) and one on a page share: how a move is taken back, and
how a game that was kept is taken up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.games.keyboard import Place
from dicegym.play.drive import Referee
from dicegym.play.player import Player, sit_down, whole
from dicegym.play.turn import Act, Turn, follows
from dicegym.players.human import keyboard_of


class Rerun(Referee):
    """A game whose first actions are known, and which goes on from there.

    The players sit down anew. Those that may remember are asked again what they were asked before, so that what they
    remember is what they remembered then; the known actions are played whatever they answer. The dice fall as they
    fell: they are the game's, whoever rolls them.

    Args:
        game: the game.
        seed: of the game.
        players: by seat; in the person's seat whatever asks it.
        place: where the person sits.
        again: the known actions, of all seats in their order.

    Attributes:
        place: as given.
        again: as given.
        keyboard: in whose words the game is told.

    Raises:
        AgentError: a player cannot sit down, and the rules do not say what that costs.
    """

    def __init__(
        self, game: Game, seed: int, players: Sequence[Player], place: Place, again: Sequence[int] = ()
    ) -> None:
        self.place = place
        self.again = tuple(again)
        self.keyboard = keyboard_of(game)
        self._failures: list[str] = []
        self._fault = ""
        super().__init__(game, game.new_game(seed), players)

    @property
    def replayed(self) -> int | None:
        """The action that was played here before, if this is played again."""
        return self.again[len(self.actions)] if len(self.actions) < len(self.again) else None

    def sit(self, seat: int, seed: int) -> Act:
        """Let everybody sit down, so that what is played again is known to be."""
        act = sit_down(self.players[seat], self.game, seat, seed)
        return (_Following if follows(act) else _Again)(self, act, self.players[seat])

    def failed(self, seat: int, error: AgentError) -> int:
        """Return what the rules take a failure for, and keep it to be told; else raise ``error``."""
        action = self.game.spec.forfeit if self.replayed is None else self.replayed
        if action is None:
            raise error
        self._failures.append(f"{self.place.names[seat]} fails: {error.reason}")
        return action

    def erred(self, seat: int, reason: str) -> None:
        """Keep what was wrong with the action, to be told with it."""
        self._fault = reason

    def told(self, before: Any, brief: bool = False) -> list[str]:
        """Return what there is to tell of the last action; ``before`` is a copy of the record before it."""
        lines = [
            *self._failures,
            *self.keyboard.told(self.place, before, self.actions[-1], self.state, self._fault, brief),
        ]
        self._failures.clear()
        self._fault = ""
        return lines


class _Again:
    """A player who is asked again what it was asked before if it may remember."""

    def __init__(self, run: Rerun, act: Act, player: Player) -> None:
        self._run = run
        self._act = act
        self._player = player

    def __call__(self, turn: Turn) -> int:
        replayed = self._run.replayed
        if replayed is None:
            return whole(self._act(turn), self._player)
        if not self._player.pure:
            self._act(turn)
        return replayed


class _Following(_Again):
    """One that follows the game."""

    def follow(self, turn: Turn) -> None:
        self._act.follow(turn)  # type: ignore[attr-defined]  # made of followers alone


def names_beside(rivals: Sequence[str], seat: int) -> list[str]:
    """Return what everybody is called, by seat, no two alike; the person in ``seat`` is "you"."""
    found = ["you"]
    for name in rivals:
        number = 1
        while (unique := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        found.append(unique)
    _, *others = found
    return [*others[:seat], "you", *others[seat:]]
