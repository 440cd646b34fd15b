"""The batch environment of every registered game."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

from dicegym.envs.vector import BatchEnv
from dicegym.errors import AgentError, IllegalActionError, ParameterError, StepError
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.play.turn import Turn
from dicegym.registry import ENVIRONMENTS

each_environment = pytest.mark.parametrize("env_id", [environment.full_id for environment in ENVIRONMENTS])
MODES = list(AutoresetMode)


def choose(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action of each row; 0 where nothing is legal."""
    return np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)


def careful(turn: Turn) -> int:
    """A pure opponent: the middle one of the legal actions."""
    legal = np.flatnonzero(turn.mask)
    return int(legal[len(legal) // 2])


PURE = FunctionPlayer(careful, "careful", pure=True)
OPPONENTS = {
    "pure": PURE,
    "drawing": RandomPlayer(),
    "pool": {PURE: 1, RandomPlayer(): 2, FunctionPlayer(lambda turn: int(np.flatnonzero(turn.mask)[-1]), "last"): 1},
}


@each_environment
@pytest.mark.parametrize(
    ("opponent", "seat"),
    [
        pytest.param(opponent, seat, id=f"{seat}-{name}", marks=[] if row == column else [pytest.mark.slow])
        for row, seat in enumerate(["random", "alternate", 0])
        for column, (name, opponent) in enumerate(OPPONENTS.items())
    ],
)
def test_every_row_plays_exactly_what_a_single_environment_plays(env_id: str, opponent: Any, seat: Any) -> None:
    n, seed = 5, 40
    batch = gym.make_vec(env_id, num_envs=n, opponent=opponent, seat=seat, autoreset_mode="SameStep")
    singles = [gym.make(env_id, opponent=opponent, seat=seat).unwrapped for _ in range(n)]
    observations, info = batch.reset(seed=seed)
    expected = [single.reset(seed=seed + i) for i, single in enumerate(singles)]
    assert (observations == np.stack([o for o, _ in expected])).all()
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(120):
        assert (info["seat"] == [single.seat for single in singles]).all()
        actions = choose(info["action_mask"], rng)
        observations, rewards, terminated, truncated, info = batch.step(actions)
        assert not truncated.any()
        for i, single in enumerate(singles):
            observation, reward, over, _, single_info = single.step(actions[i])
            assert (rewards[i], terminated[i]) == (reward, over)
            if over:
                ended += 1
                assert (info["final_obs"][i] == observation).all()
                assert (info["final_info"]["returns"][i] == single_info["returns"]).all()
                observation, single_info = single.reset()
            assert (observations[i] == observation).all()
            assert (info["action_mask"][i] == single_info["action_mask"]).all()
    assert ended >= n


def episodes(env_id: str, mode: AutoresetMode, n: int, per_row: int) -> list[Any]:
    """Play the first ``per_row`` episodes of each row; return per row a list of (observations, rewards)."""
    env = gym.make_vec(env_id, num_envs=n, opponent=PURE, autoreset_mode=mode)
    observations, info = env.reset(seed=5)
    done = [[] for _ in range(n)]
    current = [([o.copy()], []) for o in observations]
    waiting = np.zeros(n, bool)
    while min(len(episodes) for episodes in done) < per_row:
        masks = info["action_mask"]
        actions = np.array(
            [np.flatnonzero(m)[len(current[i][1]) % m.sum()] if m.any() else 0 for i, m in enumerate(masks)]
        )
        observations, rewards, terminated, truncated, info = env.step(actions)
        over = terminated | truncated
        for i in range(n):
            if waiting[i]:  # next-step mode: this step was the reset
                current[i] = ([observations[i].copy()], [])
                continue
            last = info["final_obs"][i] if over[i] and mode == AutoresetMode.SAME_STEP else observations[i]
            current[i][0].append(last.copy())
            current[i][1].append(rewards[i])
            if over[i]:
                done[i].append(current[i])
                current[i] = ([observations[i].copy()], [])
        waiting = over if mode == AutoresetMode.NEXT_STEP else np.zeros(n, bool)
        if mode == AutoresetMode.DISABLED and over.any():
            observations, info = env.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                current[i] = ([observations[i].copy()], [])
    return [row[:per_row] for row in done]


@each_environment
def test_autoreset_modes_give_the_same_episodes(env_id: str) -> None:
    played = [episodes(env_id, mode, 5, 4) for mode in MODES]
    for other in played[1:]:
        for row, expected in zip(other, played[0], strict=True):
            for (seen, rewards), (seen_0, rewards_0) in zip(row, expected, strict=True):
                assert rewards == rewards_0
                assert all((a == b).all() for a, b in zip(seen, seen_0, strict=True))


@each_environment
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_mode_is_stated(env_id: str, mode: AutoresetMode) -> None:
    assert gym.make_vec(env_id, num_envs=2, autoreset_mode=mode).metadata["autoreset_mode"] is mode
    assert gym.make_vec(env_id, num_envs=2, autoreset_mode=mode.value).metadata["autoreset_mode"] is mode


@each_environment
@pytest.mark.parametrize("wanted", [120, pytest.param(10_000, marks=pytest.mark.slow)])
def test_learners_rewards_sum_to_the_engines_result_for_every_seat_over_many_games(env_id: str, wanted: int) -> None:
    n = wanted // 2
    env = gym.make_vec(env_id, num_envs=n, opponent=PURE, autoreset_mode="SameStep")
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    collected = np.zeros(n)
    games = dict.fromkeys(range(env.game.players), 0)
    while sum(games.values()) < wanted:
        _, rewards, terminated, _, info = env.step(choose(info["action_mask"], rng))
        collected += rewards
        for row in np.flatnonzero(terminated):
            final = info["final_info"]
            seat = int(final["seat"][row])
            assert collected[row] == pytest.approx(final["returns"][row][seat])
            games[seat] += 1
            collected[row] = 0
    assert min(games.values()) > wanted / 10


@each_environment
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_gymnasiums_own_vector_wrappers_work(env_id: str, mode: str) -> None:
    env = gym.make_vec(env_id, num_envs=4, autoreset_mode=mode)
    env = wrappers.RecordEpisodeStatistics(env)
    env = wrappers.NormalizeReward(env)
    env = wrappers.ClipReward(env, -5, 5)
    if mode == "NextStep":  # Gymnasium's observation wrappers refuse same-step mode themselves
        env = wrappers.RescaleObservation(env, np.float32(-1), np.float32(1))
        env = wrappers.NormalizeObservation(env)
    env = wrappers.DictInfoToList(env)
    env.reset(seed=0)
    finished = 0
    for _ in range(200):
        *_, infos = env.step(env.action_space.sample())
        finished += sum("episode" in info for info in infos)
    assert finished > 0


@each_environment
def test_recorded_statistics_are_the_episodes_returns(env_id: str) -> None:
    env = wrappers.RecordEpisodeStatistics(gym.make_vec(env_id, num_envs=3, autoreset_mode="SameStep", opponent=PURE))
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(150):
        _, _, terminated, _, info = env.step(choose(info["action_mask"], rng))
        for row in np.flatnonzero(terminated):
            final = info["final_info"]
            assert info["episode"]["r"][row] == pytest.approx(final["returns"][row][final["seat"][row]])
            checked += 1
    assert checked > 5


@each_environment
def test_result_does_not_depend_on_the_size_of_the_batch(env_id: str) -> None:
    small = gym.make_vec(env_id, num_envs=1, opponent=PURE)
    large = gym.make_vec(env_id, num_envs=60, opponent=PURE)
    seen_small, _ = small.reset(seed=1050)
    seen_large, info_large = large.reset(seed=1000)
    for _ in range(40):
        assert (seen_small[0] == seen_large[50]).all()
        actions = choose(info_large["action_mask"], np.random.default_rng(1))
        seen_large, _, _, _, info_large = large.step(actions)
        seen_small, *_ = small.step(actions[50:51])


def test_returned_arrays_are_the_callers_own_unless_copy_is_false() -> None:
    for own in (True, False):
        env = BatchEnv("hog", 3, copy=own)
        first, _ = env.reset(seed=0)
        kept = first.copy()
        second, *_ = env.step(np.array([5, 5, 5]))
        assert (second is first) is not own
        assert not own or (first == kept).all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_what_is_handed_out_without_copies_is_the_same_and_copies_stay_as_they_were(mode: str) -> None:
    settings = {"num_envs": 64, "autoreset_mode": mode, "max_episode_steps": 9, "on_illegal": "rule"}
    own, copied = (gym.make_vec("dicegym/YatzySolo-v0", copy=copies, **settings) for copies in (False, True))
    infos = [own.reset(seed=3)[1], copied.reset(seed=3)[1]]
    kept: list[tuple[dict[str, object], dict[str, object]]] = []
    for time in range(60):
        assert data_equivalence(*infos)
        kept.append((infos[1], copy.deepcopy(infos[1])))
        actions = own.random_actions(time).copy()
        actions[time % 64] = 224 if time % 3 else 999  # now and then something illegal, also as an episode ends
        infos = [env.step(actions)[4] for env in (own, copied)]
    assert any("final_info" in info for info, _ in kept) or mode == "NextStep"
    assert any(info["fault"].any() for info, _ in kept)
    assert all(data_equivalence(info, then) for info, then in kept)


def test_max_episode_steps_truncates_and_resets() -> None:
    env = gym.make_vec("dicegym/Hog-v0", num_envs=2, max_episode_steps=3, autoreset_mode="SameStep")
    env.reset(seed=0)
    for step in range(1, 10):
        _, _, terminated, truncated, info = env.step(np.array([2, 2]))
        assert not terminated.any()
        assert truncated.all() == (step % 3 == 0)
        assert ("final_obs" in info) == (step % 3 == 0)


def test_illegal_actions_by_the_rule_raised_or_terminating() -> None:
    env = BatchEnv("hog", 2, autoreset_mode="SameStep", seat=0)
    env.reset(seed=0)
    _, rewards, terminated, _, _ = env.step(np.array([12, 5]))
    assert (rewards.tolist(), terminated.tolist()) == ([-1.0, 0.0], [True, False])

    env = BatchEnv("hog", 2, on_illegal="raise")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match="game 1: action 12"):
        env.step(np.array([5, 12]))
    env.step(np.array([5, 5]))

    env = BatchEnv("hog", 2, on_illegal="terminate", illegal_reward=-4)
    env.reset(seed=0)
    _, rewards, terminated, _, _ = env.step(np.array([5, -1]))
    assert (rewards.tolist(), terminated.tolist()) == ([0.0, -4.0], [False, True])
    _, rewards, terminated, _, info = env.step(np.array([5, 5]))
    assert (rewards.tolist(), terminated.tolist()) == ([0.0, 0.0], [False, False])
    assert info["action_mask"].all()


@pytest.mark.parametrize(
    "actions", [np.array([1]), np.array([1.0, 2.0]), [[1, 2]], None, np.array(["a", "b"])], ids=repr
)
def test_actions_of_a_wrong_form_are_refused(actions: Any) -> None:
    env = BatchEnv("hog", 2)
    env.reset(seed=0)
    with pytest.raises(ParameterError, match="give 2 whole numbers"):
        env.step(actions)


def test_misuse_is_refused() -> None:
    with pytest.raises(ParameterError, match="num_envs=0"):
        BatchEnv("hog", 0)
    with pytest.raises(ParameterError, match="autoreset_mode='Never'"):
        BatchEnv("hog", 2, autoreset_mode="Never")
    env = BatchEnv("hog", 2, autoreset_mode="Disabled")
    with pytest.raises(StepError, match="reset"):
        env.step(np.array([1, 1]))
    with pytest.raises(ParameterError, match="3 seeds"):
        env.reset(seed=[1, 2, 3])
    env.reset(seed=[1, None])
    env.step(np.array([12, 5]))
    with pytest.raises(StepError, match=r"games \[0\] have ended"):
        env.step(np.array([5, 5]))
    with pytest.raises(ParameterError, match="reset_mask"):
        env.reset(options={"reset_mask": [True, False]})
    with pytest.raises(ParameterError, match="reset knows"):
        env.reset(options={"mask": 1})
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step(np.array([5, 5]))


@each_environment
def test_state_dict_goes_on_where_it_was_taken(env_id: str) -> None:
    env, other = (gym.make_vec(env_id, num_envs=6, opponent=PURE, autoreset_mode="SameStep") for _ in range(2))
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(25):
        _, _, _, _, info = env.step(choose(info["action_mask"], rng))
    other.load_state_dict(env.state_dict())
    for _ in range(25):
        actions = choose(info["action_mask"], rng)
        seen, rewards, terminated, _, info = env.step(actions)
        seen_2, rewards_2, terminated_2, _, _ = other.step(actions)
        assert (seen == seen_2).all()
        assert (rewards == rewards_2).all()
        assert (terminated == terminated_2).all()


@pytest.mark.parametrize("given", [("hog", 1), ("hog", 3), ("yatzy", 2), ("hog", 2, 50), ()], ids=str)
def test_the_state_of_another_batch_is_refused(given: tuple[Any, ...]) -> None:
    env = BatchEnv("hog", 2, opponent="bacon")
    env.reset(seed=0)
    before = env.states.tobytes()
    other = {} if not given else BatchEnv(*given[:2], **({"goal": given[2]} if given[2:] else {})).state_dict()
    with pytest.raises(ParameterError, match=r"does not fit|cannot be read as a state of Hog"):
        env.load_state_dict(other)
    assert env.states.tobytes() == before


def test_state_dict_keeps_games_begun_under_another_pool() -> None:
    """Who sits where is kept, not drawn again from the pool of now; the next episodes draw from that."""
    n = 64
    env = BatchEnv("hog", n, opponent={"always_roll": 1, "swap": 1}, autoreset_mode="SameStep")
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.full(n, 6))
    other = BatchEnv("hog", n, opponent="bacon", autoreset_mode="SameStep")
    other.set_opponent("streak")  # that sits down, and is gone with its games
    other.reset(seed=0)
    other.set_opponent("bacon")
    other.load_state_dict(env.state_dict())
    assert not other._opponents._acts

    def opponents(env: BatchEnv) -> np.ndarray:
        return np.array([env._opponents._players[index].name for index in env._opponents.who.max(axis=1)])

    first = np.ones(n, bool)  # games that go on since the state was taken
    for _ in range(60):
        assert set(opponents(env)) == {"always_roll", "swap"}
        assert (opponents(other)[first] == opponents(env)[first]).all()
        assert (opponents(other)[~first] == "bacon").all()
        _, rewards, over, *_ = env.step(np.full(n, 6))
        _, other_rewards, other_over, *_ = other.step(np.full(n, 6))
        assert (rewards[first] == other_rewards[first]).all()
        assert (over[first] == other_over[first]).all()
        first &= ~over
    assert not first.any()


def test_copies_play_on_alike_and_apart() -> None:
    env = BatchEnv("hog", 8, opponent={"swap": 1, "bacon": 1}, autoreset_mode="SameStep")
    env.reset(seed=0)
    for _ in range(5):
        env.step(np.full(8, 7))
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        before = env.state_dict()["states"].tobytes()
        twin = copy.deepcopy(env)
        for _ in range(20):
            assert (other.step(np.full(8, 7))[0] == twin.step(np.full(8, 7))[0]).all()
        assert env.state_dict()["states"].tobytes() == before


def test_after_the_failure_of_an_opponent_only_reset_goes_on() -> None:
    calls = []

    def act(turn: Turn) -> int:
        calls.append(1)
        if len(calls) == 6:
            raise AgentError("fragile", "fell over")
        return 6

    env = BatchEnv("hog", 4, opponent=FunctionPlayer(act, "fragile"), seat=0)
    env.reset(seed=0)
    env.step(np.full(4, 5))
    with pytest.raises(AgentError, match="fragile"):
        env.step(np.full(4, 5))
    with pytest.raises(StepError, match="reset"):
        env.step(np.full(4, 5))
    env.reset()
    env.step(np.full(4, 5))


@pytest.mark.parametrize("answer", [None, "a", 3.5, 2**70])
@pytest.mark.parametrize("pure", [True, False])
def test_an_opponent_that_answers_nonsense_is_named(answer: Any, pure: bool) -> None:
    env = BatchEnv("hog", 2, opponent=FunctionPlayer(lambda turn: answer, "odd", pure), seat=0)
    env.reset(seed=0)
    with pytest.raises(AgentError, match="'odd': chose"):
        env.step(np.array([5, 5]))


def test_faults_and_results_are_told_in_every_mode() -> None:
    for mode in MODES:
        env = BatchEnv("hog", 2, opponent=PURE, seat=0, autoreset_mode=mode)
        env.reset(seed=0)
        *_, info = env.step(np.array([12, 5]))
        told = info["final_info"] if mode == AutoresetMode.SAME_STEP else info
        assert told["fault"].tolist() == ["a number of dice outside -1..10", ""]
        meant = [True, told is info]
        assert told["_fault"].tolist() == told["_returns"].tolist() == meant
        assert told["returns"][0].tolist() == [-1, 1]


def test_first_reset_of_some_games_gives_all_games_their_seeds() -> None:
    env, whole = (BatchEnv("hog", 2, autoreset_mode="Disabled") for _ in range(2))
    whole.reset(seed=3)
    env.reset(seed=3, options={"reset_mask": np.array([True, False])})
    env.reset(options={"reset_mask": np.array([False, True])})
    assert (env.state_dict()["states"]["key"] == whole.state_dict()["states"]["key"]).all()


def test_seated_bots_are_forgotten_with_their_games() -> None:
    env = BatchEnv("hog", 4, opponent="streak", seat=0, autoreset_mode="SameStep")
    env.reset(seed=0)
    env.set_opponent("bacon")
    for _ in range(2):
        env.step(np.full(4, 12))  # ends every game
    env.set_opponent("bacon")
    assert not env._opponents._acts
    assert {player.name for player in env._opponents._players} == {"bacon"}


@pytest.mark.parametrize("cap", [0, -3, 2.5, "x"])
def test_caps_that_cannot_be_are_refused(cap: Any) -> None:
    with pytest.raises(ParameterError, match="max_episode_steps"):
        BatchEnv("hog", 2, max_episode_steps=cap)


@pytest.mark.parametrize("seed", ["x", 1.5, True, [1, "x"], [1, True], [1, -1], -1])
def test_seeds_that_cannot_be_are_refused_and_change_nothing(seed: int) -> None:
    env = BatchEnv("hog", 2)
    with pytest.raises(ParameterError, match="seed="):
        env.reset(seed=seed)
    env.reset(seed=5)
    rows = env.state_dict()["rows"]
    with pytest.raises(ParameterError, match="seed="):
        env.reset(seed=seed)
    assert (env.state_dict()["rows"] == rows).all()


def test_new_opponents_come_with_the_next_episode() -> None:
    asked = []
    env = BatchEnv("hog", 3, opponent=PURE, seat=0, autoreset_mode="SameStep")
    env.reset(seed=0)
    env.set_opponent(FunctionPlayer(lambda turn: asked.append(1) or 5, "new"))
    env.step(np.array([5, 5, 5]))
    assert not asked
    env.step(np.array([12, 5, 5]))  # the first game ends and begins anew
    env.step(np.array([5, 5, 5]))
    assert len(asked) == 1


def test_render_shows_every_game() -> None:
    env = BatchEnv("hog", 3, render_mode="ansi")
    env.reset(seed=0)
    assert [text.splitlines()[0] for text in env.render()] == ["Hog to 100"] * 3
    pictures = BatchEnv("hog", 2, render_mode="rgb_array")
    pictures.reset(seed=0)
    assert [picture.dtype for picture in pictures.render()] == [np.uint8] * 2


def states_of(env_id: str, n: int) -> list[Any]:
    """Return the records of ``n`` games after so many decisions as their number, at most ten."""
    env = gym.make(env_id, opponent=PURE).unwrapped
    found, rng = [], np.random.default_rng(3)
    for seed in range(n):
        _, info = env.reset(seed=seed)
        for _ in range(seed):
            before = env.state
            _, _, over, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            if over:
                found.append(before)
                break
        else:
            found.append(env.state)
    return found
