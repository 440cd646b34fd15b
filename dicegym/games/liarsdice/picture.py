"""How classic Liar's Dice looks."""

from __future__ import annotations

from functools import partial

from dicegym.games.bidding.picture import describe_table, draw_table
from dicegym.games.liarsdice.text import TABLE

picture, words = partial(draw_table, TABLE), partial(describe_table, TABLE)
