"""What a host gets of the package from its referee: all that it needs, so that it starts without reading any."""

from __future__ import annotations

import importlib
import marshal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import dicegym
from dicegym.bots.source import Source
from dicegym.registry import GAMES
from dicegym.sandbox import handed, hosts
from dicegym.sandbox.frames import MessageStream
from dicegym.sandbox.limits import Limits

PLAIN = "def nothing():\n    return None\n"


@pytest.fixture
def bot(tmp_path: Path) -> Source:
    """Return a bot that need not be one, since hosts do not run it."""
    file = tmp_path / "plain.py"
    file.write_text(PLAIN)
    return Source(file)


@pytest.mark.parametrize("name", list(GAMES))
def test_a_host_starts_where_nothing_of_the_package_can_be_found(name: str, bot: Source, tmp_path: Path) -> None:
    setup = hosts._setup(dicegym.game(name), "plain", bot, Limits(), ())  # as `HostProcess` tells it
    packages, modules = marshal.loads(handed.hand_over(setup["interface"]))
    assert set(packages) == set(handed.parents_of(*modules))
    ours, theirs = socket.socketpair()
    script = tmp_path / "handed.py"
    script.write_bytes(Path(handed.__file__).read_bytes())
    with tempfile.TemporaryFile() as file, ours, theirs:
        file.write(marshal.dumps((dict.fromkeys(packages, ()), modules)))
        file.flush()
        numbers = theirs.fileno(), file.fileno()
        argv = [sys.executable, "-I", "-S", str(script), *map(str, numbers)]
        with subprocess.Popen(argv, pass_fds=numbers, stderr=subprocess.PIPE, text=True) as process:
            theirs.close()
            control = MessageStream(ours)
            control.send(setup | {"folder": str(tmp_path), "free": True})
            try:
                assert control.receive(30) == ["ready"]
            finally:
                ours.close()
                said = process.communicate(timeout=30)[1]
    assert said == ""


def test_what_was_handed_over_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    code = compile("value = 3", "one.py", "exec")
    finder = handed.Handed({"handed_one": ("one.py", code)})
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    found = importlib.import_module("handed_one")
    assert (found.value, found.__file__) == (3, "one.py")
    assert finder.find_spec("handed_two") is None
    finder.forget()
    assert "handed_one" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("handed_one")
