"""Monte Carlo tree search in any game: `search`, and `MctsPlayer`, the agent ``mcts(1000)``.

A simulation descends the tree, then a *policy* plays the game to its end. The policy is a compiled agent or random
play. A compiled agent also gives the prior of actions: the search is then PUCT (Rosin, "Multi-armed bandits with
episode context", 2011). With random play it is UCT (Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML
2006). Three things adapt the search to dice games:

- **Dice** are sampled, and actions are compared on the same dice. A node is an observation of the searching seat and
  the player to move. The tree branches by the outcomes that simulations met, and rolls that look alike share a node.
- **Hidden dice**: each simulation draws anew what the searching seat cannot see, as `dicegym.values.fork` does. A
  compiled agent also plays the other seats inside the tree, because their actions depend on dice that the tree cannot
  see. With random play it is SO-ISMCTS (Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE
  TCIAIG 4, 2012).
- **More than two players**: each decision maximises the return of the seat that makes it (max^n).

Exploration is measured in standard deviations of the returns met so far, so one ``c`` serves games of wins and games
of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.kernels.rollout_kernels import UNIFORM
from dicegym.analysis.kernels.tree import NODES, SearchTree, simulate
from dicegym.analysis.playing_on import (
    DRAWS,
    MOST_DECISIONS,
    RANDOM,
    Beliefs,
    record_bytes,
    suppose_players,
    usual_policy,
)
from dicegym.engine import loops
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.spec import pack
from dicegym.engine.validate import finite_number, seed_number, whole_number
from dicegym.errors import ParameterError, unknown_name
from dicegym.games import game as make_game
from dicegym.games.hidden import keep_known, list_hidden_fields
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn, record_of
from dicegym.players.batch_players import twin_numbers

EXAMPLE = "mcts(1000, c=0.5)"
"""An example of the agent's name."""
SIMULATIONS, MOST_SIMULATIONS = 1_000, 1_000_000
EXPLORATION = 1.0
"""The default ``c``."""
SHARE = 0.5
"""The share of the prior that the policy's own action has."""
DEEPEST = 1_024
"""The most edges of the tree in a simulation."""
_STATES = 4_096
"""The most states drawn for a search."""


class SearchResult(NamedTuple):
    """What a search found, the most visited action first."""

    actions: np.ndarray
    """int64[tried actions]: wide only if it is a whole order of the policy."""
    visits: np.ndarray
    """int64[tried actions]: simulations that began with each."""
    values: np.ndarray
    """float64[tried actions]: their mean return for the seat to move."""
    nodes: int
    """The number of nodes in the tree."""

    @property
    def best(self) -> int:
        """The action to play: the most visited one, with the higher value among equals."""
        return int(self.actions[0])


def search(
    game: Game | str,
    state: Any,
    simulations: int = SIMULATIONS,
    *,
    c: float = EXPLORATION,
    rollouts: str = "",
    seed: int = 0,
    against: Any = None,
) -> SearchResult:
    """Search for the best action of the seat to move.

    Args:
        game: the game.
        state: its record, or an array of one, in which somebody is to move. What that seat may not know is not read:
            it may be zero.
        simulations: the number of games played from it, at most 1,000,000.
        c: exploration, in standard deviations of the returns.
        rollouts: the policy: a compiled agent, or "random"; default: `dicegym.analysis.playing_on.usual_policy`, or
            "random" in games without compiled agents.
        seed: names all random numbers; the same seed finds the same.
        against: how the others are supposed to play when what they hide is drawn, as for `dicegym.values.fork`.

    Raises:
        ParameterError: the game is over, an argument is out of range, or the game has no ``chance.py`` that says what
            may be believed of what it hides.
        UnknownNameError: the game has no compiled agent of this name.
        AgentError, ModelError, DependencyError: ``against`` cannot play; see `dicegym.agent`.

    Example:
        >>> import dicegym
        >>> from dicegym.values import search
        >>> game = dicegym.game("hog")
        >>> search(game, game.new_game(seed=1)[0], simulations=200, seed=1).best in range(game.n_actions)
        True
    """
    game = make_game(game)
    simulations, c = _checked(simulations, c)
    bot = policy_number(game, rollouts)
    state = record_of(game, state)
    seed_number("seed", seed)
    if state["over"]:
        raise ParameterError("the game is over: search a state in which somebody is to move")
    return _search(game, state, simulations, c, bot, named_seed("search", seed), suppose_players(game, against))


def policy_number(game: Game, rollouts: str = "") -> int:
    """Return the number of the compiled agent that plays games on, or `UNIFORM`. Raises UnknownNameError."""
    numbers = twin_numbers(game)
    if not rollouts:
        return numbers.get(usual_policy(game), UNIFORM)
    if rollouts != RANDOM and rollouts not in numbers:
        raise unknown_name(f"compiled agent of {game.spec.title} for rollouts", rollouts, [*numbers, RANDOM])
    return numbers.get(rollouts, UNIFORM)


def _checked(simulations: Any, c: Any) -> tuple[int, float]:
    what = "the number of simulations of a search"
    return (
        whole_number("simulations", simulations, 1, MOST_SIMULATIONS, what),
        finite_number("c", c, "the exploration of a search", above=0),
    )


def _search(
    game: Game, state: Any, simulations: int, c: float, bot: int, seed: int, others: Sequence[Player]
) -> SearchResult:
    beliefs = Beliefs(game, state, others)
    generator = np.random.default_rng(seed)
    key = generator.integers(0, 1 << 64, dtype=np.uint64)
    tree = _new_tree(simulations)
    words = np.zeros(-(-game.observation_size // 2), np.uint64)
    observed = words.view(np.float32)[: game.observation_size]
    work, bots = game.new_states(1), np.full(game.players, bot)
    alone = bot != UNIFORM and bool(list_hidden_fields(game))
    used = np.zeros(game.n_actions, np.bool_), np.zeros(game.players, np.float32), *np.zeros((2, DEEPEST), np.int64)
    n = min(simulations, _STATES)
    states = beliefs.deal(n, generator.integers(0, 1 << 64, n, dtype=np.uint64), generator)
    seat, most = beliefs.seat, MOST_DECISIONS
    simulate(states, simulations, work, seat, observed, words, key, c, SHARE, bots, alone, most, tree, *used)
    counts: dict[int, tuple[int, float]] = {}  # action -> its simulations, and the sum of their returns
    edge = int(tree.first[0])
    while edge >= 0:
        action = int(tree.actions[edge])
        if action >= game.n_actions and (same := ordinary_action(game, states[0], action)) is not None:
            action = same
        before = counts.get(action, (0, 0.0))
        counts[action] = before[0] + int(tree.visits[edge]), before[1] + float(tree.totals[edge])
        edge = int(tree.after[edge])
    actions, visits = np.array(list(counts)), np.array([number for number, _ in counts.values()])
    values = np.array([total for _, total in counts.values()]) / visits
    order = np.lexsort((actions, -values, -visits))
    return SearchResult(actions[order], visits[order], values[order], int(tree.sizes[NODES]))


def ordinary_action(game: Game, state: Any, action: int) -> int | None:
    """Return the legal one of the ``n_actions`` that has the effect of a wide action, or None.

    Two actions are equal if they lead to the same records with each of `DRAWS` keys: with a single key, different dice
    may show the same numbers by chance.
    """
    legal = np.flatnonzero(game.legal(state))
    if action in legal:
        return int(action)
    tried = np.array([action, *legal], np.int64)
    states = game.new_states(len(tried) * DRAWS)
    states[:] = state
    states["key"] = np.tile([named_seed("ordinary", number) for number in range(DRAWS)], len(tried))
    faults = np.zeros(len(states), np.int64)
    loops.step_rows(states, np.arange(len(states)), np.repeat(tried, DRAWS), faults)
    raw = record_bytes(states).reshape(len(tried), -1)
    same = legal[(raw[1:] == raw[0]).all(axis=1)]
    return int(same[0]) if len(same) else None


def _new_tree(simulations: int) -> SearchTree:
    """Return a tree with a root and memory for ``simulations``."""
    nodes = simulations + 1
    return SearchTree(
        slots=np.full(1 << (2 * nodes).bit_length(), -1, np.int32),
        hashes=np.zeros(nodes, np.uint64),
        first=np.full(nodes, -1, np.int32),
        after=np.empty(simulations, np.int32),
        actions=np.empty(simulations, np.int64),
        visits=np.empty(simulations, np.int64),
        available=np.empty(simulations, np.int64),
        totals=np.empty(simulations),
        sizes=np.array([1, 0]),
        spread=np.zeros(3),
        logs=np.log(np.maximum(np.arange(simulations + 2), 1)),
    )


class MctsPlayer(Player):
    """Monte Carlo tree search: searches anew at each decision (`search`) and plays the best action.

    Its actions are a function of what its seat knows and of the seat's seed.

    Args:
        simulations: the number of games for each decision.
        c: exploration, in standard deviations of the returns.
        rollouts: the agent that plays games on, as for `search`.

    Raises ParameterError if one of them is out of range.
    """

    def __init__(self, simulations: int = SIMULATIONS, c: float = EXPLORATION, rollouts: str = "") -> None:
        self.simulations, self.c = _checked(simulations, c)
        self.rollouts = rollouts
        more = "" if self.c == EXPLORATION else f", c={self.c:g}"
        more += f", rollouts={rollouts}" if rollouts else ""
        self.name = f"mcts({self.simulations}{more})"
        self._others: dict[Game, Sequence[Player]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return MctsPlayer, (self.simulations, self.c, self.rollouts)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. Raises what `search` raises."""
        bot = policy_number(game, self.rollouts)
        if game not in self._others:
            self._others[game] = suppose_players(game)
        others = self._others[game]

        def act(turn: Turn) -> int:
            legal = np.flatnonzero(turn.mask)
            if len(legal) == 1:
                return int(legal[0])
            told = keep_known(game, turn.record, turn.seat)
            now = named_seed("mcts", seed, pack(told, game.spec.declared_record).tobytes().hex())
            return _search(game, told[0], self.simulations, self.c, bot, now, others).best

        return act
