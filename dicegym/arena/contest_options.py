"""The options of a contest: each is declared here once, with its type, its range and the formats that know it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import Field, dataclass, field, fields
from typing import Any

from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError, unknown_name


def option(default: Any, *formats: str, most: int = 0, what: str = "", decides: bool = True) -> Any:
    """Return a field of `ContestOptions`.

    Args:
        default: its value unless somebody chooses another.
        formats: names of the formats that know it; none: all of them, one of your own included.
        most: the largest number allowed, where it is a whole number from 1.
        what: what the number stands for, in words.
        decides: whether it decides which matches are played, as the game does.
    """
    return field(default=default, metadata={"formats": formats, "most": most, "what": what, "decides": decides})


@dataclass(frozen=True)
class ContestOptions:
    """The options of a contest; its game, its entries and where it is played are no options.

    Raises ParameterError if a number is outside its range.

    Example:
        >>> from dicegym.contest import ContestOptions
        >>> ContestOptions(games=60).games
        60
    """

    games: int | None = option(None, most=1 << 31, what="the number of games of a match")
    """Games of a match; None: as many as the game's contest has. In groups the most of a playoff. With ``exact`` it may
    be 0: no game is played."""
    exact: bool = option(False, "round_robin", decides=False)
    """Rank by exact win rates, where the game has them, and say what luck did to the games played."""
    seeds: int = option(
        1, "round_robin", "one_table", "swiss", most=100_000, what="the number of times that each match is played"
    )
    """How often each match is played, each time with other dice."""
    rounds: int | None = option(None, "swiss", most=10_000, what="the number of rounds")
    """Rounds; None: as many as the number of entries needs."""
    less_luck: bool = option(False, decides=False)
    """Take luck out of the results (`dicegym.analysis.variance_reduction`); a round robin ranks by what is left."""
    players: int | None = option(None, "round_robin", "groups", "swiss", decides=False)
    """Seats at a table; None: the game's own number. They are part of the game, which decides with them."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for one in fields(self):
            value, most = getattr(self, one.name), one.metadata["most"]
            if most and value is not None:
                least = 0 if one.name == "games" and self.exact else 1
                whole_number(one.name, value, least, most, one.metadata["what"])

    @classmethod
    def of(cls, **chosen: Any) -> ContestOptions:
        """Return the options that were chosen by name. Raises UnknownNameError for one that does not exist."""
        known = [one.name for one in fields(cls)]
        for name in chosen:
            if name not in known:
                raise unknown_name("option of contests", name, known)
        return cls(**chosen)

    @property
    def deciding(self) -> dict[str, Any]:
        """The options that differ from their defaults and decide which matches are played, as plain values."""
        return {name: getattr(self, name) for name, one in self._chosen().items() if one.metadata["decides"]}

    def select_for(self, form: str, also: Collection[str] = ()) -> dict[str, Any]:
        """Return the values of the options that the format ``form`` knows, and of ``also``, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if _knows(form, one) or one.name in also}

    def check(self, form: str, also: Collection[str] = ()) -> None:
        """Raise ParameterError if an option is chosen that the format ``form`` does not know, unless it is in ``also``.

        Args:
            form: name of the format.
            also: further options that it knows, where it is not one of this package's.
        """
        for name, one in self._chosen().items():
            if not _knows(form, one) and name not in also:
                others = ", ".join(one.metadata["formats"]).replace("_", "-")
                raise ParameterError(
                    f"{name}={getattr(self, name)!r} means nothing to the format {form.replace('_', '-')!r}: leave it "
                    f"out, or run another contest: {others}"
                )

    def _chosen(self) -> dict[str, Field[Any]]:
        """Return the options that differ from their defaults."""
        return {one.name: one for one in fields(self) if getattr(self, one.name) != one.default}


def _knows(form: str, one: Field[Any]) -> bool:
    return not one.metadata["formats"] or form in one.metadata["formats"]
