"""Checks of how a game proceeds: actions, branches, endings, batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from dicegym.checks.common import (
    STRANGE_ACTIONS,
    bytes_of,
    check_running,
    random_action,
    random_below,
    report_break,
)
from dicegym.checks.state_checks import check_margin
from dicegym.engine.game import Game
from dicegym.play.drive import walk

ROUNDING = 1e-5
"""Tolerance of a sum of zero in float32."""


def check_actions(game: Game, state: Any) -> None:
    """Mask and step agree on what is legal, and any action leaves a playable state."""
    if state["over"]:
        return
    mask = game.legal(state)
    for action in (*range(game.n_actions), *STRANGE_ACTIONS):
        branch = state.copy()
        fault = game.step(branch, action)
        if not 0 <= fault < len(game.spec.faults):
            seen = f"step({action}) returns {fault}. faults has {len(game.spec.faults)} entries"
            raise report_break(game, seen, "Return 0 or the index of a fault")
        if 0 <= action < game.n_actions and (fault == 0) != mask[action]:
            raise report_break(
                game,
                f"step {'takes' if fault == 0 else f'finds fault {fault} with'} action {action} "
                f"({game.action_name(action)}), and legal calls it {'legal' if mask[action] else 'illegal'}",
                "Learners choose by the mask and step judges them: let both call the same function",
            )
        for name in ("key", "players", *game.all_parameters):
            if branch[name] != state[name]:
                raise report_break(game, f"step({action}) changes {name}", "Keep what changes in another field")
        check_running(game, branch)


def check_branching(game: Game, state: Any, time: int) -> None:
    """A copied or saved state continues exactly as the original, and does not change it."""
    if state["over"]:
        return
    before = bytes_of(state)
    loaded = game.new_states(1)
    loaded[:] = np.frombuffer(before, game.spec.state)
    copies = [state.copy(), state.copy(), loaded[0]]
    if any(bytes_of(copy) != before for copy in copies):
        remedy = "Build the record with dicegym.engine.spec.record, which leaves no gaps between fields"
        raise report_break(game, "a copy has other bytes than the original", remedy)
    for copy in copies:
        for step in range(4):
            if not copy["over"]:
                game.step(copy, random_action(game, copy, "branch", time, step))
    if bytes_of(state) != before:
        raise report_break(game, "playing a copy changes the original", "Keep no state outside the record")
    if len({bytes_of(copy) for copy in copies}) > 1:
        remedy = "Take all chance from dicegym.engine.dice and all memory from the record"
        raise report_break(game, "the same actions from the same state lead to different states", remedy)


def check_ending(game: Game, seed: int, longest: int) -> None:
    """Games end under random actions, legal or not, and then no action is legal."""
    for illegal in (False, True):

        def choose(state: Any, time: int, illegal: bool = illegal) -> int:
            action = random_action(game, state, "end", seed, time)
            slips = illegal and random_below(3, "slip", time) == 0
            return game.n_actions + random_below(50, "slip", time) - 25 if slips else action

        state = game.new_game(seed)[0]
        for _ in walk(game, state, choose, longest):
            pass
        if not state["over"]:
            seen = f"after {longest} random decisions{', some illegal,' * illegal} a game is not over"
            raise report_break(game, seen, "Let the rules end it, or pass a higher `longest` if games are that long")
        check_margin(game, state)
        if game.legal(state).any():
            raise report_break(game, "actions are legal after the end", "Use Game.legal as it is")
        total = float(game.returns(state).sum())
        if game.spec.zero_sum and game.players > 1 and abs(total) > ROUNDING:
            seen = f"the returns of a game sum to {total:g}"
            raise report_break(game, seen, "Leave out zero_sum=True, or correct returns")


def check_batch(game: Game, seed: int, rows: int = 5, decisions: int = 50) -> None:
    """Games in a batch are the same as alone, and a finished one is followed by its seed's next episode."""
    batch = game.batch(rows, seed)
    alone = [game.new_game(seed + row)[0] for row in range(rows)]
    episodes = [0] * rows
    for time in range(decisions):
        actions = batch.random_actions(time).copy()
        batch.step(actions)
        for row, action in enumerate(actions.tolist()):
            game.step(alone[row], action)
            over, gained = bool(alone[row]["over"]), game.returns(alone[row])
            if over:
                episodes[row] += 1
                alone[row] = game.new_game(seed + row, episodes[row])[0]
            state = alone[row]
            same = (
                over == bool(batch.overs[row])
                and (not over or np.array_equal(gained, batch.results[row]))
                and bytes_of(state) == bytes_of(batch.states[row])
                and np.array_equal(game.legal(state), batch.masks[row])
                and np.array_equal(game.observe(state, int(state["player"])), batch.observations[row])
            )
            if not same:
                seen = f"game {row} of a batch differs from the same game alone after {time + 1} decisions"
                raise report_break(game, seen, "Look for a kernel that reads or writes outside its own record")
