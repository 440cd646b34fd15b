"""Pictures of a whole game are frames of one film: recorders and windows take them as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import HumanRendering, RecordVideo
from gymnasium.wrappers import vector as wrappers

import dicegym
from dicegym.engine.scene import Line, Scene
from dicegym.pictures.raster import pixels
from dicegym.pictures.scenes import scene_drawing
from dicegym.pictures.sheet import BLOCK, WIDTH
from dicegym.registry import ENVIRONMENTS


def draw_pixels(scene: Scene) -> np.ndarray:
    return pixels(scene_drawing(scene))


each_environment = pytest.mark.parametrize("env_id", [environment.full_id for environment in ENVIRONMENTS])


def play(env: Any, seed: int) -> int:
    """Play a game with random legal actions to its end; return the number of steps."""
    env.action_space.seed(seed)
    _, info = env.reset(seed=seed)
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        over = terminated or truncated
        steps += 1
    return steps


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Let films be put together, and not be encoded, which takes a second each; return the sizes of those written."""
    editor = pytest.importorskip("moviepy")
    sizes: list[tuple[int, int]] = []
    monkeypatch.setattr(editor.VideoClip, "write_videofile", lambda clip, path, **settings: sizes.append(clip.size))
    return sizes


def test_a_film_is_written(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    env = RecordVideo(gym.make("dicegym/Hog-v0", goal=20, render_mode="rgb_array"), str(tmp_path / "films"))
    play(env, 0)
    env.close()
    (film,) = (tmp_path / "films").iterdir()
    assert film.suffix == ".mp4"
    assert film.stat().st_size > 1000


@pytest.mark.slow_after(1)
@each_environment
def test_a_whole_game_is_recorded(env_id: str, tmp_path: Path, written: list[Any]) -> None:
    env: Any = RecordVideo(gym.make(env_id, render_mode="rgb_array"), str(tmp_path / "films"), lambda episode: True)
    steps = play(env, 0)
    assert len(env.recorded_frames) in (0, steps + 1)  # an older Gymnasium writes a film when the next game begins
    env.close()
    assert [size[0] for size in written] == [WIDTH]


@pytest.mark.slow_after(1)
@each_environment
def test_a_window_shows_a_whole_game(env_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env: Any = HumanRendering(gym.make(env_id, render_mode="rgb_array"))
    env.metadata["render_fps"] = 10_000  # nobody looks
    play(env, 1)
    assert env.screen_size == env.env.render().shape[1::-1]
    env.close()


@pytest.mark.slow_after(1)
@each_environment
def test_many_games_are_recorded_side_by_side(env_id: str, tmp_path: Path, written: list[Any]) -> None:
    envs = gym.make_vec(env_id, num_envs=2, render_mode="rgb_array")
    recorded = wrappers.RecordVideo(envs, str(tmp_path / "films"), episode_trigger=lambda episode: episode == 0)
    _, info = recorded.reset(seed=0)
    rng = np.random.default_rng(0)
    ended = 0
    while ended < 3:  # into the next games
        scores = rng.random(info["action_mask"].shape) * info["action_mask"]
        *_, terminated, truncated, info = recorded.step(scores.argmax(axis=1))
        ended += int((terminated | truncated).sum())
    recorded.close()
    assert len(written) == 1


@each_environment
def test_a_notebook_shows_the_table(env_id: str) -> None:
    env: Any = gym.make(env_id).unwrapped
    env.reset(seed=0)
    assert env._repr_html_().startswith("<svg")
    assert dicegym.draw(env.game, env._state, 0)._repr_svg_().startswith("<svg")


def test_pictures_fit_the_blocks_of_a_video() -> None:
    height, width, _ = draw_pixels(Scene("three", tuple(Line(f"line {number}") for number in range(3)))).shape
    assert width == WIDTH
    assert width % BLOCK == height % BLOCK == 0


def test_long_words_stay_beside_the_dice() -> None:
    """What is written leaves the place of the dice as it is, however long it is."""

    def right_side(text: str) -> np.ndarray:
        picture = draw_pixels(Scene("dice", (Line("label", text, dice=(1, 2, 3, 4, 5, 6, 1, 2, 3, 4)),)))
        return picture[:, WIDTH - 190 :]

    assert (right_side("x " * 400) == right_side("")).all()
    assert (right_side("x" * 20) == right_side("")).all()


def test_columns_stand_below_each_other() -> None:
    def ink(cells: tuple[str, ...]) -> np.ndarray:
        """Return the columns of pixels that the cells write on, from the right edge of each."""
        picture = draw_pixels(Scene("table", (Line("", cells=cells),)))
        blank = draw_pixels(Scene("table", (Line("", cells=("",) * len(cells)),)))
        return np.flatnonzero((picture != blank).any(axis=(0, 2)))

    assert abs(int(ink(("", "", "100")).max()) - int(ink(("", "", "0")).max())) <= 1
    assert ink(("8", "", "")).max() < ink(("", "8", "")).min()
