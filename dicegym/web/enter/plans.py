"""The plan of a contest of the pages: its game, format and limits, as an operator chose them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
    """What a contest is, by plain values.

    Attributes:
        game: its name.
        format: a key of `dicegym.arena.running.FORMATS`; None: the game's own.
        agents: that take part beside the bots.
        parameters: of the game.
        options: fields of `dicegym.arena.contest_options.ContestOptions` by name.
        seconds: processor time of an entry for all its moves of a match.
        memory: of an entry, MiB.

    Raises:
        ParameterError: values that no contest can have.
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
        """Check all of it."""
        table = self.table
        choose_format(table, self.format, ContestOptions.of(self.options))
        known = agent_names(table)
        for name in self.agents:
            if name not in known:
                raise unknown_name(f"agent of {self.game}", name, list(known))
        if len(set(self.agents)) != len(self.agents):
            raise ParameterError("an agent is named twice: name each once")
        _ = self.limits  # which refuses what no entry can have

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
        return asdict(self)

    def words(self) -> list[str]:
        """Return what is not as usual, a phrase each."""
        usual = ContestOptions()
        unusual = {name: value for name, value in self.options.items() if value != getattr(usual, name)}
        found = [f"{name.replace('_', ' ')}={value}" for name, value in {**unusual, **self.parameters}.items()]
        return [*found, f"{self.seconds:g} s and {self.memory} MiB a bot"]
