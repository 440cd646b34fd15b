"""Who we are on a server that does not tell."""

from __future__ import annotations


class Identity:
    """What we are called in standings, which a server of another make may not tell.

    Whoever moves without a command of ours is somebody else. If nobody moves for a while, it is probably our turn; an
    error then tells that it is not.

    Args:
        wanted: the name that we have asked for.
    """

    def __init__(self, wanted: str | None) -> None:
        self.name: str | None = None
        self._wanted = wanted
        self._candidates: set[str] = set()
        self._mover = ""
        self._guessed = False

    def told(self, name: str) -> None:
        """Take the server's word."""
        self.name, self._guessed = name, False

    def seen(self, names: list[str], mover: str, asked: bool) -> None:
        """Take note of a standing, and whether we have sent a command since the last one."""
        if self.name not in names:
            self.name, self._guessed = (self._wanted if self._wanted in names else None), False
        if self.name is None:
            self._candidates = (self._candidates & set(names)) or set(names)
            if not asked:
                self._candidates -= {self._mover}
            if len(self._candidates) == 1:
                (self.name,) = self._candidates
        self._mover = mover

    def guess(self) -> str:
        """Return the name of the player to move, as it seems to be ours."""
        self.name, self._guessed = self._mover, True
        return self._mover

    def wrong(self) -> bool:
        """Take note of an error; return whether a guess was its reason."""
        if not self._guessed:
            return False
        self._candidates.discard(str(self.name))
        self.name, self._guessed = None, False
        return True
