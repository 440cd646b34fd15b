"""Ask an entry for its whole strategy: a table of answers from which exact values are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.games.parts import DUEL, need, quick_solver_of, tabulate_player
from dicegym.sandbox.heartbeat import LOADING, Reading
from dicegym.sandbox.jobs import Context, Entry, Failure
from dicegym.sandbox.remote import IsolatedPlayer

PATIENCE = 30
"""How many times as long as for a match an entry may take for its whole strategy."""


@dataclass(frozen=True)
class Tabulate:
    """Asks an entry for its whole strategy, as a job for a sandbox; see `dicegym.sandbox.jobs.Job`."""

    game: Game
    entries: tuple[Entry, ...]
    seed: int
    quick: bool = False
    """Whether to return no table for an entry that may be random and would need too many questions."""

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the outcome, apart from game, entry and limits; see `Job.facts`."""
        return {"kind": "strategy", "seed": self.seed, "quick": self.quick}

    def run(self, context: Context) -> dict[str, Any]:
        """Load the entry and ask it for everything."""
        heartbeat, (entry,) = context.heartbeat, self.entries
        heartbeat.note(LOADING, 0)
        (heartbeat.hand_over if context.apart(entry) else heartbeat.act)(0)
        seed = named_seed("check", self.seed, entry.name)
        player = context.load(entry, self.game, seed, lambda: self.moment(heartbeat.read()), None)
        says_pure = getattr(player, "says_pure", False)  # also if it keeps state in its process
        if self.quick and not says_pure and quick_solver_of(self.game, player) is None:
            return {"table": None}
        values = need(self.game, DUEL)
        answers, draws = tabulate_player(values.tabulate, player, self.game)
        table = answers if isinstance(answers, np.ndarray) else values.tabulate(player, self.game)
        if isinstance(player, IsolatedPlayer):
            player.raise_if_gone()  # the rules may give a failure a price, but this is no answer
        return {"table": table.tolist(), "dtype": str(table.dtype), "draws": draws}

    def without(self, failure: Failure) -> None:
        """Return None: an entry that cannot be asked has no exact value."""

    def moment(self, reading: Reading) -> str:
        """Return when the failure happened."""
        return "while it was asked for its whole strategy"
