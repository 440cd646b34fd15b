"""Pictures of Liar's Dice with "spot on"."""

from __future__ import annotations

from functools import partial

from dicegym.games.bidding.picture import draw_table
from dicegym.games.liarsdice_spot_on.text import TABLE

picture = partial(draw_table, TABLE)
