"""Who plays against learners in a batch, and how: compiled twins, tables, threads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from variants import FINISHED

import dicegym
from dicegym.engine import loops
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ParameterError
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.players.batch_players import TwinPlayer, situations, twin_numbers
from dicegym.players.pool import Pool
from dicegym.players.roster import agents_folder, opponent
from dicegym.registry import ENVIRONMENTS, Environment

each_environment = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda environment: environment.id)
MIDDLE = FunctionPlayer(lambda turn: int(np.flatnonzero(turn.mask)[turn.mask.sum() // 2]), "middle", pure=True)


def baseline(environment: Environment) -> str:
    return dicegym.game(environment.game).spec.baseline


def transcript(environment: Environment, n: int, steps: int, **settings: Any) -> list[Any]:
    """Play random legal actions; return the bytes of all that a learner is given."""
    env = gym.make_vec(environment.full_id, num_envs=n, autoreset_mode="SameStep", **settings)
    observations, info = env.reset(seed=3)
    actions, seen = np.zeros(n, np.int64), []
    for time in range(steps):
        loops.random_legal(info["action_mask"], np.uint64(1), time, 0, actions)
        observations, rewards, terminated, truncated, info = env.step(actions)
        finals = [final.tobytes() for final in info.get("final_obs", ()) if final is not None]
        seen.append([part.tobytes() for part in (observations, rewards, terminated, truncated, info["action_mask"])])
        seen.append(finals)
    return seen


LIKE_OTHERS = ("YatzySolo-v0", "LiarsDiceSpotOn-v0")


@pytest.mark.parametrize(
    "environment",
    [pytest.param(one, id=one.id, marks=[pytest.mark.slow] * (one.id in LIKE_OTHERS)) for one in ENVIRONMENTS],
)
def test_number_of_threads_and_copies_change_nothing(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.engine.thread_team.LEAST_ROWS", 2)  # few games are enough to be shared out
    pool = {baseline(environment): 2, MIDDLE: 1, RandomPlayer(): 1}
    one, three = (
        transcript(environment, 3 * 2 + 2, 60, opponent=pool, threads=threads, copy=threads == 1) for threads in (1, 3)
    )
    assert sum(map(len, one[1::2])) > 5  # games have ended
    assert one == three


@each_environment
def test_random_actions_are_legal_and_the_same_on_any_number_of_threads(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dicegym.engine.thread_team.LEAST_ROWS", 16)
    envs = [BatchEnv(environment.game, 53, threads=threads, **environment.settings) for threads in (1, 3)]
    masks, ended = [env.reset(seed=3)[1]["action_mask"] for env in envs], 0
    for time in range(30):
        one, three = (env.random_actions(time) for env in envs)
        assert (one == three).all()
        playing = masks[0].any(axis=1)
        assert masks[0][playing, one[playing]].all()
        assert (one[~playing] == -1).all()
        masks = [env.step(actions)[-1]["action_mask"] for env, actions in zip(envs, (one, three), strict=True)]
        assert (masks[0] == masks[1]).all()
        assert masks[0][~playing].any(axis=1).all()  # -1 is for games that begin anew with this step
        ended += np.count_nonzero(~playing)
    assert ended > 5
    assert len(set(one.tolist())) > 3


def test_threads_and_times_that_cannot_be_are_refused() -> None:
    """By one thread as by several, of which the others are told a time as 64 bits."""
    for time in (-1, 1.5, 1 << 63, "now"):
        with pytest.raises(ParameterError, match="time="):
            BatchEnv("hog", 2).random_actions(time)
    for threads in (0, -1, 1.5, "2", True, 5000):
        with pytest.raises(ParameterError, match="threads="):
            BatchEnv("hog", 2, threads=threads)


@pytest.mark.parametrize("name", FINISHED)
def test_number_of_threads_changes_nothing_in_the_bare_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.engine.thread_team.LEAST_ROWS", 16)
    game = dicegym.game(name)
    one, two = (game.batch(2 * 16 + 1, seed=5, threads=threads) for threads in (1, 2))
    for time in range(40):
        assert (one.random_actions(time) == two.random_actions(time)).all()
        for batch in (one, two):
            batch.step(batch.random_actions(time))
        assert one.states.tobytes() == two.states.tobytes()
        assert one.observations.tobytes() == two.observations.tobytes()


@each_environment
def test_compiled_twin_plays_what_its_file_plays(environment: Environment) -> None:
    game = dicegym.game(environment.game, **environment.settings)
    name = baseline(environment)
    twin, file = opponent(game, name), dicegym.agent(game, name)
    assert file.pure
    assert twin.name == file.name
    assert transcript(environment, 6, 40, opponent=twin) == transcript(environment, 6, 40, opponent=file)


@pytest.mark.parametrize("name", FINISHED)
def test_game_has_compiled_bots_and_its_default_opponent_needs_no_python(name: str) -> None:
    game = dicegym.game(name)
    assert twin_numbers(game)
    for player in Pool.of(game, game.spec.default_opponent).players:
        assert isinstance(player, TwinPlayer) or situations(game)
    if name == "hog":  # a name with an argument has a twin too
        assert isinstance(opponent(game, "always_roll(5)"), TwinPlayer)
        assert not isinstance(opponent(game, "always_roll(4)"), TwinPlayer)


@pytest.mark.parametrize("name", FINISHED)
def test_edited_file_plays_itself(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = dicegym.game(name)
    bot = next(bot for bot in twin_numbers(game) if "(" not in bot)
    assert isinstance(opponent(game, bot), TwinPlayer)
    shutil.copytree(agents_folder(game), tmp_path / name)
    monkeypatch.setenv("DICEGYM_AGENTS", str(tmp_path))
    path = tmp_path / name / f"{bot}.py"
    assert isinstance(opponent(game, bot), TwinPlayer)  # the same text elsewhere
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert isinstance(opponent(game, bot), TwinPlayer)  # and with other line ends
    path.write_text(path.read_text() + "\n# edited\n")
    assert not isinstance(opponent(game, bot), TwinPlayer)
    assert not isinstance(opponent(game, str(path)), TwinPlayer)


def test_pure_player_of_a_game_with_few_situations_is_asked_once_for_each() -> None:
    asked = []

    def act(turn: Turn) -> int:
        asked.append(turn.view[:2])
        return 5

    env = BatchEnv("hog", 300, opponent=FunctionPlayer(act, "five", pure=True), autoreset_mode="SameStep")
    env.reset(seed=0)
    for _ in range(200):
        env.step(np.full(300, 4))
    assert len(asked) == len(set(asked)) > 300
    settled = len(asked)
    env.reset(seed=0)
    for _ in range(200):
        env.step(np.full(300, 4))
    assert len(asked) == settled


def test_answers_too_wide_for_a_table_are_played_all_the_same() -> None:
    wide, small = (
        BatchEnv(
            "hog", 2, opponent=FunctionPlayer(lambda turn, n=n: n, "odd", pure=True), seat=0, autoreset_mode="SameStep"
        )
        for n in (1 << 40, 99)
    )
    for env in (wide, small):
        env.reset(seed=0)
        for _ in range(2):
            _, rewards, terminated, _, _ = env.step(np.array([5, 5]))
            assert (rewards == 1).all()  # a number of dice that does not exist loses
            assert terminated.all()


@each_environment
def test_batch_keeps_at_most_a_kilobyte_a_game_beyond_what_learners_are_given(environment: Environment) -> None:
    game = dicegym.game(environment.game, **environment.settings)
    env = BatchEnv(game, 64)
    given = env._batch.observations.nbytes + env._batch.masks.nbytes
    by_row = [array for name, array in env._batch._asdict().items() if name not in ("options", "blank")]
    kept = sum(array.nbytes for array in (*by_row, env._all, env._waiting, env._tasks)) - given
    assert kept / 64 <= 1024


def test_pool_draws_the_same_in_the_loop_as_for_a_single_game() -> None:
    game = dicegym.game("hog")
    pool = Pool([FunctionPlayer(lambda turn, n=n: n, str(n), pure=True) for n in (1, 2, 3)], [0.1, 2, 0.7])
    env = BatchEnv(game, 500, opponent=pool)
    env.reset(seed=9)
    for row in range(500):
        key, seat = int(env._batch.states["key"][row]), int(env._rows["seat"][row])
        who = env._opponents._players[env._batch.who[row, 1 - seat]]
        assert {1 - seat: who} == pool.draw_seats(key, seat, 2)
    drawn = np.bincount(env._batch.who.max(axis=1), minlength=3)
    assert drawn[1] > drawn[2] > drawn[0] > 0
