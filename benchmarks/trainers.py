"""Trainers side by side: each learns the same game from the same batch, one rollout and its update in turn."""

from __future__ import annotations

import dataclasses
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, Protocol

import dicegym
from benchmarks.figures import Figure, Measure, Skipped
from benchmarks.trainer_table import BESIDE_FIRST, BESIDE_ONE, SECTION, SHARES, SPEED
from benchmarks.training_setup import TrainingSetup
from dicegym.errors import DependencyError, UnknownNameError

try:
    import torch
    from stable_baselines3.common.vec_env import VecEnv

    from benchmarks.plain_ppo import PlainPPO
    from benchmarks.training import Stopwatch
    from dicegym.envs.sb3 import SB3VecEnv
    from dicegym.learning.building import ROLLOUT, new_model
    from dicegym.learning.configuration import read_config
    from dicegym.learning.training_settings import AlgorithmSettings, NetworkSettings, RunSettings, TrainingSettings
    from dicegym.players.sb3_models import algorithm
except ImportError as error:
    raise DependencyError.for_extra(str(error.name), "train", "dicegym doctor --bench training") from error

PLAIN = "plain loop in torch"
ALGORITHMS = ("MaskablePPO", "FastMaskablePPO")
"""Of Stable-Baselines3's kind, by the name that ``[algorithm] name`` takes; all are compared with the first."""
FAST_GOAL = ("at least", 2.5)
"""How many times as fast as the first the others of these are to be."""
THREADS_GOAL = ("at least", 1.6)
"""What they are to gain by two threads."""
PEER = "pufferlib"
PEER_WHY = (
    "it is not installed: its release 3.0.0 asks for numpy<2 and gymnasium<=0.29.1, which dicegym's versions exclude, "
    "has no wheels, and downloads libraries from GitHub while it is built; later sources train on NVIDIA's GPUs alone"
)


class TrainedRound(NamedTuple):
    """What a rollout and its update took, in seconds."""

    steps: int
    rollout: float
    """Without the environment."""
    update: float
    environment: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.rollout + self.update + self.environment

    @property
    def speed(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds


class Trained(Protocol):
    """Something that learns by rounds."""

    def round(self) -> TrainedRound:
        """Train on one more rollout."""


class _Timer:
    """Times the calls of one function."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``work``, which is timed from now on."""

        def called(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return work(*arguments, **named)
            finally:
                self.seconds += time.perf_counter() - began

        return called


class _ByStableBaselines:
    """An algorithm of Stable-Baselines3's kind."""

    def __init__(self, name: str, env: VecEnv, settings: TrainingSettings) -> None:
        named = dataclasses.replace(settings.algorithm, name=name)  # what was added is one algorithm's own
        self._env, self._update = Stopwatch(env), _Timer()
        run = dataclasses.replace(settings.run, seed=0)
        self._model = new_model(dataclasses.replace(settings, algorithm=named, run=run), self._env, None)
        self._steps = vars(self._model)["n_steps"] * env.num_envs
        vars(self._model)["train"] = self._update.timed(getattr(self._model, "train"))  # noqa: B009 - on-policy algorithms alone have it

    def round(self) -> TrainedRound:
        """Train on one more rollout."""
        self._env.seconds = self._update.seconds = 0.0
        began = time.perf_counter()
        self._model.learn(self._steps, reset_num_timesteps=False)
        rest = time.perf_counter() - began - self._update.seconds - self._env.seconds
        return TrainedRound(self._steps, rest, self._update.seconds, self._env.seconds)


class _Plainly:
    """The plain loop."""

    def __init__(self, env: VecEnv, settings: TrainingSettings) -> None:
        self._env = Stopwatch(env)
        self._loop = PlainPPO(self._env, settings)
        self._steps = int(settings.algorithm.n_steps or 0) * env.num_envs

    def round(self) -> TrainedRound:
        """Train on one more rollout."""
        self._env.seconds, began = 0.0, time.perf_counter()
        advantages = self._loop.collect()
        collected = time.perf_counter()
        self._loop.update(advantages)
        rollout = collected - began - self._env.seconds
        return TrainedRound(self._steps, rollout, time.perf_counter() - collected, self._env.seconds)


class Common(NamedTuple):
    """Settings that trainers have in common."""

    title: str
    game: dicegym.Game
    settings: TrainingSettings

    def text(self) -> str:
        """Return them in words."""
        algorithm, run, network = self.settings.algorithm, self.settings.run, self.settings.network
        sizes = network.net_arch if isinstance(network.net_arch, dict) else {"": network.net_arch}
        nets = ", ".join(f"{key} {'-'.join(map(str, value))}".strip() for key, value in sizes.items())
        return (
            f"{self.title}: {run.games:,} games x {algorithm.n_steps} steps, batches of {algorithm.batch_size:,}, "
            f"{algorithm.n_epochs} epoch{'s' * (algorithm.n_epochs != 1)}, {nets} {network.activation}"
        )


def commons(game: str, setup: TrainingSetup) -> Iterator[Common]:
    """Yield the bench's own settings, then those of the game's configuration, which makes games as it says."""
    yield Common(
        "alike",
        dicegym.game(game),
        TrainingSettings(
            run=RunSettings(games=setup.games),
            algorithm=AlgorithmSettings(
                n_steps=setup.rollout // setup.games, batch_size=setup.batch_size, n_epochs=setup.epochs
            ),
            network=NetworkSettings(net_arch=[64, 64], activation="Tanh"),  # as MlpPolicy has them
        ),
    )
    if not setup.configurations:
        return
    settings = read_config(game)
    # What is left out the algorithm makes of the number of games; the plain loop has to be told.
    said = settings.algorithm
    n_steps = said.n_steps or max(2, ROLLOUT // settings.run.games)
    batch_size = said.batch_size or max(2, n_steps * settings.run.games // 4)
    n_epochs = said.n_epochs or setup.epochs
    sizes = dataclasses.replace(said, n_steps=n_steps, batch_size=batch_size, n_epochs=n_epochs)
    alike = dataclasses.replace(settings.network, privileged=False)  # no trainer sees more than another
    settings = dataclasses.replace(settings, algorithm=sizes, network=alike)
    yield Common("its configuration", dicegym.game(game, **settings.game), settings)


def _makers() -> tuple[dict[str, Callable[[VecEnv, TrainingSettings], Trained]], list[Skipped]]:
    """Return how each trainer that is here is made, and which ones are not."""
    found: dict[str, Callable[[VecEnv, TrainingSettings], Trained]] = {}
    skipped = []
    for name in ALGORITHMS:
        try:
            algorithm(name)
        except UnknownNameError as error:
            skipped.append(Skipped(f"training by {name}", str(error)))
        else:
            found[name] = lambda env, settings, name=name: _ByStableBaselines(name, env, settings)  # type: ignore[misc] # the name of this round
    found[PLAIN] = _Plainly
    return found, [*skipped, _peer()]


def _peer() -> Skipped:
    """Return why there is no row of PufferLib's trainer."""
    if importlib.util.find_spec(PEER) is None:
        return Skipped(f"training by {PEER}", PEER_WHY)
    try:
        number = version(PEER)
    except PackageNotFoundError:
        number = "of unknown version"
    return Skipped(f"training by {PEER}", f"{PEER} {number} is here, whose trainer knows no masks of legal actions")


@contextmanager
def _torch_threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def measures(game: str, setup: TrainingSetup, threads: Sequence[int]) -> Iterator[Measure]:
    """Yield a measure for each of `commons`: each run trains every trainer by one rollout on each number of threads.

    Games are played on as many threads as networks learn on.
    """
    makers, _ = _makers()
    for common in commons(game, setup):
        yield _measure(common, makers, sorted(set(threads)))


def missing() -> list[Skipped]:
    """Return which trainers have no row, and why."""
    return _makers()[1]


def _measure(
    common: Common, makers: dict[str, Callable[[VecEnv, TrainingSettings], Trained]], threads: list[int]
) -> Measure:
    made: dict[tuple[str, int], Trained] = {}
    pairs = [(name, number) for number in threads for name in makers]
    figures = [figure for name, number in pairs for figure in _figures(common, name, number, number > threads[0])]

    def run() -> list[float]:
        rounds: dict[tuple[str, int], TrainedRound] = {}
        for name, number in pairs:
            with _torch_threads(number):
                if (name, number) not in made:
                    env = SB3VecEnv(common.game, common.settings.run.games, seed=0, threads=number)
                    made[name, number] = makers[name](env, common.settings)
                rounds[name, number] = made[name, number].round()
        return [value for name, number in pairs for value in _values(rounds, name, number, threads[0])]

    return Measure(tuple(figures), run, run)


def _figures(common: Common, name: str, threads: int, several: bool) -> Iterator[Figure]:
    """Yield the figures of a trainer on so many threads."""
    what = f"{name}, {threads} thread{'s' * (threads > 1)}"
    ours = name in ALGORITHMS[1:]
    goals = {BESIDE_FIRST: FAST_GOAL if ours else None, BESIDE_ONE: THREADS_GOAL if ours and threads == 2 else None}
    beside = () if name == ALGORITHMS[0] else (BESIDE_FIRST,)
    for unit in (SPEED, *beside, *((BESIDE_ONE,) if several else ()), *SHARES):
        yield Figure(SECTION, common.game.name, what, unit, mode=common.text(), goal=goals.get(unit))


def _values(rounds: dict[tuple[str, int], TrainedRound], name: str, threads: int, fewest: int) -> Iterator[float]:
    """Yield what `_figures` are of."""
    one = rounds[name, threads]
    yield one.speed
    if name != ALGORITHMS[0]:
        yield one.speed / rounds[ALGORITHMS[0], threads].speed
    if threads > fewest:
        yield one.speed / rounds[name, fewest].speed
    for part in (one.rollout, one.update, one.environment):
        yield 100 * part / one.seconds
