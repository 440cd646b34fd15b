"""What one seed's training is told, what it says, and whoever carries it out as the others see that."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol


class SeedTask(NamedTuple):
    """A training of one seed, as its process is told of it."""

    game: str
    folder: str
    """The run's, absolute."""
    seed: int
    config: str
    """Path of a configuration; empty: the game's own."""
    overrides: tuple[str, ...]
    """Its seed and its threads among them."""
    resume: bool
    trust: bool
    threads: int
    device: str = "cpu"

    def to_line(self) -> str:
        """Return all of it as a line of JSON."""
        return json.dumps(self._asdict()) + "\n"

    @classmethod
    def from_line(cls, line: str) -> SeedTask:
        """Return what `to_line` told of."""
        said = json.loads(line)
        return cls(**{**said, "overrides": tuple(said["overrides"])})


class Progressed(NamedTuple):
    """A training has come so far."""

    done: int
    total: int
    text: str


class Said(NamedTuple):
    """A training has something to say to whoever began it."""

    text: str


class TrainingEnd(NamedTuple):
    """A training has ended."""

    how: str
    """`FINISHED`, `STOPPED` or `FAILED`."""
    why: str = ""
    """What went wrong, in a line."""


FINISHED, STOPPED, FAILED = "finished", "stopped", "failed"
"""How a training ends: by itself, because it was asked to, or by something that went wrong."""
SeedEvent = Progressed | Said | TrainingEnd
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (Progressed, Said, TrainingEnd)}


def to_line(event: SeedEvent) -> str:
    """Return an event as a line of JSON."""
    return json.dumps([type(event).__name__, *event]) + "\n"


def from_line(line: str | bytes) -> SeedEvent:
    """Return what `to_line` told of. Raises ValueError, TypeError or LookupError if it is no event."""
    kind, *values = json.loads(line)
    found: SeedEvent = _KINDS[kind](*values)
    return found


class SeedTrainer(Protocol):
    """Carries out one training from when it was made to its end, wherever that is."""

    def events(self) -> Iterable[SeedEvent]:
        """Return what happened since the last call, without waiting; `TrainingEnd` comes once, as the last."""

    def stop(self, number: int) -> None:
        """Hand on a signal: the first asks it to save and end, the second to end at once."""

    def kill(self) -> None:
        """End it now, whatever that costs."""

    def close(self) -> None:
        """Give back what it holds, once it has ended."""
