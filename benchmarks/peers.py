"""The same loops in other libraries, as far as they are installed (dependency group ``peers``).

Each loop plays random legal actions and looks at what the player to move may know, as ours do. Chance events, which
ours hold inside a step, are played but not counted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.figures import Figure, Measure, Plan, Skipped
from benchmarks.modes import BATCH
from benchmarks.ratios import DECISIONS
from dicegym.bench import AT_A_TIME, Work, aec, make, measure_rate, random_numbers

SCAN = 50
"""Steps of pgx's batch that one compiled call plays: its quickest form, which never returns to Python between."""


def openspiel(name: str) -> Work:
    """A game of OpenSpiel: states in C++ driven from Python; counts decisions."""
    pyspiel = importlib.import_module("pyspiel")
    game = pyspiel.load_game(name)
    state, drawn = game.new_initial_state(), random_numbers()

    def work() -> int:
        nonlocal state
        decisions = 0
        while decisions < AT_A_TIME:
            if state.is_terminal():
                state = game.new_initial_state()
            legal = state.legal_actions()  # of a chance node: its outcomes; all rolls of dice are equally likely
            if not state.is_chance_node():
                state.observation_tensor(state.current_player())
                state.legal_actions_mask()
                decisions += 1
            state.apply_action(legal[next(drawn) % len(legal)])
        return decisions

    return work


def pettingzoo_classic(module: str) -> Work:
    """A game of PettingZoo's classic ones; counts decisions."""
    return aec(importlib.import_module(f"pettingzoo.classic.{module}").env())


def rlcard(name: str) -> Work:
    """A game of RLCard; counts decisions."""
    env = importlib.import_module("rlcard").make(name)
    state, _ = env.reset()
    drawn = random_numbers()

    def work() -> int:
        nonlocal state
        for _ in range(AT_A_TIME):
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[next(drawn) % len(legal)])
            if env.is_over():
                state, _ = env.reset()
        return AT_A_TIME

    return work


def pgx(name: str, n: int = BATCH) -> Work:
    """A batch of a game of pgx on the processor, `SCAN` steps of ``n`` games in one compiled call; counts decisions."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_platforms", "cpu")
    numpy = importlib.import_module("jax.numpy")
    env = importlib.import_module("pgx").make(name)
    auto_reset = importlib.import_module("pgx.experimental").auto_reset
    step = jax.vmap(auto_reset(env.step, env.init))

    def turn(state: Any, key: Any) -> tuple[Any, None]:
        choosing, resetting = jax.random.split(key)
        actions = jax.random.categorical(choosing, numpy.log(state.legal_action_mask.astype(numpy.float32)))
        return step(state, actions, jax.random.split(resetting, n)), None

    play = jax.jit(lambda state, key: jax.lax.scan(turn, state, jax.random.split(key, SCAN))[0])
    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, n))

    def work() -> int:
        nonlocal state, key
        key, now = jax.random.split(key)
        state = jax.block_until_ready(play(state, now))
        return n * SCAN

    return work


def cartpole_batch(n: int = BATCH) -> Work:
    """Gymnasium's own batch of CartPole, written in NumPy; counts steps."""
    import gymnasium as gym

    env: Any = gym.make_vec("CartPole-v1", num_envs=n, vectorization_mode="vector_entry_point")
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 2, (100, n))
    clock = iter(range(1 << 62))

    def work() -> int:
        env.step(actions[next(clock) % 100])
        return n

    return work


class Peer(NamedTuple):
    """A loop of another library."""

    name: str
    mode: str
    """The mode of ours that it is compared with."""
    what: str
    make: Callable[[], Work]
    package: str
    """The distribution whose version counts."""


ONE_GAME = "one game, every seat"
PEERS: tuple[Peer, ...] = (
    *(
        Peer(
            f"OpenSpiel {name}", "state", f"{ONE_GAME}, C++ states from Python", partial(openspiel, name), "open-spiel"
        )
        for name in ("pig", "liars_dice", "yacht")
    ),
    *(
        Peer(f"PettingZoo {name}", "aec", f"{ONE_GAME}, env()", partial(pettingzoo_classic, name), "pettingzoo")
        for name in ("leduc_holdem_v4", "connect_four_v3")
    ),
    Peer("RLCard leduc-holdem", "aec", f"{ONE_GAME}, make()", partial(rlcard, "leduc-holdem"), "rlcard"),
    *(
        Peer(f"pgx {name}", "batch", f"batch of {BATCH:,}, {SCAN} steps a jit call", partial(pgx, name), "pgx")
        for name in ("leduc_holdem", "connect_four", "backgammon")
    ),
    Peer("Gymnasium CartPole-v1", "make", "gymnasium.make", partial(make, "CartPole-v1", masked=False), "gymnasium"),
    Peer("Gymnasium CartPole-v1", "make_vec", f"make_vec of {BATCH:,}, in NumPy", cartpole_batch, "gymnasium"),
)
PACKAGES = tuple(dict.fromkeys([*(peer.package for peer in PEERS), "jax"]))
HOW = "pip install --group peers in dicegym's folder"


def plan(seconds: float) -> Plan:
    """Return the measures of all peers that are installed and work here; the others are skipped with the reason."""
    found: Plan = []
    for peer in PEERS:
        try:
            work = peer.make()
        except ImportError as error:
            found.append(Skipped(f"{peer.name}, {peer.what}", f"{error.name or error} is not installed: {HOW}"))
        except Exception as error:  # whatever goes wrong in somebody else's library must not cost the whole run
            found.append(Skipped(f"{peer.name}, {peer.what}", f"it failed here: {type(error).__name__}: {error}"))
        else:
            figure = Figure("speed", peer.name, peer.what, DECISIONS, mode=peer.mode, peer=True)
            found.append(Measure((figure,), partial(_rates, work, seconds), work))
    return found


def _rates(work: Work, seconds: float) -> list[float]:
    return [measure_rate(work, seconds)]
