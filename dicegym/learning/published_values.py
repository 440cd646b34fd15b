"""Published values: every figure that the games and models claim to be exact, computed anew and compared.

A game lists its own in the part `Values` of its ``values.py``. A model claims the exact scores that its file
names.
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
"""How far an exact win rate may be from the one in a model's file, which was computed by the same sums."""


class Verdict(NamedTuple):
    """What became of one claim."""

    game: str
    claim: Claim
    found: float | None
    """The value as computed now; None: it was not computed."""
    seconds: float
    error: str = ""
    """Why computing it failed."""

    @property
    def holds(self) -> bool:
        """Whether the value is as claimed, or rests on tables that are not here."""
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
        """Why there is no value; empty if there is one."""
        return self.error or (f"`{self.claim.needs}` makes the tables first" if self.found is None else "")

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        claim = self.claim._asdict()
        del claim["compute"]
        return {"game": self.game, **claim, "found": self.found, "verdict": self.word, "remark": self.remark}


def claims_of(name: str) -> Sequence[Claim]:
    """Return what a game and its models claim. Raises UnknownNameError for a game that is not registered."""
    own = part(name, VALUES)
    return [*(own.claims() if own is not None else ()), *_model_claims(name)]


def _model_claims(name: str) -> Iterator[Claim]:
    """Yield the exact scores of the models that ship with a game."""
    for path in sorted(agents_folder(name).glob("*.zip")):
        for score in facts(path).get("scores") or ():  # a user's own model has none
            if score["games"] == 0 and score["low"] == score["high"]:
                what = f"{score['measure']} of {path.stem} against {score['opponent']}"
                compute = partial(_exact_score, path, score["opponent"])
                yield Claim(what, score["value"], ROUNDING, "the model's card", compute)


def _exact_score(path: Any, opponent: str) -> float:
    return evaluate(read_game(path), str(path), opponent).value


def verify(games: Iterable[str] = (), told: Callable[[str], None] = lambda what: None) -> Iterator[Verdict]:
    """Compute every published value of some games (none: of all) anew, and yield what became of each.

    ``told`` is called with what is computed next. Raises UnknownNameError for a game that is not registered, before
    anything is computed.
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
            except DicegymError as failure:  # the other values are computed all the same
                error = one_line(failure)
            yield Verdict(name, claim, found, time.perf_counter() - began, error)
