"""The record of proofs: what a redesign must not change, written down, and compared with the tree as it is.

``python tests/proofs.py`` compares every section and lists what differs; it exits with 1 if anything does.
``python tests/proofs.py --write`` writes the record anew, after a person has read the difference.
``python tests/proofs.py models help`` takes these sections alone.
``python tests/proofs.py --beside TREE`` measures this tree and another one in turn, and lists their speeds.

A section is a file of lines in ``tests/proofs/``. Golden playthroughs and transcripts have files of their own, which
this command compares too.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "proofs"

CONTESTS: tuple[tuple[str, str | None, tuple[str, ...], Mapping[str, Any]], ...] = (
    ("hog", None, ("always_roll(5)", "bacon", "swap", "ham", "tuned"), {}),
    ("hog", "swiss", ("always_roll(4)", "bacon", "swap", "wild", "desperado"), {"rounds": 3}),
    ("yatzy", None, ("thrifty", "gather", "expectation", "in_order"), {"games": 6}),
    ("liarsdice", None, ("even", "honest", "bayes", "bluffer", "timid"), {"games": 20}),
    ("liarsdice", "one_table", ("even", "honest", "bayes", "timid"), {"games": 24}),
    ("liarsdice_spot_on", None, ("even", "honest", "bayes", "bluffer", "trusting"), {"games": 20}),
    ("lucky", None, ("investor", "thrifty", "raider", "gambler", "cheapest", "compound", "idle", "strategist"), {}),
)
"""Game, format (None: the game's own), entries, and further options of the contests whose tables are recorded."""
SEED = 2026
PLAYED = {"games": 2500, "states": 4}
"""Positions in which a model is asked: how many games are played at random at once, and how often it is asked."""


def fingerprints() -> Iterator[str]:
    """Yield a line for every form of every game: rules, observations, actions and rewards in 16 digits."""
    from dicegym import games
    from dicegym.checks import forms
    from dicegym.registry import ENVIRONMENTS, GAMES

    for name in GAMES:
        for form in forms(games.spec(name)):
            yield f"{form.fingerprint}  {form!r}"
    for environment in ENVIRONMENTS:
        yield f"{environment.full_id}  {environment.settings}  multi={environment.multi}"


def contests() -> Iterator[str]:
    """Yield the ranking and every match of seeded contests in all games."""
    from dicegym.arena.running import contest

    for game, form, entries, options in CONTESTS:
        result = contest(game, entries, SEED, format=form, **options)
        yield f"=== {game}, {result.format}, seed {SEED}"
        for row in result.standings:
            yield f"{row.place:3d}  {row.name}"
        for match in result.matches:
            places = " ".join(f"{'-'.join(map(str, places))}:{games}" for places, games in match.places)
            yield f"{' + '.join(match.entries)}  seed {match.seed}  wins {match.wins}  faults {match.faults}  {places}"


def values() -> Iterator[str]:
    """Yield exact values to the last digit: the sources that are ready at once, and win rates between agents."""
    import dicegym
    from dicegym.analysis.exploitability import exploitability
    from dicegym.analysis.valuers import sources
    from dicegym.games.parts import solver_of
    from dicegym.learning.evaluate import evaluate
    from dicegym.registry import GAMES

    for name in GAMES:
        low, high = dicegym.game(name).spec.players
        for players in range(low, min(high, 2) + 1):
            game = dicegym.game(name, players=players)
            for source in sources(game):
                if source.ready() and source.name not in ("rollouts", "network"):
                    found = [source.load(None).value(game.new_game(seed)[0], 0) for seed in range(4)]
                    yield f"{game!r}  {source.name}  {found}"
    for a in ("always_roll(5)", "always_roll(8)", "always_roll(0)", "always_roll(-1)", "expectation", "ppo", "taught"):
        yield f"hog  {a} against always_roll(5)  {evaluate('hog', a).value!r}"
    one_die = dicegym.game("liarsdice", dice=1)
    for a in ("even", "honest", "bayes"):
        yield f"{one_die!r}  {a} against even  {evaluate(one_die, a, seed=0).value!r}"
    game = dicegym.game("hog")
    for agent in ("swap", "ppo"):
        player = dicegym.agent(game, agent)
        duel = solver_of(game, player)
        if duel is not None:
            yield f"{game!r}  best response to {agent}, seeing all  {duel.best_response(player, game)[0]!r}"
            yield f"{game!r}  best table against {agent}  {duel.best_table(player, game, trials=2)[0]!r}"
    yield f"{one_die!r}  best table against even  {exploitability('even', one_die).low!r}"


def models() -> Iterator[str]:
    """Yield the moves of every shipped model in the positions of random games, as a hash: it plays as it did."""
    import dicegym
    from dicegym.players.model_file import read_game
    from dicegym.players.roster import agents_folder
    from dicegym.registry import GAMES

    for name in GAMES:
        for path in sorted(agents_folder(name).glob("*.zip")):
            game = read_game(path)
            player = dicegym.agent(game, str(path))
            digest, asked = hashlib.sha256(), 0
            batch = game.batch(PLAYED["games"], seed=SEED)
            for time in range(60):
                if time % (60 // PLAYED["states"]) == 0:
                    seats = batch.states["player"].astype(np.int64)
                    moves = player.act_rows(game, batch.states, np.arange(len(batch)), seats)
                    digest.update(np.asarray(moves, np.int32).tobytes())
                    asked += len(moves)
                batch.step(batch.random_actions(time))
            yield f"{name}/{path.stem}  {asked} positions  {digest.hexdigest()[:16]}"


def api() -> Iterator[str]:
    """Yield what a user's program may rest on: public names with their signatures, environments and entry points."""
    from importlib.metadata import distribution

    rooms = ("agents", "contest", "envs", "training", "values", "wrappers", "errors")
    for module in ("dicegym", *(f"dicegym.{room}" for room in rooms)):
        loaded = importlib.import_module(module)
        names = getattr(loaded, "__all__", None) or [
            name
            for name, value in vars(loaded).items()
            if getattr(value, "__module__", "") == module and not name.startswith("_")
        ]
        for name in sorted(names):
            yield f"{module}.{name}{signature(getattr(loaded, name))}"
    for point in sorted(distribution("dicegym").entry_points, key=str):
        yield f"entry point {point.group}: {point.name} = {point.value}"


def signature(value: Any) -> str:
    """Return the parameters of a function or class with their defaults, or the kind of any other value."""
    if not callable(value):
        return f": {type(value).__name__}"
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return "(...)"
    return f"({', '.join(str(one.replace(annotation=inspect.Parameter.empty)) for one in parameters)})"


def help_pages() -> Iterator[str]:
    """Yield the help of every command, as a terminal of 80 columns shows it."""
    from typer.testing import CliRunner

    from dicegym.cli.app import app, whole_command

    runner = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})

    def pages(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        yield f"=== dicegym {' '.join(path)}".rstrip()
        yield from runner.invoke(app, [*path, "--help"]).output.splitlines()
        for name, inner in getattr(command, "commands", {}).items():
            yield from pages(inner, (*path, name))

    yield from pages(whole_command(), ())


SECTIONS: dict[str, Callable[[], Iterator[str]]] = {
    "fingerprints": fingerprints,
    "contests": contests,
    "values": values,
    "models": models,
    "api": api,
    "help": help_pages,
}
STORIES = ("tests/games/test_playthroughs.py", "tests/games/test_transcripts.py")
"""Tests that compare golden games, whose files are written by commands of their own."""


def compare(name: str, write: bool) -> list[str]:
    """Return the difference of a section from its record, or write the record and return nothing."""
    lines = [line.rstrip() for line in SECTIONS[name]()]
    path = FOLDER / f"{name}.txt"
    if write:
        FOLDER.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
        return []
    golden = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return list(difflib.unified_diff(golden, lines, f"record/{name}", "now", lineterm="", n=0))


def speeds(tree: Path) -> list[tuple[str, float]]:
    """Return what one run of `dicegym doctor --bench` in ``tree`` measured: (figure, median)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "bench.json")
        command = [str(tree / ".venv/bin/dicegym"), "doctor", "--bench", "-o", str(file)]
        subprocess.run(command, check=True, capture_output=True, cwd=tree)
        rates = json.loads(file.read_text())["rates"]
    return [(f"{one['environment']} {one['form']}", median(one["values"])) for one in rates]


def print_speeds(other: Path, rounds: int) -> None:
    """Measure this tree and another one in turn, and print this one's speed as a share of the other's."""
    here: dict[str, list[float]] = {}
    there: dict[str, list[float]] = {}
    for _ in range(rounds):
        for tree, found in ((other, there), (HERE.parent, here)):
            for figure, value in speeds(tree):
                found.setdefault(figure, []).append(value)
    for figure in sorted({*here} & {*there}):
        share = median(here[figure]) / median(there[figure])
        print(f"{share:6.2f}  {figure}  {median(there[figure]):,.4g} -> {median(here[figure]):,.4g}")


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--write", action="store_true", help="write the record anew")
    parser.add_argument("--beside", type=Path, metavar="TREE", help="measure speeds beside another checkout's")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each tree with --beside (default: 3)")
    asked = parser.parse_args()
    if unknown := {*asked.sections} - {*SECTIONS}:
        parser.error(f"no section {', '.join(sorted(unknown))}: choose from {', '.join(SECTIONS)}")
    if asked.beside is not None:
        print_speeds(asked.beside.resolve(), asked.rounds)
        return 0
    differs = False
    for name in asked.sections or SECTIONS:
        difference = compare(name, asked.write)
        print(f"{name}: {'written' if asked.write else 'differs' if difference else 'as recorded'}", flush=True)
        print(*difference, sep="\n", end="\n" if difference else "")
        differs |= bool(difference)
    if not asked.sections and not asked.write:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *STORIES]
        differs |= bool(subprocess.run(command, cwd=HERE.parent, check=False, env={**os.environ}).returncode)
    return int(differs)


if __name__ == "__main__":
    raise SystemExit(main())
