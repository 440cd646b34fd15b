"""Classic Liar's Dice with its original commands.

``play p_human p_computer``, ``tournament 100 p_robot p_computer``: the command line finds this module by its name and
offers it as ``dicegym liarsdice``, with the line above as its help. Both hand over to the commands of all games.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer

import dicegym
from dicegym.arena.formats.one_table import one_table
from dicegym.arena.report import show
from dicegym.cli.command import group
from dicegym.cli.console import NO_FILES, Outputs, out
from dicegym.cli.play_command import play as play_at_keyboard
from dicegym.cli.shared_options import Seed
from dicegym.cli.watch import watch
from dicegym.errors import ParameterError
from dicegym.escape import one_line
from dicegym.play.seeds import draw_seed
from dicegym.players.roster import agent_name

GAME = "liarsdice"
HUMAN = "p_human"
"""The name of the person at the keyboard."""

Dice = Annotated[int, typer.Option(help="dice that each player begins with")]


def name_entries(entries: list[str]) -> dict[str, str]:
    """Return the entries under distinct names; a folder here comes before an agent of the same name."""
    found: dict[str, str] = {}
    for entry in entries:
        name = one_line(agent_name(GAME, entry))
        number = 1
        while (unique := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        here = entry != HUMAN and Path(entry).is_dir() and not Path(entry).is_absolute()
        found[unique] = f"./{entry}" if here else entry
    return found


def play(
    entries: Annotated[list[str], typer.Argument(metavar="PLAYER...", help=f"{HUMAN} is you; agents, folders, files")],
    seed: Seed = None,
    dice: Dice = 5,
) -> None:
    """Play one game at the keyboard, or watch one without a person.

    Seats are drawn by the seed. With a person this is `dicegym play liarsdice`, else `dicegym watch`.

    Example: dicegym liarsdice play p_human p_computer
    """
    if entries.count(HUMAN) > 1:
        raise ParameterError(f"{HUMAN} is named {entries.count(HUMAN)} times, and there is one keyboard: name it once")
    number = draw_seed() if seed is None else seed
    seats = [*name_entries(entries).values()]
    random.Random(number).shuffle(seats)
    settings = [f"players={len(seats)}", f"dice={dice}"]
    if HUMAN in seats:
        rivals = [entry for entry in seats if entry != HUMAN]
        play_at_keyboard(GAME, rivals, seats.index(HUMAN), number, parameter=settings)
    else:
        first, *others = seats
        watch(first, others, GAME, seed=number, parameter=settings)


def tournament(
    games: Annotated[int, typer.Argument(help="how many games are played")],
    entries: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="agents, folders, files")],
    seed: Seed = None,
    dice: Dice = 5,
    written: Annotated[Outputs, ".json"] = NO_FILES,
) -> None:
    """Let all players play games together, and count wins.

    Seats are shuffled for each game.

    Example: dicegym liarsdice tournament 100 p_robot p_computer
    """
    if HUMAN in entries:
        raise ParameterError(f"{HUMAN} is a person: play with `dicegym liarsdice play`")
    result = one_table(dicegym.game(GAME, dice=dice), name_entries(entries), games, seed)
    show(result.report(), out)
    written.json(result.to_json())
    if not result.matches:
        raise typer.Exit(1)


app = group("", play=play, tournament=tournament)
