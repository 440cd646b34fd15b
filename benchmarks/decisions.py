"""Decisions of all players: counting those of opponents, which a loop over one seat does not see."""

from __future__ import annotations

from functools import cache

import dicegym
from dicegym.envs.vector import BatchEnv
from dicegym.play.player import Player
from dicegym.play.turn import Act, Turn, follows
from dicegym.players.pool import Pool
from dicegym.registry import Environment


class Counting(Player):
    """A player whose decisions are counted."""

    def __init__(self, player: Player) -> None:
        self.player, self.name, self.moves = player, player.name, 0

    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        """Sit down; see `Player.join`."""
        act = self.player.join(game, seat, seed)

        def counted(turn: Turn) -> int:
            self.moves += 1
            return act(turn)

        if follows(act):
            counted.follow = act.follow  # type: ignore[attr-defined]  # a function takes attributes
        return counted


@cache
def _decisions_per_step(game: dicegym.Game, steps: int) -> float:
    pool = Pool.of(game, game.spec.default_opponent)
    opponents = [Counting(player) for player in pool.players]
    env = BatchEnv(game, 64, Pool(opponents, pool.weights), autoreset_mode="SameStep")
    env.reset(seed=0)
    for opponent in opponents:
        opponent.moves = 0
    for time in range(1, steps + 1):
        env.step(env.random_actions(time))
    return 1.0 + sum(opponent.moves for opponent in opponents) / (steps * env.num_envs)


def decisions_per_step(environment: Environment, steps: int = 200) -> float:
    """Return how many decisions of all players a step of a learner with one seat stands for, on average.

    Counted in 64 games of ``steps`` steps, the learner at random against the default opponent, as in the loops
    that are timed; 1 in games for one.
    """
    game = dicegym.game(environment.game, **environment.settings)
    return 1.0 if game.players == 1 else _decisions_per_step(game, steps)
