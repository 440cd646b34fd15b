"""An executor in this process that ends jobs in any order, and may make up the results of matches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dicegym import game
from dicegym.arena.executors import Executors
from dicegym.arena.match import Match
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.play.printed import Printed
from dicegym.sandbox import jail
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import Failure, Job, here
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

SMALL = game("hog", goal=20)
"""A game of which a contest's test asks 400 questions instead of 10,000."""
Returns = Sequence[Sequence[float]]
"""For each game what each entry of a match got."""
Play = Callable[[Match], Returns | Failure]


class Disorderly:
    """Does up to ``ahead`` jobs at a time, and yields them as luck has it.

    Args:
        play: makes up what a match comes to; None: it is played.
        seed: of the order.
        ahead: jobs that are taken before one of them ends.
        most: matches after which it breaks down; None: never.
    """

    def __init__(
        self, limits: Limits | None, play: Play | None = None, seed: int = 0, ahead: int = 4, most: int | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.isolation = jail.choose(jail.Isolation.NONE)
        self.matches: list[Match] = []
        self._play, self._random, self._ahead, self._most = play, random.Random(seed), ahead, most

    def __enter__(self) -> Disorderly:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job], watch: object = None) -> Iterator[tuple[Job, JobOutcome]]:
        source, taken = iter(jobs), list[Job]()
        while True:
            while len(taken) < self._ahead and (job := next(source, None)) is not None:
                taken.append(job)
            if not taken:
                return
            job = taken.pop(self._random.randrange(len(taken)))
            if isinstance(job, Match):
                if self._most is not None and len(self.matches) >= self._most:
                    raise KeyboardInterrupt
                self.matches.append(job)
            yield job, self._outcome(job)

    def _outcome(self, job: Job) -> JobOutcome:
        if self._play is not None and isinstance(job, Match):
            found = self._play(job)
            return found if isinstance(found, Failure) else outcome_of(job, found)
        heartbeat = Heartbeat.private()
        try:
            return job.run(here(heartbeat, Printed()))
        except AgentError as error:
            return Failure(max(heartbeat.read().actor, 0), error.reason)


def outcome_of(match: Match, returns: Returns) -> dict[str, Any]:
    """Return the outcome of a match in which entries got ``returns``; everybody prints the match's number."""
    players = range(len(match.entries))
    best = [[player for player in players if game[player] == max(game)] for game in returns]
    return {
        "wins": [sum(first == [player] for first in best) for player in players],
        "shares": [sum((player in first) / len(first) for first in best) for player in players],
        "faults": [0 for _ in players],
        "seats": [list(players) for _ in returns],
        "returns": [list(game) for game in returns],
        "incidents": [],
        "noted": [0 for _ in players],
        "printed": [f"{match.number} " + " ".join(entry.name for entry in match.entries) for _ in players],
        "actions": [[] for _ in returns],
    }


def disorderly(
    play: Play | None = None,
    seed: int = 0,
    ahead: int = 4,
    most: int | None = None,
    made: list[Disorderly] | None = None,
) -> Executors:
    """Return what makes such executors; those that are made are put into ``made``."""

    def make(game: Game, limits: Limits | None, isolation: str) -> Disorderly:
        found = Disorderly(limits, play, seed, ahead, most)
        if made is not None:
            made.append(found)
        return found

    return make
