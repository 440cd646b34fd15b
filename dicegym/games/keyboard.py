"""Words that all games use to tell a person what happens, and functions that read what a person types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dicegym.engine.game import Game
from dicegym.engine.scene import FACES
from dicegym.errors import ParameterError

HIDDEN = "▢"
"""Shown for a hidden die."""
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
STRENGTHS = ("easy", "normal", "hard")
"""Names of opponents by strength, weakest first."""
_IRREGULAR = {"are": "is", "have": "has", "do": "does", "go": "goes"}


class Place(NamedTuple):
    """A person's seat at a table, and the names of all players."""

    game: Game
    seat: int
    names: tuple[str, ...]
    """Names by seat; the person is called "you" instead."""

    def who(self, seat: int) -> str:
        """Return a player's name for the middle of a sentence."""
        return "you" if seat == self.seat else self.names[seat]

    def does(self, seat: int, verb: str) -> str:
        """Return the start of a sentence: ``You roll``, ``even rolls``. Give ``verb`` in its form for "you"."""
        if seat == self.seat:
            return f"You {verb}"
        ending = "es" if verb.endswith(("s", "sh", "ch", "x")) else "s"
        return f"{self.names[seat]} {_IRREGULAR.get(verb, verb + ending)}"

    def whose(self, seat: int) -> str:
        """Return ``your`` or ``even's``."""
        return "your" if seat == self.seat else f"{self.names[seat]}'s"


def dice(faces: Iterable[int]) -> str:
    """Return dice as text: each face with its number; hidden dice (0) are blank."""
    return " ".join(f"{FACES[face - 1]}{face}" if 1 <= face <= len(FACES) else HIDDEN for face in faces)


def count(number: int, thing: str, things: str = "") -> str:
    """Return a number of things: ``1 point``, ``2 points``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def list_names(names: Sequence[str], word: str = "and") -> str:
    """Return names as people list them: ``a, b and c``."""
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def percent(chance: float) -> str:
    """Return a probability as a percentage; only exactly 0 and 1 become ``0%`` and ``100%``."""
    if 0 < chance <= 0.005:
        return "<1%"
    return ">99%" if 0.995 <= chance < 1 else f"{chance:.0%}"


def number_of(word: str) -> int | None:
    """Return the whole number that ``word`` writes in digits or letters, else None."""
    if re.fullmatch(r"[+-]?\d{1,9}", word, re.ASCII):
        return int(word)
    return NUMBER_WORDS.index(word) if word in NUMBER_WORDS else None


class UnreadError(ParameterError):
    """The typed text has no meaning."""


def unread(text: str, instead: str) -> UnreadError:
    """Return the error for text without a meaning; ``instead`` continues "type"."""
    return UnreadError(f"{text!r} means nothing here: type {instead}")


def winners(place: Place, state: Any) -> list[int]:
    """Return the seats whose returns are the highest."""
    returns = place.game.returns(state).tolist()
    return [seat for seat, value in enumerate(returns) if value == max(returns)]


def name_winners(place: Place, first: Sequence[int]) -> str:
    """Return who has won, without a full stop: ``You win``, ``You and even share the first place``."""
    if len(first) == 1:
        return place.does(first[0], "win")
    you = ["You"] if place.seat in first else []
    return f"{list_names([*you, *(place.names[seat] for seat in first if seat != place.seat)])} share the first place"
