"""What whoever holds a contest may choose besides its entries: which options there are, and which a format knows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError

MOST_GAMES = 1 << 31
"""Games of a match."""
MOST_SEEDS = 100_000
"""Matches between the same entries."""
MOST_ROUNDS = 10_000


class ContestOptions(NamedTuple):
    """What whoever holds a contest may choose; a format says which of it it knows (`Format.takes`)."""

    games: int | None = None
    """Games of a match; None: as the game's contest has it."""
    exact: bool = False
    """Whether to rank by exact values."""
    seeds: int = 1
    """How often each match is played, each time with other dice."""
    rounds: int | None = None
    """How many rounds are played; None: as the format has it."""
    seeding: bool = False
    """Whether entries are seeded in the order in which they were named, the strongest first, and not by lot."""
    less_luck: bool = False
    """Whether to take luck out of the results, once they are known."""

    @property
    def deciding(self) -> dict[str, Any]:
        """What was chosen and decides which matches are played, as plain values."""
        return {name: value for name, value in self.named().items() if name not in ("exact", "less_luck")}

    def named(self) -> dict[str, Any]:
        """Return what was chosen, by name."""
        usual = ContestOptions()._asdict()
        return {name: value for name, value in self._asdict().items() if value != usual[name]}


AS_USUAL = ContestOptions()


def check_options(
    options: ContestOptions, players: int | None, name: str, takes: Collection[str], elsewhere: dict[str, list[str]]
) -> None:
    """Raise ParameterError for an option that the format ``name`` does not know, or that no format can do.

    Args:
        options: what was chosen.
        players: seats at a table, if somebody chose them.
        name: what the format is called, as a user writes it.
        takes: the options that it knows.
        elsewhere: option -> the formats that know it.
    """
    chosen = options.named() | ({} if players is None else {"players": players})
    for option, value in chosen.items():
        if option not in takes:
            others = elsewhere.get(option, [])
            instead = f", or hold another contest: {', '.join(others)}" if others else ""
            raise ParameterError(f"{option}={value!r} means nothing to the format {name!r}: leave it out{instead}")
    if options.games is not None:
        whole_number("games", options.games, 0 if options.exact else 1, MOST_GAMES, "the number of games of a match")
    whole_number("seeds", options.seeds, 1, MOST_SEEDS, "the number of times that each match is played")
    if options.rounds is not None:
        whole_number("rounds", options.rounds, 1, MOST_ROUNDS, "the number of rounds")
