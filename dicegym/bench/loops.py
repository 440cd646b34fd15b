"""The loops: random legal actions in every form that an environment comes in, and how they are timed.

Each function here makes a loop: it returns a function that plays on for a moment and returns how many steps it
took. Loops of other libraries (`dicegym.bench.peers`) use the same ones where the interface is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import cycle
from typing import Any

import gymnasium as gym
import numpy as np

import dicegym
from dicegym.engine import loops
from dicegym.engine.batch import Batch
from dicegym.engine.threads import Threads
from dicegym.envs.multi import TurnEnv, parallel_env
from dicegym.envs.vector import BatchEnv
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn, follows
from dicegym.registry import Environment

BATCH = 1024
"""Games in a batch."""
SB3_BATCH = 256
"""Games in a batch that trains a network: what one machine's network keeps up with."""
AT_A_TIME = 100
"""Steps of a single environment between two looks at the clock."""
SEED = np.uint64(0)

Work = Callable[[], int]


def rate(work: Work, seconds: float) -> float:
    """Call ``work`` for about ``seconds``; return what it counted per second."""
    done, began = 0, time.perf_counter()
    while True:
        done += work()
        spent = time.perf_counter() - began
        if spent >= seconds:
            return done / spent


def random_numbers() -> Iterator[int]:
    """Return random whole numbers without end, drawn in advance so that no loop pays for them."""
    return cycle(np.random.default_rng(0).integers(0, 1 << 30, 10_007).tolist())


class RandomLegal:
    """Chooses for every game of a batch, each time anew.

    Args:
        n: number of games.
        threads: how many threads share them, as many as step the batch.
    """

    def __init__(self, n: int, threads: int = 1) -> None:
        self._threads = Threads(threads)
        self._actions = np.zeros(n, np.int64)
        self._clock = 0

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        """Return a random legal action of each row of ``masks`` (int64[n], overwritten by the next call)."""
        self._clock += 1
        time, actions = self._clock, self._actions

        def part(start: int, end: int) -> None:
            loops.random_legal(masks[start:end], SEED, time, start, actions[start:end])

        self._threads.share(len(actions), part)
        return actions


def bare_batch(environment: Environment, n: int = BATCH, threads: int = 1) -> Work:
    """Every seat of ``n`` games; counts decisions."""
    batch = Batch(dicegym.game(environment.game, **environment.settings), n, threads=threads)
    clock = iter(range(1 << 62))

    def work() -> int:
        batch.step(batch.random_actions(next(clock)))
        return n

    return work


def make_vec(environment: Environment, n: int = BATCH, threads: int = 1) -> Work:
    """One seat of ``n`` games against the default opponent; counts the learner's steps."""
    settings: dict[str, Any] = {"autoreset_mode": "SameStep", "copy": False, "threads": threads}
    env: Any = gym.make_vec(environment.full_id, num_envs=n, **settings)
    masks = env.reset(seed=0)[1]["action_mask"]
    choose = RandomLegal(n, threads)

    def work() -> int:
        nonlocal masks
        masks = env.step(choose(masks))[-1]["action_mask"]
        return n

    return work


def sb3(environment: Environment, n: int = SB3_BATCH, threads: int = 1) -> Work:
    """As `make_vec`, through Stable-Baselines3's interface, masks asked for as sb3-contrib asks.

    Raises DependencyError without the extra ``train``.
    """
    from dicegym.envs.sb3 import SB3VecEnv

    env = SB3VecEnv(environment.game, n, seed=0, threads=threads, **environment.settings)
    env.reset()
    choose = RandomLegal(n, threads)

    def work() -> int:
        env.step(choose(np.stack(env.env_method("action_masks"))))
        return n

    return work


def one_state(environment: Environment) -> Work:
    """Every seat of one game by `dicegym.Game` itself, from Python and without an environment; counts decisions."""
    game = dicegym.game(environment.game, **environment.settings)
    drawn, episodes = random_numbers(), iter(range(1 << 62))
    state = game.new_game(0, next(episodes))[0]

    def work() -> int:
        nonlocal state
        for _ in range(AT_A_TIME):
            game.observe(state, int(state["player"]))
            legal = game.legal(state).nonzero()[0]
            game.step(state, int(legal[next(drawn) % len(legal)]))
            if state["over"]:
                state = game.new_game(0, next(episodes))[0]
        return AT_A_TIME

    return work


def make(env_id: str, masked: bool = True) -> Work:
    """One seat of one game by ``gymnasium.make``; counts the learner's steps."""
    env = gym.make(env_id)
    _, info = env.reset(seed=0)
    drawn = random_numbers()

    def work() -> int:
        nonlocal info
        for _ in range(AT_A_TIME):
            choice = next(drawn)
            if masked:
                legal = info["action_mask"].nonzero()[0]
                action = legal[choice % len(legal)]
            else:
                action = choice % 2
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
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


def our_aec(environment: Environment) -> Work:
    """`aec` of an environment of ours."""
    return aec(TurnEnv(environment.game, **environment.settings))


def parallel(environment: Environment) -> Work:
    """Every seat of one game by PettingZoo's `ParallelEnv`; counts decisions.

    Where all choose at once, a decision is a whole choice of one agent; elsewhere only the agent to move has any.
    """
    game = dicegym.game(environment.game, **environment.settings)
    env, at_once = parallel_env(game), game.spec.order is not None
    told = env.reset(seed=0)
    drawn = random_numbers()

    def one_thing(agent: str) -> np.ndarray:
        """Choose something of one thing alone, which the mask says is legal."""
        limits = told[1][agent]["action_mask"]
        order = np.zeros(len(limits), np.int64)
        thing = next(drawn) % len(limits)
        order[thing] = next(drawn) % int(limits[thing].sum())
        return order

    def work() -> int:
        nonlocal told
        decisions = 0
        while decisions < AT_A_TIME:
            actions: dict[str, Any] = {}
            if at_once:
                actions = {agent: one_thing(agent) for agent in env.agents}
                decisions += len(actions)
            else:
                for agent in env.agents:
                    legal = told[0][agent]["action_mask"].nonzero()[0]
                    actions[agent] = legal[next(drawn) % len(legal)] if len(legal) else 0
                decisions += 1
            stepped = env.step(actions)
            told = stepped[0], stepped[-1]
            if not env.agents:
                told = env.reset()
        return decisions

    return work


class Counting(Player):
    """A player whose decisions are counted."""

    def __init__(self, player: Player) -> None:
        self.player, self.name, self.moves = player, player.name, 0

    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        act = self.player.join(game, seat, seed)

        def counted(turn: Turn) -> int:
            self.moves += 1
            return act(turn)

        if follows(act):
            counted.follow = act.follow  # type: ignore[attr-defined]  # a function takes attributes
        return counted


@cache
def _decisions_per_step(game: dicegym.Game, steps: int) -> float:
    opponent = Counting(dicegym.agent(game, game.spec.default_opponent))
    env = BatchEnv(game, 64, opponent, autoreset_mode="SameStep")
    _, info = env.reset(seed=0)
    choose = RandomLegal(env.num_envs)
    opponent.moves = 0
    for _ in range(steps):
        *_, info = env.step(choose(info["action_mask"]))
    return 1.0 + opponent.moves / (steps * env.num_envs)


def decisions_per_step(environment: Environment, steps: int = 200) -> float:
    """Return how many decisions of all players a step of a learner with one seat stands for, on average.

    Counted in 64 games of ``steps`` steps, the learner at random against the default opponent, as in the loops
    that are timed; 1 in games for one.
    """
    game = dicegym.game(environment.game, **environment.settings)
    return 1.0 if game.players == 1 else _decisions_per_step(game, steps)


def check_mode(mode: str) -> None:
    """Raise DependencyError if a mode needs a package that is not installed."""
    if mode == "sb3":
        import dicegym.envs.sb3  # noqa: F401 - only whether it can be imported


LOOPS: Mapping[str, Callable[[Environment], Work]] = {
    "batch": bare_batch,
    "make_vec": make_vec,
    "sb3": sb3,
    "make": lambda environment: make(environment.full_id),
    "state": one_state,
    "aec": our_aec,
    "parallel": parallel,
}
"""Each mode's loop."""
