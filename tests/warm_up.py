"""Compiling what nearly every test needs before any runs: `python tests/warm_up.py rules|all [GAME...]`.

Workers that need a kernel at the same time compile it at the same time, each for itself. Here each game is compiled
by one process, and as many games at once as there are workers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODES = {"rules": ("state", "batch"), "all": ("state", "batch", "make", "make_vec")}
"""Ways of playing (`dicegym.bench.start.FIRST_STEP`) whose first step is taken."""


def largest_first(names: list[str]) -> list[str]:
    """Return the games in the order of how much there is to compile: the last to end should be a small one."""
    from dicegym import games

    folder = Path(games.__file__).parent
    return sorted(names, key=lambda name: -sum(path.stat().st_size for path in (folder / name).glob("*.py")))


def compile_all(what: str, processes: int) -> None:
    """Compile every registered game. A game that cannot be compiled is the matter of the tests that need it.

    Args:
        what: one of `MODES`.
        processes: how many games at once.
    """
    from dicegym.registry import GAMES

    def start(name: str) -> None:
        subprocess.run([sys.executable, __file__, what, name], check=False, capture_output=True)

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(start, largest_first(list(GAMES))))


def main(what: str, names: list[str]) -> None:
    """Take the first steps of the games that are named."""
    from dicegym.bench.start import FIRST_STEP
    from dicegym.registry import ENVIRONMENTS

    for environment in ENVIRONMENTS:
        if environment.game in names:
            facts = {"game": environment.game, "settings": dict(environment.settings), "id": environment.full_id}
            for mode in MODES[what]:
                exec(FIRST_STEP[mode].format(**facts), {})


if __name__ == "__main__":
    if sys.argv[2:]:
        main(sys.argv[1], sys.argv[2:])
    else:
        compile_all(sys.argv[1], os.cpu_count() or 1)
