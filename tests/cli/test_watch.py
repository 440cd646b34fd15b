"""Watching: a game move by move in the terminal, and as a recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import Run

import dicegym
from dicegym.cli.watch import find_model
from dicegym.errors import ParameterError
from dicegym.pictures.naming import name_players
from dicegym.pictures.watched import moments, names_of, seating
from dicegym.play.drive import play_game
from dicegym.play.player import FunctionPlayer, RandomPlayer
from dicegym.players.agent_info import game_for
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder


@pytest.mark.parametrize("name", GAMES)
def test_the_moments_of_a_game_are_those_of_the_game_that_is_played(name: str) -> None:
    game = dicegym.game(name)
    players = [RandomPlayer() for _ in range(game.players)]
    first, *rest = list(moments(game, players, 4))
    assert first.done == ()
    assert all(moment.done and not any("player " in line for line in moment.done) for moment in rest)
    assert [moment.over for moment in rest] == [False] * (len(rest) - 1) + [True]
    end = play_game(game, players, 4)
    assert rest[-1].scene == name_players(game.scene(end), names_of(players))
    if game.spec.joint_action is not None:
        assert len(rest[0].done) == game.players


def test_everything_is_said_with_names(run: Run) -> None:
    command = ("watch", "always_roll(3)", "--game", "hog", "--against", "swap", "-p", "goal=20", "--seed", "2")
    status, out, _ = run(*command)
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "Hog: always_roll(3), swap, in the order of their seats"
    assert "always_roll(3): roll 3" in lines
    assert any(line in lines for line in ("always_roll(3) wins", "swap wins"))
    again = "dicegym watch 'always_roll(3)' --against swap --game hog --parameter goal=20 --seat 0 --seed 2"
    assert lines[-1] == f"This game again: {again}"
    assert run(*command)[1] == out
    other = run(*command, "--seat", "1")[1]
    assert other.startswith("Hog: swap, always_roll(3)")
    assert "--seed " in run(*command[:-2])[1].splitlines()[-1]


def test_a_table_is_as_large_as_those_who_were_named(run: Run) -> None:
    three = ("watch", "haphazard", "--game", "liarsdice", "--against", "timid", "--against", "timid", "-p", "dice=1")
    assert "haphazard, timid, timid 2, in the order" in run(*three)[1]
    assert "haphazard, timid, timid 2, timid 3, in" in run(*three, "-p", "players=4")[1]
    assert "Yatzy: in_order, in the" in run("watch", "in_order", "--game", "yatzy", "-p", "players=1")[1]


def test_faults_are_said() -> None:
    game = dicegym.game("liarsdice", dice=1)
    wrong = FunctionPlayer(lambda turn: game.n_actions + 7, "wrong")
    done = [line for moment in moments(game, [wrong, wrong]) for line in moment.done]
    assert any(line.startswith("wrong: ") and "(" in line for line in done)


def test_a_table_without_enough_players_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"0 opponents do not fit .*: give 1 to 1"):
        seating(dicegym.game("hog"), RandomPlayer(), [], 0)


@pytest.mark.slow_after(1)  # tests/pictures has the sizes of all games
@pytest.mark.parametrize("name", GAMES)
def test_recordings_hold_every_moment_at_one_size(name: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    from dicegym.envs.film import draw_frame, write_gif

    game = dicegym.game(name)
    every = list(moments(game, [RandomPlayer() for _ in range(game.players)], 1))
    few = [*every[:3], *every[-3:]]
    frames = [draw_frame(moment) for moment in few]
    assert len({frame.shape for frame in frames}) == 1
    assert all(side % 2 == 0 for side in frames[0].shape[:2])
    write_gif(few, tmp_path / "game.gif", 0.2)
    with image.open(tmp_path / "game.gif") as film:
        assert film.size == frames[0].shape[1::-1]
        film.seek(film.n_frames - 1)
        assert film.info["duration"] == 800
        shown = np.asarray(film.convert("RGB"), int)
    assert np.abs(shown - frames[-1]).mean() < 3  # in 64 colours


def test_films_are_written_by_the_command(run: Run, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    film = tmp_path / "hog.gif"
    command = ("watch", "swap", "--game", "hog", "-p", "goal=20", "--seed", "2", "--delay", "0.5")
    status, out, _ = run(*command, "-o", str(film))
    assert status == 0
    assert f"wrote {film}: " in out
    with image.open(film) as written:
        assert f": {written.n_frames} pictures, " in out


def test_the_folder_of_a_training_stands_for_its_best_model(tmp_path: Path) -> None:
    first, second = tmp_path / "seed-1", tmp_path / "seed-2"
    for folder in (first, second):
        folder.mkdir()
        for name in ("settings.json", "curve.csv"):
            (folder / name).touch()
    with pytest.raises(ParameterError, match=r"contains 2 trainings .* name one, such as .*seed-1"):
        find_model(str(tmp_path))
    with pytest.raises(ParameterError, match="no model yet"):
        find_model(str(first))
    (first / "best.zip").write_bytes((shipped_folder("agents") / "hog" / "ppo.zip").read_bytes())
    assert find_model(str(first)) == find_model(str(tmp_path)) == str(first / "best.zip"), "the best one of the seeds"
    assert find_model("ppo") == "ppo"
    assert game_for(str(first)) == dicegym.game("hog"), "the model in it says what it plays"
