"""The training script: curves, checkpoints, resuming, self-play, settings."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from variants import FINISHED, one_always

pytest.importorskip("sb3_contrib")


import dicegym
from dicegym.arena.report import plain_text
from dicegym.cli import main
from dicegym.engine import loops
from dicegym.envs.vector import BatchEnv
from dicegym.errors import ModelError, ParameterError, UnknownNameError
from dicegym.learning import league_table
from dicegym.learning.card import card
from dicegym.learning.configuration import read_config, settings_of
from dicegym.learning.curve import next_evaluation
from dicegym.learning.diary import read_evaluations, read_pace
from dicegym.learning.evaluate import CARD_SEED, CURVE_SEED, EVALUATION_SEED, LEAGUE_SEED, Score
from dicegym.learning.interruption import Conductor, Interruptible
from dicegym.learning.league_anew import measured_anew
from dicegym.players import model as models
from dicegym.players.roster import agent_names
from dicegym.shipped import shipped_folder
from dicegym.signals import SignalInterrupt, status_of

SMALL = [
    "run.games=16",
    "run.steps=3072",
    "run.torch_threads=1",
    "run.evaluate_every=1024",
    "run.checkpoint_every=1024",
    "algorithm.n_steps=16",
    "algorithm.batch_size=128",
    "network.net_arch=[16]",
    "run.evaluate_games=20",
    "run.card_games=10",
    "self_play.games=2",
    "self_play.keep=2",
    "self_play.snapshot_every=1024",
]
ALONE = [*SMALL, 'opponents={"self"=1}', "self_play.keep=1"]
"""Against past selves and nobody else."""
Done = tuple[Any, Path]
"""A finished run and its folder."""
each_game = pytest.mark.parametrize("game", FINISHED)


@pytest.fixture(scope="module")
def training() -> Any:
    spec = importlib.util.spec_from_file_location("dicegym_training", shipped_folder("training") / "train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", autouse=True)
def short_cards() -> Iterator[None]:
    """Let cards measure against one agent: against all of them takes longer than all else in these runs together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dicegym.learning.card.agent_names", lambda game: [game.spec.baseline])
        yield


@pytest.fixture(scope="module")
def done(training: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, list[str]], Done]:
    """Return a function (game, overrides) that trains once and then tells of it; nobody writes into the folder."""
    runs: dict[tuple[str, ...], Done] = {}

    def run(game: str, overrides: list[str]) -> Done:
        key = (game, *overrides)
        if key not in runs:
            folder = tmp_path_factory.mktemp(game) / "run"
            runs[key] = training.train(game, folder, overrides=overrides), folder
        return runs[key]

    return run


@pytest.mark.parametrize("game", one_always(FINISHED))
def test_same_settings_and_seed_give_the_same_curve_and_another_seed_another(
    training: Any, done: Callable[[str, list[str]], Done], game: str, tmp_path: Path
) -> None:
    runs = [done(game, SMALL)]
    for folder, seed in ((tmp_path / "b", 1), (tmp_path / "c", 2)):
        runs.append((training.train(game, folder, overrides=[*SMALL, f"run.seed={seed}"]), folder))
    curves, scores = [], []
    for run, folder in runs:
        curves.append((folder / "curve.csv").read_text())
        player = models.load(folder / "model.zip")
        scores.append(player.scores(np.ones((1, run.game.observation_size), np.float32)).tolist())
    assert (curves[0], scores[0]) == (curves[1], scores[1])
    assert scores[0] != scores[2]
    assert curves[0].splitlines()[0] == "steps,score"
    assert [line.partition(",")[0] for line in curves[0].split()[1:]] == ["0", "256", "512", "1024", "2048", "3072"]


@each_game
def test_run_leaves_models_settings_curve_and_tensorboard(done: Callable[[str, list[str]], Done], game: str) -> None:
    run, folder = done(game, SMALL)
    about = models.facts(folder / "model.zip")
    assert about["timesteps"] == 3072
    assert about["settings"]["run"]["steps"] == 3072
    assert about["score"]["value"] == pytest.approx(run.score.value)
    assert models.load(folder / "best.zip").game == run.game
    assert json.loads((folder / "settings.json").read_text())["settings"]["run"]["games"] == 16
    assert list((folder / "tensorboard").rglob("events*"))
    page = (folder / "model.md").read_text()
    for fact in (f"dicegym train {game} --set run.games=16", "| seed | 1 |", "3,072 decisions", str(run.score)):
        assert fact in page


@each_game
def test_a_card_tells_of_every_scripted_agent(
    done: Callable[[str, list[str]], Done], game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = done(game, SMALL)
    monkeypatch.setattr("dicegym.learning.card.agent_names", agent_names)
    page = card(folder / "model.zip", 10)
    played_by = dicegym.game(game, **read_config(game).game)
    scripted = [name for name in agent_names(played_by) if name != "ppo"]
    for name in scripted if played_by.players > 1 else ["nobody"]:
        assert f"| {name} |" in page


@pytest.mark.parametrize("game", one_always(FINISHED, 2))
@pytest.mark.parametrize("overrides", [SMALL, ALONE], ids=["as configured", "past selves"])
def test_resumed_run_has_the_curve_of_an_uninterrupted_one(
    training: Any, done: Callable[[str, list[str]], Done], game: str, overrides: list[str], tmp_path: Path
) -> None:
    _, whole = done(game, overrides)

    class KilledError(Exception):
        pass

    def kill(done: int, total: int, text: str) -> None:
        if done >= 2100:
            raise KilledError

    with pytest.raises(KilledError):
        training.train(game, tmp_path / "cut", overrides=overrides, progress=kill)
    settings, command = settings_of(game, tmp_path / "cut", None, [], resume=True)
    resumed = training.Run(game, settings, tmp_path / "cut", resume=True, command=command)
    assert resumed.model.num_timesteps == 2048  # one checkpoint interval is all that a kill may cost
    training.train(game, tmp_path / "cut", resume=True)
    assert (tmp_path / "cut/curve.csv").read_text() == (whole / "curve.csv").read_text()
    training.train(game, tmp_path / "cut", resume=True)  # finished already: nothing is added
    assert (tmp_path / "cut/curve.csv").read_text() == (whole / "curve.csv").read_text()
    cards = [(folder / "model.md").read_text().splitlines() for folder in (tmp_path / "cut", whole)]
    assert [line for line in cards[0] if "| command" in line] == [line for line in cards[1] if "| command" in line]


MIXED = [
    *SMALL,
    "game.players=4",
    "run.tables=[2,4,2,3]",
    'run.evaluate_against=["even",["even","honest"]]',
    "run.best_by=worst",
    "self_play.exploiter_every=1024",
    "self_play.exploiter_steps=256",
    'opponents={"self"=1,"even"=1}',
]


def test_a_run_at_tables_of_different_sizes_measures_each_and_resumes_exactly(training: Any, tmp_path: Path) -> None:
    run = training.train("liarsdice", tmp_path / "whole", overrides=MIXED)
    assert [batch.game.players for batch in run.env.batches] == [2, 4, 2, 3]
    assert {player.name for player in run.env.batches[1].seating.pool.players} >= {"even", "exploiter 2048"}
    training.train("liarsdice", tmp_path / "cut", overrides=[*MIXED, "run.steps=2048", "run.card_games=0"])
    training.train("liarsdice", tmp_path / "cut", overrides=["run.steps=3072", "run.card_games=10"], resume=True)
    curves = [(tmp_path / folder / "curve.csv").read_text() for folder in ("whole", "cut")]
    assert curves[0] == curves[1]
    columns = [f"even ({players} players)" for players in (4, 2, 3)]
    columns += [f"even, honest ({players} players)" for players in (4, 3)]  # for two there is no seat for both
    assert next(csv.reader(curves[0].splitlines())) == ["steps", "score", *columns]
    page = (tmp_path / "whole/model.md").read_text()
    assert "4 players, trained at tables of 2, 3 too" in page
    assert page.count("| even (2 players) |") == page.count("| even, honest (3 players) |") == 1
    assert run.evaluator.even(Score("win rate", "even (4 players)", 0.5, 0.5, 0.5, 20)) == 0.25
    assert run.evaluator.even(run.score._replace(opponent="all")) == pytest.approx((1 / 2 + 2 / 4 + 2 / 3) / 5)
    table, _ = league_table.read(tmp_path / "whole/league.csv")
    exploiter, target = table.result("exploiter 2048", "snapshot 2048"), table.result("snapshot 2048", "exploiter 2048")
    assert exploiter is not None  # alone among three copies of whom it was trained against
    assert target is not None  # and the other way round
    assert "alone at a table filled with it (25.0% among equals)" in table.remarks()[-1]


@pytest.mark.parametrize(
    ("game", "overrides", "words"),
    [
        ("liarsdice", ["run.tables=[3,4]"], "leaves out the table of 2"),
        ("liarsdice", ["run.tables=[2,7]"], "players=7 cannot be used"),
        ("yatzy", ["run.tables=[1,2]"], "leave out the 1"),
        ("liarsdice", ["run.tables=[2,3]", 'run.evaluate_against=[["even","honest","timid"]]'], "cannot share a table"),
    ],
)
def test_tables_that_cannot_be_are_refused_before_anything_is_written(
    training: Any, tmp_path: Path, game: str, overrides: list[str], words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        training.train(game, tmp_path / "run", overrides=[*SMALL, *overrides])
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "lock"]


@pytest.mark.slow
def test_resuming_with_a_bot_that_remembers_beside_snapshots(training: Any, tmp_path: Path) -> None:
    overrides = [*SMALL, "self_play.snapshot_every=512", 'opponents={"self"=1,"streak"=1}']
    training.train("hog", tmp_path / "run", overrides=overrides)
    run = training.train("hog", tmp_path / "run", overrides=["run.steps=4096"], resume=True)
    assert run.model.num_timesteps == 4096
    assert json.loads((tmp_path / "run/settings.json").read_text())["settings"]["run"]["steps"] == 4096
    assert "--set run.steps=4096" in models.facts(tmp_path / "run/model.zip")["command"]


def test_run_killed_before_its_first_checkpoint_resumes_from_the_beginning(training: Any, tmp_path: Path) -> None:
    def kill(done: int, total: int, text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train("hog", tmp_path / "run", overrides=SMALL, progress=kill)
    assert not (tmp_path / "run" / "checkpoint").exists()
    assert training.train("hog", tmp_path / "run", resume=True).model.num_timesteps == 3072


@pytest.mark.slow
def test_run_killed_with_sigkill_resumes(training: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dicegym", "train", "hog", "--run-dir", str(tmp_path / "run")]
    settings = [word for text in [*SMALL, "run.steps=10_000_000"] for word in ("--set", text)]
    process = subprocess.Popen([*command, *settings], stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "run" / "checkpoint" / "state.zip"
    deadline = time.monotonic() + 120
    while not checkpoint.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    resumed = training.train("hog", tmp_path / "run", overrides=["run.steps=4096"], resume=True)
    assert resumed.model.num_timesteps >= 1024


STEADY = [  # a run that does not depend on how long it was to be
    *SMALL,
    "game.memory=1",
    "game.goal=20",
    "run.temperature=1",  # who draws is measured by games
    "algorithm.learning_rate_end=0.001",
    "algorithm.ent_coef_end=0.6",
]
LEAGUE = [
    *STEADY,
    'opponents={"self"=2,"bacon"=1}',
    "self_play.snapshot_every=1024",
    "self_play.exploiter_every=1024",
    "self_play.exploiter_steps=512",
    "self_play.priority=hard",
]


def test_ctrl_c_saves_and_resuming_is_exact(training: Any, tmp_path: Path) -> None:
    """In a process of its own, wherever it is hit."""
    command = [sys.executable, "-m", "dicegym", "train", "hog", "--run-dir", str(tmp_path / "cut")]
    settings = [word for text in [*STEADY, "run.steps=10_000_000"] for word in ("--set", text)]
    process = subprocess.Popen([*command, *settings], stderr=subprocess.PIPE, text=True)
    curve = tmp_path / "cut/curve.csv"
    deadline = time.monotonic() + 120
    while not curve.exists() or len(curve.read_text().splitlines()) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    steps = models.facts(tmp_path / "cut/model.zip")["timesteps"]
    assert process.returncode == 130
    assert f"dicegym: interrupted, {steps:,} steps are saved" in told
    assert "Traceback" not in told
    assert models.facts(tmp_path / "cut/checkpoint/model.zip")["timesteps"] == steps
    end = f"run.steps={steps + 1024}"
    training.train("hog", tmp_path / "cut", overrides=[end], resume=True)
    training.train("hog", tmp_path / "whole", overrides=[*STEADY, end])
    assert (tmp_path / "cut/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()


@pytest.mark.parametrize("where", ["in a rollout", "in an exploiter"])
def test_interrupted_league_goes_on_exactly(
    training: Any, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.train("hog", tmp_path / "whole", overrides=LEAGUE)
    if where == "in a rollout":

        def interrupt(done: int, total: int, text: str) -> None:
            if done == 2048 + 16 * 5 and "saving" not in text:
                signal.raise_signal(signal.SIGINT)
    else:
        interrupt = None
        original = Interruptible._on_step

        trained: list[Any] = []  # exploiters, at 1,024 steps and at 2,048

        def on_step(self: Any) -> bool:
            if not isinstance(self, Conductor):
                trained.extend([] if self in trained else [self])
                if len(trained) == 2:
                    signal.raise_signal(signal.SIGINT)
            return original(self)

        monkeypatch.setattr(Interruptible, "_on_step", on_step)
    with pytest.raises(KeyboardInterrupt, match="2,048 steps are saved"):
        training.train("hog", tmp_path / "cut", overrides=LEAGUE, progress=interrupt)
    monkeypatch.undo()
    run = training.train("hog", tmp_path / "cut", resume=True)
    for name in ("curve.csv", "league.csv"):
        assert (tmp_path / "cut" / name).read_text() == (tmp_path / "whole" / name).read_text()
    kinds = [member.kind for member in run.league.members]
    assert sorted(kinds) == ["exploiter", "past self", "scripted"]
    assert "exploiter 2048 (exploiter)" in (tmp_path / "cut/league.md").read_text()


def test_ctrl_c_measures_before_it_leaves(training: Any, tmp_path: Path) -> None:
    """Else the best model of a short training would be the untrained one."""
    overrides = [*STEADY, "run.evaluate_every=1_000_000"]

    def interrupt(done: int, total: int, text: str) -> None:
        if done == 2048 + 16 * 5 and "leav" not in text:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match=r"2,048 steps are saved in .*exact win rate|2,048 steps .* win rate"):
        training.train("hog", tmp_path / "cut", overrides=overrides, progress=interrupt)
    points = [line.split(",") for line in (tmp_path / "cut/curve.csv").read_text().split()[1:]]
    assert [steps for steps, _ in points] == ["0", "2048"]
    scores = [float(score) for _, score in points]
    assert scores[1] > scores[0]
    for name in ("best", "model"):
        about = models.facts(tmp_path / f"cut/{name}.zip")
        assert (about["timesteps"], about["score"]["value"]) == (2048, pytest.approx(scores[1]))
    kept = (tmp_path / "cut/best.zip").read_bytes()
    run = training.train("hog", tmp_path / "cut", resume=True)
    training.train("hog", tmp_path / "whole", overrides=overrides)
    assert (tmp_path / "cut/curve.csv").read_text() == (tmp_path / "whole/curve.csv").read_text()
    assert ((tmp_path / "cut/best.zip").read_bytes() == kept) == (run.score.value <= scores[1])


def test_evaluations_come_early_and_then_at_equal_distances() -> None:
    due, steps = [0], 0
    while steps < 3_000:
        steps = next_evaluation(steps, 1_024)
        due.append(steps)
    assert due == [0, 64, 128, 256, 512, 1_024, 2_048, 3_072]
    assert next_evaluation(1_000, 1_024) == 1_024
    assert next_evaluation(5_000, 1_024) == 5_120
    assert [next_evaluation(steps, 3) for steps in range(5)] == [1, 3, 3, 6, 6]


@pytest.mark.parametrize("cards", [0, 1])
def test_cards_may_be_left_out(training: Any, cards: int, tmp_path: Path) -> None:
    training.train("hog", tmp_path / "run", overrides=[*STEADY, "run.steps=512", f"run.card_games={cards}"])
    assert len(list((tmp_path / "run").glob("*.md"))) == 2 * cards


def test_an_evaluation_may_end_a_run(training: Any, tmp_path: Path) -> None:
    told = []

    def evaluated(steps: int, score: Score) -> None:
        told.append((steps, score.value))
        if steps >= 512:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        training.train("hog", tmp_path / "run", overrides=STEADY, evaluated=evaluated)
    curve = (tmp_path / "run/curve.csv").read_text().split()[1:]
    assert [f"{steps},{value:.9f}" for steps, value in told] == curve
    assert [steps for steps, _ in told] == [0, 256, 512]


def test_the_second_ctrl_c_leaves_at_once(training: Any, tmp_path: Path) -> None:
    def interrupt(done: int, total: int, text: str) -> None:
        if done >= 1040:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        training.train("hog", tmp_path / "run", overrides=STEADY, progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not (tmp_path / "run/model.zip").exists()
    assert training.train("hog", tmp_path / "run", resume=True).model.num_timesteps == 3072


@pytest.mark.parametrize("change", ["run.games=32", 'opponents={"bacon"=1}', "algorithm.learning_rate=5.0"])
def test_resuming_refuses_what_it_cannot_change(training: Any, change: str, tmp_path: Path) -> None:
    training.train("hog", tmp_path / "run", overrides=SMALL)
    before = (tmp_path / "run/settings.json").read_text()
    with pytest.raises(ParameterError, match="cannot change what a run began with"):
        training.train("hog", tmp_path / "run", overrides=[change], resume=True)
    assert (tmp_path / "run/settings.json").read_text() == before


def test_interrupted_while_measured_at_the_end_a_run_loses_nothing(
    training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, calls = training.Run.evaluate, []

    def evaluate(run: Any, logger: Any) -> None:
        calls.append(run.model.num_timesteps)
        if run.model.num_timesteps >= 3072:
            raise KeyboardInterrupt
        measure(run, logger)

    monkeypatch.setattr(training.Run, "evaluate", evaluate)
    with pytest.raises(KeyboardInterrupt):
        training.train("hog", tmp_path / "run", overrides=[*SMALL, "run.checkpoint_every=1000000"])
    monkeypatch.undo()
    again = training.train("hog", tmp_path / "run", resume=True)
    assert again.first == again.model.num_timesteps == 3072


def test_training_stops_at_its_target(training: Any, tmp_path: Path) -> None:
    run = training.train("hog", tmp_path / "run", overrides=[*STEADY, "run.target=0.01", "run.steps=1_000_000"])
    assert run.score.value >= 0.01
    assert run.model.num_timesteps <= 2048
    assert [line.split(",")[0] for line in (tmp_path / "run/curve.csv").read_text().split()[1:]][-1] == str(
        run.model.num_timesteps
    )
    assert models.facts(tmp_path / "run/model.zip")["score"]["value"] == run.score.value
    again = training.train("hog", tmp_path / "run", resume=True)
    assert again.model.num_timesteps == run.model.num_timesteps
    more = training.train("hog", tmp_path / "run", resume=True, overrides=["run.target=2.0", "run.steps=3072"])
    assert more.model.num_timesteps == 3072


def test_training_begins_with_the_networks_of_another_model(training: Any, tmp_path: Path) -> None:
    first = training.train("yatzy", tmp_path / "first", overrides=SMALL)
    begin = f"run.start_from={tmp_path}/first/model.zip"
    second = training.train("yatzy", tmp_path / "second", overrides=[*SMALL, begin, "run.seed=2"])
    assert second.state.curve.points[0][1] == first.state.curve.points[-1][1]  # measured before it learns anything
    about = models.facts(tmp_path / "second/model.zip")
    assert about["began_with"]["timesteps"] == first.model.num_timesteps
    page = (tmp_path / "second/model.md").read_text()
    assert f"| stage 1 | `{first.command}`: 3,072 steps" in page
    assert training.train("yatzy", tmp_path / "second", resume=True).state.began_with == about["began_with"]
    with pytest.raises(ParameterError, match=r"other networks than \[network\] says.*16"):
        training.train("yatzy", tmp_path / "third", overrides=[*SMALL, begin, "network.net_arch=[8]"])
    with pytest.raises(ModelError, match="cannot play"):
        training.train("hog", tmp_path / "third", overrides=[*SMALL, begin])
    assert not (tmp_path / "third").exists()


def test_evaluation_against_several_opponents(training: Any, tmp_path: Path) -> None:
    told = []
    against = 'run.evaluate_against=["even", "timid", ["honest", "even"]]'
    overrides = [*SMALL, "game.players=3", 'opponents={"timid"=1}', against, "run.best_by=worst"]
    run = training.train(
        "liarsdice", tmp_path / "run", overrides=overrides, progress=lambda *text: told.append(text[2])
    )
    head, *lines = csv.reader((tmp_path / "run/curve.csv").read_text().splitlines())
    assert head == ["steps", "score", "even", "timid", "honest, even"]
    assert all(float(line[1]) == min(map(float, line[2:])) for line in lines)
    noted = read_evaluations(tmp_path / "run")
    assert [(str(steps), score.opponent) for steps, score in noted] == [
        (line[0], one) for line in lines for one in head[2:]
    ]
    assert all(score.low <= score.value <= score.high and score.games for _, score in noted)
    pace = read_pace(tmp_path / "run")
    assert pace == sorted(pace)
    assert (str(pace[-1].steps), pace[-1].games) == (lines[-1][0], run.state.games)
    about = models.facts(tmp_path / "run/best.zip")
    assert about["score"]["value"] == max(float(line[1]) for line in lines)
    assert len(about["scores"]) == 3
    page = (tmp_path / "run/best.md").read_text()
    for part in (f"- {Score(**about['scores'][2])}", "| honest, even |", "against the hardest"):
        assert part in page
    assert re.fullmatch(r"\d+ games, [\d,]+ steps/s, 0\.\d+ win rate against .*", told[-3])
    assert [text.partition("; ")[2] for text in told[-2:]] == [
        "measuring for the card of model.zip",
        "measuring for the card of best.zip",
    ]
    games = [int(text.split()[0]) for text in told[:-2]]
    assert games == sorted(games)
    assert games[-1] == run.state.games > 30


def test_evaluations_play_games_that_training_never_sees(
    training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that is measured has seeds from 2**63 on; batches, exploiters' too, have smaller ones."""
    measured, trained = set(), set()
    begin, reset = loops.begin_rows, BatchEnv.reset

    def begin_rows(states: Any, rows: Any, blank: Any, seeds: Any, episodes: Any) -> None:
        (measured if seeds[0] >= EVALUATION_SEED else trained).update(seeds[rows].tolist())
        begin(states, rows, blank, seeds, episodes)

    monkeypatch.setattr("dicegym.learning.blocks.loops", SimpleNamespace(**vars(loops) | {"begin_rows": begin_rows}))

    def begun(self: BatchEnv, *, seed: Any = None, options: Any = None) -> Any:
        trained.update([seed] if isinstance(seed, int) else seed or [])
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(BatchEnv, "reset", begun)
    training.train("hog", tmp_path / "run", overrides=[*LEAGUE, "run.seed=4294967295"])
    assert {seed - EVALUATION_SEED for seed in measured} == {CURVE_SEED, LEAGUE_SEED, CARD_SEED}
    assert len(trained) > 16  # the run's and the exploiters'
    assert max(trained) < EVALUATION_SEED


def test_commands_of_earlier_configurations_still_run(training: Any, tmp_path: Path) -> None:
    """A file without the newer settings, as kept beside models that were trained before they existed."""
    text = (shipped_folder("training") / "configs/hog.toml").read_text()
    new = ("evaluate_against", "best_by", "target", "priority", "exponent", "floor", "games = 200", "exploiter_")
    old = "\n".join(line for line in text.splitlines() if not line.startswith(new))
    (tmp_path / "old.toml").write_text(old)
    overrides = [*SMALL[:-3], "self_play.games=2", "game.goal=20", 'opponents={"self"=1}', "run.steps=512"]
    assert training.train("hog", tmp_path / "run", tmp_path / "old.toml", overrides).model.num_timesteps == 512
    about = json.loads((tmp_path / "run/settings.json").read_text())
    for section, key in (("run", "target"), ("run", "best_by"), ("self_play", "floor")):
        del about["settings"][section][key]
    (tmp_path / "run/settings.json").write_text(json.dumps(about))
    more = training.train("hog", tmp_path / "run", overrides=["run.steps=768"], resume=True)
    assert more.model.num_timesteps == 768


@each_game
def test_self_play_meets_snapshots_and_keeps_the_newest(done: Callable[[str, list[str]], Done], game: str) -> None:
    run, _ = done(game, ALONE)
    names = [member.name for member in run.league.members]
    assert names == (["uniform", "snapshot 2048"] if run.game.players > 1 else ["uniform"])
    assert {player.name for player in run.env.batch.seating.pool.players} >= set(names)


def test_opponents_are_a_pool_from_the_settings(training: Any, tmp_path: Path) -> None:
    run = training.train("hog", tmp_path / "run", overrides=[*SMALL, 'opponents={"bacon"=1, "always_roll(4)"=2}'])
    assert {player.name for player in run.env.batch.seating.pool.players} == {"bacon", "always_roll(4)"}


@pytest.mark.parametrize(
    ("overrides", "error", "match"),
    [
        (["run.stepz=5"], ParameterError, "run.stepz=5"),
        (["run.stepz=5"], ParameterError, "Did you mean 'steps'"),
        (["run.less_luck=1"], ParameterError, "give true or false"),
        (["network.net_arch=[0]"], ParameterError, r"give a list of sizes such as \[128, 128\]"),
        (["run=5"], ParameterError, "run=5 is no section"),
        (["nothing"], ParameterError, "'nothing' sets nothing"),
        (["walk.steps=5"], ParameterError, "walk.steps=5"),
        (["algorithm.name=SAC"], UnknownNameError, "algorithm 'SAC'"),
        (['opponents={"nobody"=1}'], UnknownNameError, "agent of Hog 'nobody'"),
        (["game.goal=1"], ParameterError, "goal=1"),
        (["run.games=0"], ParameterError, "run.games=0 cannot be used: give a whole number from 1 on"),
        (["run.seed=-1"], ParameterError, "seed=-1"),
        (["run.best_by=median"], UnknownNameError, "'median'"),
        (['run.evaluate_against=["bacn"]'], UnknownNameError, "Did you mean 'bacon'"),
        (["run.evaluate_games=0"], ParameterError, "evaluate_games=0"),
        (["run.evaluate_against=[[]]"], ParameterError, "empty list of opponents"),
        (['opponents={"self"=-1}'], ParameterError, "weight of 'self'=-1.0 cannot be used"),
        (['opponents={"self"="x"}'], ParameterError, "opponents.self='x' cannot be used"),
        (["self_play.exploiter_every=-5"], ParameterError, "exploiter_every=-5"),
        (["self_play.priority=soft"], UnknownNameError, "'soft'"),
        (["run.steps=abc"], ParameterError, "run.steps='abc' cannot be used"),
        (["algorithm.n_stps=3"], ParameterError, "Did you mean 'n_steps'"),
        (["algorithm.policy=CnnPolicy"], ParameterError, "'policy'"),
        (["algorithm={ent_coef_end=0.1}"], ParameterError, "algorithm.ent_coef_end says where to"),
        (["network.activation=Foo"], ParameterError, "activation='Foo'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(
    training: Any, overrides: list[str], error: type[Exception], match: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=match):
        training.train("hog", tmp_path / "run", overrides=overrides)
    assert not (tmp_path / "run").exists()


def test_folders_that_do_not_fit_are_refused(training: Any, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("precious")
    with pytest.raises(ParameterError, match="is not empty"):
        training.train("hog", tmp_path)
    with pytest.raises(ParameterError, match="no run to resume"):
        training.train("hog", tmp_path, resume=True)
    with pytest.raises(ParameterError, match="no configuration"):
        training.train("hog", tmp_path / "x", config=tmp_path / "none.toml")
    assert (tmp_path / "kept.txt").read_text() == "precious"
    for text, match in (
        ("[run", "is no TOML"),
        ("[run]\nstepz = 5", "mine.toml: run.stepz sets nothing"),
        ("[walk]", "there is no section 'walk'"),
    ):
        (tmp_path / "mine.toml").write_text(text)
        with pytest.raises(ParameterError, match=match):
            training.train("hog", tmp_path / "x", config=tmp_path / "mine.toml")


@each_game
def test_every_game_has_a_configuration_with_a_reason_beside_each_value(game: str) -> None:
    for line in (shipped_folder("training") / "configs" / f"{game}.toml").read_text().splitlines():
        code = line.split("#")[0].strip()
        if "=" in code:
            assert "#" in line, f"no reason beside {code!r}"
    assert dicegym.game(game)


def test_a_finished_run_is_left_as_it_is_unless_more_is_asked_for(
    training: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    first = training.train("hog", folder, overrides=STEADY)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "settings.json"}
    again = training.train("hog", folder, resume=True)
    assert again.finished
    assert not first.finished
    assert again.model.num_timesteps == first.model.num_timesteps == 3072
    assert again.score == first.score
    assert {path: path.read_bytes() for path in before} == before
    with pytest.raises(SystemExit, match="0"):
        main(["train", "hog", "--run-dir", str(folder), "--resume"])
    assert (
        f"{folder} is finished, after 3,072 steps: nothing was done; more --steps train on" in capsys.readouterr().out
    )
    more = training.train("hog", folder, resume=True, overrides=["run.steps=4096"])
    assert (more.first, more.model.num_timesteps, more.finished) == (3072, 4096, False)


def test_sigterm_saves_as_ctrl_c_does(training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = training.Run.evaluate

    def asked_to_end(run: Any, logger: Any, **given: Any) -> None:
        evaluate(run, logger, **given)
        if run.model.num_timesteps == 1024 and not run.interruption.wanted:  # it is measured again before it leaves
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(training.Run, "evaluate", asked_to_end)
    with pytest.raises(
        SignalInterrupt, match=r"steps are saved in .*: `dicegym train hog --run-dir .* --resume` goes on"
    ) as caught:
        training.train("hog", tmp_path / "run", overrides=STEADY)
    assert status_of(caught.value) == 143
    monkeypatch.undo()
    assert not (tmp_path / "run/run.lock").exists()
    assert training.train("hog", tmp_path / "run", resume=True).model.num_timesteps == 3072


def test_a_league_is_measured_anew_alike_on_any_number_of_processes(
    done: Callable[[str, list[str]], Done], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dicegym.learning.blocks.SIDE_BY_SIDE", 15)
    _, folder = done("liarsdice", ["opponents={even=1.0, self=1.0}", *SMALL])
    told: list[tuple[int, int]] = []
    alone, shares = measured_anew(folder, 40, progress=lambda n, total, text: told.append((n, total)))
    assert told[-1] == (120, 120)  # three members, each against each
    assert list(alone.kinds.values()).count("past self") == len(alone.kinds) - 1
    assert {result.games for result in alone.results.values()} == {40}
    assert set(shares) == set(alone.kinds)
    with pytest.raises(SystemExit, match="0"):
        main(["league", str(folder), "--games", "40", "--workers", "2"])
    assert capsys.readouterr().out.strip() == plain_text(alone.report(shares)).strip()
    for words in (["--workers", "2"], ["--ray"]):
        with pytest.raises(SystemExit, match="2"):
            main(["league", str(folder), *words])
        assert "give --games with them" in capsys.readouterr().err


def test_only_leagues_are_measured_anew(done: Callable[[str, list[str]], Done], tmp_path: Path) -> None:
    _, folder = done("hog", SMALL)
    with pytest.raises(ParameterError, match='is no training against "self"'):
        measured_anew(folder, 10)
    with pytest.raises(ParameterError, match="holds no checkpoint"):
        measured_anew(tmp_path, 10)
