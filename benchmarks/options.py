"""What the bench is asked to measure."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.modes import DEFAULT_MODES, MODES
from benchmarks.training_setup import TrainingSetup
from dicegym.engine.validate import whole_number
from dicegym.errors import ParameterError, unknown_name
from dicegym.registry import ENVIRONMENTS, GAMES, Environment


class Options(NamedTuple):
    """What is to be measured."""

    modes: tuple[str, ...] = ()
    """Names of modes, or "all"; none: `DEFAULT_MODES`."""
    games: tuple[str, ...] = ()
    """None: all games."""
    seconds: float = 0.5
    """How long each loop runs."""
    repeats: int = 5
    threads: tuple[int, ...] = (1,)
    """More than one, such as (1, 2): large batches on each of these numbers of threads too."""

    setup: TrainingSetup = TrainingSetup()
    """Of the trainings."""

    @property
    def chosen_modes(self) -> tuple[str, ...]:
        """The modes, in the order in which they run."""
        wanted = set(self.modes or DEFAULT_MODES)
        return tuple(mode for mode in MODES if mode in wanted or "all" in wanted)

    @property
    def environments(self) -> list[Environment]:
        """The environments of the games."""
        return [e for e in ENVIRONMENTS if e.game in (self.games or GAMES)]

    def check(self) -> Options:
        """Return these options. Raises UnknownNameError or ParameterError if they cannot work."""
        for mode in self.modes:
            if mode not in (*MODES, "all"):
                raise unknown_name("mode of the bench", mode, [*MODES, "all"])
        for name in self.games:
            if name not in GAMES:
                raise unknown_name("game", name, list(GAMES))
        if not self.seconds > 0:
            raise ParameterError(f"--seconds {self.seconds} is no time to measure anything: give more than 0")
        whole_number("repeats", self.repeats, 1, 1 << 20, "the number of runs of each loop")
        for number in self.threads:
            whole_number("threads", number, 1, 1 << 10, "a number of threads")
        return self
