"""Players as files of the original interface, which answer as commands to its standings."""

from __future__ import annotations

from dicegym.bots.export import network_source
from dicegym.engine.game import Game
from dicegym.games.yatzy.protocol import named_by, written
from dicegym.games.yatzy.server_messages import OPEN
from dicegym.games.yatzy.view import known_fields
from dicegym.play.player import Player

_INTERFACE = """
PURE = True  # the same standing always gets the same command


def command(standing):
    rows, mover = standing["standing"], standing["currentPlayer"]
    seat = [row["playerName"] for row in rows].index(mover["playerName"])
    scores = [
        [-1 if field.strip() == OPEN else int(field) for field in row["score"].split(",")] for row in rows
    ]
    state = known_state()
    vars(state).update(
        known_fields(
            types.SimpleNamespace(
                player=seat, round_number=standing["roundNumber"], rolls_left=mover["rollsLeft"], dice=mover["dice"],
                scores=scores,
            )
        )
    )
    return written(*named_by(chosen(state, seat), state.dice))
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that plays as ``player`` does; see `dicegym.bots.export`."""
    return network_source(player, game, f"OPEN = {OPEN!r}\n{_INTERFACE}", known_fields, named_by, written)
