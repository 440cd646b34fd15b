"""The players at a table: agents of every kind, which many tables share, and the person."""

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
"""The search that plays every game, with as many simulations a move as a visitor waits for."""
MOST_LOADED = 64
"""Players that are kept ready."""


class Rival(NamedTuple):
    """An opponent that a person may choose."""

    name: str
    """Its value in a form."""
    agent: str
    """The same, as `dicegym.agent` takes it."""
    about: str
    is_strength: bool = False


@functools.lru_cache(64)
def list_rivals(game: Game) -> tuple[Rival, ...]:
    """Return whom a person may choose: opponents by strength first, then all agents that come with the game.

    They play in this process: of a game that ships, a program that does not is not offered, wherever it lies.
    """
    by_strength = strengths(game)
    found = [Rival(name, agent, describe_agent(game, agent), True) for name, agent in by_strength.items()]
    names = [*(name for name in agent_names(game) if _may_sit(game, name)), SEARCH]
    return (*found, *(Rival(name, name, describe_agent(game, name)) for name in names))


def _may_sit(game: Game, name: str) -> bool:
    origin = resolve(game, name)
    return not isinstance(origin, Source) or not is_shipped(game.name) or Entry(name, origin).trusted


def rival_of(game: Game, name: str) -> str:
    """Return the agent that is meant by a name from a form; no path leads from there to files of this machine.

    Raises UnknownNameError.
    """
    found = {one.name: one.agent for one in list_rivals(game)}
    if name in found:
        return found[name]
    base, mark, rest = name.partition("(")
    if mark and base in found and rest.endswith(")") and not strengths(game).get(base):
        return name  # an agent with arguments: whole numbers, or it is refused when it is loaded
    raise unknown_name(f"opponent in {game.spec.title}", name, list(found))


class Guests:
    """Players that are loaded once and serve many tables, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._load = functools.lru_cache(MOST_LOADED)(lambda game, agent, _: _Guest(dicegym.agent(game, agent)))

    def player(self, game: Game, agent: str) -> Player:
        """Return a player; loading it may take seconds. Raises what `dicegym.agent` does.

        A model's file is loaded again when it has changed: a training replaces its own.
        """
        with self._lock:  # each is loaded once
            return self._load(game, agent, _state_of(agent))


def _state_of(agent: str) -> tuple[int, ...]:
    """Return what tells the states of a model's file apart; of other agents and missing files, nothing."""
    try:
        about = os.stat(agent) if agent.endswith(MODEL_SUFFIX) else None
    except OSError:
        about = None
    return () if about is None else (about.st_mtime_ns, about.st_size, about.st_ino)


_SITTING_DOWN = threading.Lock()
"""Programs of bots are executed one at a time: what they import is everybody's."""


class _Guest(Player):
    """A player that answers one table at a time."""

    def __init__(self, player: Player) -> None:
        self.name, self.pure, self._player = player.name, player.pure, player
        self._lock = threading.Lock()

    def join(self, game: Game, seat: int, seed: int) -> Act:
        with _SITTING_DOWN, self._lock:
            act = self._player.join(game, seat, seed)
        return (_FollowingGuest if follows(act) else _SeatedGuest)(act, self._lock)


class _SeatedGuest:
    def __init__(self, act: Act, lock: threading.Lock) -> None:
        self._act, self._lock = act, lock

    def __call__(self, turn: Turn) -> int:
        with self._lock:
            return self._act(turn)


class _FollowingGuest(_SeatedGuest):
    def follow(self, turn: Turn) -> None:
        with self._lock:
            self._act.follow(turn)  # type: ignore[attr-defined]  # made of followers alone


class PersonOnPage(Player):
    """The person, who has decided on its page before it is asked; ``decided`` returns its action."""

    name = "you"
    pure = True  # it is not asked again what it has decided

    def __init__(self, decided: Callable[[], int]) -> None:
        self._decided = decided

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down."""
        return lambda turn: self._decided()


def make_table(game: str, players: int | None, given: dict[str, Any]) -> Game:
    """Return the game that a form asks for. Raises ParameterError and UnknownNameError as `dicegym.game` does."""
    try:
        return dicegym.game(game, **({} if players is None else {"players": players}), **given)
    except DicegymError:
        raise
    except TypeError as error:  # a parameter that is called like an argument of ours
        raise ParameterError(f"{game} cannot be played so: {error}") from None
