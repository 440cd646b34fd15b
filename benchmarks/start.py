"""The wait before the first step: in a new process, with and without compiled kernels on disk.

Every figure costs processes: a first call compiles for 5 to 20 s, a warm start loads for 2 to 4 s, and one more of
each mode makes sure beforehand that its kernels are on disk. Two games take two to four minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

from benchmarks.figures import Figure, Measure
from benchmarks.loops import check_mode
from dicegym.registry import Environment

WARM_REPEATS = 3
"""Warm starts are much alike, and each costs a process."""
FIRST_CALLS = ("batch", "make")
"""Modes whose first call is measured with nothing compiled: one for training, one for playing. The others compile the
same rules and one or two loops besides, and would take as long again for each environment."""
_TIMED = "import time; t = time.perf_counter(); {work}; print(time.perf_counter() - t)"
_BATCH = "o, i = e.reset(seed=0); e.step(i['action_mask'].argmax(axis=1))"

# The first step of each mode; every import is part of it.
FIRST_STEP = {
    "batch": "import dicegym; b = dicegym.game({game!r}, **{settings}).batch(8); b.step(b.random_actions(0))",
    "make_vec": "import gymnasium as g, dicegym; e = g.make_vec({id!r}, num_envs=8); " + _BATCH,
    "sb3": "from dicegym.envs.sb3 import SB3VecEnv; e = SB3VecEnv({game!r}, 8, seed=0, **{settings}); "
    "e.reset(); e.step(e.action_masks().argmax(axis=1))",
    "make": "import gymnasium as g, dicegym; e = g.make({id!r}); o, i = e.reset(seed=0); "
    "e.step(i['action_mask'].argmax())",
    "state": "import dicegym; g = dicegym.game({game!r}, **{settings}); s = g.new_game()[0]; "
    "g.step(s, int(g.legal(s).argmax())); g.observe(s, 0)",
    "aec": "from dicegym.envs.multi import TurnEnv; e = TurnEnv({game!r}, **{settings}); e.reset(seed=0); "
    "e.step(e.last()[0]['action_mask'].argmax())",
    "parallel": "from dicegym.envs.multi import parallel_env; e = parallel_env({game!r}, **{settings}); "
    "e.reset(seed=0); e.step({{a: e.action_space(a).sample() * 0 for a in e.agents}})",
}
"""Python that makes the environment and takes one step, by mode. The parallel one takes action 0 of each agent,
which need not be legal: what an illegal action does is a rule of the game and costs no less."""


def process(code: str, fresh_cache: bool = False) -> list[float]:
    """Return the seconds that ``code`` prints, run in a process of its own.

    Args:
        code: ends by printing a number.
        fresh_cache: let it find no compiled kernel.
    """
    with tempfile.TemporaryDirectory() as cache:
        environ = os.environ | ({"DICEGYM_CACHE": cache} if fresh_cache else {})
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    return [float(done.stdout)]


def import_measure() -> Measure:
    """Return the measure of ``import dicegym``."""
    run = partial(process, _TIMED.format(work="import dicegym"))
    return Measure((Figure("start", "import dicegym", "new process", "s"),), run, run, WARM_REPEATS)


def measures(environment: Environment, mode: str) -> Iterator[Measure]:
    """Yield warm start of an environment in ``mode``, after its first call (measured once) in `FIRST_CALLS`.

    Raises DependencyError if the mode needs a package that is not installed.
    """
    check_mode(mode)
    names = {"game": environment.game, "settings": dict(environment.settings), "id": environment.full_id}
    code = _TIMED.format(work=FIRST_STEP[mode].format(**names))
    if mode in FIRST_CALLS:
        first = Figure("start", environment.id, "first call, nothing compiled yet", "s", mode=mode)
        yield Measure((first,), partial(process, code, fresh_cache=True), repeats=1)
    warm = Figure("start", environment.id, "warm start", "s", mode=mode)
    yield Measure((warm,), partial(process, code), partial(process, code), WARM_REPEATS)
