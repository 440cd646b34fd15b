"""The plan of a contest of the pages: game, format and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dicegym.arena.contest_options import ContestOptions
from dicegym.arena.running import choose_format
from dicegym.engine.game import Game
from dicegym.errors import ParameterError, unknown_name
from dicegym.games import game as make_game
from dicegym.players.roster import agent_names
from dicegym.sandbox.limits import Limits


@dataclass(frozen=True)
class ContestPlan:
    """The settings of a contest, as plain values.

    Attributes:
        game: the name of the game.
        format: a key of `dicegym.arena.running.FORMATS`; None: the game's own.
        agents: our agents that also play.
        parameters: parameters of the game.
        options: fields of `dicegym.arena.contest_options.ContestOptions` by name.
        seconds: processor time of an entry for all its moves of a match.
        memory: memory of an entry in MiB.

    Raises:
        ParameterError: invalid values.
        UnknownNameError: an unknown game, format, option or agent.
    """

    game: str
    format: str | None = None
    agents: Sequence[str] = ()
    parameters: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 10.0
    memory: int = 512

    def __post_init__(self) -> None:
        """Check all values."""
        table = self.table
        choose_format(table, self.format, ContestOptions.of(self.options))
        known = agent_names(table)
        for name in self.agents:
            if name not in known:
                raise unknown_name(f"agent of {self.game}", name, list(known))
        if len(set(self.agents)) != len(self.agents):
            raise ParameterError("an agent is named twice: name each agent once")
        _ = self.limits  # raises for invalid limits

    @property
    def table(self) -> Game:
        """The game with its parameters."""
        return make_game(self.game, **self.parameters)

    @property
    def limits(self) -> Limits:
        """The limits of an entry."""
        return Limits(self.seconds, self.memory << 20)

    def words(self) -> list[str]:
        """Return the settings that differ from the defaults, and the limits, in words."""
        usual = ContestOptions()
        unusual = {name: value for name, value in self.options.items() if value != getattr(usual, name)}
        found = [f"{name.replace('_', ' ')}={value}" for name, value in {**unusual, **self.parameters}.items()]
        return [*found, f"{self.seconds:g} s and {self.memory} MiB a bot"]
