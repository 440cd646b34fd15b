"""The training script: curves, checkpoints, resuming, self-play, settings."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import dicegym
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.players import policy
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder

SMALL = [
    "run.games=16", "run.steps=3072", "run.torch_threads=1", "run.evaluate_every=1024", "run.checkpoint_every=1024",
    "algorithm.n_steps=16", "algorithm.batch_size=128", "network.net_arch=[16]", "run.evaluate_games=20",
    "run.card_games=10", "self_play.games=2", "self_play.keep=2",
]  # fmt: skip
each_game = pytest.mark.parametrize("game", GAMES)


@pytest.fixture(scope="module")
def training():
    spec = importlib.util.spec_from_file_location("dicegym_training", shipped_folder("training") / "train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each_game
def test_same_settings_and_seed_give_the_same_curve_and_another_seed_another(training, game, tmp_path):
    curves, scores = [], []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run = training.train(game, tmp_path / folder, overrides=[*SMALL, f"run.seed={seed}"])
        curves.append((tmp_path / folder / "curve.csv").read_text())
        player = policy.load(tmp_path / folder / "model.zip")
        scores.append(player.scores(np.ones((1, run.game.observation_size), np.float32)).tolist())
    assert (curves[0], scores[0]) == (curves[1], scores[1])
    assert scores[0] != scores[2]
    assert curves[0].splitlines()[0] == "steps,score"
    assert len(curves[0].splitlines()) == 1 + 4


@each_game
def test_run_leaves_models_settings_curve_and_tensorboard(training, game, tmp_path):
    run = training.train(game, tmp_path / "run", overrides=SMALL)
    about = policy.facts(tmp_path / "run" / "model.zip")
    assert about["timesteps"] == 3072
    assert about["settings"]["run"]["steps"] == 3072
    assert about["score"]["value"] == pytest.approx(run.score.value)
    assert policy.load(tmp_path / "run" / "best.zip").game == run.game
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["settings"]["run"]["games"] == 16
    assert list((tmp_path / "run" / "tensorboard").rglob("events*"))
    card = (tmp_path / "run" / "model.md").read_text()
    for fact in (f"dicegym train {game} --set run.games=16", "| seed | 1 |", "3,072 decisions", str(run.score)):
        assert fact in card


@each_game
@pytest.mark.parametrize("opponents", [None, 'opponents={"self"=1}'])
def test_resumed_run_has_the_curve_of_an_uninterrupted_one(training, game, opponents, tmp_path):
    overrides = [*SMALL, "self_play.snapshot_every=1024", *([opponents] if opponents else [])]
    training.train(game, tmp_path / "whole", overrides=overrides)

    class KilledError(Exception):
        pass

    def kill(done, total, text):
        if done >= 2100:
            raise KilledError

    with pytest.raises(KilledError):
        training.train(game, tmp_path / "cut", overrides=overrides, progress=kill)
    about = json.loads((tmp_path / "cut/settings.json").read_text())
    resumed = training.Run(game, about["settings"], tmp_path / "cut", resume=True, command=about["command"])
    assert resumed.model.num_timesteps == 2048  # one checkpoint interval is all that a kill may cost
    training.train(game, tmp_path / "cut", resume=True)
    assert (tmp_path / "cut/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()
    training.train(game, tmp_path / "cut", resume=True)  # finished already: nothing is added
    assert (tmp_path / "cut/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()
    cards = [(tmp_path / folder / "model.md").read_text().splitlines() for folder in ("cut", "whole")]
    assert [line for line in cards[0] if "| command" in line] == [line for line in cards[1] if "| command" in line]


def test_resuming_with_a_bot_that_remembers_beside_snapshots(training, tmp_path):
    overrides = [*SMALL, "self_play.snapshot_every=512", 'opponents={"self"=1,"streak"=1}']
    training.train("hog", tmp_path / "run", overrides=overrides)
    run = training.train("hog", tmp_path / "run", overrides=["run.steps=4096"], resume=True)
    assert run.model.num_timesteps == 4096
    assert json.loads((tmp_path / "run/settings.json").read_text())["settings"]["run"]["steps"] == 4096
    assert "--set run.steps=4096" in policy.facts(tmp_path / "run/model.zip")["command"]


def test_run_killed_before_its_first_checkpoint_resumes_from_the_beginning(training, tmp_path):
    def kill(done, total, text):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train("hog", tmp_path / "run", overrides=SMALL, progress=kill)
    assert not (tmp_path / "run" / "checkpoint").exists()
    assert training.train("hog", tmp_path / "run", resume=True).model.num_timesteps == 3072


def test_run_killed_with_sigkill_resumes(training, tmp_path):
    command = [sys.executable, "-m", "dicegym", "train", "hog", "--run-dir", str(tmp_path / "run")]
    settings = [word for text in [*SMALL[:-1], "run.steps=10_000_000"] for word in ("--set", text)]
    process = subprocess.Popen([*command, *settings], stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "run" / "checkpoint" / "state.pkl"
    deadline = time.monotonic() + 120
    while not checkpoint.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    resumed = training.train("hog", tmp_path / "run", overrides=["run.steps=4096"], resume=True)
    assert resumed.model.num_timesteps >= 1024


@each_game
def test_self_play_meets_snapshots_and_keeps_the_newest(training, game, tmp_path):
    overrides = [*SMALL, 'opponents={"self"=1}', "self_play.snapshot_every=1024", "self_play.keep=1"]
    run = training.train(game, tmp_path / "run", overrides=overrides)
    names = [member.name for member in run.league.members]
    assert names == ["uniform", "snapshot 2048"]
    assert {player.name for player in run.env.batch.seating.pool.players} >= set(names)


def test_opponents_are_a_pool_from_the_settings(training, tmp_path):
    run = training.train("hog", tmp_path / "run", overrides=[*SMALL, 'opponents={"bacon"=1, "always_roll(4)"=2}'])
    assert {player.name for player in run.env.batch.seating.pool.players} == {"bacon", "always_roll(4)"}


@pytest.mark.parametrize(
    ("overrides", "error", "match"),
    [
        (["run.stepz=5"], ParameterError, "run.stepz=5"),
        (["nothing"], ParameterError, "'nothing' sets nothing"),
        (["walk.steps=5"], ParameterError, "walk.steps=5"),
        (["algorithm.name=SAC"], UnknownNameError, "algorithm 'SAC'"),
        (['opponents={"nobody"=1}'], UnknownNameError, "agent of Hog 'nobody'"),
        (["game.goal=1"], ParameterError, "goal=1"),
        (["run.games=0"], ParameterError, "num_envs=0"),
        (["run.seed=-1"], ParameterError, "seed=-1"),
        (["run.steps=abc"], ParameterError, "steps 'abc'"),
        (["algorithm.n_stps=3"], ParameterError, "n_stps"),
        (["network.activation=Foo"], ParameterError, "activation='Foo'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(training, overrides, error, match, tmp_path):
    with pytest.raises(error, match=match):
        training.train("hog", tmp_path / "run", overrides=overrides)
    assert not (tmp_path / "run").exists()


def test_folders_that_do_not_fit_are_refused(training, tmp_path):
    (tmp_path / "kept.txt").write_text("precious")
    with pytest.raises(ParameterError, match="is not empty"):
        training.train("hog", tmp_path)
    with pytest.raises(ParameterError, match="no run to resume"):
        training.train("hog", tmp_path, resume=True)
    with pytest.raises(ParameterError, match="no configuration"):
        training.train("hog", tmp_path / "x", config=tmp_path / "none.toml")
    assert (tmp_path / "kept.txt").read_text() == "precious"
    for text, match in (("[run", "is no TOML"), ("[game]", r"lacks \[run\]")):
        (tmp_path / "mine.toml").write_text(text)
        with pytest.raises(ParameterError, match=match):
            training.train("hog", tmp_path / "x", config=tmp_path / "mine.toml")


@each_game
def test_every_game_has_a_configuration_with_a_reason_beside_each_value(game):
    for line in (shipped_folder("training") / "configs" / f"{game}.toml").read_text().splitlines():
        code = line.split("#")[0].strip()
        if "=" in code:
            assert "#" in line, f"no reason beside {code!r}"
    assert dicegym.game(game)
