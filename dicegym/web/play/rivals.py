"""The players at a table: agents, which many tables share, and the person."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import dicegym
from dicegym.bots.source import Source
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, ParameterError, unknown_name
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn, follows
from dicegym.players.agent_info import describe_agent
from dicegym.players.roster import agent_names, resolve
from dicegym.players.sitting import strengths
from dicegym.registry import is_shipped
from dicegym.sandbox.jobs import Entry
from dicegym.web.learn.run_folders import MODEL_SUFFIX

SEARCH = "mcts(1000)"
"""The search that plays every game, fast enough for a visitor who waits."""
CACHED_PLAYERS = 64


class Rival(NamedTuple):
    """An opponent that a person can choose."""

    name: str
    """Its value in a form."""
    agent: str
    """The name for `dicegym.agent`."""
    about: str
    is_strength: bool = False


@functools.lru_cache(64)
def list_rivals(game: Game) -> tuple[Rival, ...]:
    """Return the opponents that a person can choose: by strength first, then all agents of the game.

    They play in this process, so for a shipped game only shipped programs are listed.
    """
    by_strength = strengths(game)
    found = [Rival(name, agent, describe_agent(game, agent), True) for name, agent in by_strength.items()]
    names = [*(name for name in agent_names(game) if _is_safe(game, name)), SEARCH]
    return (*found, *(Rival(name, name, describe_agent(game, name)) for name in names))


def _is_safe(game: Game, name: str) -> bool:
    origin = resolve(game, name)
    return not isinstance(origin, Source) or not is_shipped(game.name) or Entry(name, origin).trusted


def rival_of(game: Game, name: str) -> str:
    """Return the agent for a name in a form. Paths to files are not accepted. Raises UnknownNameError."""
    found = {one.name: one.agent for one in list_rivals(game)}
    if name in found:
        return found[name]
    base, mark, rest = name.partition("(")
    if mark and base in found and rest.endswith(")") and not strengths(game).get(base):
        return name  # with arguments, which loading it checks
    raise unknown_name(f"opponent in {game.spec.title}", name, list(found))


class SharedPlayers:
    """Players that are loaded once and shared by many tables, one call at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._load = functools.lru_cache(CACHED_PLAYERS)(
            lambda game, agent, _: _SharedPlayer(dicegym.agent(game, agent))
        )

    def player(self, game: Game, agent: str) -> Player:
        """Return a player; loading it may take seconds. Raises what `dicegym.agent` does.

        A model's file is loaded again after it has changed: a training replaces its own.
        """
        with self._lock:  # each is loaded once
            return self._load(game, agent, _file_state(agent))


def _file_state(agent: str) -> tuple[int, ...]:
    """Return time, size and inode of a model's file; nothing for other agents and missing files."""
    try:
        about = os.stat(agent) if agent.endswith(MODEL_SUFFIX) else None
    except OSError:
        about = None
    return () if about is None else (about.st_mtime_ns, about.st_size, about.st_ino)


_JOINING = threading.Lock()
"""Programs of bots are executed one at a time, because they share imported modules."""


class _SharedPlayer(Player):
    """A player that handles one call at a time."""

    def __init__(self, player: Player) -> None:
        self.name, self.pure, self._player = player.name, player.pure, player
        self._lock = threading.Lock()

    def join(self, game: Game, seat: int, seed: int) -> Act:
        with _JOINING, self._lock:
            act = self._player.join(game, seat, seed)
        return (_FollowingSeat if follows(act) else _SharedSeat)(act, self._lock)


class _SharedSeat:
    def __init__(self, act: Act, lock: threading.Lock) -> None:
        self._act, self._lock = act, lock

    def __call__(self, turn: Turn) -> int:
        with self._lock:
            return self._act(turn)


class _FollowingSeat(_SharedSeat):
    def follow(self, turn: Turn) -> None:
        with self._lock:
            self._act.follow(turn)  # type: ignore[attr-defined]  # only followers become one


class PersonOnPage(Player):
    """The person, who decides on the page before the referee asks; ``decided`` returns the next action."""

    name = "you"
    pure = True  # a replay does not ask it again

    def __init__(self, decided: Callable[[], int]) -> None:
        self._decided = decided

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Return what plays the person's actions."""
        return lambda turn: self._decided()


def make_table(game: str, players: int | None, given: dict[str, Any]) -> Game:
    """Return the game of a form. Raises ParameterError and UnknownNameError as `dicegym.game` does."""
    try:
        return dicegym.game(game, **({} if players is None else {"players": players}), **given)
    except DicegymError:
        raise
    except TypeError as error:  # a parameter named like an argument of `dicegym.game`
        raise ParameterError(f"invalid parameters of {game}: {error}") from None
