"""The table of a league measured anew: its members play many fresh games, on as many processes as are wanted."""

from __future__ import annotations

import contextlib
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

from dicegym.arena.executors import Executors
from dicegym.engine.game import Game
from dicegym.errors import DamagedFileError, DicegymError, ParameterError, one_line
from dicegym.games.parts import Progress
from dicegym.learning import checkpoint
from dicegym.learning.evaluate import FRESH_SEED, evaluate
from dicegym.learning.executed import kept_open
from dicegym.learning.league import League, LeagueState, LeagueTable, Result
from dicegym.learning.preparation import prepare
from dicegym.learning.run_state import read_state
from dicegym.players import model as models
from dicegym.players.seal import is_sealed


def measured_anew(
    folder: Path,
    games: int,
    executors: Executors | None = None,
    trust: bool = False,
    progress: Progress | None = None,
) -> tuple[LeagueTable, dict[str, float]]:
    """Return the table of the league in a run's newest checkpoint, and what part of its games each member gets.

    Everybody there plays everybody, games that neither the training nor its league has seen; where the game has exact
    values, none are played.

    Args:
        folder: the run's, of a training against itself; it may be training just now.
        games: for each two.
        executors: who plays, as for `dicegym.learning.evaluate.evaluate`; None: this process.
        trust: as for `dicegym.agent`. Files that the settings name run as they do in the training: as you.
        progress: told (games played, of how many, who plays).

    Raises:
        ParameterError, DamagedFileError: there is no such league, or it is damaged.
        AgentError: somebody fails.
    """
    game, league = _league_of(folder, trust)
    members = league.members
    table = LeagueTable(1 / game.players)
    for member in members:
        table.add(member.name, member.kind, member.joined)
    meetings = list(combinations(members, 2) if game.players == 2 else permutations(members, 2))
    told = progress or (lambda done, total, text: None)
    with contextlib.ExitStack() as stack:
        by = None if executors is None else stack.enter_context(kept_open(executors))
        for number, (a, b) in enumerate(meetings):

            def here(done: int, total: int, text: str, number: int = number, a: str = a.name, b: str = b.name) -> None:
                told(number * games + done, len(meetings) * games, f"{a} against {b}")

            player, rival = league.measured(a), league.measured(b)
            score = evaluate(game, player, rival, games, seed=FRESH_SEED, progress=here, executors=by)
            table.record(a.name, b.name, Result(score.value, score.games))
    return table, league.shares()


def _league_of(folder: Path, trust: bool) -> tuple[Game, League]:
    """Return the league in the newest checkpoint of a run. Raises ParameterError and DamagedFileError."""
    newest = checkpoint.newest(folder)
    if newest is None:
        raise ParameterError(f"{folder} holds no checkpoint of a training: name the folder of one")
    name = models.trained_on(str(newest / "model.zip")).name
    game, settings, _, _ = prepare(name, folder, None, [], True, trust)
    fills = settings.run.alike, settings.run.distinct, settings.run.copies
    league = League(game, settings.opponents, settings.self_play, trust, *fills)
    if not league.learns_from_itself:
        raise ParameterError(f'{folder} is no training against "self", and so has no league')
    try:
        plain: Any = read_state(newest, league.fixed, game, trust or is_sealed(newest))
        league.load_state(LeagueState.from_plain(plain["league"], league.table.even))
    except DicegymError:
        raise
    except (LookupError, TypeError, ValueError, OSError) as error:
        raise DamagedFileError(newest, f"holds no league ({one_line(error)})", "resume the training first") from error
    return game, league
