"""The options that several environments share: types, checks and documentation."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np

from dicegym.engine.game import Game
from dicegym.engine.seats import ALTERNATE_SEAT, RANDOM_SEAT
from dicegym.engine.state import OF_FIRST_PLACE, OF_MARGIN, OF_RETURNS
from dicegym.engine.validate import as_int64, finite_number, one_of, seed_number, whole_number
from dicegym.errors import IllegalActionError, ParameterError, unknown_argument
from dicegym.games import game as make_game
from dicegym.games.positions import position, position_id
from dicegym.pictures.raster import can_draw_pixels

SeatRule = int | Literal["random", "alternate"]
OnIllegal = Literal["rule", "raise", "terminate"]
Reward = Literal["win", "margin", "first"]
PAID: dict[Reward, int] = {"win": OF_RETURNS, "margin": OF_MARGIN, "first": OF_FIRST_PLACE}
"""The reward as a number for compiled code."""
_SUMS = {"win": "returns", "margin": "margin", "first": "first_places"}
"""The method of `Game` that returns what rewards sum to."""
RENDER_MODES = ("ansi", "rgb_array", "human")

MOST_GAMES_SKIPPED = 100
"""Games in a row that may end before the learner is asked. They are skipped: there is nothing to learn."""
NO_FAULT = ""
"""``info["fault"]`` of a legal action."""
ILLEGAL_ACTION = "illegal action"
"""``info["fault"]`` of a refused action; the faults of played actions are the game's own."""

DOCUMENTATION = {
    "opponent": """
opponent: an agent's name, a path to a bot file or model, a `dicegym.Player`, a list of these, or a dict
    from these to weights. Each opposing seat draws from them anew each game. None: the game's default.
    A game for one player has no opposing seat and ignores it.""",
    "seat": """
seat: the learner's seat: a number, ``"random"`` (drawn for each game) or ``"alternate"`` (by episode).""",
    "on_illegal": """
on_illegal: what an illegal action does: ``"rule"`` (what the game says), ``"raise"`` (IllegalActionError,
    nothing played) or ``"terminate"`` (the episode ends with ``illegal_reward``; 0 for other agents).
illegal_reward: the reward for an illegal action; only with ``"terminate"``.""",
    "reward": """
reward: what rewards sum to: ``"win"``, the game's result by its rules; ``"margin"``, the seat's lead at the
    end, paid as it changes (the game's page has the formula); or ``"first"``, the share of the first place:
    1, split between seats that tie, and -1 / (players - 1) for everybody else. ``info["returns"]`` is always
    the game's result.""",
    "render_mode": """
render_mode: ``"ansi"`` (text), ``"rgb_array"`` (uint8[height, width, 3]; needs the extra ``render``),
    ``"human"`` (text printed at every step) or None.""",
    "parameters": """
**parameters: the game's parameters and ``players``, as for `dicegym.game`.""",
    "raises": """
ParameterError, UnknownNameError, AgentError: an argument is invalid; the message says why.
UnknownArgumentError: there is no such argument; also a TypeError.""",
}
"""Docstring lines of each option, for the ``Args`` of every environment that has it."""

C = TypeVar("C", bound=type[Any])


def fill_docstring(cls: C) -> C:
    """Replace lines such as ``<seat>`` in a class's docstring by the text of `DOCUMENTATION`."""

    def text(match: re.Match[str]) -> str:
        lines = DOCUMENTATION[match[2]].strip("\n").split("\n")
        return "\n".join(match[1] + line for line in lines)

    if cls.__doc__:  # Python may leave docstrings out
        cls.__doc__ = re.sub(r"^( *)<(\w+)>$", text, cls.__doc__, flags=re.MULTILINE)
    return cls


def set_game(environment: type[Any], game: str | Game, parameters: dict[str, Any]) -> Game:
    """Return the game that an environment's constructor was given, with ``parameters``.

    Raises:
        UnknownArgumentError: a name is neither a parameter of the game nor an argument of the environment.
        ParameterError, UnknownNameError: as for `dicegym.game`.
    """
    own = ["players", *make_game(game).spec.parameters]
    for name in parameters:
        if name not in own:
            given = signature(environment.__init__).parameters
            options = [option for option in given if option not in ("self", "game", "parameters")]
            raise unknown_argument(f"{environment.__name__}.__init__", name, [*options, *own])
    return make_game(game, **parameters)


class GameOptions:
    """What all environments have: a game, and the options that they share."""

    game: Game
    on_illegal: OnIllegal
    illegal_reward: float
    reward: Reward
    render_mode: str | None

    def _set_options(self, game: Game, on_illegal: Any, illegal_reward: Any, reward: Any, render_mode: Any) -> None:
        """Set the attributes. Raises ParameterError for an option that is invalid or has no effect."""
        self.game = game
        self.on_illegal = cast(OnIllegal, one_of("on_illegal", on_illegal, get_args(OnIllegal)))
        self.illegal_reward = finite_number("illegal_reward", illegal_reward, "a reward")
        if self.illegal_reward != -1.0 and on_illegal != "terminate":  # that is the default
            raise ParameterError(
                f"illegal_reward={illegal_reward!r} has no effect: write on_illegal='terminate', or leave it out"
            )
        self.reward = cast(Reward, one_of("reward", reward, get_args(Reward)))
        why, alone = "", game.players == 1
        if reward == "margin" and not game.has_margin:
            why = "a single player is ahead of nobody" if alone else f"the rules of {game.spec.title} have none"
        elif reward == "first" and alone:
            why = "a single player is always first"
        if why:
            raise ParameterError(f"reward={reward!r} cannot work: {why}. Leave it out, or write reward='win'")
        self.render_mode = None if render_mode is None else one_of("render_mode", render_mode, RENDER_MODES)


def reward_sums(game: Game, state: Any, reward: Reward) -> np.ndarray:
    """Return the sum of rewards of each seat so far: float32[players]."""
    sums: np.ndarray = getattr(game, _SUMS[reward])(state)
    return sums


def check_cap(name: str, value: Any) -> int | None:
    """Return ``value``, a number of turns before truncation or None. Raises ParameterError."""
    return None if value is None else whole_number(name, value, 1, 1 << 62, "the turns before truncation")


def render_modes() -> list[str]:
    """Return the render modes that work here, for ``metadata``: tests that try them all then need no extra."""
    return [mode for mode in RENDER_MODES if mode != "rgb_array" or can_draw_pixels()]


def seat_rule(game: Game, seat: Any) -> int:
    """Return a `SeatRule` as a number (see `dicegym.engine.seats`).

    Raises ParameterError if ``seat`` is not a `SeatRule` of this game.
    """
    if isinstance(seat, str) and seat in ("random", "alternate"):
        return RANDOM_SEAT if seat == "random" else ALTERNATE_SEAT
    try:
        return whole_number("seat", seat, 0, game.players - 1, "a seat of this game")
    except ParameterError as error:
        raise ParameterError(f"{error}, 'random' or 'alternate'") from None


def read_state(game: Game, given: Any) -> np.ndarray:
    """Return the state that a game is to begin in, as a new array of one record.

    Args:
        game: the game.
        given: the id of a state (`dicegym.values.position_id`), a record, an array of one or a `dicegym.State`.

    Raises ParameterError if it does not fit this game, is only one seat's view, or is the end of a game.
    """
    if not isinstance(given, str):
        given = position_id(game, given)  # compiled code trusts records; reading an id checks everything
    found = position(given, game)
    if found.game != game:
        raise ParameterError(f"this state is one of {found.game!r}, and {game!r} is played here: use its parameters")
    if found.seat is not None:
        raise ParameterError(
            f"this id holds only what seat {found.seat} may know: let dicegym.values.fork draw what is hidden, and "
            "give the state that it returns"
        )
    if found.state["over"][0]:
        raise ParameterError("the game is over in this state: there is nothing left to play")
    return found.state


def read_start(game: Game, options: Any) -> tuple[int | None, np.ndarray | None]:
    """Return the episode and the state in the ``options`` of a reset; None if absent.

    Raises ParameterError if they are not a dict, have both, or an invalid one.
    """
    if not isinstance(options, dict | None):
        raise ParameterError(f"options={options!r} is not a dict: give one such as {{'episode': 5}}")
    episode, state = ((options or {}).get(name) for name in ("episode", "state"))
    if state is not None and episode is not None:
        raise ParameterError("options has 'state' and 'episode', which name two games: give one of them")
    episode = None if episode is None else seed_number("episode", episode)
    return episode, None if state is None else read_state(game, state)


def read_action(action: Any, n_actions: int) -> int:
    """Return ``action`` as an int. Raises IllegalActionError unless it is an integer of 64 bits."""
    number = as_int64(action)
    if number is None:
        raise no_number(action, n_actions)
    return number


def no_number(action: Any, n_actions: int) -> IllegalActionError:
    """Return the error for an action that is not an integer of 64 bits."""
    row = ", such as action.item() of an array of one" if getattr(action, "shape", ()) else ""
    return IllegalActionError(f"action {action!r} is not a whole number: give 0 to {n_actions - 1}{row}")


def illegal(action: int, mask: np.ndarray, who: str = "") -> IllegalActionError:
    """Return the error for ``action``, which ``mask`` (bool[n_actions]) does not allow; ``who`` was to move."""
    allowed = ", ".join(str(a) for a in np.flatnonzero(mask))
    return IllegalActionError(f"action {action} is not legal{who} now: give one of {allowed}")
