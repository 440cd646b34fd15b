"""What a version is tried out by: the contest's test, and games against agents of different strength."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dicegym.arena.check import CheckReport, check
from dicegym.arena.running import contest
from dicegym.engine.game import Game
from dicegym.escape import lines
from dicegym.games import game as make_game
from dicegym.games.keyboard import STRENGTHS
from dicegym.players.sitting import controls_of
from dicegym.sandbox.limits import Limits
from dicegym.web.enter.bots import Bots
from dicegym.web.enter.submission_tables import VersionState
from dicegym.web.enter.uploads import bot_in

TRIAL_GAMES = 20
"""Against each opponent."""
TRIAL_LIMITS = Limits()
LONGEST_TEXT = 20_000
"""Characters of what a bot was called with and printed that are kept."""
MOST_MISPLAYS = 20
QUICK = 10.0
"""Seconds: a quicker check is made again to show the calls."""


def opponents_of(game: Game) -> dict[str, str]:
    """Return the agents that a bot is tried against, each with what it is: ``baseline``, ``easy``, ..."""
    found: dict[str, list[str]] = {game.spec.baseline: ["baseline"]}
    opponents = controls_of(game).OPPONENTS
    for strength in STRENGTHS:
        if strength in opponents:
            found.setdefault(opponents[strength], []).append(strength)
    return {agent: ", ".join(words) for agent, words in found.items()}


def try_out(bots: Bots, number: int, isolation: str) -> None:
    """Check a version and let it play; what is found is noted of it, piece by piece."""
    version = bots.version_by_id(number)
    game, name = make_game(version.bot.game), version.bot.name
    path, problem = bot_in(game, bots.folder(number))
    found = CheckReport(name, game.name, problem) if problem else _check(path, game, isolation)
    shown = {"limit": found.limit, "calls": _short(found.calls), "printed": _short(found.printed)}
    state = VersionState.PLAYING if found.ok else VersionState.REFUSED
    bots.note(number, state, report=found.to_json() | shown)
    if not found.ok:
        return
    results: list[dict[str, Any]] = []
    for agent, strength in opponents_of(game).items():
        bots.note(number, state, f"plays {agent}", results=results)
        results.append({"agent": agent, "strength": strength, **_play(game, name, path, agent, isolation)})
    bots.note(number, VersionState.PASSED, results=results)


def _check(path: Path, game: Game, isolation: str) -> CheckReport:
    began = time.monotonic()
    found = check(path, game, TRIAL_LIMITS, isolation=isolation)
    if not found.ok and time.monotonic() - began < QUICK:  # its author wants to know what it was asked last
        calls = check(path, game, TRIAL_LIMITS, show=True, isolation=isolation).calls
        return replace(found, calls=calls)
    return found


def _play(game: Game, name: str, path: Path, agent: str, isolation: str) -> dict[str, Any]:
    """Return the result of games against an agent in all other seats."""
    others = [agent if seat == 1 else f"{agent} {seat}" for seat in range(1, game.players)]
    own = f"{name} (yours)" if name in others else name
    entries = {own: path, **dict.fromkeys(others, agent)}
    result = contest(
        game, entries, 0, 1, None, TRIAL_LIMITS, format="one_table", games=TRIAL_GAMES, isolation=isolation
    )
    about = {"seats": game.players, "games": TRIAL_GAMES, "problem": ""}
    failures = {one.name: one.reason for one in result.disqualified}
    if own in failures or not result.matches:
        return about | {"problem": failures.get(own, "no game was played")}
    (match,) = result.matches
    seat = match.entries.index(own)
    misplays = [one for one in result.misplays if one.name == own]
    return about | {
        "wins": match.wins[seat],
        "share": match.shares[seat] / match.games,
        "faults": match.faults[seat],
        "misplays": [[one.game, one.turn, one.reason] for one in misplays[:MOST_MISPLAYS]],
        "printed": _short(result.printed.get(own, "")),
    }


def _short(text: str) -> str:
    shown = lines(text[:LONGEST_TEXT])
    return shown if len(text) <= LONGEST_TEXT else f"{shown}\n... (and more)"
