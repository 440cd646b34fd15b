"""Two players add 1 to 3 and a die to a common total, the last number not twice in a row; 40 ends the game."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dicegym.engine.dice import die, turn_stream
from dicegym.engine.jit import kernel
from dicegym.engine.loops import Kernels
from dicegym.engine.spec import GameSpec, Parameter, record

FLAWS = (
    "none",
    "reset changes the key",
    "over at once",
    "player out of range",
    "nothing is legal",
    "legal writes too far",
    "observe writes too far",
    "observe writes before",
    "returns writes too far",
    "observe forgets an element",
    "observe changes the state",
    "observe is not finite",
    "observe is above one",
    "observe shows the key",
    "legal depends on the key",
    "step refuses legal",
    "step takes illegal",
    "fault without a text",
    "step changes a parameter",
    "never ends",
    "an illegal action turns back time",
    "random",
    "both may win",
    "view shows the key",
    "view holds arrays",
    "view is unnamed",
    "margins do not cancel",
    "margin is the loser's",
    "scene is text",
    "scene changes the state",
    "scene shows the key",
    "actions share a name",
)
FLAW = {name: number for number, name in enumerate(FLAWS)}
(
    SOUND,
    RESET_KEY,
    RESET_OVER,
    BAD_PLAYER,
    NOTHING_LEGAL,
    LEGAL_FAR,
    OBSERVE_FAR,
    OBSERVE_BEFORE,
    RETURNS_FAR,
    FORGETS,
    OBSERVE_WRITES,
    NOT_FINITE,
    ABOVE_ONE,
    SHOWS_KEY,
    LEGAL_KEY,
    REFUSES,
    TAKES,
    BAD_FAULT,
    CHANGES_PARAMETER,
    ENDLESS,
    TURNS_BACK,
    RANDOM,
    BOTH_WIN,
    _VIEW_KEY,
    _VIEW_ARRAYS,
    _VIEW_UNNAMED,
    NO_CANCEL,
    LOSERS_LEAD,
    *_,
) = range(len(FLAWS))

STATE = record(
    [
        ("flaw", np.int8),  # (): parameter
        ("total", np.int32),  # (): points so far
        ("last", np.int8),  # (): last number added
        ("turn", np.int32),  # (): turns played
    ]
)


@kernel
def reset(state):
    state.last = -1
    if state.flaw == RESET_KEY:
        state.key = np.uint64(1)
    if state.flaw == RESET_OVER:
        state.over = True


@kernel
def step(state, action):
    if action < 0 or action > 2 or (action == state.last and state.flaw != TAKES):
        if state.flaw == TURNS_BACK:
            state.total = -1_000_000
        state.total += 1
        state.over = state.total >= 40 and state.flaw != ENDLESS
        return 2 if state.flaw == BAD_FAULT else 1
    if state.flaw == REFUSES and action == 2:
        return 1
    if state.flaw == CHANGES_PARAMETER and state.turn == 3:
        state.key += np.uint64(1)
    state.total += action + 1 + die(turn_stream(state.key, state.player, state.turn), 0, 6)
    if state.flaw == RANDOM:
        state.total += np.random.randint(0, 3)  # noqa: NPY002 - compiled code has no other
    state.turn += 1
    state.last = action
    state.player = 1 - state.player
    if state.flaw == BAD_PLAYER and state.turn == 2:
        state.player = 2
    if state.flaw == ENDLESS:
        state.total = min(state.total, 30)
    state.over = state.total >= 40
    return 0


@kernel
def legal(state, mask):
    mask[:] = state.flaw != NOTHING_LEGAL or state.turn < 3
    if state.last >= 0:
        mask[state.last] = False
    if state.flaw == LEGAL_FAR:
        mask[len(mask) + state.turn % 2] = True
    if state.flaw == LEGAL_KEY and state.last != 0:
        mask[0] = state.key % np.uint64(2) == 0


@kernel
def observe(state, seat, out):
    out[0] = min(max(state.total, 0) / np.float32(40), 1.0)
    if state.flaw != FORGETS or state.turn != 2:
        out[1] = state.player == seat
    if state.flaw == OBSERVE_FAR:
        out[len(out)] = 0
    if state.flaw == OBSERVE_BEFORE:
        before = -3
        out[before - len(out) + 1] = 0
    if state.flaw == OBSERVE_WRITES:
        state.turn += 1
    if state.flaw == NOT_FINITE:
        out[0] = np.nan if seat == 1 else 0.0
    if state.flaw == ABOVE_ONE:
        out[0] = state.total / np.float32(39)
    if state.flaw == SHOWS_KEY:
        out[1] = state.key % np.uint64(2)


@kernel
def returns(state, out):
    out[0] = state.over
    out[1] = out[0] if state.flaw == BOTH_WIN else -out[0]
    if state.flaw == RETURNS_FAR:
        out[2] = 0


@kernel
def margin(state, out):
    lead = 0.25 * state.total / 40 * (1 if state.over else -1)
    out[0] = lead if state.flaw != LOSERS_LEAD else -lead
    out[1] = -out[0] if state.flaw != NO_CANCEL else 0.0


class View(NamedTuple):
    total: Any


def view(state: Any, seat: int) -> Any:
    flaw = FLAWS[state["flaw"]]
    if flaw == "view shows the key":
        return View(int(state["key"]))
    if flaw == "view holds arrays":
        return View((1, [state["total"]]))
    return (int(state["total"]),) if flaw == "view is unnamed" else View(int(state["total"]))


SPEC = GameSpec(
    name="flawed",
    title="Flawed",
    state=STATE,
    kernels=Kernels(reset, step, legal, observe, returns, margin),
    players=(2, 2),
    n_actions=3,
    features=lambda parameters: {"total": 1, "to move": 1},
    view=view,
    faults=("", "no number from 1 to 3, or the last one again"),
    default_opponent="one",
    baseline="one",
    zero_sum=True,
    parameters={"flaw": Parameter(0, 0, len(FLAWS) - 1, "what is wrong")},
)
