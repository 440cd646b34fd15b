"""Figures beside each other: how many times as fast one is as another, by medians."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.figures import Figure

DECISIONS = "decisions/s"
"""The unit in which loops are compared: choices of all players."""
SHARE_OF_BARE = 0.9
"""A batch with compiled opponents is to reach so much of the bare batch, in decisions of all players."""
PEER_GOALS = {
    "state": ("OpenSpiel liars_dice", 1.5),
    "aec": ("RLCard leduc-holdem", 1.5),
    "parallel": ("RLCard leduc-holdem", 1.5),
}
"""One game at a time, by mode: which peer's decisions a second are to be reached, and how many times."""
STEP_GOALS: dict[str, tuple[str, float]] = {"make": ("at least", 300_000)}
"""By mode: how many steps a second a learner is to take."""
SPEED_UP = 1.8
"""What two threads are to gain."""
MANY_THREADS = "many"
"""The section of loops on several threads."""


class PeerRatio(NamedTuple):
    """How an environment compares with a peer in the same kind of loop."""

    mode: str
    subject: str
    peer: str
    ratio: float
    """Decisions a second of ours for each of the peer's."""


def _decisions(figures: Iterable[Figure], mode: str) -> list[Figure]:
    return [f for f in figures if f.section == "speed" and f.mode == mode and f.unit == DECISIONS]


def peer_ratios(figures: list[Figure]) -> list[PeerRatio]:
    """Return the ratio of every environment's loop to every peer's of the same mode."""
    found = []
    for mode in dict.fromkeys(f.mode for f in figures if f.peer):
        loops = _decisions(figures, mode)
        for ours in (f for f in loops if not f.peer):
            for peer in (f for f in loops if f.peer):
                found.append(PeerRatio(mode, ours.subject, peer.subject, ours.median / peer.median))
    return found


def derived(figures: list[Figure]) -> list[Figure]:
    """Return the figures that are quotients of ``figures``: shares of the bare batch and of peers, gains of threads."""
    found = []
    bare = {f.subject: f for f in _decisions(figures, "batch")}
    for figure in _decisions(figures, "make_vec"):
        if not figure.peer and (base := bare.get(figure.subject)):
            what = "make_vec beside the bare batch, decisions of all players"
            found.append(_quotient(figure, base, what, ("at least", SHARE_OF_BARE)))
    peers = {f.subject: f for f in figures if f.peer}
    for mode, (peer, times) in PEER_GOALS.items():
        if base := peers.get(peer):
            ours = [f for f in _decisions(figures, mode) if not f.peer]
            found += [_quotient(figure, base, f"{mode} beside {peer}", ("at least", times)) for figure in ours]
    alone = {(f.subject, f.mode): f for f in figures if f.section == MANY_THREADS and f.what.endswith("on 1 thread")}
    for figure in figures:
        base = alone.get((figure.subject, figure.mode))
        if figure.section == MANY_THREADS and base is not None and base is not figure and figure.unit == base.unit:
            goal = ("at least", SPEED_UP) if figure.what.endswith("on 2 threads") else None
            found.append(_quotient(figure, base, f"{figure.what} beside 1 thread", goal))
    return found


def _quotient(figure: Figure, base: Figure, what: str, goal: tuple[str, float] | None) -> Figure:
    return Figure("ratio", figure.subject, what, "x", [figure.median / base.median], figure.mode, goal=goal)
