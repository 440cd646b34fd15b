"""Contests with hostile bots, and the same with meek ones in their place; runs in a cage as ``zoo.visit``."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.director import Director, Format
from dicegym.arena.match import Match
from dicegym.arena.match_rows import Misplay, misplays_of
from dicegym.arena.results import ContestResult
from dicegym.arena.running import FORMATS
from dicegym.play.printed import Printed
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import Entry, Failure, entry, here
from zoo.animals import ANIMALS
from zoo.cage import HOME
from zoo.hostile import Hostile, Pays, meek
from zoo.spies import KEYS, MASK, SECRET
from zoo.strangers import STRANGERS

HONEST = ("shipped", "student")
"""Opponents of the hostile bots: a bot that ships with the package, and a file that plays at random."""
SEED = 0x5EED_0F_A_C0_17E57
GAMES = 2
"""Games of each match."""
WORKERS = 3
"""More than processors, because sleeping bots use none."""
MOVE = 0.1
"""Seconds of processor time for a move; the wall-clock limit is ten times as long."""
HOUSE = f"{HOME}/house"
"""A folder with a program that others run, writable for the user who runs the contest."""
SMALL = {"hog": {"goal": 50}}
"""Parameters that reduce the test before a contest from 10,000 questions to 2,500."""
LIMITS: dict[str, Any] = {"seconds": 5 * MOVE, "start": 5 * MOVE, "move": MOVE, "memory": 64 << 20}


def pairs(game: dicegym.Game, entries: Iterable[Entry], seed: int) -> Iterator[Match]:
    """Yield the matches of honest bots with each other and with hostile bots.

    Their dice depend only on names, because `keys_of` needs them before the bots' files are written.
    """
    entries = [one._replace(content="") for one in entries]
    honest = sorted((entry for entry in entries if entry.name in HONEST), key=lambda entry: entry.name)
    others = [entry for entry in entries if entry.name not in HONEST]
    shipped, student = honest
    twice = [other for other in others if ANIMALS[other.name].twice]
    for a, b in ((shipped, student), *((student, other) for other in others), *((shipped, other) for other in twice)):
        yield Match(game, (a, b), seed, GAMES)


def run_contest(director: Director) -> ContestResult:
    """Play without ranking; each of ``outcomes`` is (names, games won by each, shares) or (names, reason)."""
    matches, misplays, printed = list[tuple[Any, ...]](), list[Misplay](), dict[str, str]()
    for match, outcome in director.play(pairs(director.game, director.entries, director.seed)):
        names = tuple(entry.name for entry in match.entries)
        if isinstance(outcome, Failure):
            director.failures[names[outcome.actor]] = outcome.reason
            matches.append((names, outcome.reason))
        else:
            matches.append((names, outcome["wins"], outcome["shares"]))
            misplays += misplays_of(names, outcome)
            printed |= {name: text for name, text in zip(names, outcome["printed"], strict=True) if text}
    found = director.result((), outcomes=tuple(sorted(matches)))
    faults = dict(Counter(one.name for one in misplays))
    return replace(found, misplays=tuple(misplays), faults=faults, printed=printed | found.printed)


FORM = Format(run_contest, "", lambda game: 2)


def keys_of(game: dicegym.Game, names: Iterable[str]) -> list[int]:
    """Return the keys of all games, and their seeds."""
    found = [SEED]
    for name in names:
        for honest in HONEST:
            seed = Match(game, (_named(honest), _named(name)), SEED, GAMES).seed
            keys = (int(game.new_game(seed, number)["key"][0]) for number in range(GAMES))
            found += [seed % 2**64, *keys]
    return found


def _named(name: str) -> Any:
    return type("Entry", (), {"name": name, "content": ""})


def write_bots(game: dicegym.Game, bots: Iterable[Hostile], folder: Path, words: dict[str, str]) -> dict[str, Any]:
    """Write the files of hostile and honest bots; return the entries of a contest."""
    folder.mkdir()
    student = folder / "student"
    student.mkdir()
    shutil.copy(Path(dicegym.__file__).parents[1] / "agents" / game.name / "haphazard.py", student / "haphazard.py")
    (student / "notes.txt").write_text(SECRET)
    entries: dict[str, Any] = dict(zip(HONEST, (game.spec.baseline, student / "haphazard.py"), strict=True))
    for bot in bots:
        text = bot.source(game.name)
        for word, value in words.items():
            text = text.replace(word, value)
        path = folder / bot.name / "bot.py"
        path.parent.mkdir()
        path.write_text(text)
        entries[bot.name] = path
    return entries


class Listeners:
    """Sockets of all kinds that no bot may reach; each sends the secret."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.port = 0
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", 0)),
            (socket.AF_UNIX, "\0zoo"),
            (socket.AF_UNIX, f"{HOME}/listener"),
        ):
            line = socket.socket(family)
            line.bind(address)
            line.listen(64)
            self.port = self.port or line.getsockname()[1]
            threading.Thread(target=self._serve, args=(line, str(address)), daemon=True).start()

    def _serve(self, line: socket.socket, address: str) -> None:
        while True:
            with line.accept()[0] as caller:
                self.calls.append(address)
                with contextlib.suppress(OSError):  # the caller did not wait
                    caller.sendall(SECRET.encode())


def words_of(game: dicegym.Game, names: Iterable[str], port: int) -> dict[str, str]:
    """Return the replacements for placeholders in bots' sources."""
    return {
        KEYS: ", ".join(str(key ^ MASK) for key in keys_of(game, names)),
        "@MASK": str(MASK),
        "@GOAL": str(game.parameters.get("goal", "")),
        "@MOVE": str(MOVE),
        "@PORT": str(port),
        "@HOME": HOME,
        "@CACHE": os.environ.get("DICEGYM_CACHE", "/nowhere"),
        "@HOUSE": HOUSE,
    }


def summary(outcome: ContestResult, seconds: float) -> dict[str, Any]:
    """Return a result as plain values."""
    return {
        "struck": {one.name: one.reason for one in outcome.disqualified},
        "misplays": [[one.name, one.turn, one.reason] for one in outcome.misplays],
        "matches": list(outcome.details.get("outcomes", outcome.matches)),
        "standings": [row.to_json() for row in outcome.standings],
        "printed": outcome.printed,
        "remarks": outcome.remarks,
        "text": outcome.text(),
        "json": json.dumps(outcome.to_json(), default=str),
        "seconds": seconds,
    }


def play(game: dicegym.Game, level: str, entries: Any, **options: Any) -> dict[str, Any]:
    """Run one contest."""
    begun = time.monotonic()
    outcome = contest(game, entries, SEED, WORKERS, limits=Limits(**LIMITS), isolation=level, **options)
    return summary(outcome, time.monotonic() - begun)


def bots(game: dicegym.Game, level: str, names: list[str], port: int) -> dict[str, Any]:
    """Run a contest with hostile bots; play the same matches here with meek ones in place of unpunished bots."""
    animals = [ANIMALS[name] for name in names]
    words = words_of(game, names, port)
    folder = Path("/tmp/hostile")
    found = {"hostile": play(game, level, write_bots(game, animals, folder, words), format=FORM.name)}
    shutil.rmtree(folder)
    folder = Path("/tmp/meek")
    tame = [meek(animal) for animal in animals if animal.pays is Pays.NOTHING]
    entries = write_bots(game, tame, folder, words)
    matches = []
    for match in pairs(game, [entry(game, name, spec) for name, spec in entries.items()], SEED):
        outcome = match.run(here(Heartbeat.private(), Printed()))
        matches.append((tuple(one.name for one in match.entries), outcome["wins"], outcome["shares"]))
    shutil.rmtree(folder)
    return found | {"meek": {"matches": sorted(matches)}}


def whole(game: dicegym.Game, level: str, names: list[str], port: int) -> dict[str, Any]:
    """Run the game's own contest with hostile bots among others, and the same without them."""
    folder = Path("/tmp/bots")
    entries = write_bots(game, [ANIMALS[name] for name in names], folder, words_of(game, names, port))
    entries |= {f"other {agent}": agent for agent in dicegym.agent_names(game)[:3]}
    without = {name: spec for name, spec in entries.items() if name not in names}
    found = {kind: play(game, level, those, games=2) for kind, those in (("hostile", entries), ("meek", without))}
    shutil.rmtree(folder)
    return found


def strangers(game: dicegym.Game, level: str, names: list[str], port: int) -> dict[str, Any]:
    """Run a contest of a folder with all kinds of files, and one with only the good files."""
    found = {}
    for kind, sent in (("meek", [one for one in STRANGERS if not one.reason]), ("hostile", STRANGERS)):
        folder = Path("/tmp", kind)  # the cage's own
        folder.mkdir()
        for one in sent:
            one.make(folder / one.name)
        found[kind] = play(game, level, folder, games=1)
        shutil.rmtree(folder)
    return found


def spies(game: dicegym.Game, level: str, names: list[str], port: int) -> dict[str, Any]:
    """Run spies as unprotected programs, where they can find everything."""
    found = {}
    words = words_of(game, names, port) | {"@CACHE": HOUSE}
    secret = Path("/tmp/other/bot.py")  # the cage's own
    secret.parent.mkdir()
    secret.write_text(SECRET)
    for name in names:
        text = ANIMALS[name].source("hog")
        for word, value in words.items():
            text = text.replace(word, value)
        path = Path("/tmp", f"{name}.py")
        path.write_text(text)
        key = keys_of(game, names)[-1]
        start = "import sys, numpy; record = numpy.zeros(9, [('key', 'u8')]); record['key'] = int(sys.argv[1])\n"
        start += "exec(compile(open(sys.argv[2]).read(), sys.argv[2], 'exec'), {'__file__': sys.argv[2]})"
        run = subprocess.run([sys.executable, "-c", start, str(key), path], capture_output=True, text=True, check=False)
        found[name] = (run.stderr.strip().splitlines() or [""])[-1]
        path.unlink()
    shutil.rmtree(secret.parent)
    return found


def main(request: dict[str, Any]) -> None:
    """Do what is requested; write the results as JSON."""
    FORMATS[FORM.name] = FORM
    for place in (f"{HOME}/.netrc", f"{HOME}/.ssh/id_rsa", f"{HOUSE}/library.py"):
        Path(place).parent.mkdir(exist_ok=True)
        Path(place).write_text(SECRET)
    os.environ["ZOO_SECRET"] = SECRET
    listeners = Listeners()
    doing = {"bots": bots, "whole": whole, "strangers": strangers, "spies": spies}[request["what"]]
    found = {}
    for name, bots_of_it in request["games"].items():
        game = dicegym.game(name, players=2, **(SMALL.get(name, {}) if request["what"] == "bots" else {}))
        found[name] = doing(game, request["level"], bots_of_it, listeners.port)
        found[name]["calls"] = listeners.calls[:]
    Path(request["result"]).write_text(json.dumps(found, default=asdict))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
