"""The contest of a game, in the format that its fact sheet names.

A format is one file in ``formats/`` and a line here. The file holds a function that is handed a `Director`, decides who
plays whom and ranks what comes back, and a subclass of `ContestResult` with what there is to show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dicegym.arena.director import Director, Format
from dicegym.arena.entries import AgentSpec, Progress
from dicegym.arena.formats.groups import GROUPS
from dicegym.arena.formats.round_robin import ROUND_ROBIN
from dicegym.arena.results import ContestResult
from dicegym.engine.game import Game
from dicegym.errors import unknown_name
from dicegym.games import game as make_game
from dicegym.sandbox.limits import Limits

FORMATS: dict[str, Format] = {"round_robin": ROUND_ROBIN, "groups": GROUPS}


def contest(
    game: Game | str,
    entries: Mapping[str, AgentSpec] | Iterable[AgentSpec],
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> ContestResult:
    """Check all entries, and hold the contest of a game in its own format.

    The result depends on ``seed`` and the names of the entries alone, not on their order or the number of processes. A
    bad entry is disqualified, and nobody else's results are the worse for it.

    Args:
        game: the game or its name.
        entries: agents as for `dicegym.agent`, or {name: agent}.
        seed: names all games and the entries' private randomness.
        workers: number of processes (default: of usable processors).
        progress: called after each check and match with (done, of how many, what was done last).
        limits: what an entry may use; default: 10 s and 512 MiB.

    Returns:
        What the format returns: `dicegym.arena.formats.round_robin.RoundRobinResult`, `...groups.GroupsResult`.

    Raises:
        ParameterError: two entries have one name, or there are too few for the game.
        UnknownNameError: there is no such game or agent.
    """
    game = make_game(game)
    if game.spec.contest not in FORMATS:
        raise unknown_name("format of contests", game.spec.contest, list(FORMATS))
    form = FORMATS[game.spec.contest]
    with Director(game, entries, seed, workers, progress, limits, form.fewest(game), form.matches) as director:
        return form.hold(director)
