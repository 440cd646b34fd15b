"""The executor of a cluster: it hands jobs to referees on all nodes, and gives again what is lost with a node.

There are as many referees as processors, as nodes come and go, each an actor of Ray's with a sandbox of one process.
Ray restarts and repeats nothing: who is lost is replaced here, and the jobs that it had are given to others, in their
order, before new ones. So a job has one outcome, whatever became of earlier tries.
"""

from __future__ import annotations

import bisect
import itertools
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dicegym.arena.cluster.connection import check_address, close_connection, open_connection, ray_module
from dicegym.arena.cluster.parcels import Packer, Parcel
from dicegym.arena.cluster.referee import NodeReferee
from dicegym.arena.cluster.survey import Survey, survey
from dicegym.arena.executors import Executor, Executors
from dicegym.engine.game import Game
from dicegym.engine.validate import whole_number
from dicegym.errors import DicegymError, one_line
from dicegym.sandbox import jail
from dicegym.sandbox.jobs import Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

DEPTH = 2
"""Jobs that a referee has at a time: the one that it does, and the next one, so that it never waits for it."""
MOST_LOSSES = 5
"""Referees that may be lost over the same job before it is given up, and starts that may fail in a row."""
LOOK_EVERY = 1.0
"""Seconds between two looks at how many processors the cluster has, and at most for an answer."""
PATIENCE = 600.0
"""Seconds without any referee that is ready: a machine that is new to a game may have to compile its rules, or a
cluster to start a machine."""
END_SECONDS = 10.0
"""How long referees may take to end what they have started before they are ended."""


class _Given:
    """A job on its way."""

    def __init__(self, number: int, job: Job, data: bytes, parcels: dict[str, Any]) -> None:
        self.number, self.job = number, job
        self.sent = data, parcels
        self.losses = 0
        self.tries = 0
        """How many referees have it at the moment."""
        self.wanted = True

    def __lt__(self, other: _Given) -> bool:
        return self.number < other.number


class _Hand:
    """A referee, as seen from here."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.asked: Any = actor.about.remote()
        """Reference of its first word; None: it has been heard."""
        self.ready = False
        self.given: dict[Any, _Given] = {}
        """What it has to do, in order, by the reference of its answer."""

    def do(self, given: _Given) -> None:
        """Hand over a job."""
        given.tries += 1
        self.given[self.actor.do.remote(*given.sent)] = given


class RayExecutor:
    """Does jobs on a Ray cluster; see `dicegym.arena.executors.Executor`.

    Args:
        game: the game of all jobs.
        limits: what each entry may use.
        isolation: how untrusted entries are kept apart, on each node; "auto" is the best that works there. Nodes that
            come later, and cannot do what the others can, do not play.
        address: as for `dicegym.arena.cluster.connection.connected`.
        workers: processors to use, which a cluster that can grow is asked for; default: all that it has at the time.
        patience: seconds without any referee that is ready after which it is given up.
        told: is told in a line where it plays.

    Raises:
        ParameterError, UnknownNameError: there is no such address, number or isolation.
        DependencyError: Ray is not installed.
        DicegymError: there is no such cluster, or a node does not fit.
    """

    def __init__(
        self,
        game: Game,
        limits: Limits | None = None,
        isolation: str = jail.Isolation.AUTO,
        address: str | None = None,
        workers: int | None = None,
        patience: float = PATIENCE,
        told: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.limits = limits or Limits()
        self._game = game
        self._asked = isolation
        self._workers = None if workers is None else whole_number("workers", workers, 1, 1 << 16, "the processors")
        self._patience = patience
        self._hands: list[_Hand] = []
        self._numbers = itertools.count()
        self._looked = self._alive = 0.0
        self._failed = self._lost = 0
        """Starts that failed since the last one that did not; referees that were lost after theirs."""
        self._told = told
        open_connection(check_address(address), self._workers)
        self._let_go = weakref.finalize(self, close_connection)  # also if nothing was ever done
        try:
            self._ray: Any = ray_module()
            self._nodes: Survey = survey(self._ray, game, isolation, patience)
            told(f"{self._nodes.in_words}, where bots are kept apart by {self._nodes.description}")
            self._actor = self._ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(NodeReferee)
            self._packer = Packer(game, self._stored)
        except BaseException:
            self._let_go()
            raise

    @property
    def isolation(self) -> jail.Choice:
        """How untrusted entries are kept apart, on all nodes that play."""
        return jail.Choice(self._nodes.level, self._nodes.description)

    def __enter__(self) -> RayExecutor:
        """Start the referees. Nobody waits for them here."""
        self._alive = time.monotonic()
        self._grow()
        return self

    def __exit__(self, *_: object) -> None:
        """End the referees, and whatever bots still run in them."""
        try:
            ending = [hand.actor.end.remote() for hand in self._hands if hand.ready and not hand.given]
            if ending:
                self._ray.wait(ending, num_returns=len(ending), timeout=END_SECONDS)
            for hand in self._hands:
                self._ray.kill(hand.actor)
        finally:
            self._hands = []
            self._let_go()
            if self._lost:
                were = "1 referee was" if self._lost == 1 else f"{self._lost} referees were"
                self._told(f"{were} lost with their nodes; what they had to do was done by others")

    def _stored(self, parcel: Parcel) -> Any:
        return [self._ray.put(parcel)]  # in a list, where Ray leaves it until somebody asks

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, JobOutcome]]:
        """Do ``jobs``, as `dicegym.arena.executors.Executor.run` says.

        Raises:
            DicegymError: nobody can do them: there is no referee for `PATIENCE` seconds, or a job has ended several.
            ParameterError: an entry has too many files to be sent.
        """
        waiting = iter(jobs)
        again: list[_Given] = []
        first = self._next(waiting)
        if first is None:
            return
        again.append(first)
        more = True
        try:
            while True:
                self._grow()
                for hand in self._free():
                    given = again.pop(0) if again else self._next(waiting) if more else None
                    more = more and given is not None
                    given = given or self._queued_elsewhere(hand)
                    if given is not None:
                        hand.do(given)
                if not more and not again and not any(one.wanted for one in self._all_given()):
                    return
                for reference in self._answers():
                    yield from self._heard(reference, again)
        finally:
            for given in self._all_given():
                given.wanted = False

    def _next(self, waiting: Iterator[Job]) -> _Given | None:
        job = next(waiting, None)
        return None if job is None else _Given(next(self._numbers), job, *self._packer.pack(job))

    def _all_given(self) -> list[_Given]:
        return [given for hand in self._hands for given in hand.given.values()]

    def _free(self) -> list[_Hand]:
        """Return who can take a job, those with nothing to do before those that are only going to have nothing."""
        free = [(len(hand.given), hand) for hand in self._hands if hand.ready]
        return [hand for depth in range(DEPTH) for busy, hand in free if busy <= depth]

    def _queued_elsewhere(self, hand: _Hand) -> _Given | None:
        """Return what somebody has not begun with, for one who has nothing to do; the first outcome will count."""
        if hand.given:
            return None
        later = (given for other in self._hands for given in list(other.given.values())[1:])
        return min((given for given in later if given.wanted and given.tries == 1), default=None)

    def _answers(self) -> list[Any]:
        """Return references of answers that have come, after waiting a little for the first one."""
        awaited = [hand.asked for hand in self._hands if hand.asked is not None]
        awaited += [reference for hand in self._hands for reference in hand.given]
        if not awaited:
            time.sleep(LOOK_EVERY)
            return []
        ready, _ = self._ray.wait(awaited, num_returns=1, timeout=LOOK_EVERY)
        if ready:
            ready, _ = self._ray.wait(awaited, num_returns=len(awaited), timeout=0)
        return list(ready)

    def _heard(self, reference: Any, again: list[_Given]) -> Iterator[tuple[Job, JobOutcome]]:
        """Take an answer; yield a job with its outcome if it is one that is still wanted."""
        hand = next((one for one in self._hands if reference in one.given or reference == one.asked), None)
        if hand is None:
            return  # it was lost with the answer before this one
        try:
            answer = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._lose(hand, reference, error, again)
            return
        if reference == hand.asked:
            hand.asked = None
            self._welcome(hand, answer)
            return
        given = hand.given.pop(reference)
        given.tries -= 1
        if given.wanted:
            given.wanted = False
            other, outcome = answer
            yield (self._packer.unpack(other) if other else given.job), outcome

    def _welcome(self, hand: _Hand, refusal: str) -> None:
        """Let a referee play that has told that it can; who cannot keeps its processor, lest another one gets it."""
        if refusal:
            warnings.warn(f"a node does not play: {refusal}", RuntimeWarning, stacklevel=2)
            return
        hand.ready = True
        self._failed = 0

    def _lose(self, hand: _Hand, reference: Any, error: Exception, again: list[_Given]) -> None:
        """Let a referee go that has failed, or its node; give its jobs again."""
        self._hands.remove(hand)
        self._ray.kill(hand.actor)
        reason = one_line(getattr(error, "cause", None) or error)
        self._lost += hand.ready
        if not hand.ready:
            self._failed += 1
            if self._failed >= MOST_LOSSES and not any(one.ready for one in self._hands):
                raise DicegymError(f"no referee can be started on the cluster: {reason}")
        for number, given in enumerate(hand.given.values()):
            given.tries -= 1
            if number == 0:  # the others were waiting
                given.losses += 1
            if given.losses >= MOST_LOSSES and given.wanted:
                names = " - ".join(entry.name for entry in given.job.entries)
                raise DicegymError(
                    f"{given.losses} referees were lost while they had the same to do, {type(given.job).__name__} of "
                    f"{names}, which is given up. The last one: {reason}"
                )
            if given.wanted and not given.tries:
                bisect.insort(again, given)

    def _grow(self) -> None:
        """Have as many referees as there are processors. Raises DicegymError if there were none for too long."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return
        self._looked = now
        if any(hand.ready for hand in self._hands):
            self._alive = now
        room = int(self._ray.cluster_resources().get("CPU", 0))
        if now - self._alive > self._patience:
            raise DicegymError(
                f"the cluster has had no referee ready for {self._patience:g} s; it has {room} processors, and "
                f"{len(self._hands)} referees wait for one or are being started: `ray status` says more"
            )
        for _ in range(len(self._hands), self._workers or max(room, 1)):
            actor = self._actor.options(scheduling_strategy="SPREAD")
            self._hands.append(
                _Hand(actor.remote(self._game, self.limits, self._asked, self._nodes.level, self._nodes.here))
            )


def ray_cluster(
    address: str | None = None, workers: int | None = None, told: Callable[[str], None] = lambda line: None
) -> Executors:
    """Return what makes executors of a Ray cluster.

    Nothing is connected to before the first of them is made; the last one that ends disconnects, and ends a Ray that
    was started for it.

    Args:
        address: ``host:6379``, ``ray://host:10001``, "auto" for the Ray that runs on this machine, "local" for one of
            our own; None: the one that ``RAY_ADDRESS`` names or that runs here, else one of our own.
        workers: processors to use; default: all that the cluster has.
        told: is told in a line where each executor plays.

    Raises:
        ParameterError: the address is none.
    """
    check_address(address)
    said: dict[str, None] = {}

    def tell(line: str) -> None:
        if line not in said:  # a contest may need several executors of the same cluster
            said[line] = None
            told(line)

    def make(game: Game, limits: Limits | None, isolation: str) -> Executor:
        return RayExecutor(game, limits, isolation, address, workers, told=tell)

    return make
