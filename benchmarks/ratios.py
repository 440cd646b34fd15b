"""Figures beside each other: how many times as fast one is as another, by medians."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.figures import Figure

DECISIONS = "decisions/s"
"""The unit in which loops are compared: choices of all players."""
SHARE = 0.9
"""Goal of `make_vec`: its share of the bare batch's decisions."""
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
    """Return the figures that are quotients of ``figures``: shares of the bare batch, gains of threads."""
    found = []
    batches = {f.subject: f for f in _decisions(figures, "batch")}
    for figure in _decisions(figures, "make_vec"):
        if base := batches.get(figure.subject):
            what = "make_vec beside batch, decisions of all players"
            found.append(_quotient(figure, base, what, ("at least", SHARE)))
    alone = {(f.subject, f.mode): f for f in figures if f.section == MANY_THREADS and f.what.endswith("on 1 thread")}
    for figure in figures:
        base = alone.get((figure.subject, figure.mode))
        if figure.section == MANY_THREADS and base is not None and base is not figure and figure.unit == base.unit:
            least = ("at least", SPEED_UP) if figure.what.endswith("on 2 threads") else None
            found.append(_quotient(figure, base, f"{figure.what} beside 1 thread", least))
    return found


def _quotient(figure: Figure, base: Figure, what: str, goal: tuple[str, float] | None) -> Figure:
    return Figure("ratio", figure.subject, what, "x", [figure.median / base.median], figure.mode, goal=goal)
