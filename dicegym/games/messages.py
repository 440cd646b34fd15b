"""What a game's ``protocol.py`` offers to servers and clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dicegym.engine.game import Game

Message = dict[str, Any]
"""A JSON object."""


class Wire(Protocol):
    """A game's ``protocol.py``: its messages between server and client, as a module of pure functions.

    Those that read a message take anything that JSON can say, and raise `CommandError` if it is not what they read.
    """

    STANDING: str
    """Words for kinds of messages, as `word_of` finds them."""
    FINAL: str
    ERROR: str
    LOGIN: str
    WELCOME: str
    UNREADABLE: int
    """The action that a command which cannot be read is for the rules: an error."""

    @property
    def CommandError(self) -> type[Exception]:  # noqa: N802 - it is a class
        """The error for a message that means nothing; it has ``code`` and ``message``."""

    def word_of(self, message: object) -> str:
        """Return what kind of message it is."""

    def standing_message(self, game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
        """Return what all are told after a change."""

    def final_message(self, game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
        """Return what all are told at the end."""

    def error_message(self, code: str, message: str) -> Message:
        """Return the answer to what cannot be carried out."""

    def welcome_message(self, name: str, rating: int) -> Message:
        """Return what tells a client the name under which it plays."""

    def login_message(self, secret: str | None = None, name: str | None = None, client: str | None = None) -> Message:
        """Return what a client says first; ``client`` says what program it is."""

    def login_of(self, message: object) -> tuple[str | None, str | None]:
        """Return name and secret of a LOGIN, None for what is not in it."""

    def original_login(self, message: object) -> bool:
        """Return whether a LOGIN is that of a client of the original, to be spoken to as its server does."""

    def as_original(self, standing: Message) -> Message:
        """Return a STANDING as the original server writes it."""

    def action_of(self, command: object) -> int:
        """Return the action that a command means; whether it is legal is for the rules to say."""

    def fault_error(self, fault: int) -> Any:
        """Return the `CommandError` that tells of a fault of the rules."""

    def totals_of(self, game: Game, state: Any) -> list[int]:
        """Return what each seat has reached, more being better."""

    def has_given_up(self, state: Any, seat: int) -> bool:
        """Return whether the rules play all the rest of the game for a seat."""

    def interludes(self, game: Game, state: Any, action: int) -> Sequence[Any]:
        """Return the records through which the rules advance by themselves while ``action`` is played in ``state``."""

    def names_of(self, standing: object) -> list[str]:
        """Return the names in a STANDING, by seat."""

    def final_text(self, message: object) -> str:
        """Return in one line what a FINAL says."""

    def read_welcome(self, message: object) -> str:
        """Return the name in a WELCOME."""

    def mover_of(self, standing: object) -> str:
        """Return the name of the player to move in a STANDING."""

    def state_of(self, standing: object, seat_name: str, game: Game) -> tuple[Any, int]:
        """Return the record that a STANDING describes, and the seat of ``seat_name``."""

    def open_boxes(self, standing: object, name: str) -> int:
        """Return how many turns a player of a STANDING has still to end; 0 after its last."""

    def continues(self, before: object, after: object) -> bool:
        """Return whether one STANDING can follow another in one game."""

    def command_in(self, action: int, state: Any) -> Message:
        """Return the command that an action means in a state of `state_of`."""
