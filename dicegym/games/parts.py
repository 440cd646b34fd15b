"""What a game's folder may hold beside its rules: at most ten files, each with one part.

A part is a Protocol, a file and a purpose. `part` asks for a part and gets it with its type, or None; `need` raises an
error that says what to write. Both find the file beside the game's rules, wherever these are, so a game outside the
package has its parts the same way. The page ``docs/add_a_game.md`` and the tests are compared with `PARTS`.
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
from dicegym.games.messages import Wire
from dicegym.games.solved import Claim, Solution
from dicegym.games.worth import Z_95, Duel, Estimate, Meter, Progress, ValueSource
from dicegym.pictures.drawing import PICTURE, Picture
from dicegym.play.player import Player, draws_openly
from dicegym.play.turn import Act
from dicegym.registry import GAMES, rules_module

# Of other modules:
__all__ = ["PICTURE", "TEXT", "TWINS", "Controls", "Duel", "Picture", "Text", "Twins", "Wire"]
__all__ += ["Z_95", "Estimate", "Progress"]

P = TypeVar("P")


class Interface(Protocol):
    """A game's ``interface.py``: the bot's own half of the game's original interface.

    It runs in the process of a bot, which is small and starts at once: import the standard library, ``dicegym.bots``
    and modules of the folder that do the same. An interface of classes may name the method that plays in ``METHOD``: a
    function in memory then stands for a class with this method. One may also say in ``ARGUMENTS`` what the function or
    method is called with: functions in memory that do not take these are refused.
    """

    ENTRY_FILES: tuple[str, ...]
    """What a bot's file is called by the original interface; a folder with one of them is a bot."""

    def supply_modules(self, rng: Any) -> Mapping[str, ModuleType]:
        """Return the modules that bots may import; ``rng`` is the bot's `dicegym.bots.surroundings.PrivateRandom`."""

    def recognises(self, text: str) -> bool:
        """Return whether a file with this text looks like a bot of this game."""

    def find(self, program: Any) -> Callable[..., Any]:
        """Return the bot in a `dicegym.bots.program.Program`, a function or a class. Raises AgentError."""

    def seat_bot(self, program: Any, bot: Callable[..., Any], seat: int) -> Callable[..., Any]:
        """Return what is asked in one game, of what `find` found. Raises AgentError."""


class Adapter(Protocol):
    """A game's ``adapter.py``: bots of the original interface as players, how they are tested, and players as bots.

    It is the referee's half of the original interface; the bot's own is `Interface`. Without one, models and `Player`
    objects play alone.

    A game whose original contest tested bots defines ``examine``; `find_examination` asks for that. Elsewhere bots play
    `dicegym.bots.smoke_games`, whole games by the rules, in which ``set_table`` may seat opponents that steer a bot
    into all stages of the game.
    """

    INTERFACE: str = ""
    """What a bot's file is called, and every call and message with an example: plain text, 120 characters wide."""
    UNIT: str = "questions"
    """What the test consists of, in the plural."""

    def sit(self, program: Any, ask: Callable[..., Any], game: Game, seat: int) -> Act:
        """Return what asks a bot for actions in one game.

        ``ask`` takes what the original interface calls a bot with and returns the bot's answer; what it raises is
        turned into an AgentError by ``program.failure``, a `dicegym.bots.program.Asked`. Nothing else of the bot is
        in reach: it may run in another process, and then what it answers is plain values.
        """

    @optional
    def starter(self, form: str, file: str) -> str:
        """Return the source of a bot that passes the test of its contest, with comments.

        ``form`` is one of the ``ENTRY_FILES``; ``file`` is what its author calls the file in commands.
        """
        raise PartError("there is no bot to begin with: write adapter.py with starter beside the game's rules")

    @optional
    def export(self, player: Player, game: Game, form: str) -> str:
        """Return the source of a bot that chooses as ``player`` does; `dicegym.bots.export` has most of what it needs.

        ``form`` is one of the ``ENTRY_FILES``. Raises ParameterError if the player cannot be written so, AgentError and
        ModelError if it cannot play.
        """
        raise PartError(f"{game.spec.title} writes no bots: write adapter.py with export beside its rules")

    @optional
    def examine(self, game: Game, player: Player, asked: Callable[[int], None]) -> np.ndarray:
        """Ask ``player`` all questions, calling ``asked(i)`` before number i; return its answers. Raises AgentError.

        In a game with exact values the answers are the table that its `Duel` reads.
        """
        raise PartError(f"{game.spec.title} has no test of its own: write adapter.py with examine beside its rules")

    @optional
    def question(self, game: Game, i: int) -> str:
        """Name question ``i`` in words."""
        return f"question {i + 1}"

    @optional
    def actions(self, game: Game, answers: np.ndarray) -> np.ndarray | None:
        """Return the action that was chosen in each situation: int64[situations]; None if the answers do not say.

        A bot that says that it is pure is then not asked for its situations again.
        """
        return None

    @optional
    def set_table(self, game: Game, number: int, seat: int) -> tuple[np.ndarray, Player] | None:
        """Return the record of smoke game ``number``, in which the bot has ``seat``, and the player of all other seats.

        That player may read ``turn.record``, with all that is hidden in it. The record is that of a new game, but for
        what makes the game longer. None: a new game, against opponents that choose at random.
        """
        return None


class Chance(Protocol):
    """A game's ``chance.py``: what its dice decide, as outcomes with probabilities.

    `dicegym.openspiel` asks it for all that may happen (without one, chance is drawn there), and `dicegym.analysis` for
    what a seat may believe of dice that it does not see.
    """

    def undo(self, before: Any | None, after: Any) -> list[int]:
        """Take back in ``after`` what chance decided in the step from ``before``, or at the beginning (None).

        Returns the numbers of the draws to settle instead, in turn: `outcomes` and `settle` are asked of each, with the
        record as the draws before it left it.
        """

    def outcomes(self, state: Any, draw: int) -> list[tuple[float, str]]:
        """Return the outcomes of a draw: the probability of each, and what it is in words."""

    def settle(self, state: Any, draw: int, outcome: int) -> None:
        """Write into the record that the draw had the outcome of this number."""

    def unseen(self, state: Any, seat: int) -> list[int]:
        """Return the settled draws that still count and that one other seat alone has seen; none after the end."""

    def decisions(self, state: Any, draw: int) -> list[tuple[Any, int]]:
        """Return what the seat that saw one of these draws has done since: (record before, ordinary action) in turn."""


class Values(Protocol):
    """A game's ``values.py``: what states and luck are worth, what can be solved, and what is published."""

    SOLVED: Mapping[str, int] | None = None
    """Parameters, players among them, with which best play alone has an exact mean return; None: with none. Win rates
    of two are asked of a `Duel`."""

    SETTINGS: Sequence[Mapping[str, int]] = ()
    """Parameters, players among them, with which something can be solved, for lists and errors."""

    @optional
    def sources(self, game: Game) -> Sequence[ValueSource]:
        """Return where values of the states of ``game`` come from, the best first."""
        return ()

    @optional
    def meter(self, game: Game, players: Sequence[Player | None], seats: np.ndarray) -> Meter | None:
        """Return what measures luck in games that are played side by side, or None if nothing does.

        Args:
            game: what is played.
            players: everybody who plays in some of the games; None for one that cannot be asked, such as a stranger's
                bot in another process.
            seats: int64[games, players of the game]: which of ``players`` sits in each seat.
        """
        return None

    @optional
    def reply_values(self, opponent: Any, game: Game, trials: int = 0) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return a function that says what choices are worth to a player that replies to an agent as well as is known.

        The reply knows what players see; more ``trials`` look for it longer. The function takes records of which none
        is over, and returns how likely the player to move wins against ``opponent`` by each action: float64[n,
        n_actions]. Raises AgentError and ParameterError as `Duel` does.
        """
        return None

    @optional
    def solutions(self, game: Game) -> Sequence[Solution]:
        """Return what can be solved of ``game`` with its parameters, and kept."""
        return ()

    @optional
    def claims(self) -> Sequence[Claim]:
        """Return the published values, for `dicegym values verify`; nothing is computed yet."""
        return ()


MOST_QUESTIONS = 1_000_000
"""Evaluations ask players that may draw for tables of at most this many questions; else they play games."""

CONTROLS: Part[Controls] = Part(
    Controls, "controls", "that reads what a person types or presses and tells what happens"
)
INTERFACE: Part[Interface] = Part(Interface, "interface", "that says how bots are written", "finished", "bots")
ADAPTER: Part[Adapter] = Part(Adapter, "adapter", "that plays and writes bots", "finished", "bots")
DUEL: Part[Duel] = Part(Duel, "exact", "that knows exact win rates", "none", "bots")
VALUES: Part[Values] = Part(Values, "values", "that says what its states are worth", "none", "players")
CHANCE: Part[Chance] = Part(Chance, "chance", "that lists what its dice may decide")
WIRE: Part[Wire] = Part(Wire, "protocol", "that servers and clients say to each other")

PARTS: tuple[Part[Any], ...] = (TEXT, PICTURE, CONTROLS, INTERFACE, ADAPTER, TWINS, DUEL, VALUES, CHANCE, WIRE)
"""All parts by their files, those that every game needs first."""


def part(game: Game | GameSpec | str, kind: Part[P]) -> P | None:
    """Return a part (one of `PARTS`) of a game, loaded when it is first asked for, or None if the game has none.

    Raises UnknownNameError for a name that no registered game has.
    """
    return kind.beside(_rules_of(game)[0])


def need(game: Game | GameSpec | str, kind: Part[P]) -> P:
    """Return a part of a game, as `part` does. Raises PartError, which says what to write, if the game has none."""
    return kind.demand(*_rules_of(game))


def _rules_of(game: Game | GameSpec | str) -> tuple[str, str]:
    """Return the module of a game's rules, and the game's name for people."""
    if isinstance(game, str):
        if game not in GAMES:
            raise unknown_name("game", game, list(GAMES))
        return rules_module(game), game
    spec = game.spec if isinstance(game, Game) else game
    return spec.module, spec.title


def defines(game: Game | GameSpec | str, kind: Part[Any], name: str) -> bool:
    """Return whether a game defines one of the names that a part may offer."""
    module = sibling(_rules_of(game)[0], kind.file)
    return module is not None and hasattr(module, name)


def find_examination(game: Game) -> Adapter | None:
    """Return the adapter of a game whose original contest tested bots, or None: then its bots play smoke games."""
    return part(game, ADAPTER) if defines(game, ADAPTER, "examine") else None


def solver(game: Game | str) -> Duel | None:
    """Return the exact values of a game for two, or None; of a name, whether or not all its parameters allow them."""
    if isinstance(game, str):
        return part(game, DUEL) if game in GAMES else None
    found = part(game, DUEL)
    return found if found is not None and found.solves(game) else None


def solver_of(game: Game, *players: object) -> Duel | None:
    """Return the exact values that a game has for these players; None if it has none, or none for players that draw."""
    values = solver(game)
    draws = any(draws_openly(player) for player in players)
    return None if draws and not getattr(values, "MIXED", False) else values


def quick_solver_of(game: Game, *players: object) -> Duel | None:
    """Return what `solver_of` does; None where a player is costly, or the table of one that may draw takes too long."""
    values = solver_of(game, *players)
    if values is None or any(isinstance(player, Player) and player.costly for player in players):
        return None
    return values if all(map(_is_known, players)) or values.questions(game) <= MOST_QUESTIONS else None


def _is_known(player: object) -> bool:
    """Return whether one answer to each question tells a player's strategy: it is pure or says how it draws."""
    return not isinstance(player, Player) or player.pure or draws_openly(player)


class _Reseeded(Player):
    """The same player, whose randomness is another."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.name = player.name

    def join(self, game: Game, seat: int, seed: int) -> Act:
        return self._player.join(game, seat, seed + 1)


def tabulate_player(tabulate: Callable[[Player, Game], np.ndarray], player: Any, game: Game) -> tuple[Any, bool]:
    """Return the strategy of a player for exact values, and whether that is one draw of its answers.

    A player that is not known to be pure is asked for its table twice, with other randomness the second time. Where the
    answers differ, what is computed of its table is exact of this table alone. Raises what ``tabulate`` (of a `Duel`)
    raises.
    """
    if _is_known(player):
        return player, False
    table = tabulate(player, game)
    return table, not np.array_equal(table, tabulate(_Reseeded(player), game))


def list_solved_settings(game: Game | str) -> Mapping[str, int] | None:
    """Return the parameters, players among them, with which a game has exact values; None if it never has any."""
    found = part(game, DUEL) or part(game, VALUES)
    solved = None if found is None else found.SOLVED
    if solved is None or isinstance(game, str):
        return solved
    return {**solved, **{name: game.spec.parameters[name].default for name in game.added_parameters}}


def plays_with(game: Game, settings: Mapping[str, int]) -> bool:
    """Return whether a game is played with these parameters, of which one may be ``players``."""
    own = {"players": game.players, **game.all_parameters}
    return all(own[name] == value for name, value in settings.items())
