"""Pictures of classic Liar's Dice."""

from __future__ import annotations

from functools import partial

from dicegym.games.bidding.picture import draw_table
from dicegym.games.liarsdice.text import TABLE

picture = partial(draw_table, TABLE)
