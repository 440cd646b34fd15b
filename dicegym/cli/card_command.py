"""The card of a trained model, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from dicegym.cli import shared_options
from dicegym.cli.console import out
from dicegym.cli.progress import progress_bar


def card(
    model: Annotated[Path, Argument(metavar="MODEL.zip", help="a trained model's file")],
    games: Annotated[int, Option(min=1, metavar="N", help="games against each scripted agent")] = 1000,
    seconds: Annotated[float, Option(metavar="N", help="search time for a best response")] = 3.0,
    write: Annotated[bool, Option("--write", help="replace the card beside the model instead of showing it")] = False,
    trust: shared_options.Trust = False,
) -> None:
    """Show how a trained model was made and how strong it is.

    A training writes this card beside each model; the command makes it anew, with the agents that exist now. What
    `dicegym values exploitability MODEL --steps N` found of the model is on it too.

    With --write, the learning curve that is in the model's file is drawn beside the card.

    Example: dicegym runs card runs/hog/best.zip --games 1000 --seconds 300 --write
    """
    from dicegym.learning.card import card as page
    from dicegym.learning.card import write_card

    with progress_bar("measurements") as progress:
        text = page(model, games, trust, seconds, progress)
    if not write:
        out.print(text)
        return
    for path in write_card(model, text):
        out.print(f"wrote {path}")
