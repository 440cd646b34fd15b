"""The opponents of bots in smoke games. What this part offers: `dicegym.games.parts.Examination`."""

from __future__ import annotations

from functools import partial

from dicegym.games.bidding import examination
from dicegym.games.liarsdice_spot_on.rules import LIAR, WILD

set_table = partial(examination.set_table, wild=WILD, liar=LIAR)
