"""Compiling what nearly every test needs before any runs: `python tests/warm_up.py rules|all [GAME...]`.

Workers that need a kernel at the same time compile it at the same time, each for itself. Here each game is compiled
by one process, and as many games at once as there are workers.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dicegym.engine import jit
from dicegym.engine.kernel_cache import hash_beside
from dicegym.engine.threads import cores
from dicegym.errors import DicegymError

MODES = {"rules": ("state", "batch"), "all": ("state", "batch", "make", "make_vec")}
"""Ways of playing (`benchmarks.start.FIRST_STEP`) whose first step is taken."""
ANALYSED = "all"
"""The mode in which a few games are analysed besides: their luck, rollouts, and values that are ready at once."""
LEARNER = "learner"
"""What stands for the fast trainer among the names of games, in the same mode; it takes as long as a game."""


APART = ("analysis/kernels", "learning/fast_ppo")
"""Folders of the package whose kernels are compiled here and are no part of the games."""


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
        list(pool.map(start, [*([LEARNER] if what == ANALYSED else []), *largest_first(list(GAMES))]))
    if jit.CACHE_FOLDER:
        mark(what).touch()


def mark(what: str) -> Path:
    """Return the file that says, beside the kernels, that all of them were compiled: it goes when they do.

    Those of the learner and the analysis are kept by their own sources (`kernel_cache.hash_beside`): so is the mark,
    and by what is compiled here.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for apart in APART:
        digest.update((hash_beside(str(jit.PACKAGE / apart / "__init__.py")) or "").encode())
    return Path(jit.CACHE_FOLDER, f"all-games-{what}-{digest.hexdigest()[:16]}")


def main(what: str, names: list[str]) -> None:
    """Take the first steps of the games that are named."""
    from benchmarks.start import FIRST_STEP
    from dicegym.registry import ENVIRONMENTS

    for environment in ENVIRONMENTS:
        if environment.game in names:
            facts = {"game": environment.game, "settings": dict(environment.settings), "id": environment.full_id}
            for mode in MODES[what]:
                exec(FIRST_STEP[mode].format(**facts), {})
    if LEARNER in names:
        learn()
    for name in names if what == ANALYSED else ():
        if name != LEARNER:
            analyse(name)
            share_out(name)


def share_out(name: str) -> None:
    """Step games on two threads, with opponents and without: what shares them out is compiled besides."""
    import dicegym
    from dicegym.engine.thread_team import LEAST_ROWS
    from dicegym.envs.vector import BatchEnv
    from dicegym.play.player import RandomPlayer

    for opponents in ({}, {"opponent": RandomPlayer()}):
        env = BatchEnv(name, 2 * LEAST_ROWS, threads=2, **opponents)
        env.reset(seed=0)
        env.step(env.random_actions(0))
    batch = dicegym.game(name).batch(2 * LEAST_ROWS, threads=2)
    batch.step(batch.random_actions(0))


def analyse(name: str) -> None:
    """Take the luck out of a few games, play one on by rollouts, search, and ask for values that are there at once."""
    import dicegym
    from dicegym.analysis.mcts import search
    from dicegym.analysis.rollouts import RolloutValuer
    from dicegym.analysis.valuers import sources
    from dicegym.learning.evaluate import evaluate

    game = dicegym.game(name)
    with contextlib.suppress(DicegymError):  # a game need not have any of it
        evaluate(game, game.spec.baseline, games=4 * game.players, exact=False, less_luck=True)
    with contextlib.suppress(DicegymError):
        RolloutValuer(game, games=8).action_values(game.new_game(0)[0])
    with contextlib.suppress(DicegymError):
        search(game, game.new_game(0)[0], simulations=8)
    for players in range(game.spec.players[0], min(game.spec.players[1], 2) + 1):
        for source in sources(dicegym.game(name, players=players)):
            if source.ready():
                source.load(None).value(dicegym.game(name, players=players).new_game(0)[0], 0)


def learn() -> None:
    """Let the fast trainer learn from a game that is none, on two threads."""
    with contextlib.suppress(ImportError, DicegymError):  # where nothing is trained
        import torch

        from benchmarks.training import FreeVecEnv
        from dicegym.learning.fast_ppo import FastMaskablePPO

        torch.set_num_threads(2)
        FastMaskablePPO("MlpPolicy", FreeVecEnv(256, 20, 6), n_steps=2, batch_size=256, device="cpu").learn(512)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks
    if sys.argv[2:]:
        main(sys.argv[1], sys.argv[2:])
    else:
        compile_all(sys.argv[1], cores())
