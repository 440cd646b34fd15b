"""Curves of all environments with nothing tuned: learned once, kept, put together and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("matplotlib")

from benchmarks.__main__ import main
from benchmarks.untuned import folder as folders
from benchmarks.untuned.agreement import agreements
from benchmarks.untuned.curve import POINTS, UntunedCurve, learn
from benchmarks.untuned.folder import UntunedCurves, UntunedPanel, learn_all, path_of, read_all
from benchmarks.untuned.page import draw, markdown, rows
from benchmarks.untuned.ways import WAYS, random_play, way_named
from dicegym.errors import DamagedFileError, ParameterError, UnknownNameError
from dicegym.players import model_file
from dicegym.registry import ENVIRONMENTS

pytestmark = pytest.mark.slow

HOG = next(environment for environment in ENVIRONMENTS if environment.id == "Hog-v0")


def made_up(
    way: str, seed: int, results: np.ndarray, minutes: float = 1.0, environment: str = "Hog-v0"
) -> UntunedCurve:
    reached = np.linspace(6_000 / POINTS, 6_000, POINTS).astype(np.int64)
    return UntunedCurve(environment, way, seed, minutes, 6_000, np.ones(POINTS, np.int64), results, reached)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder whose curves were made up, of three environments; learning makes up more."""

    def learned(environment, way, seed, minutes, told=None):  # noqa: ANN001, ANN202 - stands in for `learn`
        return made_up(way.name, seed, np.linspace(-0.4, 0.1 * seed, POINTS), minutes, environment.id)

    monkeypatch.setattr(folders, "learn", learned)
    monkeypatch.setattr(folders.Way, "warm", lambda self, environment: None)
    learn_all(tmp_path / "kept", 2, 1.0, ["Hog-v0", "YatzySolo-v0", "Lucky-v0"])
    return tmp_path / "kept"


def test_episodes_are_summed_up_by_the_time_at_which_they_ended() -> None:
    found = learn(HOG, way_named("batch"), 1, 0.004)
    assert found.episodes.sum() > 0
    assert found.steps >= 64
    there = found.episodes > 0
    assert (np.isnan(found.results) == ~there).all()
    assert (np.abs(found.results[there]) <= 1).all()
    assert (np.diff(found.reached) >= 0).all()
    assert 0 <= found.steps - found.reached[-1] <= 64


def test_every_way_is_a_known_algorithm_and_that_of_stable_baselines_has_masks_and_its_own_settings() -> None:
    names = [way.name for way in WAYS]
    assert {"single", "batch"} <= {*names}
    assert len({*names}) == len(names)
    assert all(way.algorithm in model_file.ALGORITHMS for way in WAYS)
    model = way_named("single").model(HOG, 3)
    assert (model.n_steps, model.batch_size, model.n_envs) == (2048, 64, 1)
    assert model.env.has_attr("action_masks")


def test_random_play_of_a_game_for_one_is_its_mean_score() -> None:
    solo = next(environment for environment in ENVIRONMENTS if environment.id == "YatzySolo-v0")
    assert random_play(solo, 500) == pytest.approx(50, abs=4)


def test_what_is_there_stays_and_what_lacks_is_learned(kept: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*/*/*.json")}
    assert len(before) == 3 * len(WAYS) * 2
    said: list[tuple[int, int, str]] = []
    learn_all(kept, 2, 1.0, progress=lambda *told: said.append(told), environments=["Hog-v0"])
    assert said == [(0, 0, "all curves are there")]
    learn_all(kept, 3, 1.0, ["Hog-v0"], ["batch"])
    after = {path: path.stat().st_mtime_ns for path in kept.glob("*/*/*.json")}
    assert {*after} - {*before} == {path_of(kept, "Hog-v0", "batch", 3)}
    assert before.items() <= after.items()
    learn_all(kept, 1, 2.0, ["Hog-v0"], ["batch"])  # for longer
    assert UntunedCurve.read(path_of(kept, "Hog-v0", "batch", 1)).minutes == 2.0
    assert UntunedCurve.read(path_of(kept, "Hog-v0", "batch", 2)).minutes == 1.0


def test_curves_of_other_rules_are_learned_anew(kept: Path) -> None:
    about = json.loads((kept / "curves.json").read_text())
    about["environments"]["Hog-v0"]["fingerprint"] = "another"
    (kept / "curves.json").write_text(json.dumps(about))
    learn_all(kept, 1, 1.0, ["Hog-v0"], ["batch"])
    assert [path.parent.name for path in (kept / "Hog-v0").glob("*/*.json")] == ["batch"]


def test_a_way_is_above_random_play_from_when_all_its_seeds_stay_so() -> None:
    up = np.where(np.arange(POINTS) < 15, -1.0, 1.0)

    def learned(random: float, *results: np.ndarray) -> float | None:
        curves = [made_up("batch", seed, values) for seed, values in enumerate(results)]
        return UntunedPanel("Hog-v0", random, {"batch": curves}).learned("batch")

    assert learned(0.0, up, up + 0.01, up + 0.02, up + 0.03) == pytest.approx(0.5, abs=0.03)
    assert learned(0.0, -up, -up) is None
    assert learned(0.0, up) is None
    assert learned(-2.0, up, up) == pytest.approx(0.5 / POINTS)


def test_parts_of_the_time_without_episodes_lie_on_the_line_between() -> None:
    results = np.full(POINTS, np.nan)
    results[[10, 20]] = 0.0, 1.0
    panel = UntunedPanel("Hog-v0", -1.0, {"batch": [made_up("batch", 1, results)]})
    band = panel.band("batch")
    assert band.mean[15] == pytest.approx(0.5)
    assert band.mean[25] == pytest.approx(1.0)
    assert -1 < band.mean[3] < 0


def test_ways_that_differ_in_their_algorithm_alone_are_compared_at_equal_decisions() -> None:
    pair = [way.name for way in WAYS if way.games]
    if len(pair) < 2:
        pytest.skip("one algorithm is here alone")
    slow, quick = pair
    up = np.linspace(0, 1, POINTS)
    curves = {slow: [made_up(slow, seed, up + 0.01 * seed) for seed in range(3)]}
    twice = [made_up(quick, seed, 2 * up + 0.01 * seed) for seed in range(3)]
    curves[quick] = [one._replace(steps=2 * one.steps, reached=2 * one.reached) for one in twice]
    (same,) = agreements(UntunedCurves([UntunedPanel("Hog-v0", 0.0, curves)], "", {}))
    assert (same.first, same.second, same.steps) == (slow, quick, 6_000)
    assert same.ends[0] == pytest.approx(same.ends[1], abs=0.05)
    assert same.shared > 0.9
    curves[quick] = [one._replace(reached=one.reached, results=-one.results) for one in curves[quick]]
    (other,) = agreements(UntunedCurves([UntunedPanel("Hog-v0", 0.0, curves)], "", {}))
    assert other.shared < 0.2


def test_one_page_shows_all_of_them(kept: Path, tmp_path: Path) -> None:
    found = read_all(kept)
    assert [panel.environment for panel in found.panels] == ["Hog-v0", "YatzySolo-v0", "Lucky-v0"]
    with pytest.raises(UnknownNameError, match="measure"):
        draw(found, tmp_path / "all.svg", "hours")
    draw(found, tmp_path / "steps.svg", "steps")
    assert "<!-- decisions of the learner" in (tmp_path / "steps.svg").read_text()
    draw(found, tmp_path / "all.svg")
    text = (tmp_path / "all.svg").read_text()
    for said in ("Hog-v0", "YatzySolo-v0", "Lucky-v0", "random play", *(f"{way.name}: {way.title}" for way in WAYS)):
        assert f"<!-- {said}" in text
    assert all(f"<!-- {way.name} -->" in text for way in WAYS)  # at the ends of lines
    table = rows(found)
    assert len(table) == 3 * len(WAYS)
    assert table[0].steps_a_second == pytest.approx(100)
    page = markdown(found)
    assert page.count("| Lucky-v0 |") == len(WAYS) + len(agreements(found)) // 3
    assert len(agreements(found)) == 3 * (sum(way.games > 0 for way in WAYS) - 1)
    assert "1 minutes of one processor's time" in page


def test_the_command_draws_what_is_there(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["curves", "--run-dir", str(kept), "--only-draw", "-o", str(tmp_path / "table.md")])
    assert "YatzySolo-v0" in capsys.readouterr().out
    assert (kept / "curves.png").stat().st_size > 10_000
    assert (tmp_path / "table.md").is_file()


def test_mistakes_are_told(kept: Path, tmp_path: Path) -> None:
    for given, error, words in (
        ({"environments": ["Hog-v1"]}, UnknownNameError, "Did you mean 'Hog-v0'"),
        ({"ways": ["batched"]}, UnknownNameError, "way"),
        ({"minutes": 0}, ParameterError, "more than 0"),
    ):
        with pytest.raises(error, match=words):
            learn_all(tmp_path, **given)
    with pytest.raises(ParameterError, match="holds no curves"):
        read_all(tmp_path / "nowhere")
    path_of(kept, "Hog-v0", "batch", 1).write_text("[]")
    with pytest.raises(DamagedFileError, match="learned again"):
        read_all(kept)
