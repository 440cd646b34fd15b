"""What a report says of a contest beside its tables: what was held, by which rules, with what, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dicegym.arena.incidents import misplay_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dicegym.arena.incidents import Misplay
    from dicegym.arena.provenance import Provenance
    from dicegym.arena.rows import MatchRow

MOST_NAMED = 12
"""Names of who played beside the referee."""
Facts = list[tuple[str, str]]
"""(what, its value), in words."""


def facts_of(
    title: str,
    form: str,
    seed: int,
    misplays: Sequence[Misplay],
    matches: Sequence[MatchRow],
    came_from: Provenance | None,
) -> Facts:
    """Return the facts of a contest; not when it was held, so that equal contests are told in equal words.

    Args:
        title: the game's title.
        form: the format's name.
        seed: the contest's.
        misplays: what entries did wrong, as the result has it.
        matches: all that were played.
        came_from: where the result comes from; None: nobody knows, and there are no facts.
    """
    if came_from is None:
        return []
    parameters = ", ".join(f"{name}={value}" for name, value in came_from.parameters.items())
    beside = [entry.name for entry in came_from.entries if entry.beside_referee]
    return [
        ("game", f"{title} ({parameters})" if parameters else title),
        ("seats", str(came_from.players)),
        *([("format", form.replace("_", "-"))] if form else []),
        ("seed", str(seed)),
        ("games", f"{sum(match.games for match in matches):,} in {len(matches):,} match{'es' * (len(matches) != 1)}"),
        ("faults", f"{sum(misplay_counts(misplays).values()):,}"),
        ("rules", came_from.fingerprint),
        ("isolation", came_from.isolation or "none was needed: no entry runs a stranger's program"),
        *([("beside the referee", _some(beside))] if beside else []),
        ("limits", limits_in_words(came_from.limits)),
        ("versions", f"dicegym {came_from.dicegym}, Python {came_from.python}, NumPy {came_from.numpy}"),
    ]


def _some(names: Sequence[str]) -> str:
    """Return names, the first ones if they are many."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def limits_in_words(limits: Mapping[str, float | None]) -> str:
    """Return what an entry might use, in words."""
    words = []
    for name, value in limits.items():
        if name == "memory":
            words.append("any memory" if value is None else f"{value / (1 << 20):,.0f} MiB")
        elif value is not None:
            words.append(f"{value:,g} s" if name == "seconds" else f"{value:,g} s to {name}")
        elif name == "seconds":
            words.append("any time")
    return ", ".join(words) or "none"
