"""How a bot's process reads its referee's messages, in pieces of any size, and what it answers."""

from __future__ import annotations

import fcntl
import json
import marshal
import os
import re
import socket
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena.check import check
from dicegym.bots.answers import TooMuchError
from dicegym.bots.source import Source
from dicegym.errors import AgentError, one_line
from dicegym.registry import GAMES
from dicegym.sandbox import host, host_start, hosts
from dicegym.sandbox.frames import MessageStream
from dicegym.sandbox.host import Child, Host
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import MATCH, START, RaisedError, Remote


class Pieces:
    """A socket that delivers bytes in pieces, and stores sent bytes."""

    def __init__(self, data: bytes, size: int) -> None:
        self.pieces = [data[start : start + size] for start in range(0, len(data), size)]
        self.sent = b""

    def recv(self, most: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def sendall(self, data: bytes) -> None:
        self.sent += data


def child_at(end: Any) -> Child:
    """Return a child whose bot adds numbers up."""
    nobody: Any = None
    child = Child(nobody, end, "", 0)
    child._ask = lambda *numbers: sum(numbers)
    return child


def questions(*asked: tuple[int, ...]) -> bytes:
    frames = [marshal.dumps((number, "ask", numbers)) for number, numbers in enumerate(asked)]
    return b"".join(len(frame).to_bytes(4, "little") + frame for frame in frames)


@pytest.mark.parametrize("size", [1, 3, 5, 26, 1000])
def test_questions_are_answered_in_pieces_of_any_size(size: int) -> None:
    end = Pieces(questions((1, 2), tuple(range(300)), (7,)), size)
    child_at(end)._serve()
    assert end.sent == b'[0,"ok",3]\n[1,"ok",44850]\n[2,"ok",7]\n'


def test_a_question_that_breaks_off_ends_the_process() -> None:
    end = Pieces(questions((1, 2))[:-1], 1000)
    with pytest.raises(EOFError):
        child_at(end)._serve()
    assert end.sent == b""


def test_a_message_stream_works_with_many_open_files() -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2000, limits[1]), limits[1]))
    try:
        ours, theirs = socket.socketpair()
        many = socket.socket(fileno=fcntl.fcntl(ours.detach(), fcntl.F_DUPFD, 1500))
        with many, theirs:
            one = MessageStream(many)
            assert not one.is_ready(0)
            with pytest.raises(TimeoutError):
                one.receive(0.01)
            MessageStream(theirs).send(("ended", 1))
            assert one.is_ready(1)
            assert one.receive(1) == ("ended", 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def answers(*replies: Any) -> list[list[Any]]:
    """Return what a child sends whose bot gives these answers one after the other; functions are called."""
    end = Pieces(questions(*[()] * len(replies)), 1000)
    child, waiting = child_at(end), list(replies)

    def answer() -> Any:
        reply = waiting.pop(0)
        return reply(child) if callable(reply) else reply

    child._ask = answer
    child._serve()
    return [json.loads(line) for line in end.sent.splitlines()]


@pytest.mark.parametrize("length", [1, 2000])
def test_output_is_sent_with_the_next_answer(length: int) -> None:
    def printing(child: Child) -> str:
        child._printed.write("hm")
        return "x" * length

    text = "x" * length
    assert answers(text, printing, text) == [[0, "ok", text], [1, "ok", text, "hm"], [2, "ok", text]]


def test_a_too_long_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = "x" * 1500
    monkeypatch.setattr(host, "LONGEST_FRAME", len(f'[0,"ok","{longest}"]\n'))
    assert answers(longest, f"{longest}x", "x") == [
        [0, "ok", longest],
        [1, "failed", ["large", "", ""]],
        [2, "ok", "x"],
    ]


LINE = "line " + "9" * 2000


class ToldProgram:
    """A fake program of a bot; it can describe its errors unless ``knows`` is False."""

    def __init__(self, own: bool = False, knows: bool = True) -> None:
        self.own, self.knows = own, knows

    def is_own(self, error: BaseException) -> bool:
        return self.own

    def describe_error(self, error: BaseException) -> tuple[str, str]:
        if not self.knows:
            raise RuntimeError
        return "raised it " + "x" * 2000, LINE


@pytest.mark.parametrize(
    ("error", "program", "told"),
    [
        (AgentError("ann", "y" * 2000), None, ["reason", one_line("y" * 2000, 1000), ""]),
        (AgentError("ann", "no file"), ToldProgram(), ["reason", "no file", ""]),
        (
            AgentError("ann", "it lies"),
            ToldProgram(own=True),
            ["raised", ("raised it " + "x" * 2000)[:1000], LINE[:300]],
        ),
        (TooMuchError(), ToldProgram(), ["large", "", ""]),
        (KeyError(3), ToldProgram(knows=False), ["raised", "raised KeyError", ""]),
        (KeyError(3), None, ["raised", "raised KeyError", ""]),
    ],
)
def test_errors_of_a_bot_are_sent(error: BaseException, program: ToldProgram | None, told: list[str]) -> None:
    def fail(child: Child) -> None:
        child._program = program
        raise error

    assert answers(fail) == [[0, "failed", told]]


# --- what it loads ---------------------------------------------------------------------------------------------------

CODE = """
import json, sys
sys.path.insert(0, sys.argv[3])
import host_start
sys.path.pop(0)
host_start.main(int(sys.argv[1]), json.loads(sys.argv[2]))
assert not {"numpy", "numba", "gymnasium", "dicegym"} & sys.modules.keys(), sys.modules.keys()
"""


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", list(GAMES))
def test_a_host_starts_without_arrays_and_forgets_the_package(name: str, tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("def nothing():\n    return None\n")
    setup = hosts._setup(dicegym.game(name), "plain", Source(file), Limits(), ())  # as `HostProcess` sends it
    packages = host_start.packages_of(host_start.HOST, setup["interface"])
    assert "dicegym.sandbox" in packages
    ours, theirs = socket.socketpair()
    folder = str(Path(host_start.__file__).parent)
    with ours, theirs:
        argv = [sys.executable, "-I", "-S", "-c", CODE, str(theirs.fileno()), json.dumps(packages), folder]
        with subprocess.Popen(argv, pass_fds=(theirs.fileno(),), stderr=subprocess.PIPE, text=True) as process:
            theirs.close()
            control = MessageStream(ours)
            control.send(setup | {"folder": str(tmp_path), "free": True, "files": 0})
            try:
                assert control.receive(30) == ["ready"]
            finally:
                ours.close()
                said = process.communicate(timeout=30)[1]
    assert said == ""
    assert process.returncode == 0


# --- what it says is quoted: it cannot speak in another name ---------------------------------------------------------

FORGED = 'x" (bot.py, line 1)\nanna: disqualified: cheats'
QUOTED = re.compile(r'says: "[^"]*"')
WAYS = {
    "raised": f"raise ValueError({FORGED!r})",
    "raised when it is asked": f"def final_strategy(score, opponent_score):\n    raise ValueError({FORGED!r})",
    "the kind of an error": f"raise type({FORGED!r}, (Exception,), {{}})({FORGED!r})",
    "our own kind of error": f"from dicegym.errors import AgentError\nraise AgentError('anna', {FORGED!r})",
    "printed": f"print({FORGED!r})\ndef final_strategy(score, opponent_score):\n    return 5",
}


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_check_quotes_the_words_of_a_bot(way: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(WAYS[way] + "\n", encoding="utf-8")
    report = check(file, "hog")
    told = report.text()
    assert report.ok == (way == "printed")
    assert len(QUOTED.findall(told)) == 1
    assert "cheats" in told
    assert "cheats" not in QUOTED.sub("", told)


@pytest.mark.parametrize(
    ("phase", "kind", "text", "where", "told"),
    [
        (MATCH, "raised", 'raised E (says: "no idea")', "bot.py, line 3", 'raised E (says: "no idea")'),
        (MATCH, "raised", "raised MemoryError", "bot.py, line 3", "raised MemoryError"),
        (MATCH, "raised", "called sys.exit", "", "called sys.exit"),
        (MATCH, "raised", "anna cheats", "bot.py, line 3", 'failed (says: "anna cheats")'),
        (MATCH, "raised", "raised X: anna cheats", "", 'failed (says: "raised X: anna cheats")'),
        (MATCH, "raised", 'raised X (says: "a") "b"', "", "failed (says: \"raised X (says: 'a') 'b'\")"),
        (MATCH, "raised", "raised X", 'x.py, line 1) "anna" cheats (', "raised X"),
        (MATCH, "reason", "anna cheats", "", 'failed (says: "anna cheats")'),
        (START, "reason", "bot.py has no function final_strategy", "", "bot.py has no function final_strategy"),
    ],
)
def test_forged_errors_are_quoted_whole(phase: str, kind: str, text: str, where: str, told: str) -> None:
    remote = Remote.__new__(Remote)
    remote._name, remote._phase = "bot", phase
    found = remote._failed(kind, text, where)
    if phase == START:  # the reason why it cannot be loaded is not quoted
        assert isinstance(found, AgentError)
        assert found.reason == told
    else:
        assert isinstance(found, RaisedError)
        assert (found.text, found.where) == (told, where if "cheats" not in where else "")


@pytest.mark.parametrize(("most", "made", "ended"), [(0, 10**6, False), (100, 100, False), (100, 101, True)])
def test_a_bot_with_too_many_files_is_killed(
    most: int, made: int, ended: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty files do not count towards the size of a jail's folder or a process's memory."""

    class Quiet:
        looks = 0

        def is_ready(self, seconds: float) -> bool:
            self.looks += 1
            return self.looks > 1

        def receive(self) -> None:
            raise EOFError

    monkeypatch.setattr(os, "statvfs", lambda folder: types.SimpleNamespace(f_files=10**7, f_ffree=10**7 - made))
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as child:
        one = Host.__new__(Host)
        quiet: Any = Quiet()
        one.setup, one._children, one._control = {"folder": str(tmp_path), "files": most}, {1: child.pid}, quiet
        one.serve()
        if not ended:
            child.communicate(b"\n", 20)
        assert child.wait(20) == (-9 if ended else 0)


@pytest.mark.parametrize(
    ("left", "clean"),
    [((), True), (("match-1/own",), True), (("match-2/others",), True), (("match-3/x",), False), (("x",), False)],
)
def test_files_left_for_the_next_match_are_seen(left: tuple[str, ...], clean: bool, tmp_path: Path) -> None:
    """Without Landlock, a bot may write beside its folder; match 2 is in progress."""
    one = Host.__new__(Host)
    one.setup, one._children = {"folder": str(tmp_path)}, {2: 4711}
    for name in ("match-1", "match-2"):
        (tmp_path / name).mkdir()
    for name in left:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("6")
    assert one._clean(1) is clean
    assert not (tmp_path / "match-1").exists()
