"""Games to watch: their moments in order, each with the moves before it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.engine.scene import Scene
from dicegym.engine.validate import check_seat
from dicegym.errors import AgentError, ParameterError
from dicegym.escape import one_line
from dicegym.pictures.drawing import Drawing, draw
from dicegym.pictures.naming import name_players
from dicegym.play.drive import Referee
from dicegym.play.player import Player


class WatchedMove(NamedTuple):
    """A game after some moves."""

    done: tuple[str, ...]
    """The moves, one line for each player; empty at the beginning."""
    scene: Scene
    """The table, with the players' names."""
    over: bool
    """Whether the game is over."""
    picture: Callable[[], Drawing]
    """Draws it."""


def seating(game: Game, player: Player, others: Sequence[Player], seat: int) -> list[Player]:
    """Return the players by seat: ``player`` in ``seat``, the others in turn in the seats after it.

    Raises:
        ParameterError: there is no such seat, or a number of others that does not fit.
    """
    seat = check_seat(game, seat)
    if len(others) >= game.players or (not others and game.players > 1):
        raise ParameterError(f"{len(others)} opponents do not fit {game!r}: give 1 to {game.players - 1}")
    seated = {(seat + place) % game.players: others[(place - 1) % len(others)] for place in range(1, game.players)}
    return [player if place == seat else seated[place] for place in range(game.players)]


def moments(game: Game, players: Sequence[Player], seed: int = 0) -> Iterator[WatchedMove]:
    """Play a game; yield its beginning, and each moment after a move.

    Where all choose at once (``game.spec.joint_action``), a moment comes after all choices; elsewhere after each one.

    Args:
        game: the game.
        players: ``players[s]`` sits in seat s.
        seed: of the dice and the players.

    Raises:
        AgentError: a player fails and the rules have no ``forfeit``.
        ParameterError: the number of players is not that of the seats.
    """
    referee = _Watched(game, game.new_game(seed), players)
    names = names_of(players)
    yield watch_move(game, referee.state, (), names)
    done: dict[int, list[str]] = {}
    for seat in referee.moves():
        done.setdefault(seat, []).append(referee.say_last())
        if is_moment(game, seat, referee.state):
            lines = tuple(f"{names[one]}: {', '.join(said)}" for one, said in done.items())
            yield watch_move(game, referee.state, lines, names)
            done = {}


def watch_move(
    game: Game, state: Any, done: tuple[str, ...], names: Sequence[str], seat: int | None = None
) -> WatchedMove:
    """Return a moment as ``seat`` may see it (None: everything); the record is copied."""
    drawn = functools.partial(draw, game, state.copy(), seat, names)
    return WatchedMove(done, name_players(game.scene(state, seat), names), bool(state["over"]), drawn)


def action_in(game: Game, state: Any, action: int) -> str:
    """Return an action of a state in words, for viewers of the whole record.

    A game may define ``action_in(state, action)`` in its ``text.py``; otherwise it is the action's name.
    """
    own: Callable[[Any, int], str] | None = getattr(game.text, "action_in", None)
    return game.action_name(action) if own is None else own(state, action)


def is_moment(game: Game, seat: int, state: Any) -> bool:
    """Return whether a decision of ``seat`` completes a moment."""
    return bool(state["over"]) or game.spec.joint_action is None or int(state["player"]) < seat


def names_of(players: Sequence[Player]) -> list[str]:
    """Return unique names of the players, by seat: ``even``, ``even 2``."""
    return tell_apart([player.name for player in players])


def tell_apart(names: Sequence[str]) -> list[str]:
    """Return unique names of one line each; repeated ones are numbered: ``even``, ``even 2``."""
    found: list[str] = []
    for name in map(one_line, names):
        numbered = (f"{name} {number}" for number in itertools.count(2))
        found.append(next(called for called in itertools.chain([name], numbered) if called not in found))
    return found


class _Watched(Referee):
    """Notes the fault of an action."""

    reason = ""

    def handle_failure(self, seat: int, error: AgentError) -> int:
        """Return the rules' action for a failure; raise ``error`` if they have none."""
        if self.game.spec.forfeit is None:
            raise error
        return self.game.spec.forfeit

    def note_fault(self, seat: int, reason: str) -> None:
        """Note the fault."""
        self.reason = reason

    def say_last(self) -> str:
        """Return the last move in words."""
        reason, self.reason = self.reason, ""
        return self.game.action_name(self.actions[-1]) + (f" ({reason})" if reason else "")
