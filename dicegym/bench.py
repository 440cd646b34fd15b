"""Measure the steps per second of each form of the environments on this machine, with random legal actions.

Loops run in turn, round after round, so that all see the same noise; medians are reported. The folder ``benchmarks`` of
the repository measures other libraries, contests, servers and trainers.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import count, cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dicegym.errors import DependencyError, unknown_name
from dicegym.registry import ENVIRONMENTS, GAMES, Environment

BATCH, SB3_BATCH = 1024, 256
"""Games in a batch, and in a batch for training, where the network limits the size."""
AT_A_TIME = 100
"""Steps of a single environment between two looks at the clock."""
SECONDS, ROUNDS = 0.5, 5
"""Seconds of each loop in a round, and the number of rounds."""
PACKAGES = ("dicegym", "gymnasium", "pettingzoo", "numba", "numpy")

Work = Callable[[], int]
"""A loop: plays for a moment and returns the number of steps."""


def measure_rate(work: Work, seconds: float) -> float:
    """Call ``work`` for about ``seconds``, at least once; return its steps per second."""
    done, spent, began = 0, 0.0, time.perf_counter()
    while not done or spent < seconds:
        done += work()
        spent = time.perf_counter() - began
    return done / spent


def random_numbers() -> Iterator[int]:
    """Return endless random integers, drawn in advance so that loops do not pay for them."""
    return cycle(np.random.default_rng(0).integers(0, 1 << 30, 10_007).tolist())


# --- loops -----------------------------------------------------------------------------------------------------------


def _calling(step: Callable[[int], object], n: int) -> Work:
    """Return a loop that calls ``step`` with the number of the call and counts ``n`` steps."""
    clock = count()

    def work() -> int:
        step(next(clock))
        return n

    return work


def bare_batch(environment: Environment, n: int = BATCH, threads: int = 1) -> Work:
    """Every seat of ``n`` games; counts decisions."""
    import dicegym

    batch = dicegym.game(environment.game, **environment.settings).batch(n, threads=threads)
    return _calling(lambda time: batch.step(batch.random_actions(time)), n)


def make_vec(environment: Environment, n: int = BATCH, threads: int = 1) -> Work:
    """One seat of ``n`` games against the default opponent; counts the learner's steps."""
    import gymnasium as gym

    settings: dict[str, Any] = {"autoreset_mode": "SameStep", "copy": False, "threads": threads}
    env: Any = gym.make_vec(environment.full_id, num_envs=n, **settings)
    env.reset(seed=0)
    return _calling(lambda time: env.step(env.random_actions(time)), n)


def sb3(environment: Environment, n: int = SB3_BATCH, threads: int = 1) -> Work:
    """As `make_vec`, by Stable-Baselines3's interface, with masks requested as sb3-contrib does.

    Raises DependencyError without the extra ``train``.
    """
    from dicegym.envs.sb3 import SB3VecEnv

    env = SB3VecEnv(environment.game, n, seed=0, threads=threads, **environment.settings)
    env.reset()

    def step(time: int) -> None:
        np.stack(env.env_method("action_masks"))
        env.step(env.batch.random_actions(time))

    return _calling(step, n)


def make(env_id: str, masked: bool = True) -> Work:
    """One seat of one game by ``gymnasium.make``; counts the learner's steps.

    Without ``masked`` the environment has two actions, both legal.
    """
    import gymnasium as gym

    env = gym.make(env_id)
    _, info = env.reset(seed=0)
    drawn = random_numbers()

    def work() -> int:
        nonlocal info
        for _ in range(AT_A_TIME):
            choice = next(drawn)
            legal = info["action_mask"].nonzero()[0] if masked else (0, 1)
            _, _, terminated, truncated, info = env.step(legal[choice % len(legal)])
            if terminated or truncated:
                _, info = env.reset()
        return AT_A_TIME

    return work


def one_state(environment: Environment) -> Work:
    """Every seat of one game by `dicegym.engine.state.State`, without an environment; counts decisions."""
    import dicegym

    game = dicegym.game(environment.game, **environment.settings)
    drawn, episodes = random_numbers(), count()
    state = game.new_state(0, next(episodes))

    def work() -> int:
        nonlocal state
        for _ in range(AT_A_TIME):
            state.observation()
            state.action_mask()
            legal = state.legal_actions()
            state.step(legal[next(drawn) % len(legal)])
            if state.over:
                state = game.new_state(0, next(episodes))
        return AT_A_TIME

    return work


def aec(env: Any) -> Work:
    """Every seat of one game in turn by PettingZoo's `AECEnv`; counts decisions."""
    env.reset(seed=0)
    drawn = random_numbers()

    def work() -> int:
        decisions = 0
        while decisions < AT_A_TIME:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[next(drawn) % len(legal)])
            decisions += 1
        return decisions

    return work


def own_aec(environment: Environment) -> Work:
    """`aec` of one of dicegym's environments."""
    from dicegym.envs.multi import TurnEnv

    return aec(TurnEnv(environment.game, **environment.settings))


def parallel(environment: Environment) -> Work:
    """Every seat of one game by PettingZoo's `ParallelEnv`; counts decisions.

    Where all choose at once, a decision is a whole choice of one agent; elsewhere only the agent to move is asked, as
    RLCard's loop does.
    """
    import dicegym
    from dicegym.envs.multi import parallel_env

    game = dicegym.game(environment.game, **environment.settings)
    env, at_once = parallel_env(game), game.spec.joint_action is not None
    given = env.reset(seed=0)
    drawn = random_numbers()

    def choose(agent: str) -> int:
        legal = given[0][agent]["action_mask"].nonzero()[0]
        return int(legal[next(drawn) % len(legal)])

    def choose_one(agent: str) -> np.ndarray:
        limits = given[1][agent]["action_mask"]  # for each kind of item; it orders one kind only
        choice = np.zeros(len(limits), np.int64)
        thing = next(drawn) % len(limits)
        choice[thing] = next(drawn) % int(limits[thing].sum())
        return choice

    def work() -> int:
        nonlocal given
        decisions = 0
        while decisions < AT_A_TIME:
            if at_once:
                actions: dict[str, Any] = {agent: choose_one(agent) for agent in env.agents}
            else:
                mover = given[1][env.agents[0]]["active_agent"]
                actions = {mover: choose(mover)}
            decisions += len(actions)
            observations, *_, infos = env.step(actions)
            given = (observations, infos) if env.agents else env.reset()
        return decisions

    return work


class BenchForm(NamedTuple):
    """A form of the environments and its loop; ``multi``: not for games with one player.

    Decisions count all players; learner steps count the seat that the loop plays.
    """

    title: str
    loop: Callable[[Environment], Work]
    unit: str = "decisions/s"
    multi: bool = False


FORMS: Mapping[str, BenchForm] = {
    "batch": BenchForm(f"bare batch of {BATCH:,}", bare_batch),
    "make_vec": BenchForm(f"make_vec of {BATCH:,}, default opponent", make_vec, "learner steps/s"),
    "sb3": BenchForm(f"SB3VecEnv of {SB3_BATCH}, default opponent", sb3, "learner steps/s"),
    "make": BenchForm("gymnasium.make, default opponent", lambda one: make(one.full_id), "learner steps/s"),
    "state": BenchForm("one state, game.new_state()", one_state),
    "aec": BenchForm("PettingZoo env()", own_aec, multi=True),
    "parallel": BenchForm("PettingZoo parallel_env()", parallel, multi=True),
}
"""The forms by their names on the command line."""


# --- figures ---------------------------------------------------------------------------------------------------------


class StepRate(NamedTuple):
    """Steps per second of one environment in one form, a value for each round."""

    environment: str
    form: str
    unit: str
    values: list[float]

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.values)


class BenchResult(NamedTuple):
    """Rates, the machine and versions, and why forms were skipped."""

    machine: dict[str, str]
    rates: list[StepRate]
    skipped: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rates = [rate._asdict() | {"median": rate.median} for rate in self.rates]
        return {"machine": self.machine, "rates": rates, "skipped": self.skipped}

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return titles and rows."""
        rows = []
        for rate in self.rates:
            numbers = [f"{value:,.0f}" for value in (rate.median, min(rate.values), max(rate.values))]
            rows.append([rate.environment, FORMS[rate.form].title, *numbers, rate.unit])
        return ["environment", "form", "median", "lowest", "highest", "unit"], rows


def run_bench(
    forms: Sequence[str] = (), games: Sequence[str] = (), progress: Callable[[str], object] = lambda line: None
) -> BenchResult:
    """Measure every form of every environment, one after the other in each round.

    ``forms`` are names in `FORMS`, ``games`` names of games; empty: all. ``progress`` is called with a line before each
    form and each round. Raises UnknownNameError.
    """
    for kind, given, known in (("form of the environments", forms, [*FORMS]), ("game", games, [*GAMES])):
        for name in given:
            if name not in known:
                raise unknown_name(kind, name, known)
    loops: list[tuple[StepRate, Work]] = []
    skipped: dict[str, str] = {}
    for name in forms or FORMS:
        form = FORMS[name]
        progress(f"preparing {name}: missing kernels are compiled")
        try:
            for environment in ENVIRONMENTS:
                if environment.game in (games or GAMES) and (environment.multi or not form.multi):
                    work = form.loop(environment)
                    work()
                    loops.append((StepRate(environment.id, name, form.unit, []), work))
        except DependencyError as error:
            skipped[name] = str(error)
    for number in range(ROUNDS):
        progress(f"round {number + 1} of {ROUNDS}")
        for rate, work in loops:
            rate.values.append(measure_rate(work, SECONDS))
    return BenchResult(machine_facts(), [rate for rate, _ in loops], skipped)


# --- the machine -----------------------------------------------------------------------------------------------------


def machine_facts(packages: Sequence[str] = ()) -> dict[str, str]:
    """Return processor, cores, system, Python, and the versions of installed `PACKAGES` and ``packages``."""
    # Without the machine's name, because figures are published.
    facts = {"processor": processor_name(), "cores": str(os.cpu_count())}
    facts |= {"system": platform.system(), "Python": platform.python_version()}
    for package in dict.fromkeys((*PACKAGES, *packages)):
        with contextlib.suppress(PackageNotFoundError):
            facts[package] = version(package)
    return facts


def processor_name() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:(.*)$", info.read_text() if info.is_file() else "", re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()
