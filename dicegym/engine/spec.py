"""The form of a game: a record dtype, five kernels over it, and a fact sheet (`GameSpec`).

`Game` is a fact sheet with its parameters set; it is what environments, tournaments and solvers work with.
It knows no game by name.
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

if TYPE_CHECKING:  # with a default, so that code that does not care for the view's type need not name it
    from typing_extensions import TypeVar

    from dicegym.engine.loops import Kernels

    V = TypeVar("V", default=Any)
else:
    from typing import TypeVar

    V = TypeVar("V")

HEADER = [
    ("key", np.uint64),  # (): names the dice of this game; never shown to a player
    ("players", np.int8),  # (): number of seats
    ("player", np.int8),  # (): seat to move
    ("over", np.bool_),  # (): True when the game has ended
]
"""The fields that every record starts with; the generic layer reads and writes no others but parameters."""


def record(fields: list[tuple[Any, ...]]) -> np.dtype:
    """Return the dtype of a game's record: the common header and ``fields``, each on a boundary of its own size.

    The widest fields come first, so no gaps are left between fields. A copy would leave a gap undefined, and equal
    states must have equal bytes. What the end lacks is a field of its own, ``padding``, which stays zero.
    """
    declared = np.dtype([*HEADER, *fields])
    laid = sorted(((name, declared[name]) for name in declared.names or ()), key=lambda field: -field[1].alignment)
    if gap := -declared.itemsize % laid[0][1].alignment:
        laid.append(("padding", np.dtype((np.uint8, (gap,)))))
    aligned = np.dtype(laid, align=True)
    _DECLARED[aligned] = declared
    return aligned


_DECLARED: dict[np.dtype, np.dtype] = {}
"""Records by their layout in memory -> the same fields in the order of their declaration, without padding."""


def pack(states: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return records in another layout: an array of ``dtype``, all of whose fields ``states`` has."""
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
"""Kind and bytes of a number of a record -> its format for `struct`, the same on every system."""


def reader(dtype: np.dtype, names: Sequence[str]) -> Callable[[bytes], tuple[Any, ...]]:
    """Return a function from the bytes of a record to its fields ``names``: numbers, and arrays as bytes.

    It takes a fraction of the time of asking a record field by field.
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
    """A number that a game may be played with; the record has it under the same name."""

    default: int
    low: int
    high: int
    doc: str
    added: bool = False
    """Whether the original game does not have it. At its default it then goes unsaid (`Game.parameters`), so that what
    was kept before has the same names and keys; elsewhere bots of the original interface cannot play."""

    def check(self, name: str, value: Any) -> int:
        """Return ``value`` as an int; raise ParameterError if it is not a whole number in low..high.

        A switch, whose numbers are 0 and 1, may be given as False and True.
        """
        if isinstance(value, bool | np.bool_) and (self.low, self.high) == (0, 1):
            return int(value)
        return whole_number(name, value, self.low, self.high, self.doc)


class JointAction(NamedTuple):
    """A whole choice in a game of simultaneous, secret choices: a number for each of several things.

    Such a game is still stepped seat by seat; nobody sees what others have chosen in the present round. The seat
    to move plays actions until its choice is complete and the next seat is to move.
    """

    most: tuple[int, ...]
    """For each thing the largest number that may be chosen."""
    actions: Callable[[Sequence[int]], list[int]]
    """The numbers, one for each thing -> the actions that make exactly this choice, which are played in turn;
    the effect is the same as if the choice had been made action by action."""
    limits: Callable[[Any], Sequence[Sequence[int]]]
    """record -> by seat, for each thing the largest number that the seat may choose if it chooses nothing else."""
    is_open: Callable[[Any], bool]
    """record -> whether a round begins here: nobody has chosen anything yet."""
    withdraw: Callable[[Any, int], None]
    """(record, seat): take back what the seat has chosen in this round, and all that is private of it."""


@dataclass(frozen=True, eq=False)
class GameSpec(Generic[V]):
    """The fact sheet of a game, declared at the end of its ``rules.py``.

    The five kernels (compiled by `dicegym.engine.jit.kernel`; a record is handed over by reference):

    ``reset(state)``
        Make a zeroed record with key, players and parameters a new game.
    ``step(state, action) -> int``
        One decision of the player to move, chance included; 0, or the number of the fault (an index into ``faults``)
        when the action was illegal and the rule for that was applied.
    ``legal(state, mask)``
        Write bool[n_actions] for the player to move.
    ``observe(state, seat, out)``
        Write float32[observation size], only what ``seat`` may know.
    ``returns(state, out)``
        Write float32[players], each seat's sum of rewards so far.

    and a sixth that a game may have, for learners that ask for ``reward="margin"`` (`dicegym.envs.options`):

    ``margin(state, out)``
        Write float32[players], by how much each seat is ahead so far, near -1..1: they sum to 0, and at the end
        the seat with the higher return is further ahead.
    """

    name: str
    title: str
    state: np.dtype
    kernels: Kernels
    players: tuple[int, int]
    """Fewest and most seats."""
    n_actions: int
    features: Callable[[Mapping[str, int]], dict[str, int]]
    """Parameters, and ``players`` -> the observation parts in order, each with its length; a
    `dicegym.engine.features.Features`, which `observe` takes its offsets from, is one."""
    view: Callable[[Any, int], V]
    """(record, seat) -> what the seat may know, as plain values with names; for scripted agents."""
    faults: tuple[str, ...]
    """What was wrong with an action, by the number that ``step`` returned; index 0 is unused."""
    default_opponent: str | Mapping[str, float]
    """The agents that environments seat when none is named: a name, or names and weights, from which each opposing
    seat draws anew each game. Random play should win some games against them, so that learning can begin."""
    baseline: str
    """The agent that contests and models are measured against."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    games_per_match: int = 1
    """Games that the entries of a match play against each other in the game's contest."""
    default_players: int | None = None
    """Seats when their number is not given; None: the fewest."""
    private: frozenset[str] = frozenset()
    """Fields of the record, indexed by seat first, of which a seat may know its own entry and no other."""
    sighted: Mapping[str, int] = field(default_factory=dict)
    """Parameters with which observations show more of what a seat could know, and that change nothing else."""
    secret: frozenset[str] = frozenset()
    """Fields of the record that no seat may know. All fields in neither set are public."""
    forfeit: int | None = None
    """The action that counts when a player does not answer properly: it raises, hangs or answers nonsense. None:
    the rules know no such action, and contests strike the player."""
    public_event: str | None = None
    """A field of the record that changes when followers of a game (`dicegym.play.turn.Follower`) are to be
    told, such as the number of hands played."""
    joint_action: JointAction | None = None
    """For games in which all players choose at once and in secret: what a whole choice is."""
    contest: str = "round_robin"
    """The format of the game's contest, a key of `dicegym.arena.running.FORMATS`."""
    zero_sum: bool = False
    """Whether the returns at the end of a game of two or more sum to zero."""
    stage: Literal["young", "finished"] = "young"
    """How far the game has come. A young one has rules and text, and is played, trained on and contested with whatever
    else it has. Of a finished one the tests demand all that `dicegym.games.parts` lists for it, and a trained model and
    a configuration of its training too."""

    def __post_init__(self) -> None:
        """Let the generic loops find the kernels."""
        from dicegym.engine import loops  # which loads Numba: a module with kernels has loaded it

        loops.bind(self.state, self.kernels)

    @property
    def module(self) -> str:
        """The dotted name of the module that holds the rules; the game's other parts stand beside it."""
        return str(self.kernels.step.__module__)

    @property
    def declared_record(self) -> np.dtype:
        """The fields of the record in the order of their declaration, without padding: what outlives a layout."""
        return _DECLARED.get(self.state, self.state)

    @property
    def registered(self) -> bool:
        """Whether the game is one of `dicegym.registry`, so that its name alone stands for it."""
        return self.name in GAMES and self.module == rules_module(self.name)
