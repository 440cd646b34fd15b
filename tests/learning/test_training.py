"""The training script: curves, evaluations, cards, self-play."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from variants import FINISHED, one_always

pytest.importorskip("sb3_contrib")


from small_runs import ALONE, LEAGUE, SMALL, Train, each_game, small

from dicegym.engine import loops
from dicegym.envs.vector import BatchEnv
from dicegym.learning.card import card
from dicegym.learning.curves import read_evaluations, read_pace
from dicegym.learning.evaluate import CARD_SEED, CURVE_SEED, EVALUATION_SEED, LEAGUE_SEED, Score, next_evaluation
from dicegym.players import model as models
from dicegym.players import model_file
from dicegym.players.roster import agent_names, resolve

pytestmark = pytest.mark.usefixtures("short_cards")


@pytest.mark.parametrize("game", one_always(FINISHED))
def test_same_settings_and_seed_give_the_same_curve_and_another_seed_another(
    training: Any, done: Train, game: str, tmp_path: Path
) -> None:
    runs = [done(game, small(game))]
    for folder, seed in ((tmp_path / "b", 1), (tmp_path / "c", 2)):
        runs.append((training.train(game, folder, overrides=[*small(game), f"run.seed={seed}"]), folder))
    curves, scores = [], []
    for run, folder in runs:
        curves.append((folder / "curve.csv").read_text())
        player = models.load(folder / "model.zip")
        scores.append(player.policy.scores(np.ones((1, run.game.observation_size), np.float32)).tolist())
    assert (curves[0], scores[0]) == (curves[1], scores[1])
    assert scores[0] != scores[2]
    assert re.match(r"steps,score[,\n]", curves[0])
    assert [line.partition(",")[0] for line in curves[0].split()[1:]] == ["0", "256", "512", "1024", "2048", "3072"]


@pytest.mark.slow_after(2)
@each_game
def test_run_leaves_models_settings_curve_and_tensorboard(
    done: Train, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, folder = done(game, small(game))
    about = model_file.facts(folder / "model.zip")
    assert about["timesteps"] == 3072
    assert about["settings"]["run"]["steps"] == 3072
    assert about["score"]["value"] == pytest.approx(run.score.value)
    assert models.load(folder / "best.zip").game == run.game
    assert json.loads((folder / "settings.json").read_text())["settings"]["run"]["games"] == 16
    assert list((folder / "tensorboard").rglob("events*"))
    page = (folder / "model.md").read_text()
    for fact in (f"dicegym train {game} --set run.games=16", "| seed | 1 |", "3,072 decisions", str(run.score)):
        assert fact in page
    monkeypatch.setattr("dicegym.learning.card.agent_names", agent_names)
    page = card(folder / "model.zip", 10)  # with every scripted agent
    scripted = [name for name in agent_names(run.game) if not isinstance(resolve(run.game, name), Path)]
    for name in scripted if run.game.players > 1 else ["nobody"]:
        assert f"| {name} |" in page


def test_evaluations_come_early_and_then_at_equal_distances() -> None:
    due, steps = [0], 0
    while steps < 3_000:
        steps = next_evaluation(steps, 1_024)
        due.append(steps)
    assert due == [0, 64, 128, 256, 512, 1_024, 2_048, 3_072]
    assert next_evaluation(1_000, 1_024) == 1_024
    assert next_evaluation(5_000, 1_024) == 5_120
    assert [next_evaluation(steps, 3) for steps in range(5)] == [1, 3, 3, 6, 6]


def test_evaluation_against_several_opponents(training: Any, tmp_path: Path) -> None:
    told = []
    against = 'run.evaluate_against=["even", "timid", ["honest", "even"]]'
    overrides = [*SMALL, "game.players=3", 'opponents={"timid"=1}', against, "run.best_by=worst"]
    measured: list[list[str]] = []

    def evaluated(steps: int, score: Score) -> None:
        measured.append([str(steps), f"{score.value:.9f}"])
        curve = (tmp_path / "run/curve.csv").read_text().splitlines()
        assert curve[-1].split(",")[:2] == measured[-1]  # called after it was written

    def progress(done: int, total: int, text: str) -> None:
        told.append(text)

    run = training.train("liarsdice", tmp_path / "run", overrides=overrides, progress=progress, evaluated=evaluated)
    head, *lines = csv.reader((tmp_path / "run/curve.csv").read_text().splitlines())
    assert measured == [line[:2] for line in lines]
    assert head == ["steps", "score", "even", "timid", "honest, even"]
    assert all(float(line[1]) == min(map(float, line[2:])) for line in lines)
    noted = [(steps, score) for steps, _, scores in read_evaluations(tmp_path / "run") for score in scores]
    assert [(str(steps), score.opponent) for steps, score in noted] == [
        (line[0], one) for line in lines for one in head[2:]
    ]
    assert all(score.low <= score.value <= score.high and score.games for _, score in noted)
    pace = read_pace(tmp_path / "run")
    assert pace == sorted(pace)
    assert (str(pace[-1].steps), pace[-1].games) == (lines[-1][0], run.state.games)
    about = model_file.facts(tmp_path / "run/best.zip")
    assert about["score"]["value"] == max(float(line[1]) for line in lines)
    assert len(about["scores"]) == 3
    page = (tmp_path / "run/best.md").read_text()
    for part in (f"- {Score(**about['scores'][2])}", "| honest, even |", "against the hardest"):
        assert part in page
    cards = [re.search(r"; card of (.*)", text) for text in told]
    of_games = [text for text, card in zip(told, cards, strict=True) if card is None]
    assert told[: len(of_games)] == of_games  # cards come last
    assert re.fullmatch(r"\d+ games, [\d,]+ steps/s, 0\.\d+ win rate against .*", of_games[-1])
    of_cards = [card[1] for card in cards if card is not None]
    assert list(dict.fromkeys(text.partition(", ")[0] for text in of_cards)) == ["model.zip", "best.zip"]
    assert re.fullmatch(r"model.zip, 1 of \d+: games: [\d,]+ of \d+, against \w+", of_cards[0])
    games = [int(text.split()[0]) for text in of_games]
    assert games == sorted(games)
    assert games[-1] == run.state.games > 30


def test_evaluations_play_games_that_training_never_sees(
    training: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All evaluations have seeds from 2**63 on; batches have smaller ones."""
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
    assert len(trained) == 16
    assert max(trained) < EVALUATION_SEED


@pytest.mark.slow_after(2)
@each_game
def test_self_play_meets_snapshots_and_keeps_the_newest(done: Train, game: str) -> None:
    run, _ = done(game, small(game, ALONE))
    names = list(run.learner.league.players)
    assert names == (["uniform", "snapshot 2048"] if run.game.players > 1 else ["uniform"])
    met = names[1:] or names  # the random player is gone
    assert {player.name for player in run.learner.env.batch.pool.players} >= set(met)
