"""The plan of a contest of the pages: its game, format and limits, as an operator chose them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.running import settle_choices
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, unknown_name
from dicegym.games import game as make_game
from dicegym.players.roster import agent_names
from dicegym.sandbox.limits import Limits

LONGEST_SECONDS = 600.0
LARGEST_MEMORY = 4096
MOST_GAMES = 10_000


@dataclass(frozen=True)
class ContestPlan:
    """What a contest is, by plain values.

    Attributes:
        game: its name.
        format: a key of `dicegym.arena.running.FORMATS`; None: the game's own.
        games: of a match; None: the contest's own number.
        seeds: how often each match is played.
        rounds: of formats in rounds.
        players: seats at a table; None: the game's.
        less_luck: whether to use luck-adjusted results.
        parameters: of the game.
        agents: that take part beside the bots.
        seconds: processor time of an entry for all its moves of a match.
        memory: of an entry, MiB.

    Raises:
        ParameterError: values that no contest can have.
        UnknownNameError: an unknown game, format or agent.
    """

    game: str
    format: str | None = None
    games: int | None = None
    seeds: int = 1
    rounds: int | None = None
    players: int | None = None
    less_luck: bool = False
    parameters: Mapping[str, int] = field(default_factory=dict)
    agents: Sequence[str] = ()
    seconds: float = 10.0
    memory: int = 512

    def __post_init__(self) -> None:
        """Check all of it."""
        table = self.table
        options = ContestOptions(self.games, self.seeds, self.rounds, self.less_luck, self.players)
        settle_choices(table, self.format, options)
        known = agent_names(table)
        for name in self.agents:
            if name not in known:
                raise unknown_name(f"agent of {self.game}", name, list(known))
        if len(set(self.agents)) != len(self.agents):
            raise ParameterError("an agent is named twice: name each once")
        if (self.games or 0) * self.seeds > MOST_GAMES:
            raise ParameterError(f"{self.games} games, {self.seeds} times, are more than {MOST_GAMES:,} a match")
        if not math.isfinite(self.seconds) or not 0 < self.seconds <= LONGEST_SECONDS:
            raise ParameterError(f"seconds={self.seconds!r}: give more than 0 and at most {LONGEST_SECONDS:g}")
        if not 1 <= self.memory <= LARGEST_MEMORY:
            raise ParameterError(f"memory={self.memory!r}: give 1 to {LARGEST_MEMORY} MiB")

    @property
    def table(self) -> Game:
        """The game with its parameters."""
        return make_game(self.game, **self.parameters)

    @property
    def limits(self) -> Limits:
        """What an entry may use."""
        return Limits(self.seconds, self.memory << 20)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values: the arguments that make it again."""
        return asdict(self) | {"parameters": dict(self.parameters), "agents": list(self.agents)}

    def words(self) -> list[str]:
        """Return what is not as usual, a phrase each."""
        found = []
        if self.games is not None:
            found.append(f"{self.games} games a match")
        if self.seeds != 1:
            found.append(f"each match {self.seeds} times")
        if self.rounds is not None:
            found.append(f"{self.rounds} rounds")
        if self.players is not None:
            found.append(f"tables of {self.players}")
        found += ["luck-adjusted results"] * self.less_luck
        found += [f"{name}={value}" for name, value in self.parameters.items()]
        return [*found, f"{self.seconds:g} s and {self.memory} MiB a bot"]
