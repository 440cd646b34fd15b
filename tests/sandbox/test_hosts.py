"""Which bots' processes a referee keeps between matches, and which it ends."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena import Limits, contest
from dicegym.arena.tabulation import Tabulate
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source
from dicegym.errors import AgentError
from dicegym.games.hog.twins import every_situation
from dicegym.play.drive import play_game
from dicegym.play.player import RandomPlayer
from dicegym.play.turn import Turn
from dicegym.sandbox import hosts as host_module
from dicegym.sandbox import jail, worker
from dicegym.sandbox.frames import MessageStream
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.hosts import CAN_FORK, HostProcess, Hosts
from dicegym.sandbox.jobs import Entry, entry, list_changed_data
from dicegym.sandbox.readable import files_of
from dicegym.sandbox.remote import GoneError, StartError
from dicegym.shipped import shipped_folder

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="bots play in their referee's process there")
GAME = dicegym.game("hog")
GUARDING = [one for one in ("process", "jail") if not jail.probe(one) and jail.guards_files(jail.Isolation(one))]


class FakeHost:
    """A fake process of a bot."""

    started: list[FakeHost]

    def __init__(self, game: object, name: str, *rest: object) -> None:
        self.name, self.open, self.killed, self.ended = name, True, False, False
        self.started.append(self)

    def child(self, moment: object, witness: object) -> FakeHost:
        return self

    def kill(self) -> None:
        self.killed = True

    def close(self) -> None:
        self.open = False


class FakePlayer:
    """A fake copy of a bot's program; ``ends`` maps names to results of `close`, or to errors that it raises."""

    ends: dict[str, Any]

    def __init__(self, remote: object, name: str, *rest: object) -> None:
        self.name = name

    def close(self) -> bool:
        end = self.ends.get(self.name, True)
        if isinstance(end, Exception):
            raise end
        return end


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Hosts:
    monkeypatch.setattr(FakeHost, "started", [], raising=False)
    monkeypatch.setattr(FakePlayer, "ends", {}, raising=False)
    monkeypatch.setattr(host_module, "HostProcess", FakeHost)
    monkeypatch.setattr(host_module, "IsolatedPlayer", FakePlayer)
    return Hosts(GAME, Limits(), jail.Isolation.PROCESS, "")


@pytest.fixture
def bots(tmp_path: Path) -> list[Entry]:
    return [Entry(name, Source(tmp_path / f"{name}.py")) for name in "abcd"]


def play(hosts: Hosts, *entries: Entry) -> None:
    for one in entries:
        hosts.load(one, GAME, 0, lambda: "")
    hosts.end_job()


def kept() -> list[str]:
    return [host.name for host in FakeHost.started if host.open]


def started() -> list[str]:
    return [host.name for host in FakeHost.started]


def test_a_process_serves_one_match_after_the_other_until_it_ends(hosts: Hosts, bots: list[Entry]) -> None:
    play(hosts, *bots[:2])
    FakePlayer.ends["a"] = False  # it has no effect after the end of the match
    hosts.end_job()
    FakePlayer.ends.clear()
    play(hosts, *bots[:2])
    assert (kept(), started()) == (["a", "b"], ["a", "b"])
    FakeHost.started[0].ended = True
    play(hosts, *bots[:2])
    assert (kept(), started()) == (["b", "a"], ["a", "b", "a"])
    hosts.kill()
    assert [host.killed for host in FakeHost.started if host.open] == [True, True]
    hosts.close()
    assert kept() == []


@pytest.mark.parametrize("end", [False, OSError("gone"), EOFError(), ValueError("closed")], ids=repr)
def test_a_process_that_cannot_be_trusted_any_more_is_ended(end: Any, hosts: Hosts, bots: list[Entry]) -> None:
    FakePlayer.ends["a"] = end
    play(hosts, *bots[:2])
    assert kept() == ["b"]
    play(hosts, *bots[:2])
    assert (kept(), started()) == (["b"], ["a", "b", "a"])


@pytest.mark.parametrize("error", [OSError("gone"), EOFError(), ValueError("closed")], ids=repr)
def test_a_host_that_makes_no_copy_is_ended(
    error: Exception, hosts: Hosts, bots: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(FakeHost, "child", fail)
    with pytest.raises(StartError, match="could not be started"):
        play(hosts, bots[0])
    assert kept() == []


def test_copies_and_processes_that_end_early_leave_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending a copy does not affect the next host; a host may fail to start."""
    (tmp_path / "ann.py").write_text("def final_strategy(score, opponent_score):\n    return 6\n")
    ann = entry(GAME, "ann", str(tmp_path / "ann.py"))
    hosts = Hosts(GAME, Limits(), jail.Isolation.PROCESS, str(tmp_path))
    first = hosts.seat(ann, 0, lambda: "")
    hosts.discard(ann)  # as if another copy had left files
    second = hosts.seat(ann, 0, lambda: "")
    hosts.end(ann, first)
    second.join(GAME, 0, 0)
    hosts.end(ann, second)
    hosts.close()
    assert [one.name for one in tmp_path.iterdir()] == ["ann.py"]

    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(StartError, match="too many processes"):
        Hosts(GAME, Limits(), jail.Isolation.NONE, str(tmp_path)).seat(ann, 0, lambda: "")
    assert [one.name for one in tmp_path.iterdir()] == ["ann.py"]


def test_copies_of_one_bot_end_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "ann.py").write_text("def final_strategy(score, opponent_score):\n    return 6\n")
    ann = entry(GAME, "ann", str(tmp_path / "ann.py"))
    hosts = Hosts(GAME, Limits(), jail.Isolation.PROCESS, str(tmp_path))
    first, second = (hosts.seat(ann, seed, lambda: "") for seed in (0, 1))
    host = hosts._host_of(ann)
    hosts.end(ann, first)
    second.join(GAME, 0, 0)
    hosts.end(ann, second)
    assert hosts._host_of(ann) is host, "a copy that left nothing ended the host"
    hosts.close()


@pytest.mark.filterwarnings("ignore::dicegym.errors.FaultWarning")
def test_a_process_that_ended_gives_no_strategy(tmp_path: Path) -> None:
    """The rules play on for a bot that fails, so the end of its process must be asked for."""
    game = dicegym.game("liarsdice", dice=1)
    hosts = Hosts(game, Limits(), jail.Isolation.PROCESS, str(tmp_path))
    found = {}
    for name, body in (("ends", "os._exit(3)"), ("plays", "return 0 if history else 11")):
        (tmp_path / f"{name}.py").write_text(f"import os\ndef get_play(me, hands, history):\n    {body}\n")
        bot = entry(game, name, str(tmp_path / f"{name}.py"))
        player = hosts.seat(bot, 0, lambda: "")
        assert play_game(game, [player, RandomPlayer()], 1)["over"]
        with pytest.raises(GoneError, match="exit status 3") if name == "ends" else contextlib.nullcontext():
            player.raise_if_gone()
        hosts.end(bot, player)
        found[name] = worker.outcome(Tabulate(game, (bot,), 0), Heartbeat.private(), hosts)
    hosts.close()
    assert "exit status 3" in found["ends"]["reason"]
    assert "table" in found["plays"]["value"]


def test_no_entry_is_blamed_for_a_process_that_cannot_start(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    class Job:
        entries = ()

        def run(self, context: Any) -> None:
            context.heartbeat.hand_over(1)
            raise StartError("ann", "no room")

    found = worker.outcome(Job(), Heartbeat.private(), hosts)  # type: ignore[arg-type]
    assert found == {"actor": -1, "reason": "the process of 'ann' could not be started (no room)"}
    sent = pickle.loads(pickle.dumps(StartError("ann", OSError("no room"))))
    assert (type(sent), str(sent)) == (StartError, found["reason"])


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("bwrap: Creating new namespace failed: No space left on device", StartError),
        ("bwrap: Can't fork for pid 1: Resource temporarily unavailable", StartError),
        ("bwrap: Can't bind mount /x: No space left on device on /newroot/x: No space left on device", GoneError),
        ("bwrap: Can't find source path /Creating new namespace failed: No such file or directory", GoneError),
        ("SyntaxWarning: bwrap: Creating new namespace failed", GoneError),
    ],
)
def test_no_bot_is_blamed_for_a_machine_without_room_for_a_jail(
    said: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot.py").touch()
    monkeypatch.setattr(jail, "command", lambda *_: ["/bin/sh", "-c", 'echo "$0" >&2; exit 1', said])
    host = HostProcess(GAME, "bot", Source(tmp_path / "bot.py"), Limits(), jail.Isolation.NONE, str(tmp_path))
    with pytest.raises(error, match="could not be started"):
        host.wait_ready()
    host.close()


@pytest.mark.parametrize("size", [0, 1 << 20])
def test_a_process_that_ends_at_once_is_not_waited_for(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the first message is larger than the socket's buffer."""
    bot = tmp_path / "bot.py"
    bot.write_text("#" * size)
    why = "import os, sys; os.read(0, 1); sys.exit(f'no room in session {os.getsid(0) - os.getpid()}')"
    monkeypatch.setattr(jail, "command", lambda *_: [sys.executable, "-S", "-c", why])
    host = HostProcess(GAME, "bot", Source(bot), Limits(), jail.Isolation.NONE, str(tmp_path))
    with pytest.raises(GoneError, match="no room in session 0"):  # a session that Ctrl-C does not reach
        host.wait_ready()
    host.close()
    assert [one.name for one in tmp_path.iterdir()] == ["bot.py"]


def test_an_interrupted_start_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    bot = tmp_path / "bot.py"
    bot.write_text("")
    monkeypatch.setattr(MessageStream, "send", interrupt)
    with pytest.raises(KeyboardInterrupt):
        HostProcess(GAME, "bot", Source(bot), Limits(), jail.Isolation.NONE, str(tmp_path))
    assert [one.name for one in tmp_path.iterdir()] == ["bot.py"]


@pytest.mark.skipif(bool(jail.probe("jail")), reason=f"no jail: {jail.probe('jail')}")
@pytest.mark.parametrize("end", [HostProcess.close, HostProcess.kill])
def test_a_jail_that_starts_ends_by_itself(end: Callable[[HostProcess], None], tmp_path: Path) -> None:
    """Bubblewrap killed in its first milliseconds leaves a process behind."""
    bot = tmp_path / "bot.py"
    bot.write_text("def final_strategy(score, opponent_score):\n    return 4\n")
    host = HostProcess(GAME, "bot", Source(bot), Limits(), jail.Isolation.JAIL, "")
    end(host)
    assert host._process.returncode not in (None, -signal.SIGKILL)
    host.close()


def test_processes_are_started_before_they_are_needed(
    hosts: Hosts, bots: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts.prepare(bots[:2])
    play(hosts, *bots[:2])
    assert [host.name for host in FakeHost.started] == ["a", "b"]

    def fail(*_: object) -> None:
        raise AgentError("c", "there is no file")

    monkeypatch.setattr(host_module, "HostProcess", fail)
    hosts.prepare([bots[2]])
    with pytest.raises(AgentError, match="there is no file"):
        play(hosts, bots[2])


def test_strangers_play_in_a_process_of_their_own(hosts: Hosts, bots: list[Entry]) -> None:
    assert hosts.apart(bots[0])
    assert not hosts.apart(entry(GAME, "ships", "bacon"))
    assert not hosts.apart(entry(GAME, "model", "ppo"))
    assert hosts.load(entry(GAME, "ships", "bacon"), GAME, 0, lambda: "").name == "ships"
    assert FakeHost.started == []


def test_of_many_processes_those_that_played_last_are_kept(
    hosts: Hosts, bots: list[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "MOST", 2)
    play(hosts, *bots[:2])
    play(hosts, bots[0])
    play(hosts, bots[2])
    assert kept() == ["a", "c"]
    play(hosts, *bots)
    assert kept() == ["c", "d"]


def test_a_bot_does_not_see_files_of_other_entries(tmp_path: Path) -> None:
    """Helpers in the common folder are a bot's own, but other entries' folders are not."""
    for folder in ("other", "other/below", "lib", "mine"):
        (tmp_path / folder).mkdir()
    for name in ("helper", "theirs", "other/bot", "other/below/more", "lib/tables", "mine/bot"):
        (tmp_path / f"{name}.py").write_text("ROLLS = 4\n")
    imports = "import helper, theirs, other.bot, other.below.more, lib.tables\n"
    (tmp_path / "mine.py").write_text(f"{imports}def final_strategy(score, opponent_score):\n    return 4\n")
    others = [str(tmp_path / name) for name in ("", "mine.py", "theirs.py", "other")]
    mine = entry(GAME, "mine", str(tmp_path / "mine.py"), sorted(other.rstrip("/") for other in others))
    assert isinstance(mine.origin, Source)
    assert mine.origin.hidden == ("other/below/more.py", "other/bot.py", "theirs.py")
    both = entry(GAME, "mine", str(tmp_path / "mine.py"), [str(tmp_path / "mine" / "bot.py")])
    for seen, data in ((mine, ["bot.py"]), (both, [])):  # the folder named like it is its own, or another entry's
        found = files_of(GAME, seen.origin, 10)
        assert [file.name for file in found if file.parent.name == "mine"] == data


def test_a_huge_file_is_known_by_size_and_date(tmp_path: Path) -> None:
    """A sparse file takes no space, and an hour to be hashed."""
    (tmp_path / "hog.py").write_text("NAME = 'w.npz'\ndef final_strategy(score, opponent_score):\n    return 6\n")
    with (tmp_path / "w.npz").open("wb") as file:
        file.truncate(1 << 40)
    bot = entry(GAME, "ann", str(tmp_path / "hog.py"))
    assert list_changed_data(bot) == []
    os.utime(tmp_path / "w.npz", ns=(0, 0))
    assert list_changed_data(bot) == ["w.npz"]


def test_a_link_beside_a_shared_bot_leads_to_its_own_files_alone(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.py").write_text("def final_strategy(score, opponent_score):\n    return 6\n")
    (tmp_path / "ann.json").write_text("1")
    (tmp_path / "ann.cfg").symlink_to("ann.json")
    ann = entry(GAME, "ann", str(tmp_path / "ann.py"))
    assert {file.name for file in files_of(GAME, ann.origin, 10)} == {"ann.py", "ann.json", "ann.cfg"}
    (tmp_path / "ann.txt").symlink_to("bob.py")
    with pytest.raises(BadFileError, match=r"ann.txt is a link that leads out of the bot's own files"):
        files_of(GAME, ann.origin, 10)


def test_weights_that_change_after_a_bot_was_entered_are_refused(tmp_path: Path) -> None:
    plain = "def final_strategy(score, opponent_score):\n    return 6\n"
    honest = "import math\nlog = math.log(2)\ndef size(w):\n    return w.shape\n"  # name no .log and no .sh
    (tmp_path / "hog.py").write_text(f"import tables\nnames = '.npz', 'plain'\n{honest}{plain}")
    (tmp_path / "tables.py").write_text("NAME = 'table.json'\n")
    for name in ("weights.npz", "table.json", "plain", "notes.ipynb", "train.log", "run.sh"):
        (tmp_path / name).write_text("1")
    bot = entry(GAME, "ann", str(tmp_path / "hog.py"))
    assert [name for name, _ in bot.data] == ["plain", "table.json", "weights.npz"]
    hosts = Hosts(GAME, Limits(), jail.Isolation.PROCESS, "")
    try:
        for name in ("notes.ipynb", "new.npz"):  # nothing that it read when it was entered
            (tmp_path / name).write_text("2")
        hosts.end(bot, hosts.seat(bot, 0, lambda: ""))
        for name in ("weights.npz", "table.json", "plain"):
            about = (tmp_path / name).stat()
            (tmp_path / name).write_text("2")
            os.utime(tmp_path / name, ns=(about.st_atime_ns, about.st_mtime_ns))
            with pytest.raises(AgentError, match=f"its files have changed since it was entered: {name}"):
                hosts.seat(bot, 0, lambda: "")
            (tmp_path / name).write_text("1")
            hosts.end(bot, hosts.seat(bot, 0, lambda: ""))
        (tmp_path / "plain").unlink()
        with pytest.raises(AgentError, match="changed since it was entered: plain"):
            hosts.seat(bot, 0, lambda: "")
    finally:
        hosts.close()
    hosts = Hosts(GAME, Limits(), jail.Isolation.NONE, "")  # where it may write them itself
    try:
        hosts.end(bot, hosts.seat(bot, 0, lambda: ""))
    finally:
        hosts.close()


LOOK = """
import glob, os

def final_strategy(score, opponent_score):
    return 4

here = os.path.dirname(os.path.abspath(__file__))
for name in NAMES:
    try:
        print(name, open(os.path.join(here, name), "rb").read(2))
    except OSError:
        print(name, "cannot be read")
"""
OWN = ("hog.json", "weights.txt", "lib/table.txt", "hog/data.txt", "mixed/own.txt", "lib/deeper/x.txt", "cat.md")
THEIRS = (
    *("ann.py", "ann.json", "ann/tables/ann.txt", "bob/hog.py", "bob/weights.txt", "cat.zip"),
    *(
        "dan/dan.py",
        "dan/notes.txt",
        "mixed/deep/eva/bot.py",
        "mixed/deep/eva/eva.txt",
        "link/hog.py",
        "__pycache__/ann.pyc",
    ),
)
"""Of entries, or named like them; ``link`` leads to the folder of one."""


@pytest.mark.parametrize("linked", [False, True], ids=["file", "link"])
@pytest.mark.parametrize("level", GUARDING)
def test_a_bot_at_the_top_of_a_folder_sees_no_other_entries_in_it(level: str, linked: bool, tmp_path: Path) -> None:
    top = tmp_path / "top"
    for name in (*OWN, *THEIRS):
        if not name.startswith("link/"):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text("secret")
    (top / "link").symlink_to("bob")
    plain = "def final_strategy(score, opponent_score):\n    return 5\n"
    others = ["ann.py", "bob/hog.py", "dan/dan.py", "mixed/deep/eva/bot.py"]
    for name in others:
        (top / name).write_text(f"# secret\n{plain}")
    shutil.copy(shipped_folder("agents") / "hog" / "ppo.zip", top / "cat.zip")
    file = tmp_path / "real" / "hog.py" if linked else top / "hog.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(LOOK.replace("NAMES", repr([*OWN, *THEIRS])).replace("__file__", repr(str(top / "hog.py"))))
    if linked:
        (top / "hog.py").symlink_to(file)
    given = {name: top / name for name in ["hog.py", *others, "cat.zip"]}
    seen = {}
    for entries in (given, {"hog.py": top / "hog.py", "bacon": "bacon"}):
        found = contest("hog", entries, games=1, workers=1, isolation=level)
        assert not found.disqualified
        lines = found.printed["hog.py"].splitlines()
        seen[len(entries)] = {line.split()[0] for line in lines if not line.endswith("cannot be read")}
    assert seen[6] == {*OWN}
    assert {*OWN, *THEIRS} - seen[2] <= {"cat.zip", "link/hog.py"}, "alone it owns its folder"


CROWD = """
import os, time
made = 0

def make(most):
    global made
    while made < most:
        os.close(os.open(f"f{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
    time.sleep(0.3)  # the host counts them meanwhile

def final_strategy(score, opponent_score):
    os.chdir(os.environ["TMPDIR"])
    make(MOST - 100 if score == 0 else MOST + 100)
    return 4
"""


@pytest.mark.skipif(bool(jail.probe("jail")), reason=f"no jail: {jail.probe('jail')}")
def test_a_bot_in_a_jail_with_too_many_files_is_killed(tmp_path: Path) -> None:
    """They take memory of the kernel that nothing else counts."""
    bot = tmp_path / "bot.py"
    bot.write_text(CROWD.replace("MOST", str(jail.MOST_FILES)))
    hosts = Hosts(GAME, Limits(), jail.Isolation.JAIL, "")
    crowd = Entry("crowd", Source(bot))
    player = hosts.seat(crowd, 0, lambda: "")
    act, states = player.join(GAME, 0, 0), every_situation(GAME)
    assert act(Turn(GAME, states[0], 0)) == 5
    with pytest.raises(GoneError, match=r"ended its process \(SIGKILL\)"):
        act(Turn(GAME, states[-1], 0))
    hosts.end(crowd, player)
    hosts.close()
