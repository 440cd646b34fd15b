"""The form of a game: a record dtype, five kernels over it, and a fact sheet (`GameSpec`).

`Game` is a fact sheet with its parameters set. Environments, contests and solvers work with it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple

import numpy as np

from dicegym.engine.validate import whole_number
from dicegym.registry import GAMES, rules_module

if TYPE_CHECKING:  # with a default, so that code need not name the view's type
    from typing_extensions import TypeVar

    from dicegym.engine.loops import Kernels

    V = TypeVar("V", default=Any)
else:
    from typing import TypeVar

    V = TypeVar("V")

HEADER = [
    ("key", np.uint64),  # (): determines the dice of this game; never shown to a player
    ("players", np.int8),  # (): number of seats
    ("player", np.int8),  # (): seat to move
    ("over", np.bool_),  # (): True when the game has ended
]
"""The first fields of every record; generic code reads and writes only these and parameters."""


def record(fields: list[tuple[Any, ...]]) -> np.dtype:
    """Return the dtype of a game's record: the common header and ``fields``, aligned.

    The widest fields come first, so there are no gaps between fields: copies leave gaps undefined, and equal states
    must have equal bytes. The field ``padding`` fills up the end and stays zero.
    """
    declared = np.dtype([*HEADER, *fields])
    laid = sorted(((name, declared[name]) for name in declared.names or ()), key=lambda field: -field[1].alignment)
    if gap := -declared.itemsize % laid[0][1].alignment:
        laid.append(("padding", np.dtype((np.uint8, (gap,)))))
    aligned = np.dtype(laid, align=True)
    _DECLARED[aligned] = declared
    return aligned


_DECLARED: dict[np.dtype, np.dtype] = {}
"""Layout in memory -> the same fields in the order of declaration, without padding."""


def pack(states: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return records in another layout; ``states`` must have all fields of ``dtype``."""
    found = np.empty(len(states), dtype)
    for name in dtype.names or ():
        found[name] = states[name]
    return found


_CODES = {
    ("b", 1): "?",
    ("f", 4): "f",
    ("f", 8): "d",
    **{("i", 1 << power): code for power, code in enumerate("bhiq")},
    **{("u", 1 << power): code for power, code in enumerate("BHIQ")},
}
"""Kind and size of a number -> its format for `struct`, the same on every system."""


def reader(dtype: np.dtype, names: Sequence[str]) -> Callable[[bytes], tuple[Any, ...]]:
    """Return a function from a record's bytes to its fields ``names``: numbers, and arrays as bytes.

    It is much faster than reading a record field by field.
    """
    fields = dict(dtype.fields or {})
    rising = sorted(names, key=lambda name: fields[name][1])
    form, end = "=", 0
    for name in rising:
        kind, begin = fields[name][:2]
        form += f"{begin - end}x" + (f"{kind.itemsize}s" if kind.shape else _CODES[kind.kind, kind.itemsize])
        end = begin + kind.itemsize
    unpack, places = struct.Struct(form).unpack_from, itemgetter(*map(rising.index, names))
    return lambda record: places(unpack(record))


class Parameter(NamedTuple):
    """A parameter of a game; the record has a field of the same name."""

    default: int
    low: int
    high: int
    doc: str
    added: bool = False
    """Whether the original game lacks it. At its default it is then left out of `Game.parameters`, so that older files
    keep their names and keys. At other values bots of the original interface cannot play."""

    def check(self, name: str, value: Any) -> int:
        """Return ``value`` as an int in low..high; bools are allowed if that is 0..1. Raises ParameterError."""
        if isinstance(value, bool | np.bool_) and (self.low, self.high) == (0, 1):
            return int(value)
        return whole_number(name, value, self.low, self.high, self.doc)


class JointAction(NamedTuple):
    """A whole choice in a game of simultaneous, secret choices: a number for each of several things.

    Such a game is still stepped seat by seat, and nobody sees the others' choices of the present round. The seat to
    move plays actions until its choice is complete.
    """

    most: tuple[int, ...]
    """The largest number for each thing."""
    actions: Callable[[Sequence[int]], list[int]]
    """A number for each thing -> the actions that make this choice, played one after the other."""
    limits: Callable[[Any], Sequence[Sequence[int]]]
    """record -> by seat, the largest legal number for each thing if the seat chooses nothing else."""
    is_open: Callable[[Any], bool]
    """record -> whether a round begins: nobody has chosen anything yet."""
    withdraw: Callable[[Any, int], None]
    """(record, seat): undo what the seat has chosen in this round, private fields included."""


@dataclass(frozen=True, eq=False)
class GameSpec(Generic[V]):
    """The fact sheet of a game, declared at the end of its ``rules.py``.

    The five kernels (compiled by `dicegym.engine.jit.kernel`; records are passed by reference):

    ``reset(state)``
        Begin a new game in a record that is zero except for key, players and parameters.
    ``step(state, action) -> int``
        Play one decision of the player to move, chance included. Return 0, or the number of the fault (an index into
        ``faults``) of an illegal action, to which the rules were applied.
    ``legal(state, mask)``
        Write bool[n_actions] for the player to move.
    ``observe(state, seat, out)``
        Write float32[observation size], only what ``seat`` may know.
    ``returns(state, out)``
        Write float32[players], each seat's sum of rewards so far.

    and an optional sixth, for ``reward="margin"`` (`dicegym.envs.options`):

    ``margin(state, out)``
        Write float32[players], each seat's lead so far, roughly in -1..1. They sum to 0, and at the end a higher return
        means a higher margin.
    """

    name: str
    title: str
    state: np.dtype
    kernels: Kernels
    players: tuple[int, int]
    """Fewest and most seats."""
    n_actions: int
    features: Callable[[Mapping[str, int]], dict[str, int]]
    """Parameters and ``players`` -> the observation parts in order, each with its length. A
    `dicegym.engine.features.Features`, which also has the offsets for `observe`, is one."""
    view: Callable[[Any, int], V]
    """(record, seat) -> what the seat may know, as plain named values, for scripted agents."""
    faults: tuple[str, ...]
    """Descriptions of faults, by the number that ``step`` returns; index 0 is unused."""
    default_opponent: str | Mapping[str, float]
    """The default opponents of environments: an agent's name, or names and weights, from which each opposing seat draws
    anew each game. Random play should win some games against them, so that learning can begin."""
    baseline: str
    """The agent that contests and models are measured against."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    games_per_match: int = 1
    """Games in a match of the game's contest."""
    default_players: int | None = None
    """Default number of seats; None: the fewest."""
    private: frozenset[str] = frozenset()
    """Fields of the record, indexed by seat first, of which a seat may know only its own entry."""
    sighted: Mapping[str, int] = field(default_factory=dict)
    """Values of parameters that only make observations show more of what a seat may know."""
    secret: frozenset[str] = frozenset()
    """Fields of the record that no seat may know. Fields in neither set are public."""
    forfeit: int | None = None
    """The action that replaces an invalid answer: a player raises, hangs or answers nonsense. None: no action does, and
    contests disqualify the player."""
    public_event: str | None = None
    """A field of the record, such as the number of hands played; followers of a game
    (`dicegym.play.turn.Follower`) are told when it changes."""
    joint_action: JointAction | None = None
    """The whole choice, in games in which all players choose at once and in secret."""
    contest: str = "round_robin"
    """The contest's format, a key of `dicegym.arena.running.FORMATS`."""
    zero_sum: bool = False
    """Whether the final returns of a game of two or more players sum to zero."""
    stage: Literal["young", "finished"] = "young"
    """A young game needs only rules and text. Tests demand of a finished one the parts that `dicegym.games.parts`
    requires, a trained model and the configuration of its training."""

    def __post_init__(self) -> None:
        """Bind the kernels for the generic loops."""
        from dicegym.engine import loops  # here, as it loads Numba; modules with kernels have loaded it

        loops.bind(self.state, self.kernels)

    @property
    def module(self) -> str:
        """The dotted name of the rules' module; the game's other parts are beside it."""
        return str(self.kernels.step.__module__)

    @property
    def declared_record(self) -> np.dtype:
        """The record's fields in the order of declaration, without padding, which does not depend on the layout."""
        return _DECLARED.get(self.state, self.state)

    @property
    def registered(self) -> bool:
        """Whether the game is in `dicegym.registry`, so that its name identifies it."""
        return self.name in GAMES and self.module == rules_module(self.name)
