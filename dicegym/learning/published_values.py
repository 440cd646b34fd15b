"""Recompute every value that games and models claim to be exact, and compare.

A game lists its claims in the part `Values` of its ``values.py``. A model claims the exact scores in its file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from dicegym.errors import DicegymError, one_line
from dicegym.games import game as make_game
from dicegym.games.parts import VALUES, part
from dicegym.games.solved import Claim
from dicegym.learning.evaluate import evaluate
from dicegym.players.model_file import facts, read_game
from dicegym.players.roster import agents_folder
from dicegym.registry import GAMES

ROUNDING = 1e-9
"""Tolerance for an exact win rate in a model's file, which was computed by the same sums."""


class Verdict(NamedTuple):
    """The result of checking one claim."""

    game: str
    claim: Claim
    found: float | None
    """The recomputed value; None if it was not computed."""
    seconds: float
    error: str = ""
    """Why the computation failed."""

    @property
    def holds(self) -> bool:
        """Whether the value is as claimed, or needs tables that are missing."""
        above = 0.0 if self.found is None else self.found - self.claim.value
        return not self.error and (above if self.claim.at_most else abs(above)) <= self.claim.tolerance

    @property
    def word(self) -> str:
        """The verdict in one word."""
        if not self.holds:
            return "FAILED" if self.error else "WRONG"
        return "skipped" if self.found is None else "ok"

    @property
    def remark(self) -> str:
        """Why there is no value; otherwise empty."""
        return self.error or (f"`{self.claim.needs}` makes the tables first" if self.found is None else "")

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        claim = self.claim._asdict()
        del claim["compute"]
        return {"game": self.game, **claim, "found": self.found, "verdict": self.word, "remark": self.remark}


def claims_of(name: str) -> Sequence[Claim]:
    """Return the claims of a game and its models. Raises UnknownNameError for an unknown game."""
    own = part(name, VALUES)
    return [*(own.claims() if own is not None else ()), *_model_claims(name)]


def _model_claims(name: str) -> Iterator[Claim]:
    """Yield the exact scores in the files of a game's models."""
    for path in sorted(agents_folder(name).glob("*.zip")):
        for score in facts(path).get("scores") or ():  # a user's own model has none
            if score["games"] == 0 and score["low"] == score["high"]:
                what = f"{score['measure']} of {path.stem} against {score['opponent']}"
                compute = partial(_exact_score, path, score["opponent"])
                yield Claim(what, score["value"], ROUNDING, "the model's card", compute)


def _exact_score(path: Any, opponent: str) -> float:
    return evaluate(read_game(path), str(path), opponent).value


def verify(games: Iterable[str] = (), told: Callable[[str], None] = lambda what: None) -> Iterator[Verdict]:
    """Recompute all published values of ``games`` (default: all games), and yield a verdict for each.

    ``told`` is called with a text before each value. Raises UnknownNameError for an unknown game before any value is
    computed.
    """
    named = [games] if isinstance(games, str) else list(games) or list(GAMES)
    for name in named:
        make_game(name)
    for name in named:
        for claim in claims_of(name):
            told(f"{name}: {claim.what}")
            began, found, error = time.perf_counter(), None, ""
            try:
                found = claim.compute()
            except DicegymError as failure:  # the other values are still computed
                error = one_line(failure)
            yield Verdict(name, claim, found, time.perf_counter() - began, error)
