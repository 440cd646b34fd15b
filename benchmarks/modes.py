"""What the bench can measure: each mode declared once, with what it measures and whether it takes long.

Light, as the help of the command line is made from it. How a mode measures stands in `benchmarks.plans`.
"""

from __future__ import annotations

from typing import NamedTuple

BATCH = 1024
"""Games in a batch."""
SB3_BATCH = 256
"""Games in a batch that trains a network: what one machine's network keeps up with."""


class Mode(NamedTuple):
    """One kind of measure."""

    name: str
    measures: str
    """What, in a line; of a loop also the name of its figures."""
    loop: bool = False
    """Whether it plays random legal actions in one form of the environments, as `dicegym.bench` has them."""
    long: bool = False
    """Whether it runs only if it is named, or all are."""


_DECLARED = (
    Mode("memory", "bytes that a game in a batch holds"),
    Mode("batch", f"bare batch of {BATCH:,}", loop=True),
    Mode("make_vec", f"make_vec of {BATCH:,}, default opponent", loop=True),
    Mode("sb3", f"SB3VecEnv of {SB3_BATCH}, default opponent", loop=True),
    Mode("make", "gymnasium.make, default opponent", loop=True),
    Mode("state", "one state, dicegym.Game from Python", loop=True),
    Mode("aec", "PettingZoo env()", loop=True),
    Mode("parallel", "PettingZoo parallel_env()", loop=True),
    Mode("threads", "large batches on each number of --threads"),
    Mode("limits", "what the core could write and mix at most, beside bare batches", long=True),
    Mode("peers", "other libraries' loops of the same forms"),
    Mode("search", "simulations of searches, beside OpenSpiel's"),
    Mode("start", "first call and warm start of each form, in a new process"),
    Mode("contest", "exact values, contests, moves in matches, and what it costs to keep bots apart", long=True),
    Mode("server", "turns of a game server with bots on this machine, and what floods cost", long=True),
    Mode("web", "how long 200 people at once wait for pages on which they play", long=True),
    Mode("solve", "what can be solved in minutes: the time, memory and disk it takes (hours for all)", long=True),
    Mode("training", "trainers side by side; MaskablePPO here, on single environments and on a free one", long=True),
)

MODES = {mode.name: mode for mode in _DECLARED}
"""Every mode by its name, in the order in which they run."""
LOOP_MODES = {mode.name: mode.measures for mode in _DECLARED if mode.loop}
"""The modes that are loops, each with the name of its figures; all but the first three play one game at a time."""
DEFAULT_MODES = tuple(mode.name for mode in _DECLARED if not mode.long)
ONE_SEAT = ("make_vec", "sb3", "make")
"""Modes in which the loop chooses for one seat and opponents play the others."""


def listed() -> str:
    """Return a line for each mode: its name and what it measures."""
    width = max(map(len, MODES))
    return "\n".join(f"{mode.name:{width}}  {mode.measures}{' (long)' * mode.long}" for mode in _DECLARED)
