"""How Liar's Dice with "spot on" looks."""

from __future__ import annotations

from typing import Any

from dicegym.games.bidding.picture import table_picture, table_words
from dicegym.games.liarsdice_spot_on.rules import WILD
from dicegym.games.liarsdice_spot_on.text import name_call, title
from dicegym.pictures.drawing import Viewpoint
from dicegym.pictures.svg import Drawing


def picture(state: Any, view: Viewpoint) -> Drawing:
    """Return a drawing of a state."""
    return table_picture(state, view, title(state), name_call, WILD)


def words(state: Any, view: Viewpoint) -> str:
    """Return what a picture shows, to be read out."""
    return table_words(state, view, title(state), name_call, WILD)
