"""What a version is tried out by: the contest's test, and games against agents of different strength."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dicegym.arena.check import check
from dicegym.arena.check_report import CheckReport
from dicegym.arena.running import contest
from dicegym.arena.storage import Storage
from dicegym.arena.store.reading import StoreReader
from dicegym.engine.game import Game
from dicegym.escape import lines
from dicegym.games.keyboard import STRENGTHS
from dicegym.players.human import keyboard_of
from dicegym.sandbox.limits import Limits
from dicegym.web.enter.uploads import bot_in

TellTrial = Callable[[dict[str, Any]], None]
TRIAL_GAMES = 20
"""Against each opponent."""
TRIAL_LIMITS = Limits()
LONGEST_TEXT = 20_000
"""Characters of what a bot was called with and printed that are kept."""
MOST_MISPLAYS = 20
QUICK = 10.0
"""Seconds: a quicker check is made again to show the calls."""
STORE = "games.sqlite"
"""The store of a version's trial games, in its folder."""


def opponents_of(game: Game) -> dict[str, str]:
    """Return the agents that a bot is tried against, each with what it is: ``baseline``, ``easy``, ..."""
    found: dict[str, list[str]] = {game.spec.baseline: ["baseline"]}
    opponents = keyboard_of(game).OPPONENTS
    for strength in STRENGTHS:
        if strength in opponents:
            found.setdefault(opponents[strength], []).append(strength)
    return {agent: ", ".join(words) for agent, words in found.items()}


def try_out(game: Game, folder: Path, name: str, isolation: str, tell: TellTrial) -> None:
    """Check the bot in the folder of an upload and let it play; ``tell`` takes what is found, piece by piece.

    Told are ``{"progress": words}``, ``{"report": ...}`` with what the check found, and ``{"results": [...]}`` with
    the results of games, as often as there is more of it.
    """
    path, problem = bot_in(game, folder)
    if problem:
        tell({"report": _plain(CheckReport(name, game.name, problem))})
        return
    began = time.monotonic()
    found = check(path, game, TRIAL_LIMITS, isolation=isolation)
    if not found.ok and time.monotonic() - began < QUICK:  # its author wants to know what it was asked last
        found = replace(found, calls=check(path, game, TRIAL_LIMITS, show=True, isolation=isolation).calls)
    tell({"report": _plain(found)})
    if not found.ok:
        return
    results: list[dict[str, Any]] = []
    for agent, strength in opponents_of(game).items():

        def progress(done: int, total: int, what: str, agent: str = agent) -> None:
            tell({"progress": f"plays {agent}"})

        tell({"progress": f"plays {agent}"})
        own = name if name != agent else f"{name} (yours)"
        others = [agent if seat == 1 else f"{agent} {seat}" for seat in range(1, game.players)]
        result = contest(
            game,
            {own: path, **dict.fromkeys(others, agent)},
            0,
            1,
            progress,
            TRIAL_LIMITS,
            format="one_table",
            games=TRIAL_GAMES,
            isolation=isolation,
            store=Storage(folder / STORE, label=agent),
        )
        about: dict[str, Any] = {
            "agent": agent,
            "strength": strength,
            "seats": game.players,
            "games": TRIAL_GAMES,
            "problem": "",
        }
        struck = {one.name: one.reason for one in result.disqualified}
        if own in struck or not result.matches:
            results.append(about | {"problem": struck.get(own, "no game was played")})
        else:
            (match,) = result.matches
            seat = match.entries.index(own)
            misplays = [one for one in result.misplays if one.name == own]
            results.append(
                about
                | {
                    "wins": match.wins[seat],
                    "share": match.shares[seat] / match.games,
                    "faults": match.faults[seat],
                    "misplays": [[one.game, one.turn, one.reason] for one in misplays[:MOST_MISPLAYS]],
                    "printed": _short(result.printed.get(own, "")),
                    "match": _match_of(folder, result.stored.contest) if result.stored else None,
                }
            )
        tell({"results": results})


def _plain(report: CheckReport) -> dict[str, Any]:
    """Return all that is kept of a report."""
    shown = {"limit": report.limit, "calls": _short(report.calls), "printed": _short(report.printed)}
    return report.to_json() | shown


def _match_of(folder: Path, number: int) -> int | None:
    """Return the number of the match of a contest in a version's store."""
    with StoreReader(folder / STORE) as reader:
        return next((one.id for one in reader.matches(number)), None)


def _short(text: str) -> str:
    shown = lines(text[:LONGEST_TEXT])
    return shown if len(text) <= LONGEST_TEXT else f"{shown}\n... (and more)"
