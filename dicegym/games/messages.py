"""The protocol of a game's ``protocol.py``: messages between a server and its clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dicegym.engine.game import Game

Message = dict[str, Any]
"""A JSON object."""


class Wire(Protocol):
    """A game's ``protocol.py``: its messages between server and client, as a module of pure functions.

    Functions that read a message accept any JSON value, and raise `CommandError` for a message of another kind.
    """

    STANDING: str
    """The words that `word_of` returns for each kind of message."""
    FINAL: str
    ERROR: str
    LOGIN: str
    WELCOME: str
    UNREADABLE: int
    """The action for a command that cannot be read; the rules count it as an error."""

    @property
    def CommandError(self) -> type[Exception]:  # noqa: N802 - it is a class
        """The error for an invalid message, with ``code`` and ``message``."""

    def word_of(self, message: object) -> str:
        """Return the kind of a message."""

    def standing_message(self, game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
        """Return the message to all players after a change."""

    def final_message(self, game: Game, state: Any, names: Sequence[str], ratings: Sequence[int]) -> Message:
        """Return the message to all players at the end."""

    def error_message(self, code: str, message: str) -> Message:
        """Return the answer to a command that cannot be carried out."""

    def welcome_message(self, name: str, rating: int) -> Message:
        """Return the message that tells a client its name in the game."""

    def login_message(self, secret: str | None = None, name: str | None = None, client: str | None = None) -> Message:
        """Return a client's first message; ``client`` names its program."""

    def login_of(self, message: object) -> tuple[str | None, str | None]:
        """Return name and secret of a LOGIN, each None if it is missing."""

    def original_login(self, message: object) -> bool:
        """Return whether a LOGIN comes from an original client, which expects messages of the original server."""

    def as_original(self, standing: Message) -> Message:
        """Return a STANDING as the original server writes it."""

    def action_of(self, command: object) -> int:
        """Return the action that a command means; the rules decide whether it is legal."""

    def fault_error(self, fault: int) -> Any:
        """Return the `CommandError` for a fault of the rules."""

    def totals_of(self, game: Game, state: Any) -> list[int]:
        """Return the result of each seat so far; more is better."""

    def has_given_up(self, state: Any, seat: int) -> bool:
        """Return whether the rules play the rest of the game for a seat."""

    def interludes(self, game: Game, state: Any, action: int) -> Sequence[Any]:
        """Return the records between ``state`` and the next decision of a player, when ``action`` is played."""

    def names_of(self, standing: object) -> list[str]:
        """Return the names in a STANDING, by seat."""

    def final_text(self, message: object) -> str:
        """Return a FINAL as one line of text."""

    def read_welcome(self, message: object) -> str:
        """Return the name in a WELCOME."""

    def mover_of(self, standing: object) -> str:
        """Return the name of the player to move in a STANDING."""

    def state_of(self, standing: object, seat_name: str, game: Game) -> tuple[Any, int]:
        """Return the record that a STANDING describes, and the seat of ``seat_name``."""

    def open_boxes(self, standing: object, name: str) -> int:
        """Return how many turns a player in a STANDING has left; 0 after the last one."""

    def continues(self, before: object, after: object) -> bool:
        """Return whether one STANDING can follow another in the same game."""

    def command_in(self, action: int, state: Any) -> Message:
        """Return the command for an action in a state of `state_of`."""
