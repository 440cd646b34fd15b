"""What the contest's test of an entry found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dicegym.escape import quote_words


@dataclass(frozen=True)
class CheckReport:
    """What the contest's test found.

    Attributes:
        name: what reports call the entry.
        game: name of the game.
        reason: why it is disqualified; empty if it is not.
        load_seconds: processor time to load it.
        seconds: processor time for the whole test.
        limit: seconds that it may take for that.
        questions: number of questions asked, or of games played; see ``unit``.
        printed: the beginning of what it printed, which costs nothing.
        answers: all answers as the game's test returns them (Hog: int8[goal, goal]); None if disqualified.
        verdict: what the rules make of a bad one: "disqualified", or "at fault" where failing has a price.
        remarks: what its author should know although nothing is wrong.
        win_rate: its exact win rate against the game's baseline, 0..1, by one answer to each situation; None if the
            game has no exact values, or it was not asked for.
        baseline: the agent that this is against.
        table: its action in each situation of the game, if it says that it is pure and was asked in another process.
        unit: what ``questions`` counts: "questions" or "games".
        calls: what it was called with, answered and printed; empty unless `check` was to show it.
    """

    name: str
    game: str
    reason: str = ""
    load_seconds: float = 0.0
    seconds: float = 0.0
    limit: float = 0.0
    questions: int = 0
    printed: str = ""
    answers: np.ndarray | None = None
    verdict: str = "disqualified"
    remarks: tuple[str, ...] = ()
    win_rate: float | None = None
    baseline: str = ""
    table: np.ndarray | None = None
    calls: str = ""
    unit: str = "questions"

    @property
    def ok(self) -> bool:
        """Whether the entry may take part."""
        return not self.reason

    def to_json(self) -> dict[str, Any]:
        """Return everything but the answers and the calls as plain values."""
        names = "name game ok reason load_seconds seconds questions unit printed remarks win_rate baseline"
        return {name: getattr(self, name) for name in names.split()} | {"remarks": list(self.remarks)}

    def text(self) -> str:
        """Return the report in words, a line per finding."""
        lines = [self.calls] if self.calls else []  # which ends its last line: an empty one follows
        if not self.ok:
            lines.append(f"{self.name}: {self.verdict}: {self.reason}")
        else:
            lines += [f"{self.name}: ok", f"  loaded in {self.load_seconds:.3f} s"]
            if self.questions:
                passed = f"passed all {self.questions} {self.unit} of the test"
                lines.append(f"  {passed} in {self.seconds:.3f} s (limit {self.limit:g} s of processor time)")
        if self.win_rate is not None:
            known = f"{self.baseline}, by one answer to each situation"
            lines.append(f"  wins {self.win_rate:.4%} of its games against {known}")
        if self.printed:
            lines.append(f"  printed, which costs nothing; {quote_words(self.printed, 80)}")
        return "\n".join([*lines, *(f"  note: {remark}" for remark in self.remarks)])
