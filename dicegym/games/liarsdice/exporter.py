"""Players as files of the original interface, which answer as plays to its hands and history."""

from __future__ import annotations

from dicegym.bots.export import network_source
from dicegym.engine.game import Game
from dicegym.games.liarsdice.adapter import action_of, play_of
from dicegym.games.liarsdice.interface import ENTRY_FILES
from dicegym.play.player import Player

_INTERFACE = """
PURE = True  # the same hands and history always get the same play


def get_play(me, hands, history):
    if history.endswith(":0"):
        return 0
    names = [hand.partition(":")[0] for hand in hands.split(",")]
    state = known_state()
    seat = names.index(me)
    state.players, state.player = len(names), seat
    for other, hand in enumerate(hands.split(",")):
        dice = hand.partition(":")[2]
        state.left[other] = state.rolled[other] = len(dice)
        if other == seat:
            for face in dice:
                state.hands[seat, int(face) - 1] += 1
    for said in history.split(",") if history else ():
        name, _, play = said.partition(":")
        state.bids[state.n_bids] = action_of(int(play)) * SEATS + names.index(name)
        state.n_bids += 1
    action = chosen(state, seat)
    return 0 if action == LIAR else play_of(action // FACES + 1, action % FACES + 1)
"""


def export(player: Player, game: Game, form: str) -> str:
    """Return the source of a bot that chooses as ``player`` does; see `dicegym.bots.export`."""
    interface = _INTERFACE if form == ENTRY_FILES[0] else _INTERFACE.replace("get_play", "play")
    return network_source(player, game, interface, action_of, play_of)
