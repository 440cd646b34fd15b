"""Bad submissions: each is disqualified with its reason, and the contest continues."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import dicegym
from dicegym.arena import CheckReport, Limits, check, contest
from dicegym.arena.check import Check
from dicegym.arena.match import Match
from dicegym.arena.results import ContestResult
from dicegym.engine.game import Game
from dicegym.errors import ServiceError
from dicegym.players.roster import resolve
from dicegym.sandbox import sandbox as sandboxes
from dicegym.sandbox.fork_server import GAME, plain_start
from dicegym.sandbox.heartbeat import PLAYING
from dicegym.sandbox.jobs import Entry, Failure, entry
from dicegym.sandbox.sandbox import RunningJob, Sandbox

# All tests here read one contest; they stay on one worker, which plays it once.
pytestmark = pytest.mark.xdist_group("sandbox")

SMALL = dicegym.game("hog", goal=20)
"""A bot is asked 400 questions before a contest instead of 10,000."""
LIMITS = Limits(seconds=0.6, memory=64 << 20)
TOO_LONG = (
    r"took more than (0\.6 s( \(all answers together\))?|"
    r"6 s by the clock \(0\.\d s of them at work(; all answers together)?\))"
)
"""Reasons for an endless computation: on a busy machine it may not get 0.6 s within 6 s."""
PLAIN = "def final_strategy(score, opponent_score):\n    return 6\n"


def asked(body: str, head: str = "") -> str:
    return f"{head}\ndef final_strategy(score, opponent_score):\n    {body}\n    return 6\n"


def late(body: str, head: str = "") -> str:
    """Return a bot that misbehaves only outside the test, which asks all questions in order."""
    return f"""{head}
before = None

def final_strategy(score, opponent_score):
    global before
    if (score, opponent_score) != (0, 0) and before != divmod(20 * score + opponent_score - 1, 20):
        {body}
    before = score, opponent_score
    return 6
"""


BAD: dict[str, tuple[str | bytes, str]] = {
    "no_function": ("def strategy(a, b):\n    return 6\n", "has no function final_strategy .found: strategy"),
    "syntax": ("def final_strategy(a, b):\nreturn 6\n", "is not Python: .*line 2"),
    "not_utf8": (b"# \xff\n", "not UTF-8"),
    "import_error": ("import numppy\n", "No module named 'numppy'"),
    "exit_at_import": ("import sys\nsys.exit(0)\n", r"sys.exit while it was loaded \(.*line 2\)"),
    "os_exit_at_import": ("import os\nos._exit(0)\n", r"ended its process \(exit status 0\) while it was loaded"),
    "hang_at_import": ("while True:\n    pass\n", TOO_LONG + r" while it was loaded"),
    "exception": (asked("score / opponent_score"), r"ZeroDivisionError.*in final_strategy\(0, 0\)"),
    "sometimes": (asked("[0] * 99 and [0][score == 3 and opponent_score == 19]"), r"in final_strategy\(3, 19\)"),
    "function": (asked("return final_strategy"), "a function instead of an integer"),
    "none": (asked("return None"), "returned None"),
    "number_as_float": (asked("return 6.0"), "returned 6.0, a float"),
    "out_of_range": (asked("return 11 if score == 12 else 1"), r"final_strategy\(12, 0\) returned 11, outside"),
    "endless": (asked("while score == 1: pass"), TOO_LONG + r" in final_strategy\(1, 0\), after 20 other"),
    "sleep": (
        asked("time.sleep(100)", "import time"),
        r"took more than 6 s by the clock .0\.0 s of them at work; all answers together. in final_strategy\(0, 0\)",
    ),
    "slow": (asked("time.sleep(0.03)", "import time"), "took more than 6 s by the clock .* in final_strategy"),
    "sys_exit": (asked("sys.exit(3)", "import sys"), "called sys.exit in final_strategy"),
    "os_exit": (asked("os._exit(3)", "import os"), r"ended its process \(exit status 3\) in final_strategy\(0, 0\)"),
    "segfault": (asked("ctypes.string_at(0)", "import ctypes"), r"ended its process \(SIGSEGV\) in final_strategy"),
    "killed": (asked("os.kill(os.getpid(), 9)", "import os"), r"ended its process \(SIGKILL\)"),
    "recursion": (asked("final_strategy(score, opponent_score)"), "RecursionError"),
    "stack": (
        asked("repr(A())", "import sys\nsys.setrecursionlimit(10**9)\nclass A: __repr__ = lambda self: repr(self)"),
        "ended its process|MemoryError",
    ),
    "memory": (asked("[bytearray(1 << 20) for _ in range(10**6)]"), "raised MemoryError in final_strategy"),
    "interrupt": (asked("raise KeyboardInterrupt"), "KeyboardInterrupt"),
    "forks": (asked("os.fork() or os._exit(0); time.sleep(9)", "import os, time"), "PermissionError|BlockingIOError"),
    "closes": (asked("os.closerange(0, 999)", "import os"), "ended its process|closed the socket"),
    "late_exception": (
        late("raise ValueError('ha')"),
        r'ValueError \(says: "ha"\) in final_strategy.* in game \d of 9 against',
    ),
    "late_exit": (late("os._exit(1)", "import os"), r"ended its process \(exit status 1\) in game \d of 9 against"),
    "late_hang": (late("while True: pass"), TOO_LONG + r" in game \d of 9 against"),
    "late_range": (late("return 12"), r"returned 12, outside -1..10 in game"),
}

GOOD: dict[str, str] = {
    "good_a": PLAIN,
    "good_b": asked("return 8"),
    # One answer in a hundred: all of them would take half of a bot's time on a busy machine.
    "prints": asked("score == 7 and print('hello', score)"),
    "writes": asked("score == 7 and sys.stdout.write('hm') and sys.stderr.write('hm')", "import sys"),
    "logs": asked("score == 7 and logging.warning('hm')", "import logging"),
    "late_print": late("print('got you')"),
    "talks_at_import": "print('I am loaded')\n" + PLAIN,
    "patches": asked("pass", "import math, sys\nmath.floor = None\nsys.setrecursionlimit(60)"),
    "leaves_threads": asked("pass", "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("submissions")
    for name, (source, _) in BAD.items():
        (path / f"{name}.py").write_bytes(source.encode() if isinstance(source, str) else source)
    for name, source in GOOD.items():
        (path / f"{name}.py").write_text(source)
    return path


@pytest.fixture(scope="module")
def result(folder: Path) -> ContestResult:
    paths = [folder / f"{name}.py" for name in [*BAD, *GOOD]]
    return contest(SMALL, paths, seed=3, workers=2, limits=LIMITS)


@pytest.mark.slow_after(12)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_submission_is_disqualified_with_its_reason(result: ContestResult, name: str) -> None:
    reasons = {bad.name: bad.reason for bad in result.disqualified}
    assert name in reasons
    assert re.search(BAD[name][1], reasons[name]), reasons[name]
    assert "\n" not in reasons[name]
    assert f"disqualified: {name}: {reasons[name]}" in result.text()


def test_only_bad_submissions_are_disqualified(result: ContestResult) -> None:
    assert {bad.name for bad in result.disqualified} == set(BAD)
    assert sorted(line.name for line in result.standings) == sorted(GOOD)
    assert {name for match in result.matches for name in match.entries} == set(GOOD)
    assert len(result.matches) == len(GOOD) * (len(GOOD) - 1) // 2
    assert all(line["wins"] + line["losses"] == len(GOOD) - 1 for line in result.standings)


@pytest.mark.slow
def test_other_results_do_not_change(result: ContestResult, folder: Path) -> None:
    alone = contest(SMALL, [folder / f"{name}.py" for name in GOOD], seed=3, workers=1)
    assert alone.matches == result.matches
    assert alone.standings == result.standings
    assert alone.disqualified == ()


def test_no_process_is_left_behind(result: ContestResult) -> None:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("needs Linux")
    time.sleep(0.1)
    commands = [Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in children.read_text().split()]
    told = [" ".join(command[1:]) for command in commands]  # the checkout may be called dicegym
    assert not [command for command in told if "dicegym" in command and "forkserver" not in command]


def test_a_bot_that_says_it_is_pure_is_asked_for_each_answer_once(tmp_path: Path) -> None:
    (tmp_path / "once.py").write_text(
        "PURE = True\nasked = set()\n"
        "def final_strategy(score, opponent_score):\n"
        "    if (score, opponent_score) in asked:\n"
        "        print('again')\n"
        "    asked.add((score, opponent_score))\n"
        "    return (score + opponent_score) % 12 - 1\n"  # some are negative, and read together with others
    )
    (tmp_path / "other.py").write_text((tmp_path / "once.py").read_text().replace("PURE = True", ""))
    found = contest("hog", tmp_path, seed=3, workers=1)
    assert not found.disqualified
    assert "once" not in found.printed
    assert "again" in found.printed["other"]
    told = check(tmp_path / "once.py", "hog").answers
    assert told is not None
    assert all(told[a, b] == (a + b) % 12 - 1 for a in range(100) for b in range(100))


def test_output_between_answers_of_one_packet_is_kept(tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(
        "def final_strategy(score, opponent_score):\n"
        "    if opponent_score == 50 and score < 3:\n"
        "        print(score)\n"
        "    return 10 ** 30 if (score, opponent_score) == (70, 3) else 4\n"
    )
    report = check(tmp_path / "talks.py", "hog")
    assert report.printed == "0\n1\n2\n"
    assert "final_strategy(70, 3) returned 1000000000000000000000000000000, outside -1..10" in report.reason


# --- one entry, checked by its author


@pytest.fixture(scope="module")
def game() -> Game:
    return dicegym.game("hog")


def test_check_of_a_good_entry(folder: Path) -> None:
    report = check(folder / "talks_at_import.py", "hog")
    assert report.ok
    assert report.questions == 10_000
    assert 0 < report.seconds < 10
    assert report.printed == "I am loaded\n"
    assert report.answers is not None
    assert report.answers.shape == (100, 100)
    assert (report.answers == 6).all()
    for part in ("talks_at_import: ok", "all 10000 questions", "limit 10 s", 'says: "I am loaded"'):
        assert part in report.text()
    assert report.to_json()["ok"] is True


def test_check_names_the_offending_pair(folder: Path) -> None:
    report = check(folder / "out_of_range.py", "hog", LIMITS)
    assert not report.ok
    assert report.text() == "out_of_range: disqualified: final_strategy(12, 0) returned 11, outside -1..10"
    assert check("nowhere/hog.py", "hog") == CheckReport("nowhere", "hog", "there is no file nowhere/hog.py")


# --- the parts


@pytest.fixture(scope="module")
def sandbox(game: Game) -> Iterator[Sandbox]:
    with Sandbox(game, workers=1, limits=LIMITS) as open_sandbox:
        yield open_sandbox


def check_of(game: Game, folder: Path, name: str, text: str = "") -> Check:
    """Return the job that checks a bot of the folder; write the bot if ``text`` is given."""
    if text:
        (folder / f"{name}.py").write_text(text)
    return Check(game, (Entry(name, resolve(game, str(folder / f"{name}.py"))),), 0, LIMITS)


def test_jobs_are_begun_in_order_and_all_end(sandbox: Sandbox, game: Game, folder: Path) -> None:
    names = ["good_a", "os_exit", "good_b", "segfault"]
    outcomes = list(sandbox.run([check_of(game, folder, name) for name in names]))
    assert [job.entries[0].name for job, _ in outcomes] == names
    failed = [isinstance(outcome, Failure) or "reason" in outcome for _, outcome in outcomes]
    assert failed == [False, True, False, True]


FAMILY = """import multiprocessing

def work(queue):
    queue.put(6)

def final_strategy(score, opponent_score):
    if (score, opponent_score) != (50, 50):
        return 5
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=work, args=(queue,))
    child.start()
    answer = queue.get(timeout=20)
    child.join()
    return answer
"""


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("context", ['multiprocessing.get_context("fork")', "multiprocessing"])
def test_a_bot_may_start_processes_where_nothing_keeps_it(game: Game, folder: Path, context: str) -> None:
    """By the start method that it chooses, or Python's default, not the sandbox's."""
    job = check_of(game, folder, "family", FAMILY.replace('multiprocessing.get_context("fork")', context))
    with Sandbox(game, 1, LIMITS, "none") as free:
        ((_, outcome),) = free.run([job])
    assert not isinstance(outcome, Failure)
    assert outcome.get("reason") is None
    assert (outcome["answers"][50][50], outcome["answers"][50][51]) == (6, 5)


POOL = """import multiprocessing
from dicegym.arena import check

def ok(name):
    return check(name, "hog").ok

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(*pool.map(ok, ["bacon"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", [POOL, "from dicegym.arena import check\nprint(check('bacon', 'hog').ok)\n"])
def test_workers_of_pools_and_scripts_without_a_guard_can_run_contests(text: str, tmp_path: Path, root: Path) -> None:
    """Workers of pools are daemons, to which multiprocessing forbids children."""
    (tmp_path / "script.py").write_text(text)
    command, environ = [sys.executable, tmp_path / "script.py"], os.environ | {"PYTHONPATH": str(root)}
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environ)
    assert run.stdout == "True\n", run.stderr


def test_a_heavy_bot_passes_beside_other_load(sandbox: Sandbox, game: Game, folder: Path) -> None:
    """Waiting for a processor is not charged; here it sleeps instead, for longer than its limit."""
    busy = "sum(range(100))\n    if score == opponent_score == 7: time.sleep(2.5 * 0.4)"
    job = check_of(game, folder, "heavy", asked(busy, "import time"))
    ((_, outcome),) = sandbox.run([job])
    report = job.report(outcome)
    assert report.ok, report.reason
    assert report.seconds < LIMITS.seconds


def running(pid: str) -> bool:
    """Return whether a process runs and is not a zombie (on Linux)."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_host_is_replaced(game: Game, folder: Path) -> None:
    note = folder / "parricide.pid"
    source = asked(
        f"open({str(note)!r}, 'w').write(str(os.getpid())); os.kill(os.getppid(), 9); time.sleep(99)", "import os, time"
    )
    jobs = [check_of(game, folder, "parricide", source), check_of(game, folder, "good_a")]
    with Sandbox(game, 1, LIMITS, "none") as free:
        outcomes = [outcome for _, outcome in free.run([*jobs, jobs[0], jobs[1]])]
    assert [isinstance(outcome, Failure) or "reason" in outcome for outcome in outcomes] == [True, False, True, False]
    if sys.platform == "linux":  # it must end with its host
        deadline = time.monotonic() + 5
        while running(note.read_text()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not running(note.read_text())


@pytest.mark.parametrize("most", [1, 0])
def test_no_bot_is_blamed_for_a_lost_referee(
    most: int, game: Game, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bots play in other processes and cannot end it: its job is repeated."""
    monkeypatch.setattr(sandboxes, "MOST_LOSSES", most)
    monkeypatch.setattr(sandboxes, "TELL_EVERY", 0)
    (folder / "calm.py").write_text(asked("time.sleep(0.001)", "import time"))
    entries = tuple(entry(game, name, str(folder / f"{name}.py")) for name in ("good_a", "calm"))
    lost: list[int] = []
    with Sandbox(game, 1) as own:

        def lose(jobs: Sequence[RunningJob]) -> None:
            if not lost and jobs and jobs[0].reading.phase == PLAYING:
                lost.append(own._workers[0]._process.pid or 0)
                os.kill(lost[0], 9)

        match = Match(game, entries, 1, 3)
        if most:
            ((done, outcome),) = own.run([match], lose)
            assert (done, sum(outcome["shares"])) == (match, 3)
            idle = own._workers[0]._process
            idle.kill()
            idle.join()
            assert list(own.run([match])) == [(match, outcome)], "an idle referee that ends is replaced too"
        else:
            with pytest.raises(ServiceError, match=r"1 times a referee failed .*: ended its process"):
                list(own.run([match], lose))
    assert len(lost) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone limits other processes")
def test_no_bot_is_blamed_for_a_process_that_its_referee_cannot_start(game: Game, folder: Path) -> None:
    import resource

    entries = tuple(entry(game, name, str(folder / f"{name}.py")) for name in ("good_a", "good_b"))
    with Sandbox(game, 1) as own:
        resource.prlimit(own._workers[0]._process.pid, resource.RLIMIT_NOFILE, (12, 12))
        with pytest.raises(ServiceError, match="6 times a referee failed while no bot was asked"):
            list(own.run([Match(game, entries, 1, 3)]))


def test_jobs_of_an_abandoned_run_are_not_in_the_next(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    both = tuple(entry(game, name, "bacon") for name in "ab")
    with Sandbox(game, 2, isolation="none") as own:
        quick, slow, last = (Match(game, both, seed, games) for seed, games in ((1, 1), (2, 10**6), (3, 1)))
        first = own.run([quick, slow])
        assert next(first)[0] == quick
        assert [job for job, _ in own.run([last])] == [last]


def test_all_else_ends_where_a_lost_referee_cannot_be_replaced(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BlockingIOError("too many processes")

    both = tuple(entry(game, name, "bacon") for name in "ab")
    with Sandbox(game, 1, isolation="none") as own:
        own._workers[0]._process.kill()
        monkeypatch.setattr(sandboxes, "_Worker", fail)
        with pytest.raises(BlockingIOError):
            list(own.run([Match(game, both, 1, 1)]))
    assert own._folder == ""


def test_threads_start_processes_one_after_the_other() -> None:
    """Each thread must restore the original state, not another thread's temporary one."""
    main, before, failed = sys.modules["__main__"], dict(os.environ), list[Exception]()

    def start() -> None:
        try:
            for _ in range(1000):
                with plain_start():
                    pass
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sys.modules["__main__"] is main
    assert dict(os.environ) == before


@pytest.mark.slow
def test_time_without_end_can_be_given(game: Game, folder: Path) -> None:
    report = check(folder / "good_a.py", game, Limits(seconds=float("inf")))
    assert report.ok, report.reason


_ABANDONED = """
import sys
from dicegym.arena import check

if __name__ == "__main__":
    check(sys.argv[1], "hog", isolation="none")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_outlives_a_killed_caller(folder: Path, tmp_path: Path) -> None:
    note = folder / "sleeper.pid"
    (folder / "sleeper.py").write_text(
        asked(f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}}'); time.sleep(99)", "import os, time")
    )
    script = tmp_path / "caller.py"
    script.write_text(_ABANDONED)
    short = Path(tempfile.mkdtemp())  # a socket's path has at most 107 characters
    caller = subprocess.Popen([sys.executable, script, folder / "sleeper.py"], env=os.environ | {"TMPDIR": str(short)})
    deadline = time.monotonic() + 120  # a busy machine may start it late
    while not (note.exists() and len(note.read_text().split()) == 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    pids = note.read_text().split()
    keeper = Path("/proc", pids[1], "stat").read_text().rpartition(")")[2].split()[1]
    caller.kill()
    caller.wait()
    deadline = time.monotonic() + 10  # much less than the bot's limit
    while any(map(running, [*pids, keeper])) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(running, [*pids, keeper]))
    assert not list(short.glob("dicegym-*"))
    shutil.rmtree(short)


def test_hash_order_is_the_same_in_every_process(sandbox: Sandbox, game: Game, folder: Path) -> None:
    job = check_of(game, folder, "hashes", "def final_strategy(a, b):\n    return hash('x') % 10\n")
    with Sandbox(game, workers=1) as other:
        tables = [outcome["answers"] for box in (sandbox, other) for _, outcome in box.run([job])]
    assert tables[0] == tables[1]


PRELOAD = """
import ctypes, os, signal
from dicegym.sandbox import linux, worker

def say(what):
    ends_with_parent = ctypes.c_int()
    linux.prctl(2, ctypes.addressof(ends_with_parent))
    print(what, ends_with_parent.value)

worker.rehearse = say
import dicegym.sandbox.preload
os.kill(os.getpid(), signal.SIGINT)
say("loaded")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams by a shell")
def test_the_fork_server_opens_closed_streams() -> None:
    """Or a referee's pipes could have their numbers, and be lost when it redirects its streams."""
    code = "import os, dicegym.sandbox.preload; [os.fstat(stream) for stream in range(3)]"
    command = f"exec {sys.executable} -c '{code}' <&- >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], check=False).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs prctl")
def test_the_fork_server_loads_a_game_and_is_not_interrupted_but_ends_with_its_command_meanwhile() -> None:
    environment = os.environ | {GAME: "hog"}
    done = subprocess.run([sys.executable, "-c", PRELOAD], capture_output=True, text=True, check=False, env=environment)
    assert (done.stdout, done.stderr) == (f"{dicegym.game('hog')!r} 9\nloaded 0\n", "")
