"""The trial of a version: the contest's test, then games against agents of different strength."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from dicegym.arena.check import CheckReport, check
from dicegym.arena.running import contest
from dicegym.engine.game import Game
from dicegym.escape import lines, one_line
from dicegym.games import game as make_game
from dicegym.games.keyboard import STRENGTHS
from dicegym.players.sitting import controls_of
from dicegym.sandbox.limits import Limits
from dicegym.web.enter.bots import Bots
from dicegym.web.enter.submission_tables import VersionState
from dicegym.web.enter.uploads import STEM, bot_in

TRIAL_GAMES = 20
"""Games against each opponent."""
TRIAL_LIMITS = Limits()
LONGEST_TEXT = 20_000
"""Most stored characters of a bot's calls, and of its output."""
MOST_MISPLAYS = 20
QUICK_SECONDS = 10.0
"""A failed check that took fewer seconds is repeated to show its calls."""


def opponents_of(game: Game) -> dict[str, str]:
    """Return the opponents of trial games, each with its role: ``baseline``, ``easy``, ..."""
    found: dict[str, list[str]] = {game.spec.baseline: ["baseline"]}
    opponents = controls_of(game).OPPONENTS
    for strength in STRENGTHS:
        if strength in opponents:
            found.setdefault(opponents[strength], []).append(strength)
    return {agent: ", ".join(words) for agent, words in found.items()}


def try_out(bots: Bots, number: int, isolation: str) -> None:
    """Check a version and play its trial games; store each result as soon as it is there."""
    version = bots.version_by_id(number)
    game, name = make_game(version.bot.game), version.bot.name
    path, problem = bot_in(game, bots.folder(number))
    place, file = bots.folder(number).absolute() / "bots", one_line(version.file)
    found = CheckReport(name, game.name, problem) if problem else _check(path, game, isolation)
    shown = {"limit": found.limit, "calls": _short(found.calls), "printed": _short(found.printed)}
    state = VersionState.PLAYING if found.ok else VersionState.REFUSED
    bots.note(number, state, report=rename_file(found.to_json() | shown, place, file))
    if not found.ok:
        return
    results: list[dict[str, Any]] = []
    for agent, strength in opponents_of(game).items():
        bots.note(number, state, f"plays {agent}", results=results)
        played = {"agent": agent, "strength": strength, **_play(game, name, path, agent, isolation)}
        results.append(rename_file(played, place, file))
    bots.note(number, VersionState.PASSED, results=results)


def rename_file(found: Any, place: Path, name: str) -> Any:
    """Return plain values whose texts call the upload stored in ``place`` by its author's ``name``."""
    if isinstance(found, str):
        path = re.escape(str(place / STEM))  # of the folder from a zip, or of a single file without its ending
        stored = path if (place / STEM).is_dir() else rf"(?:{path}|\b{STEM})\.(?:py|zip)\b"
        return re.sub(stored, lambda _: name, found)
    if isinstance(found, dict):
        return {key: rename_file(value, place, name) for key, value in found.items()}
    return [rename_file(value, place, name) for value in found] if isinstance(found, list | tuple) else found


def _check(path: Path, game: Game, isolation: str) -> CheckReport:
    began = time.monotonic()
    found = check(path, game, TRIAL_LIMITS, isolation=isolation)
    if not found.ok and time.monotonic() - began < QUICK_SECONDS:  # for its author, who wants to see the last calls
        calls = check(path, game, TRIAL_LIMITS, show=True, isolation=isolation).calls
        return replace(found, calls=calls)
    return found


def _play(game: Game, name: str, path: Path, agent: str, isolation: str) -> dict[str, Any]:
    """Return the result of games against one agent in all other seats."""
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
