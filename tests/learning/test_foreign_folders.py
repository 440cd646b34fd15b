"""A run's folder from elsewhere: nothing of it is read that could run, unless it is trusted."""

from __future__ import annotations

import json
import pickle
import random
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from hostile_models import Bomb

pytest.importorskip("sb3_contrib")

from dicegym.errors import DamagedFileError, DicegymError, ParameterError
from dicegym.learning.card import best_score
from dicegym.learning.league import read_league
from dicegym.learning.run_curves import read_run
from dicegym.learning.run_state import STATE_FILE
from dicegym.learning.train import train
from dicegym.players import trust as seal

SMALL = [
    *("run.games=8", "run.steps=256", "run.torch_threads=1", "run.evaluate_every=256", "run.checkpoint_every=128"),
    *("algorithm.n_steps=16", "algorithm.batch_size=64", "network.net_arch=[4]", "run.evaluate_games=4"),
    *("run.card_games=0", "self_play.games=2", "self_play.keep=2", "self_play.snapshot_every=128"),
    'opponents={"self"=1,"bacon"=1}',
]
FURTHER = ["run.steps=384"]


@pytest.fixture(autouse=True)
def own_key(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of these tests."""
    use_key(tmp_path_factory.getbasetemp() / "me", monkeypatch)


def use_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **more: folder)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the user's own, with past selves."""
    with pytest.MonkeyPatch.context() as patch:
        use_key(tmp_path_factory.getbasetemp() / "me", patch)
        folder = tmp_path_factory.mktemp("done") / "run"
        train("hog", folder, overrides=SMALL)
    return folder


@pytest.fixture
def run(done: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(done, tmp_path / "run"))


def resume(run: Path, **more: Any) -> Any:
    return train("hog", run, overrides=FURTHER, resume=True, **more)


def test_ones_own_run_goes_on_in_silence_and_a_copy_of_it_too(run: Path) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*own trainings")
        assert resume(run).model.num_timesteps == 384


def test_a_run_from_elsewhere_is_refused_with_two_ways_out(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_key(tmp_path / "somebody else", monkeypatch)
    with pytest.raises(ParameterError, match=r"not written by your own trainings.*--trust .*run\.start_from="):
        resume(run)
    begun = [*SMALL, f"run.start_from={run / 'best.zip'}"]
    assert train("hog", tmp_path / "new", overrides=begun).model.num_timesteps == 256


def test_a_run_that_is_trusted_goes_on_as_ones_own(
    run: Path, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = Path(shutil.copytree(done, tmp_path / "mine"))
    resume(mine)
    use_key(tmp_path / "somebody else", monkeypatch)
    resume(run, trust=True)
    assert (run / "curve.csv").read_text() == (mine / "curve.csv").read_text()


def test_no_pickle_of_a_checkpoint_is_read_that_somebody_put_into_ones_own_folder(run: Path, tmp_path: Path) -> None:
    """As its seal is broken then."""
    (run / "checkpoint" / STATE_FILE).write_bytes(pickle.dumps([Bomb(tmp_path / "mark")]))
    with pytest.raises(
        ParameterError, match=r"cannot be resumed .*not written by your own.*begin a new run with --set"
    ):
        resume(run)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_checkpoint_of_another_format_is_refused_with_the_way_out(change: str, run: Path) -> None:
    (run / "checkpoint" / STATE_FILE).unlink()
    if change == "other":
        (run / "checkpoint" / STATE_FILE).write_bytes(pickle.dumps([5]))
    with pytest.raises(ParameterError, match=r"cannot be resumed.*begin a new run with --set"):
        resume(run, trust=True)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("opponents", "MINE", 1.0),
        ("run", "evaluate_against", ["bacon", "MINE"]),
        ("algorithm", "teacher", "reply(MINE)"),
    ],
)
def test_programs_that_foreign_settings_name_are_not_run(
    section: str, key: str, value: Any, run: Path, tmp_path: Path
) -> None:
    mark, program = tmp_path / "mark", tmp_path / "mine.py"
    program.write_text(f"open({str(mark)!r}, 'w')\ntouch = print\ndef final_strategy(a, b):\n    return 5\n")
    path = run / "settings.json"
    about = json.loads(path.read_text())
    text = json.dumps(value).replace("MINE", str(program))
    about["settings"][section][key.replace("MINE", str(program))] = json.loads(text)
    path.write_text(json.dumps(about))
    with pytest.raises(ParameterError, match=r"not written by your own trainings.*--trust"):
        resume(run)
    assert not mark.exists()


def flipped(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


FILES = ("checkpoint/state.pkl", "checkpoint/model.zip", "settings.json", "best.zip")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", ["flipped", "cut", "gone", "empty", "other"])
def test_damaged_folders_are_one_error_with_a_way_out(name: str, how: str, run: Path) -> None:
    path = run / name
    draw = random.Random(f"{name}{how}")
    if how == "flipped":
        flipped(path, draw)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])
    elif how == "gone":
        path.unlink()
    else:
        path.write_bytes(b"" if how == "empty" else b'{"settings": [[1]], "command": 5}')
    with warnings.catch_warnings(action="ignore"):
        try:
            resume(run)
        except DicegymError as error:
            assert str(run) in str(error)  # noqa: PT017 - damage may also fall where nothing is read
    if name == "best.zip" and how not in ("flipped", "gone"):
        with pytest.raises(DicegymError):
            best_score(path)
        with pytest.raises(DicegymError):
            read_run(run)


def test_seals_are_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_key(tmp_path / "key", monkeypatch)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_bytes(b"one")
    assert not seal.is_sealed(folder)
    seal.write_seal(folder)
    assert seal.is_sealed(folder)
    key = tmp_path / "key" / seal.KEY_FILE
    assert key.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in key.parent.iterdir()) == [seal.KEY_FILE]
    copied = Path(shutil.copytree(folder, tmp_path / "copied"))
    assert seal.is_sealed(copied)
    (copied / "a").rename(copied / "b")
    assert not seal.is_sealed(copied)
    (folder / "b").touch()
    assert not seal.is_sealed(folder)
    (folder / "b").unlink()
    (folder / "a").write_bytes(b"two")
    assert not seal.is_sealed(folder)
    seal.write_seal(folder / "a")
    assert seal.is_sealed(folder / "a")
    key.chmod(0o666)
    assert not seal.is_sealed(folder / "a")  # others may have written it


def test_where_no_key_can_be_kept_nothing_is_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    use_key(tmp_path / "file" / "below", monkeypatch)
    seal.write_seal(tmp_path / "file")
    assert not seal.is_sealed(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_tables_of_leagues_that_are_none_are_refused(run: Path) -> None:
    for content in (
        b"",
        b"even\n\xff",
        b"member,even\na,0.5\n" + b'"' * 200_000,
        b"even,member,kind,joined,share\nx\n",
    ):
        (run / "league.csv").write_bytes(content)
        with pytest.raises(DamagedFileError, match=r"league\.csv is (not the table of a league|no UTF-8 text)"):
            read_league(run / "league.csv")
