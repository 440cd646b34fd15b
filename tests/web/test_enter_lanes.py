"""How many versions are checked at once; whether each is checked once, also one whose check fails unexpectedly."""

from __future__ import annotations

import io
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.errors import ParameterError
from dicegym.players.roster import agents_folder
from dicegym.web.enter import runner, trials
from dicegym.web.enter.bots import MOST_WAITING_EACH, Bots
from dicegym.web.enter.runner import Runner
from dicegym.web.enter.submission_tables import SubmissionStore, VersionState
from dicegym.web.enter.uploads import Upload
from dicegym.web.web_settings import WebSettings

LANES, MANY, SECONDS = 3, 7, 30.0


class Waiting:
    """Versions that wait, in place of those of a database."""

    def __init__(self) -> None:
        self.states = {one: [VersionState.WAITING] for one in range(MANY)}

    def requeue_interrupted(self) -> None:
        pass

    def next_waiting(self) -> Any:
        return next((one for one, states in self.states.items() if states[-1] is VersionState.WAITING), None)

    def give_up(self, version: int, why: str) -> None:
        if self.states[version][-1] is VersionState.CHECKING:
            self.note(version, VersionState.FAILED)

    def note(self, version: int, state: VersionState, *_: Any, **__: Any) -> None:
        self.states[version] = [*self.states[version], state]


def test_as_many_are_checked_at_once_as_there_are_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "cores", lambda: LANES)
    monkeypatch.setattr(runner.jail, "probe", lambda isolation: "")
    waiting, together, go = Waiting(), threading.Semaphore(0), threading.Event()

    def check(self: Runner, kind: str, version: int, interrupts: Any) -> str:
        together.release()
        assert go.wait(SECONDS)
        if version == 1:
            raise RuntimeError("unexpected")
        waiting.note(version, VersionState.PASSED)
        return ""

    monkeypatch.setattr(Runner, "_run", check)
    found = Runner(SubmissionStore(tmp_path), WebSettings(tmp_path / "web"))
    found._bots = waiting  # type: ignore[assignment]  # stands for them
    found.start()
    for _ in range(LANES):
        assert together.acquire(timeout=SECONDS)
    assert not together.acquire(timeout=0.3), "no more than there are processors"
    go.set()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not all(len(one) == 3 for one in waiting.states.values()):
        time.sleep(0.01)
    found.stop()
    ended = {one: [VersionState.WAITING, VersionState.CHECKING, VersionState.PASSED] for one in range(MANY)}
    ended[1][-1] = VersionState.FAILED
    assert waiting.states == ended


def test_trouble_begins_no_check_anew_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(runner, "cores", lambda: LANES)
    monkeypatch.setattr(runner.jail, "probe", lambda isolation: "")
    begun, checked, go = list[str](), threading.Semaphore(0), threading.Event()

    class Troubled(Waiting):
        def requeue_interrupted(self) -> None:
            begun.append("anew")

        def next_waiting(self) -> Any:
            if not go.is_set() and self.states[0][-1] is VersionState.CHECKING:
                go.set()
                raise RuntimeError("the database is locked")
            return super().next_waiting()

    def check(self: Runner, kind: str, version: int, interrupts: Any) -> str:
        assert go.wait(SECONDS)
        checked.release()
        waiting.note(version, VersionState.PASSED)
        return ""

    waiting = Troubled()
    monkeypatch.setattr(Runner, "_run", check)
    found = Runner(SubmissionStore(tmp_path), WebSettings(tmp_path / "web"))
    found._bots = waiting  # type: ignore[assignment]  # stands for them
    found.start()
    for _ in range(MANY):
        assert checked.acquire(timeout=SECONDS)
    found.stop()
    assert begun == ["anew"]


def test_no_more_wait_than_may_however_many_come_at_once(tmp_path: Path) -> None:
    with SubmissionStore(tmp_path) as store:
        bots, found, gate = Bots(store), list[str](), threading.Barrier(6)

        def hand_in(number: int) -> None:
            gate.wait()
            try:
                found.append(
                    str(bots.submit("ann", dicegym.game("hog"), f"b{number}", Upload("a.py", b"x = 1")).number)
                )
            except ParameterError:
                found.append("refused")

        threads = [threading.Thread(target=hand_in, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == ["1"] * MOST_WAITING_EACH + ["refused"] * 3


def test_what_a_killed_server_has_left_is_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a version that is not in the tables: its number is the next one's."""
    rename = Path.rename

    def rename_and_die(self: Path, target: Path) -> None:
        rename(self, target)
        raise KeyboardInterrupt

    with SubmissionStore(tmp_path) as store:
        bots, game, upload = Bots(store), dicegym.game("hog"), Upload("a.py", b"x = 1")
        monkeypatch.setattr(Path, "rename", rename_and_die)
        with pytest.raises(KeyboardInterrupt):
            bots.submit("ann", game, "bot", upload)
        monkeypatch.undo()
        assert bots.folder(bots.submit("ann", game, "bot", upload).id).is_dir()


def _zipped(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, text in files.items():
            packed.writestr(f"{name}.py", text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("game", "file", "data", "reason"),
    [
        ("hog", "x.py", lambda: b"def final_strategy(", "x.py is not Python"),
        ("yatzy", "my.zip", (agents_folder("hog") / "ppo.zip").read_bytes, "my.zip was trained on"),
        ("hog", "z.zip", lambda: _zipped(bot="def final_strategy("), "bot.py is not Python"),
        ("hog", "z.zip", lambda: _zipped(a="x = 1", b="y = 2"), "its folder holds no hog.py"),
    ],
    ids=["file", "model", "folder with bot.py", "folder without a bot"],
)
def test_a_report_calls_an_upload_as_its_author_does(
    game: str, file: str, data: Callable[[], bytes], reason: str, tmp_path: Path
) -> None:
    """And names no folder of this machine."""
    with SubmissionStore(tmp_path) as store:
        bots = Bots(store)
        version = bots.submit("ann", dicegym.game(game), "mine", Upload(file, data()))
        trials.try_out(bots, version.id, "none")
        report = bots.version_by_id(version.id).report
    assert report is not None
    assert report["reason"].startswith(reason)
    assert str(tmp_path) not in str(report)


def test_only_whole_names_of_the_stored_file_are_replaced(tmp_path: Path) -> None:
    found = {"printed": "\nbot.py, line 2; mybot.py", "misplays": [[1, f"in {tmp_path}/bot.py"]]}
    renamed = {"printed": "\nx.py, line 2; mybot.py", "misplays": [[1, "in x.py"]]}
    assert trials.rename_file(found, tmp_path, "x.py") == renamed


@pytest.mark.parametrize("name", ["bayes", "bayes 2", "mine"])
def test_a_bot_that_is_called_like_an_opponent_plays_all_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class PlayedError(Exception):
        pass

    def play(game: object, entries: dict[str, Any], *_: object, **__: object) -> None:
        assert Path("mine.py") in entries.values()
        assert list(entries.values()).count("bayes") == 2
        raise PlayedError

    monkeypatch.setattr(trials, "contest", play)
    with pytest.raises(PlayedError):
        trials._play(dicegym.game("liarsdice", players=3), name, Path("mine.py"), "bayes", "jail")
