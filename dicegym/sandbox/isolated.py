"""A bot in a process of its own as a player."""

from __future__ import annotations

from dicegym.bots.program import Asked
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.escape import quote_words
from dicegym.games.parts import ADAPTER, need
from dicegym.play.player import Player
from dicegym.play.printed import Printed
from dicegym.play.turn import Act
from dicegym.sandbox.remote import RaisedError, Remote

MOST_REMARKS = 5
"""What is kept of what a bot's process says of its program."""


class RemoteProgram(Asked):
    """What an adapter knows of a bot in another process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for what the bot raised ``when``."""
        if isinstance(error, AgentError):
            return error
        if not isinstance(error, RaisedError):
            raise error  # of our own, or Ctrl-C
        return AgentError(self.name, f"{error.text} {when}" + (f" ({error.where})" if error.where else ""))


class IsolatedPlayer(Player):
    """A copy of a bot's program in a process of its own, for the games of one match.

    The seed is of the bot's randomness until it joins a game. If it is ``watched``, a witness is told of its calls.

    Attributes:
        says_pure: whether the file says so of itself.
        remarks: what its author should know although nothing is wrong.
        load_seconds: processor time that it took to load.

    Raises:
        AgentError: the bot cannot be loaded; GoneError if its process ended or took too long meanwhile.
    """

    def __init__(self, remote: Remote, name: str, game: Game, seed: int, watched: bool = False) -> None:
        self.name = name
        self._remote = remote
        self._adapter = need(game, ADAPTER)
        try:
            found = remote.ask("load", (seed, watched))
        except RaisedError as error:
            remote.close()
            raise RemoteProgram(name).failure(error, "while it was loaded") from error
        except AgentError:
            remote.close()
            raise
        known = found if isinstance(found, dict) else {}
        self.says_pure = known.get("pure") is True
        remarks = known.get("remarks")
        self.remarks = tuple(map(quote_words, remarks[:MOST_REMARKS])) if isinstance(remarks, list) else ()
        self.load_seconds = remote.spent
        remote.begin_bank()

    @property
    def printed(self) -> Printed:  # type: ignore[override]  # read alone
        """What the bot printed."""
        return self._remote.printed

    @property
    def spent(self) -> float:
        """Seconds of processor time that the bot's process has used since it was loaded."""
        return self._remote.spent

    def raise_if_gone(self) -> None:
        """Raise the GoneError of a process that has ended or had to be ended."""
        if self._remote.gone is not None:
            raise self._remote.gone

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down in one new game; see `Player.join`."""
        try:
            self._remote.ask("join", (seat, seed))
        except RaisedError as error:
            raise RemoteProgram(self.name).failure(error, "when it sat down") from error
        return self._adapter.sit(RemoteProgram(self.name), self._remote, game, seat)

    def close(self) -> bool:
        """End its process; return whether nothing is left of it. Raises what `Remote.close` does."""
        self._remote.close()
        return self._remote.clean
