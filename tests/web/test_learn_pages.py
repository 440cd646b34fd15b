"""Trainings on pages: as they run, whatever lies in their folders, side by side, and for programs."""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from web_pages import usable

import dicegym
from dicegym.errors import ParameterError
from dicegym.learning.configuration import AboutRun, write_about
from dicegym.learning.curves import Curve, PaceLog
from dicegym.learning.evaluate import Score
from dicegym.learning.league import LeagueTable, Result
from dicegym.learning.run_folder import (
    CURVE_FILE,
    EVALUATIONS_FILE,
    LEAGUE_FILE,
    LOCK_FILE,
    PACE_FILE,
    SETTINGS_FILE,
    alone_in,
)
from dicegym.pictures.charts import Axis, ChartLine
from dicegym.shipped import shipped_folder
from dicegym.web.context import Web
from dicegym.web.learn import learn_section, run_folders
from dicegym.web.learn.learn_section import read_scalars
from dicegym.web.learn.run_folders import Trainings, model_of
from dicegym.web.play.rivals import SharedPlayers
from dicegym.web.web_settings import WebSettings

if TYPE_CHECKING:
    from conftest import Running
    from playwright.sync_api import Page

MODEL = shipped_folder("agents") / "hog" / "ppo.zip"
HOSTILE = "<script>alert(1)</script>{{ 7*7 }} \"'&"
"""A folder may be called so."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are searched whenever somebody asks."""
    monkeypatch.setattr(run_folders, "SEARCH_SECONDS", 0.001)


def training(folder: Path, seed: int = 1, finished: bool = True, running: bool = False, steps: int = 1000) -> Path:
    """Return the folder of a training, with all that one writes that is shown."""
    folder.mkdir(parents=True)
    settings = {"run": {"steps": 1000, "seed": seed}, "network": {"net_arch": [64]}}
    write_about(folder, AboutRun(["dicegym", "train", "hog", "--run-dir", "x"], settings, finished))
    points = [f"{at},0.{at // 500}{seed}" for at in range(0, steps + 1, 500)]
    log, curve = PaceLog(folder), Curve()
    for number in range(0, steps + 1, 100):
        log.note(number / 10, number, number // 10, now=True)
        if number % 500 == 0:
            rate = 0.1 + number / 4000
            score = Score("win rate", "always_roll(5)", rate, rate - 0.05, rate + 0.05, 400)
            curve.add(number, score, [score])
    curve.write(folder)
    (folder / CURVE_FILE).write_text("\n".join(["steps,score", *points]))
    shutil.copy(MODEL, folder / "best.zip")
    (folder / "best.md").write_text("# best\n\nA policy.\n\n| a | b |\n|---|---|\n| <b>1</b> | `x` |\n")
    table = LeagueTable(0.5)
    for number, name in enumerate(("bacon", "snapshot 500", HOSTILE[:20])):
        table.add(name, "past self" if number else "scripted", 500 * number)
    table.record("bacon", "snapshot 500", Result(0.8, 60))
    table.write(folder, {"bacon": 0.5, "snapshot 500": 0.5})
    if running:
        note = {"process": os.getpid(), "machine": platform.node(), "since": "2026-01-01 10:00:00"}
        (folder / LOCK_FILE).write_text(json.dumps(note))
    return folder


@pytest.fixture
def folder(settings: WebSettings) -> Path:
    return settings.runs[0]


def test_trainings_are_listed_those_that_run_first(client: TestClient, folder: Path) -> None:
    training(folder / "done")
    training(folder / "now", finished=False, running=True)
    text = client.get("/learn").text
    assert text.index("runs/now") < text.index("runs/done")
    assert "1 running now" in text
    assert "0.3500 (0.3000 to 0.4000) win rate against always_roll(5)" in text
    assert "runs/done" not in client.get("/learn", params={"game": "yatzy"}).text


def test_steps_beyond_those_that_were_asked_for_are_not_a_share_of_them(client: TestClient, folder: Path) -> None:
    """A rollout is played to its end."""
    training(folder / "hog", steps=1200)
    training(folder / "now", finished=False, running=True, steps=500)
    text = client.get("/learn").text
    assert "<p>1,200 steps</p>" in text
    assert "<p>500 of 1,000 steps</p>" in text
    assert "<dd>1,200</dd>" in client.get("/learn/run/runs/hog").text


def test_a_training_shows_all_that_it_has_written(client: TestClient, folder: Path) -> None:
    training(folder / "hog" / "seed-1")
    text = client.get("/learn/run/runs/hog/seed-1").text
    for words in (
        *("Score: win rate", "Games a second", "<td>run.seed</td><td>1</td>"),
        "/play/new?game=hog&amp;against=runs%2Fhog%2Fseed-1%2Fbest.zip",
        "&lt;b&gt;1&lt;/b&gt;",  # cards are Markdown of anybody's
        ">80</td>",  # the league
    ):
        assert words in text
    assert "hx-trigger" not in text, "nothing more comes of a finished one"


def test_what_is_not_there_is_told_and_names_of_folders_are_text(client: TestClient, folder: Path) -> None:
    assert "dicegym train hog --run-dir" in client.get("/learn").text
    name = HOSTILE.replace("/", "-")
    training(folder / name)
    time.sleep(0.002)  # until folders are searched again
    for path in ("/learn", f"/learn/run/{quote(f'runs/{name}')}"):
        answer = client.get(path)
        assert (answer.status_code, "<script>alert" in answer.text) == (200, False), path
        assert "49" not in answer.text.partition("<h1>")[2].partition("</h1>")[0]
    for path in ("/learn/run/runs/nothing", "/learn/run/../../etc", "/learn/run/"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "file", [SETTINGS_FILE, CURVE_FILE, EVALUATIONS_FILE, PACE_FILE, LEAGUE_FILE, "best.zip", "best.md"]
)
def test_damaged_files_never_break_a_page(client: TestClient, folder: Path, file: str) -> None:
    made = training(folder / "hog", finished=False)
    for content in (b"", b"\x00\xff\xfe", b"<script>alert(1)</script>", b"steps,score\n1e999,nan\n"):
        (made / file).write_bytes(content)
        time.sleep(0.002)  # until folders are searched again
        for path in ("/learn", "/learn/run/runs/hog"):
            answer = client.get(path)
            assert answer.status_code == 200, (path, content, answer.text)
            assert "<script>alert" not in answer.text


def test_a_model_that_was_replaced_is_loaded_again(tmp_path: Path) -> None:
    guests, game, model = SharedPlayers(), dicegym.game("hog"), tmp_path / "best.zip"
    shutil.copy(MODEL, model)
    first = guests.player(game, str(model))
    assert guests.player(game, str(model)) is first
    shutil.copy(MODEL.with_name("taught.zip"), model)
    assert guests.player(game, str(model)) is not first


def test_models_of_trainings_alone_are_played_with(tmp_path: Path) -> None:
    made = training(tmp_path / "runs" / "hog")
    (made / "model.zip").symlink_to(MODEL)
    web = Web(WebSettings(tmp_path / "web", runs=(tmp_path / "runs",)))
    assert model_of(web, "runs/hog/best.zip") == made / "best.zip"
    for text in (
        *(f"runs/hog/{one}" for one in ("model.zip", "settings.json", "../hog/best.zip")),
        "best.zip",
        MODEL,
        "",
    ):
        with pytest.raises(ParameterError, match="is not a model of a training here"):
            model_of(web, str(text))
    assert web.get(Trainings) is web.get(Trainings)


@pytest.mark.slow
def test_a_training_is_watched_in_a_browser(running: Running, open_page: Callable[..., Page]) -> None:
    made = training(running.settings.runs[0] / "hog", finished=False, running=True, steps=500)
    training(running.settings.runs[0] / "other" / "seed-2", 2)
    page = open_page(f"{running.url}/learn", viewport={"width": 360, "height": 740})
    usable(page)
    page.get_by_role("link", name="runs/hog").click()
    assert page.locator("#live").inner_text().count("500 of 1,000") == 1
    page.locator("summary", has_text="Settings").click()
    with (made / EVALUATIONS_FILE).open("a", encoding="utf-8") as file:
        file.write("700,always_roll(5),win rate,0.9,0.85,0.95,400\n")
    page.get_by_text("0.9000 (0.8500 to 0.9500)").first.wait_for()
    assert "After 700 steps" in page.locator("#told").inner_text()
    assert page.get_by_role("region", name="Settings").is_visible(), "what was opened stays open"
    usable(page)


def test_a_training_is_listed_while_it_prepares(client: TestClient, folder: Path) -> None:
    with alone_in(folder / "hog"):
        page = client.get("/learn").text
        assert [word for word in ("runs/hog", "preparing") if word not in page] == []
        run = client.get("/learn/run/runs/hog")
        assert (run.status_code, "hx-trigger" in run.text, 'class="error"' in run.text) == (200, True, False)
    assert not (folder / "hog").exists()


def logged(folder: Path, scalars: dict[str, list[float]]) -> Path:
    """Write an event file as TensorBoard has it: a value of each tag every 100 steps."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "events.out.tfevents.1"
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for tag, values in scalars.items():
            for number, value in enumerate(values, 1):
                one = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
                writer.write(Event(step=100 * number, summary=one).SerializeToString())
        writer.flush()
    return path


def test_losses_and_entropy_are_drawn_from_the_events_of_tensorboard(client: TestClient, settings: WebSettings) -> None:
    made = training(settings.runs[0] / "hog")
    assert "Value loss" not in client.get("/learn/run/runs/hog").text
    path = logged(made / "tensorboard", {"train/value_loss": [0.5, 0.25], "train/entropy_loss": [-2.0, -1.5]})
    page = client.get("/learn/run/runs/hog").text
    assert [title in page for title in ("Value loss", "Entropy of the policy", "Policy loss")] == [True, True, False]
    assert "Value loss 0.25" in page, "a pointer over the curve shows its value"
    assert "Entropy of the policy 1.5" in page
    assert "win rate" in page
    path.write_bytes(path.read_bytes()[:-3])  # while it is being written
    assert [len(values) for values in read_scalars(made).values()] == [2, 1]
    path.write_bytes(b"\xff" * 400)
    assert read_scalars(made) == {}
    assert client.get("/learn/run/runs/hog").status_code == 200


def test_what_is_not_finite_has_no_place_in_a_chart() -> None:
    line = ChartLine("loss", [(0.0, 1.0), (1.0, math.nan), (2.0, math.inf), (3.0, 2.0)])
    svg = str(learn_section._chart("Loss", [line], Axis("", "{:g}".format)).svg)
    assert "loss 2" in svg
    assert "nan" not in svg
    assert "inf" not in svg
