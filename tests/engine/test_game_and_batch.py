"""`Game` and `Batch`: what they are made of, what they refuse, and what they promise."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from variants import VARIANTS, each_game, each_variant, states_of

import dicegym
from dicegym import games
from dicegym.engine import loops
from dicegym.engine.batch import Batch
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.spec import HEADER, reader, record
from dicegym.engine.thread_team import LEAST_ROWS
from dicegym.errors import ParameterError, StepError, UnknownNameError
from dicegym.games.hog.rules import SPEC as HOG_SPEC
from dicegym.registry import ENVIRONMENTS, GAMES

nojit = pytest.mark.nojit


@nojit
def test_there_are_games() -> None:
    """The suites over the registry prove nothing about an empty one."""
    assert GAMES
    assert {variant.name for variant in VARIANTS} == {*GAMES}
    assert {environment.game for environment in ENVIRONMENTS} == {*GAMES}


@each_variant
def test_equal_games_are_interchangeable(game: Game) -> None:
    twin, loaded = games.game(game.name, game.players, **game.parameters), pickle.loads(pickle.dumps(game))
    assert twin is not game
    for other in (twin, loaded, eval(repr(game))):
        assert other == game
        assert hash(other) == hash(game)
        assert other.parameters == game.parameters
        assert other.new_game(5).tobytes() == game.new_game(5).tobytes()
    assert games.game(game) is game
    assert len({*VARIANTS}) == len(VARIANTS)
    assert game != game.name


@nojit
@each_game
def test_a_record_is_aligned_and_has_no_gaps(name: str) -> None:
    """A copy leaves gaps undefined, and then equal states differ in their bytes."""
    spec = games.spec(name)
    dtype, declared = spec.state, spec.declared_record
    assert dtype.isalignedstruct
    assert dtype.itemsize == sum(dtype[field].itemsize for field in dtype.names or ())
    assert [(field, declared[field]) for field in (declared.names or ())[: len(HEADER)]] == [
        (field, np.dtype(kind)) for field, kind in HEADER
    ]
    assert set(dtype.names or ()) - set(declared.names or ()) <= {"padding"}
    state = games.game(name).new_state(3)
    while not state.over:
        state.step(state.legal_actions()[-1])
    assert "padding" not in (dtype.names or ()) or not state.record["padding"].any()


@nojit
@each_game
def test_the_bytes_of_a_record_are_read_field_by_field(name: str) -> None:
    spec = games.spec(name)
    record = games.game(name).new_state(7).record
    fields = spec.state.names or ()
    assert {spec.state[field].itemsize for field in fields} > {8}
    found = reader(spec.state, fields)(record.tobytes())
    for field, value in zip(fields, found, strict=True):
        assert value == (record[field].tobytes() if spec.state[field].shape else record[field].item()), field


@nojit
def test_two_games_cannot_share_a_record() -> None:
    """The loops tell games apart by it."""
    dtype = record([("only in this test", np.int8)])
    sound = HOG_SPEC.kernels
    loops.bind(dtype, sound)
    loops.bind(dtype, sound)  # the same once more is no conflict
    with pytest.raises(TypeError, match="two games share the record"):
        loops.bind(dtype, sound._replace(legal=sound.reset))


@nojit
@each_game
def test_unknown_games_and_parameters_are_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"there is no game 'hogg'\. Did you mean 'hog'"):
        dicegym.game("hogg")
    with pytest.raises(UnknownNameError, match=r"there is no parameter of .* 'bogus'") as caught:
        games.game(name, bogus=1)
    for known in ("players", *games.spec(name).parameters):
        assert known in str(caught.value)


@nojit
@each_game
def test_parameters_out_of_range_are_refused(name: str) -> None:
    spec = games.spec(name)
    limits = {"players": spec.players} | {key: (p.low, p.high) for key, p in spec.parameters.items()}
    for key, (low, high) in limits.items():
        wanted = f"exactly {low}" if low == high else f"a whole number from {low} to {high}"
        for value in (low - 1, high + 1, float(low), str(low), None if key != "players" else "", [low], np.nan):
            with pytest.raises(ParameterError, match=f"give {wanted}") as caught:
                games.game(name, **{key: value})
            assert f"{key}={value!r}" in str(caught.value)


@nojit
@each_game
def test_a_game_takes_no_settings_a_second_time(name: str) -> None:
    """They would have been ignored."""
    game = games.game(name)
    assert games.game(game, players=None) is game
    settings = {"players": game.players} | dict.fromkeys(game.parameters, 1)
    for key, value in settings.items():
        with pytest.raises(ParameterError, match=f"cannot take {key}: make another game"):
            games.game(game, **{key: value})


@each_variant
def test_a_new_game_is_named_by_seed_and_episode(game: Game) -> None:
    state = game.new_game(7, 3)[0]
    assert int(state["key"]) == game_key(7, 3)
    settings = {"players": game.players, **game.parameters}
    assert {name: state[name] for name in settings} == settings
    assert game.new_game(7, 3).tobytes() == state.tobytes()
    assert game.new_game(7, 4).tobytes() != state.tobytes()
    assert game.new_game(-1).tobytes() == game.new_game(2**64 - 1).tobytes()
    states = game.new_states(3)  # ready to be given a key and begun
    assert {name: states[name].tolist() for name in settings} == {name: [value] * 3 for name, value in settings.items()}
    assert not states["key"].any()


def test_seeds_and_numbers_of_games_are_whole_numbers_of_python_or_numpy() -> None:
    game = games.game("hog")
    begun: list[Callable[[Any], bytes]] = [
        lambda seed: game.new_game(seed).tobytes(),
        lambda seed: game.new_state(seed).record.tobytes(),
        lambda seed: game.batch(1, seed).states.tobytes(),
    ]
    for begin in begun:
        for seed in (np.int64(3), np.int32(3), np.uint64(3), np.int64(-3)):
            assert begin(seed) == begin(int(seed))
        for wrong in (1.0, float("nan"), "3", None, True, 1 << 64):
            with pytest.raises(ParameterError, match="cannot be used as a number that names games"):
                begin(wrong)
    for episode in (-1, 0.5, "3"):
        with pytest.raises(ParameterError, match="cannot be used as the number of a game"):
            game.new_game(0, episode)  # type: ignore[arg-type]


@each_variant
def test_shapes_and_types(game: Game) -> None:
    """Each call gives arrays of its own: changing one changes neither the game nor the next answer."""
    for state in states_of(game)[::4]:
        mask, gained = game.legal(state), game.returns(state)
        assert (mask.shape, mask.dtype) == ((game.n_actions,), np.bool_)
        assert (gained.shape, gained.dtype) == ((game.players,), np.float32)
        assert mask.any() != state["over"]
        for seat in range(game.players):
            seen = game.observe(state, seat)
            assert (seen.shape, seen.dtype) == ((game.observation_size,), np.float32)
        assert state["over"] or type(game.step(state.copy(), int(mask.argmax()))) is int
        for read in (game.legal, game.returns, lambda state: game.observe(state, 0)):
            first = read(state)
            kept = first.copy()
            first[:] = 1 - first
            assert np.array_equal(read(state), kept)
    assert game.observation_size == sum(game.features.values())


@each_game
def test_a_batch_begins_with_consecutive_seeds_and_is_written_in_place(name: str) -> None:
    game = games.game(name)
    batch = game.batch(5, seed=2**64 - 2)  # seeds wrap around
    arrays = [batch.states, batch.observations, batch.masks, batch.results, batch.overs]
    assert len(batch) == 5
    for row, seed in enumerate((2**64 - 2, 2**64 - 1, 0, 1, 2)):
        alone = game.new_game(seed)[0]
        assert batch.states[row].tobytes() == alone.tobytes()
        assert np.array_equal(batch.observations[row], game.observe(alone, int(alone["player"])))
        assert np.array_equal(batch.masks[row], game.legal(alone))
    batch.step(batch.random_actions(0))
    now = [batch.states, batch.observations, batch.masks, batch.results, batch.overs]
    assert all(before is after for before, after in zip(arrays, now, strict=True))


@nojit
def test_wrong_actions_and_numbers_of_games_are_refused() -> None:
    batch = games.game(GAMES[0]).batch(4)
    before = batch.states.tobytes()
    wrong: list[Any] = [np.zeros(3, np.int64), np.zeros((4, 1), np.int64), np.zeros(4), 0, [0.0] * 4]
    for actions in [*wrong, np.zeros(4, bool), ["0"] * 4]:
        with pytest.raises(ParameterError, match=r"give 4 whole numbers, one a game"):
            batch.step(actions)
    assert batch.states.tobytes() == before
    for time in (-1, 1.5, 1 << 63, True):
        with pytest.raises(ParameterError, match="the time of random actions"):
            batch.random_actions(time)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'hog' cannot be stepped as a batch"):
        Batch("hog", 4)  # type: ignore[arg-type]
    for n in (0, -1, 2.0, None):
        with pytest.raises(ParameterError, match="the number of games in a batch"):
            games.game(GAMES[0]).batch(n)  # type: ignore[arg-type]


@nojit
@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_whose_step_was_cut_off_is_not_stepped_again(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some games have taken the step and others have not, and nobody can tell which."""
    n = 2 * LEAST_ROWS
    batch = dicegym.game("hog").batch(n, threads=threads)

    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(ParameterError):  # nothing was played yet
        batch.step(np.zeros(n - 1, np.int64))
    batch.step(batch.random_actions(0))
    with monkeypatch.context() as patch:
        patch.setattr(batch._team, "call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            batch.step(np.zeros(n, np.int64))
    with pytest.raises(StepError, match=r"interrupted step.* make a new batch"):
        batch.step(np.zeros(n, np.int64))


def test_random_legal_is_uniform_over_legal_actions() -> None:
    masks = np.zeros((40_000 if dicegym.engine.jit.COMPILED else 2_000, 7), np.bool_)
    masks[:, [1, 2, 5]] = True
    masks[0] = False
    out = np.zeros(len(masks), np.int64)
    loops.random_legal(masks, np.uint64(3), 0, 0, out)
    assert out[0] == -1
    counts = np.bincount(out[1:], minlength=7)
    assert counts[[0, 3, 4, 6]].sum() == 0
    spread = 5 * np.sqrt(len(masks) * 2 / 9)
    assert np.abs(counts[[1, 2, 5]] - len(masks) / 3).max() < spread

    again, later = np.zeros_like(out), np.zeros_like(out)
    loops.random_legal(masks[50:], np.uint64(3), 0, 50, again[50:])  # a row depends on no other row
    assert np.array_equal(again[50:], out[50:])
    loops.random_legal(masks, np.uint64(3), 1, 0, later)
    assert not np.array_equal(later, out)


def test_a_compiled_loop_refuses_what_is_no_record() -> None:
    with pytest.raises(TypeError, match="takes one record of a game"):
        loops.observe_mask_and_returns(
            np.zeros(3), 0, np.zeros(3, np.float32), np.zeros(3, bool), np.zeros(2, np.float32)
        )
