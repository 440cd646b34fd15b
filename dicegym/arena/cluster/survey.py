"""What a cluster's nodes are, asked before anything is played on them."""

from __future__ import annotations

from typing import Any, NamedTuple

from dicegym.arena.cluster.referee import Stand, differences, stand, strength
from dicegym.engine.game import Game
from dicegym.errors import DicegymError, one_line
from dicegym.sandbox import jail

SECONDS = 120.0
"""How long a node may take to answer; its first answer loads the rules."""


class Survey(NamedTuple):
    """What a cluster is to a contest."""

    here: Stand
    """The machine that asks."""
    level: jail.Isolation
    """How untrusted programs are kept apart on every node, or better."""
    description: str
    """The same in words."""
    in_words: str
    """How many nodes and processors there are, in words."""


def survey(ray: Any, game: Game, isolation: str, patience: float) -> Survey:
    """Ask every node that has a processor; if there is none yet, the first that comes.

    Args:
        ray: the module, connected.
        game: the game of the contest.
        isolation: as asked for; see `dicegym.sandbox.jail`.
        patience: seconds to wait for a node, where there is none yet.

    Raises:
        DicegymError: a node does not fit, or none answers.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = stand(game, isolation)
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    ask = ray.remote(num_cpus=0, max_retries=3)(stand)
    if nodes:
        pinned = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
        asked = [ask.options(scheduling_strategy=one).remote(game, isolation) for one in pinned]
    else:
        asked = [ask.options(num_cpus=1).remote(game, isolation)]
    names = [str(node["NodeManagerHostname"]) for node in nodes] or ["the first node"]
    answered, _ = ray.wait(asked, num_returns=len(asked), timeout=SECONDS if nodes else patience)
    found: list[Stand] = []
    wrong: list[str] = []
    for name, reference in zip(names, asked, strict=True):
        if reference not in answered:
            wrong.append(f"{name} does not answer")
            continue
        try:
            found.append(ray.get(reference))
        except ray.exceptions.RayTaskError as error:
            wrong.append(f"{name} cannot load dicegym's referees: {one_line(error.cause or error)}")
        except ray.exceptions.RayError:
            continue  # it is gone
    wrong += filter(None, (differences(node, here) for node in found))
    if wrong or not found:
        said = "; ".join(dict.fromkeys(wrong)) or "none is left"
        raise DicegymError(f"the nodes of the cluster do not fit: {said}")
    count = sum(int(node["Resources"]["CPU"]) for node in nodes)
    words = f"a cluster of {len(nodes)} node{'s' * (len(nodes) != 1)} with {count} processor{'s' * (count != 1)}"
    return Survey(here, *_weakest(found), words)


def _weakest(found: list[Stand]) -> tuple[jail.Isolation, str]:
    """Return the level that holds on all nodes, and in words what holds on which."""
    levels = [node.level for node in found if node.level is not None]
    hosts: dict[str, dict[str, None]] = {}
    for node in found:
        hosts.setdefault(node.description, {})[node.host] = None
    if len(hosts) == 1:
        return min(levels, key=strength), found[0].description
    words = "; ".join(f"on {', '.join(names)}: {description}" for description, names in hosts.items())
    return min(levels, key=strength), words
