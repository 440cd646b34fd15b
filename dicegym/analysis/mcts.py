"""Monte Carlo tree search in any game: `search`, and `MctsPlayer`, the agent ``mcts(1000)``.

It is UCT (Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006) with uniformly random rollouts. Three
things make it fit dice games:

- **Dice** are sampled. A node is an observation of the searching seat and the player to move. The tree branches by the
  outcomes that simulations met, and rolls that look alike share a node.
- **Hidden dice**: it is SO-ISMCTS (Cowling, Powley and Whitehouse, "Information set Monte Carlo tree search", IEEE
  TCIAIG 4, 2012). Each simulation draws anew what the searching seat cannot see, as `dicegym.analysis.fork` does.
  The confidence bound of an action counts the simulations in which it was legal.
- **More than two players**: each decision maximises the return of the seat that makes it (max^n).

Exploration is measured in standard deviations of the returns that the search has met, so that one ``c`` serves games
of wins and games of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dicegym.analysis.kernels.tree import EDGES, NODES, SearchTree, simulate_rows
from dicegym.analysis.playing_on import MOST_DECISIONS, Beliefs, one_record, supposed_players
from dicegym.engine.dice import named_seed
from dicegym.engine.game import Game
from dicegym.engine.spec import pack
from dicegym.engine.validate import finite_number, seed_number, whole_number
from dicegym.errors import ParameterError
from dicegym.games.hidden import known
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn

SIMULATIONS, MOST_SIMULATIONS = 1_000, 1_000_000
EXPLORATION = 1.0
"""The usual ``c``."""
DEEPEST = 1_024
"""Edges that a simulation takes in the tree at most."""
_BLOCK = 1_024
"""Simulations whose states are drawn together."""


class SearchResult(NamedTuple):
    """What a search found, the most visited action first."""

    actions: np.ndarray
    """int64[actions that were tried]."""
    visits: np.ndarray
    """int64[as many]: simulations that began with each."""
    values: np.ndarray
    """float64[as many]: their mean return for the seat to move."""
    nodes: int
    """Nodes of the tree."""

    @property
    def best(self) -> int:
        """The action to play: the most visited, of equals the one with the higher value."""
        return int(self.actions[0])


def search(
    game: Game,
    state: Any,
    simulations: int = SIMULATIONS,
    *,
    c: float = EXPLORATION,
    seed: int = 0,
    against: Any = None,
) -> SearchResult:
    """Search for the best action of the seat to move.

    Args:
        game: the game.
        state: its record, or an array of one, in which somebody is to move. What that seat may not know is not read:
            it may be zero.
        simulations: games that are played from it, at most 1,000,000.
        c: exploration, in standard deviations of the returns.
        seed: names all random numbers; the same seed finds the same.
        against: who the others are supposed to be when what they hide is drawn, as for `dicegym.analysis.fork`.

    Raises:
        ParameterError: the game is over, an argument is out of range, or the game hides something of which nothing says
            what may be believed.
        UnknownNameError, AgentError, ModelError, DependencyError: ``against`` cannot play; see `dicegym.agent`.
    """
    simulations, c = _checked(simulations, c)
    state = one_record(game, state)
    seed_number("seed", seed)
    if state["over"]:
        raise ParameterError("the game is over: there is nothing left to search for")
    return _search(game, state, simulations, c, named_seed("search", seed), supposed_players(game, against))


def _checked(simulations: Any, c: Any) -> tuple[int, float]:
    what = "the number of simulations of a search"
    return (
        whole_number("simulations", simulations, 1, MOST_SIMULATIONS, what),
        finite_number("c", c, "the exploration of a search", above=0),
    )


def _search(game: Game, state: Any, simulations: int, c: float, seed: int, others: Sequence[Player]) -> SearchResult:
    beliefs = Beliefs(game, state, others)
    generator = np.random.default_rng(seed)
    key = generator.integers(0, 1 << 64, dtype=np.uint64)
    tree = _new_tree(simulations)
    words = np.zeros(-(-game.observation_size // 2), np.uint64)
    observed = words.view(np.float32)[: game.observation_size]
    work = game.new_states(1)
    used = np.zeros(game.n_actions, np.bool_), np.zeros(game.players, np.float32), *np.zeros((2, DEEPEST), np.int64)
    for begun in range(0, simulations, _BLOCK):
        keys = generator.integers(0, 1 << 64, min(_BLOCK, simulations - begun), dtype=np.uint64)
        states = beliefs.deal(len(keys), keys, generator)
        simulate_rows(states, begun, work, beliefs.seat, observed, words, key, c, MOST_DECISIONS, tree, *used)
    edges = []
    edge = int(tree.first[0])
    while edge >= 0:
        edges.append(edge)
        edge = int(tree.after[edge])
    actions, visits, values = tree.actions[edges], tree.visits[edges], tree.totals[edges] / tree.visits[edges]
    order = np.lexsort((actions, -values, -visits))
    return SearchResult(actions[order], visits[order], values[order], int(tree.sizes[NODES]))


def _new_tree(simulations: int) -> SearchTree:
    """Return a tree with a root and memory for ``simulations``."""
    nodes = simulations + 1
    tree = SearchTree(
        slots=np.full(1 << (2 * nodes).bit_length(), -1, np.int32),
        hashes=np.zeros(nodes, np.uint64),
        first=np.empty(nodes, np.int32),
        after=np.empty(simulations, np.int32),
        actions=np.empty(simulations, np.int64),
        visits=np.empty(simulations, np.int64),
        available=np.empty(simulations, np.int64),
        totals=np.empty(simulations),
        sizes=np.zeros(2, np.int64),
        spread=np.zeros(3),
        logs=np.log(np.maximum(np.arange(simulations + 2), 1)),
    )
    tree.first[0], tree.sizes[NODES], tree.sizes[EDGES] = -1, 1, 0
    return tree


class MctsPlayer(Player):
    """Monte Carlo tree search: plays random games from each decision and chooses what does best.

    It searches anew at each decision (`search`). Where one action alone is legal, it plays that.

    What it plays is a function of what its seat knows and of the seat's own seed.

    Args:
        simulations: of each decision.
        c: exploration, in standard deviations of the returns.

    Raises ParameterError if one of them is out of range.
    """

    def __init__(self, simulations: int = SIMULATIONS, c: float = EXPLORATION) -> None:
        self.simulations, self.c = _checked(simulations, c)
        more = "" if self.c == EXPLORATION else f", c={self.c:g}"
        self.name = f"mcts({self.simulations}{more})"
        self._others: dict[Game, Sequence[Player]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the arguments."""
        return MctsPlayer, (self.simulations, self.c)

    def join(self, game: Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`. Raises ParameterError if ``search`` does."""
        if game not in self._others:
            self._others[game] = supposed_players(game)
        others = self._others[game]

        def act(turn: Turn) -> int:
            legal = np.flatnonzero(turn.mask)
            if len(legal) == 1:
                return int(legal[0])
            told = known(game, turn.record, turn.seat)
            now = named_seed("mcts", seed, pack(told, game.spec.declared_record).tobytes().hex())
            return _search(game, told[0], self.simulations, self.c, now, others).best

        return act
