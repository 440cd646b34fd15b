"""The parts of a game: the modules beside its ``rules.py``, at most nine files, each with one part.

A part is a Protocol, a file and a purpose. `part` returns a part with its type, or None; `need` raises an error that
says what to write. Both look beside the game's rules, so games of other packages have parts in the same way. Tests
compare ``docs/add_a_game.md`` and the games with `PARTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, TypeVar

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.part import Part, optional, sibling
from dicegym.engine.scene import TEXT, Text
from dicegym.engine.spec import GameSpec
from dicegym.engine.twin_kernels import TWINS, Twins
from dicegym.errors import PartError, unknown_name
from dicegym.games.controls import Controls
from dicegym.games.solved import Claim, Solution
from dicegym.games.worth import Z_95, Duel, Estimate, Meter, Progress, ValueSource
from dicegym.pictures.drawing import PICTURE, Picture
from dicegym.play.player import Player, draws_openly
from dicegym.play.turn import Act
from dicegym.registry import GAMES, rules_module

# Of other modules:
__all__ = ["PICTURE", "TEXT", "TWINS", "Controls", "Duel", "Picture", "Text", "Twins"]
__all__ += ["Z_95", "Estimate", "Progress"]

P = TypeVar("P")


class Interface(Protocol):
    """A game's ``interface.py``: the bot's half of the game's original interface.

    It runs in a bot's process, which is small and starts at once: import only the standard library, ``dicegym.bots``,
    and modules of the folder with the same limits. An interface of classes may name the playing method in ``METHOD``; a
    function in memory then stands for a class with this method. ``ARGUMENTS`` may name the arguments of the function or
    method; functions in memory that do not take them are refused.
    """

    ENTRY_FILES: tuple[str, ...]
    """File names of bots in the original interface; a folder with one of them is a bot."""

    def supply_modules(self, rng: Any) -> Mapping[str, ModuleType]:
        """Return the modules that bots may import; ``rng`` is the bot's `dicegym.bots.surroundings.PrivateRandom`."""

    def recognises(self, text: str) -> bool:
        """Return whether a file with this text looks like a bot of this game."""

    def find(self, program: Any) -> Callable[..., Any]:
        """Return the bot in a `dicegym.bots.program.Program`, a function or a class. Raises AgentError."""

    def seat_bot(self, program: Any, bot: Callable[..., Any], seat: int) -> Callable[..., Any]:
        """Return the function that plays one game, given the result of `find`. Raises AgentError."""


class Adapter(Protocol):
    """A game's ``adapter.py``: turns bots of the original interface into players and back, and tests them.

    It is the referee's half of the original interface; `Interface` is the bot's half. Without an adapter, only models
    and `Player` objects can play.

    A game whose original contest tested bots defines ``examine`` (see `find_examination`). In other games the test is
    `dicegym.bots.smoke_games`: whole games, in which ``set_table`` may seat opponents that lead a bot into all stages
    of the game.
    """

    INTERFACE: str = ""
    """A bot's file name, and every call and message with an example: plain text, 120 characters wide."""
    UNIT: str = "questions"
    """The unit of the test, in the plural."""

    def sit(self, program: Any, ask: Callable[..., Any], game: Game, seat: int) -> Act:
        """Return the function that asks a bot for its actions in one game.

        ``ask`` takes the arguments of the original interface and returns the bot's answer. Pass what it raises to
        ``program.failure`` (`dicegym.bots.program.Asked`), which makes an AgentError of it. Use nothing else of the
        bot: it may run in another process, and its answers are then plain values.
        """

    @optional
    def starter(self, form: str, file: str) -> str:
        """Return the source of a bot that passes the test of its contest, with comments.

        ``form`` is one of the ``ENTRY_FILES``; ``file`` is the path that commands in its comments name.
        """
        raise PartError("there is no bot to begin with: write adapter.py with starter beside the game's rules")

    @optional
    def export(self, player: Player, game: Game, form: str) -> str:
        """Return the source of a bot that plays like ``player``; `dicegym.bots.export` does most of the work.

        ``form`` is one of the ``ENTRY_FILES``. Raises ParameterError if the player cannot be written as a bot,
        AgentError and ModelError if it cannot play.
        """
        raise PartError(f"{game.spec.title} writes no bots: write adapter.py with export beside its rules")

    @optional
    def examine(self, game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
        """Ask ``player`` all questions and return its answers; call ``asked(i)`` before each decision of question i.

        In a game with exact values the answers are the table that its `Duel` reads. Raises AgentError.
        """
        raise PartError(f"{game.spec.title} has no test of its own: write adapter.py with examine beside its rules")

    @optional
    def question(self, game: Game, i: int) -> str:
        """Return question ``i`` as text."""
        return f"question {i + 1}"

    @optional
    def actions(self, game: Game, answers: np.ndarray) -> np.ndarray | None:
        """Return the chosen action of each situation, int64[situations]; None if the answers do not cover them.

        A bot that calls itself pure is then not asked for the situations again.
        """
        return None

    @optional
    def set_table(self, game: Game, number: int, seat: int) -> tuple[np.ndarray, Player] | None:
        """Return (record, player of all other seats) for smoke game ``number``, in which the bot has ``seat``.

        The player may read all of ``turn.record``. The record is a new game, changed only to make the
        game longer. None: an ordinary new game, against opponents that choose at random.
        """
        return None


class Chance(Protocol):
    """A game's ``chance.py``: the outcomes of its dice, with probabilities.

    `dicegym.openspiel` uses it to list chance outcomes (without it, chance is sampled there), and `dicegym.analysis` to
    find what a seat may believe about dice that it does not see.
    """

    def undo(self, before: Any | None, after: Any) -> list[int]:
        """Take back in ``after`` what chance decided in the step from ``before``, or at the start of a game (None).

        Returns the numbers of the draws to settle instead, in order. `outcomes` and `settle` are called for each, with
        the record as the earlier draws left it.
        """

    def outcomes(self, state: Any, draw: int) -> list[tuple[float, str]]:
        """Return (probability, description) of each outcome of a draw."""

    def settle(self, state: Any, draw: int, outcome: int) -> None:
        """Write the outcome of a draw into the record, by its number."""

    def unseen(self, state: Any, seat: int) -> list[int]:
        """Return the settled draws that still matter and that only one other seat has seen; none after the end."""

    def decisions(self, state: Any, draw: int) -> list[tuple[Any, int]]:
        """Return (record before, ordinary action) of each later decision of the seat that saw a draw of `unseen`."""


class Values(Protocol):
    """A game's ``values.py``: values of states, luck, solvers, and published values."""

    SOLVED: Mapping[str, int] | None = None
    """Parameters, ``players`` included, with which best play alone has an exact mean return; None: never. Exact win
    rates of two players are a `Duel`."""

    SETTINGS: Sequence[Mapping[str, int]] = ()
    """Parameters, ``players`` included, with which something can be solved; for lists and errors."""

    @optional
    def sources(self, game: Game) -> Sequence[ValueSource]:
        """Return the sources of state values of ``game``, the best first."""
        return ()

    @optional
    def meter(self, game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
        """Return a meter of luck for games played side by side, or None without one.

        Args:
            game: the game.
            players: all players of these games; None for one that cannot be asked, such as a stranger's bot in another
                process.
            seats: int64[games, players of the game], the index into ``players`` for each seat.
        """
        return None

    @optional
    def reply_values(self, opponent: Any, game: Game, trials: int = 0) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return a function for the action values of the best known response to ``opponent``.

        The response knows what players see; more ``trials`` search longer for it. The function takes records of
        unfinished games and returns the probability that the player to move wins by each action: float64[n, n_actions].
        Raises AgentError and ParameterError as `Duel` does.
        """
        return None

    @optional
    def solution(self, game: Game) -> Solution | None:
        """Return what can be solved and stored for ``game`` with its parameters, or None."""
        return None

    @optional
    def claims(self) -> Sequence[Claim]:
        """Return the published values for `dicegym values verify`, without computing anything."""
        return ()


MOST_QUESTIONS = 1_000_000
"""Evaluations tabulate a player that may draw with at most this many questions; beyond that they play games."""

CONTROLS: Part[Controls] = Part(
    Controls, "controls", "that reads what a person types or presses and tells what happens"
)
INTERFACE: Part[Interface] = Part(Interface, "interface", "that says how bots are written", "finished", "bots")
ADAPTER: Part[Adapter] = Part(Adapter, "adapter", "that plays and writes bots", "finished", "bots")
DUEL: Part[Duel] = Part(Duel, "exact", "that knows exact win rates", "none", "bots")
VALUES: Part[Values] = Part(Values, "values", "that says what its states are worth", "none", "players")
CHANCE: Part[Chance] = Part(Chance, "chance", "that lists what its dice may decide")

PARTS: tuple[Part[Any], ...] = (TEXT, PICTURE, CONTROLS, INTERFACE, ADAPTER, TWINS, DUEL, VALUES, CHANCE)
"""All parts, those that every game needs first."""


def part(game: Game | GameSpec | str, kind: Part[P]) -> P | None:
    """Return a part (one of `PARTS`) of a game, loaded on first use, or None if the game has none.

    Raises UnknownNameError for an unknown name.
    """
    return kind.beside(_rules_of(game)[0])


def need(game: Game | GameSpec | str, kind: Part[P]) -> P:
    """Return a part of a game, as `part` does. Raises PartError, which says what to write, if the game has none."""
    return kind.demand(*_rules_of(game))


def _rules_of(game: Game | GameSpec | str) -> tuple[str, str]:
    """Return (module of the rules, title) of a game."""
    if isinstance(game, str):
        if game not in GAMES:
            raise unknown_name("game", game, list(GAMES))
        return rules_module(game), game
    spec = game.spec if isinstance(game, Game) else game
    return spec.module, spec.title


def defines(game: Game | GameSpec | str, kind: Part[Any], name: str) -> bool:
    """Return whether a game's own module for a part defines ``name``."""
    module = sibling(_rules_of(game)[0], kind.file)
    return module is not None and hasattr(module, name)


def find_examination(game: Game) -> Adapter | None:
    """Return the adapter of a game whose original contest tested bots; None if its bots play smoke games."""
    return part(game, ADAPTER) if defines(game, ADAPTER, "examine") else None


def solver(game: Game) -> Duel | None:
    """Return the exact values of a game for two, or None if it is not solved with these parameters."""
    found = part(game, DUEL)
    return found if found is not None and found.solves(game) else None


def solver_of(game: Game, *players: object) -> Duel | None:
    """Return the exact values of a game for these players, or None; many have none for players that draw."""
    values = solver(game)
    draws = any(draws_openly(player) for player in players)
    return None if draws and not getattr(values, "MIXED", False) else values


def quick_solver_of(game: Game, *players: object) -> Duel | None:
    """Return `solver_of`, or None if a player is costly or takes too long to tabulate."""
    values = solver_of(game, *players)
    if values is None or any(isinstance(player, Player) and player.costly for player in players):
        return None
    return values if all(map(_is_known, players)) or values.questions(game) <= MOST_QUESTIONS else None


def _is_known(player: object) -> bool:
    """Return whether one answer to each question reveals a player's strategy: it is pure or draws openly."""
    return not isinstance(player, Player) or player.pure or draws_openly(player)


class _Reseeded(Player):
    """A player with other random numbers."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.name = player.name

    def join(self, game: Game, seat: int, seed: int) -> Act:
        return self._player.join(game, seat, seed + 1)


def tabulate_player(tabulate: Callable[[Player, Game], np.ndarray], player: Any, game: Game) -> tuple[Any, bool]:
    """Return (strategy of a player for exact values, whether that is only a sample of its answers).

    A player that may draw is tabulated twice, with different random numbers. If the tables differ, exact values hold
    for the first table only. Raises what ``tabulate`` (of a `Duel`) raises.
    """
    if _is_known(player):
        return player, False
    table = tabulate(player, game)
    return table, not np.array_equal(table, tabulate(_Reseeded(player), game))


def list_solved_settings(game: Game | str) -> Mapping[str, int] | None:
    """Return the parameters, ``players`` included, with which a game has exact values; None if it never has any."""
    found = part(game, DUEL) or part(game, VALUES)
    solved = None if found is None else found.SOLVED
    if solved is None or isinstance(game, str):
        return solved
    return {**solved, **{name: game.spec.parameters[name].default for name in game.added_parameters}}


def plays_with(game: Game, settings: Mapping[str, int]) -> bool:
    """Return whether a game has these parameters; one of them may be ``players``."""
    own = {"players": game.players, **game.all_parameters}
    return all(own[name] == value for name, value in settings.items())
