"""The card of a trained model, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import out
from dicegym.cli.progress import progress_bar
from dicegym.cli.shared_options import decisions
from dicegym.errors import ParameterError


def card(
    model: Annotated[Path, Argument(metavar="MODEL.zip", help="a trained model's file")],
    games: Annotated[int, Option(min=1, metavar="N", help="games against each scripted agent")] = 1000,
    seconds: Annotated[float, Option(metavar="N", help="search time for a best response")] = 3.0,
    minutes: Annotated[
        float | None,
        Option(
            "--exploit",
            metavar="MINUTES",
            help="first train a best response from its own networks, and report its win rate",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        Option(
            "--exploit-steps", parser=decisions, metavar="N", help="train it for N decisions instead, in whole rollouts"
        ),
    ] = None,
    write: Annotated[bool, Option("--write", help="replace the card beside the model instead of showing it")] = False,
    trust: shared_options.Trust = False,
) -> None:
    """Show how a trained model was made and how strong it is.

    A training writes this card beside each model; the command makes it anew, with the agents that exist now.

    The result of --exploit or --exploit-steps is kept beside the model, and is on its later cards too.

    With --write, the learning curve that is in the model's file is drawn beside the card.

    Example: dicegym runs card runs/hog/best.zip --games 1000 --seconds 300 --write

    Example: dicegym runs card runs/lucky/best.zip --exploit 30 --write
    """
    from dicegym.players.model import read_game

    exploits = minutes is not None or steps is not None
    if minutes is not None and steps is not None:
        raise ParameterError(
            f"--exploit {minutes:g} and --exploit-steps {steps} "
            "both say how long a best response is trained: give one of them"
        )
    if exploits and read_game(model).players < 2:
        raise ParameterError(
            f"{model} plays alone, where nobody can be exploited: leave out --exploit and --exploit-steps"
        )
    from dicegym.learning.card import card as page
    from dicegym.learning.card import write_card

    if exploits:
        from dicegym.learning.approximate_best_response import best_response
        from dicegym.learning.card import write_exploited

        own, game = str(model), read_game(model)
        with progress_bar("seconds" if steps is None else "steps") as progress:
            found = best_response(game, own, minutes=minutes, steps=steps, start=own, progress=progress, trust=trust)
        out.print(f"wrote {write_exploited(model, found)}")
    with progress_bar("measurements") as progress:
        text = page(model, games, trust, seconds, progress)
    if not write:
        out.print(text)
        return
    for path in write_card(model, text):
        out.print(f"wrote {path}")
