"""How a person plays at the keyboard: what a game's ``controls.py`` offers, and words that all of them use.

Language models are told the same game in the same words. The screen itself, with its questions, ``undo`` and ``again``,
is `dicegym.players.sitting`; it knows no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dicegym.engine.game import Game
from dicegym.engine.scene import FACES
from dicegym.errors import ParameterError

HIDDEN = "▢"
"""A die that is hidden."""
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
STRENGTHS = ("easy", "normal", "hard")
"""What opponents are called by strength, the weakest first."""
_IRREGULAR = {"are": "is", "have": "has", "do": "does", "go": "goes"}


class Place(NamedTuple):
    """Where a person sits, and how everybody is called."""

    game: Game
    seat: int
    names: tuple[str, ...]
    """Of the others, by seat; the person is "you"."""

    def who(self, seat: int) -> str:
        """Return what a player is called inside a sentence."""
        return "you" if seat == self.seat else self.names[seat]

    def does(self, seat: int, verb: str) -> str:
        """Return the beginning of a sentence: ``You roll``, ``even rolls``; ``verb`` is in the form for "you"."""
        if seat == self.seat:
            return f"You {verb}"
        ending = "es" if verb.endswith(("s", "sh", "ch", "x")) else "s"
        return f"{self.names[seat]} {_IRREGULAR.get(verb, verb + ending)}"

    def whose(self, seat: int) -> str:
        """Return ``your`` or ``even's``."""
        return "your" if seat == self.seat else f"{self.names[seat]}'s"


class Keyboard(Protocol):
    """A game's ``controls.py``: what a person types is read, and what happens is told.

    A game without one is played by a numbered list of its actions (`dicegym.players.human`). All texts fit into 80
    columns without colour; what is longer is wrapped at spaces.
    """

    OPPONENTS: Mapping[str, str]
    """The agent that each of `STRENGTHS` names."""
    SEATS: int
    """Players at a table unless another number is asked for."""
    OPEN: frozenset[str]
    """Private fields of the record that a program may not know and everybody at a real table sees, such as dice that
    are rolled in the open. Of all other private fields, and of secret ones, `table` shows the person's own alone."""
    HELP: str
    """The game in a few lines, and what can be typed."""
    RULES: str
    """The same for a language model (`dicegym.players.prompts`), and what can be typed as an action."""

    def table(self, place: Place, state: Any, full: bool) -> str:
        """Return what the person sees when it is to move, and what each choice is worth where that is plain.

        ``full`` asks for everything: at the beginning, on demand, and after a move was taken back.
        """

    def read(self, place: Place, state: Any, text: str) -> Sequence[int]:
        """Return the actions that ``text``, in lower case and with single spaces, means; they are all the person's own.

        Those that come after the seat's turn are kept for its next turns. Raises ParameterError, with what to type
        instead, if it means none or the rules do not allow it.
        """

    def tell(self, place: Place, before: Any, action: int, after: Any, fault: str, brief: bool) -> list[str]:
        """Return what there is to tell of one action: the records before and after it, and what was wrong with it.

        Nothing that the person's seat may not know after it. ``brief`` asks for a line at the most.
        """

    def ending(self, place: Place, state: Any) -> str:
        """Return who has won, in words."""

    def list_facts(self, place: Place, state: Any) -> list[str]:
        """Return what the seat may know and its scene does not show, a line each; no advice and no estimates.

        All that is hidden from the seat is 0 in ``state``, in which somebody is to move.
        """

    def write_actions(self, place: Place, state: Any, actions: Sequence[int]) -> str:
        """Return the text that `read` reads as the actions of one whole decision."""


def dice(faces: Iterable[int]) -> str:
    """Return dice as they are shown: their faces with their numbers, hidden ones (0) blank."""
    return " ".join(f"{FACES[face - 1]}{face}" if 1 <= face <= len(FACES) else HIDDEN for face in faces)


def count(number: int, thing: str, things: str = "") -> str:
    """Return a number of things: ``1 point``, ``2 points``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def list_names(names: Sequence[str], word: str = "and") -> str:
    """Return names as people list them: ``a, b and c``."""
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def percent(chance: float) -> str:
    """Return a probability in hundredths, no other than 0 and 1 as ``0%`` and ``100%``."""
    if 0 < chance < 0.005:
        return "<1%"
    return ">99%" if 0.995 < chance < 1 else f"{chance:.0%}"


def number_of(word: str) -> int | None:
    """Return the whole number that a word or figures say, or None."""
    if re.fullmatch(r"[+-]?\d{1,9}", word, re.ASCII):
        return int(word)
    return NUMBER_WORDS.index(word) if word in NUMBER_WORDS else None


class UnreadError(ParameterError):
    """What was typed means nothing."""


def unread(text: str, instead: str) -> UnreadError:
    """Return the error for text that means nothing; ``instead`` continues "type"."""
    return UnreadError(f"{text!r} means nothing here: type {instead}")


def winners(place: Place, state: Any) -> list[int]:
    """Return the seats whose returns are the highest."""
    returns = place.game.returns(state).tolist()
    return [seat for seat, value in enumerate(returns) if value == max(returns)]


def name_winners(place: Place, first: Sequence[int]) -> str:
    """Return who has won, as a sentence without its end: ``You win``, ``You and even share the first place``."""
    if len(first) == 1:
        return place.does(first[0], "win")
    names = [place.who(seat) for seat in sorted(first, key=lambda seat: seat != place.seat)]
    together = list_names(names)
    return f"{together[:1].upper() if place.seat in first else together[:1]}{together[1:]} share the first place"
