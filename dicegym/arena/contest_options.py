"""The options of a contest, each declared once with its type, its range and its formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError, unknown_name

RANGES = {
    "games": (1 << 31, "the number of games of a match"),
    "seeds": (100_000, "the number of times that each match is played"),
    "rounds": (10_000, "the number of rounds"),
}
"""Of each whole number: its largest value, and what it means. The least is 1."""
KNOWN = {
    "exact": ("round_robin",),
    "seeds": ("round_robin", "one_table", "swiss"),
    "rounds": ("swiss",),
}
"""The formats that know an option; every format knows the others."""
UNDECIDING = ("exact", "less_luck")
"""Options that do not change which matches are played."""


@dataclass(frozen=True)
class ContestOptions:
    """The options of a contest.

    Raises ParameterError if a number is outside its range.

    Example:
        >>> from dicegym.contest import ContestOptions
        >>> ContestOptions(games=60).games
        60
    """

    games: int | None = None
    """Games of a match; None: as in the game's contest. In groups: the most games of a playoff. With ``exact`` it may
    be 0: no game is played."""
    exact: bool = False
    """Rank by exact win rates, if the game has them."""
    seeds: int = 1
    """How often each match is played, each time with different dice."""
    rounds: int | None = None
    """Rounds; None: as many as the number of entries needs."""
    less_luck: bool = False
    """Adjust results for luck (`dicegym.analysis.variance_reduction`); a round robin ranks by the adjusted results."""

    def __post_init__(self) -> None:
        """Check the numbers, and convert them to Python's int for JSON."""
        for name, (most, what) in RANGES.items():
            if (value := getattr(self, name)) is not None or name == "seeds":
                least = 0 if name == "games" and self.exact else 1
                object.__setattr__(self, name, whole_number(name, value, least, most, what))

    @classmethod
    def of(cls, chosen: Mapping[str, Any], others: Sequence[str] = ()) -> ContestOptions:
        """Return the options chosen by name.

        Raises UnknownNameError for an unknown one; ``others`` are further names that its message lists.
        """
        known = [one.name for one in fields(cls)]
        for name in chosen:
            if name not in known:
                raise unknown_name("option of contests", name, [*known, *others])
        return cls(**chosen)

    @property
    def chosen(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    @property
    def deciding(self) -> dict[str, Any]:
        """The chosen options that decide which matches are played, by name."""
        return {name: value for name, value in self.chosen.items() if name not in UNDECIDING}

    def select_for(self, form: str) -> dict[str, Any]:
        """Return the values of the options that the format knows, by name."""
        return {name: value for name, value in asdict(self).items() if form in KNOWN.get(name, (form,))}

    def check(self, form: str) -> None:
        """Raise ParameterError if an option is chosen that the format does not know."""
        for name, value in self.chosen.items():
            if form not in KNOWN.get(name, (form,)):
                others = ", ".join(KNOWN[name]).replace("_", "-")
                raise ParameterError(
                    f"{name}={value!r} means nothing to the format {form.replace('_', '-')!r}: leave it "
                    f"out, or run another contest: {others}"
                )
