"""What a host loads of the package: itself and the interface, and nothing that needs arrays."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import dicegym
from dicegym.bots.source import Source
from dicegym.registry import GAMES
from dicegym.sandbox import host_start, hosts
from dicegym.sandbox.frames import MessageStream
from dicegym.sandbox.limits import Limits

CODE = """
import json, sys
sys.path.insert(0, sys.argv[3])
import host_start
sys.path.pop(0)
host_start.main(int(sys.argv[1]), json.loads(sys.argv[2]))
assert not {"numpy", "numba", "gymnasium", "dicegym"} & sys.modules.keys(), sys.modules.keys()
"""


@pytest.mark.parametrize("name", list(GAMES))
def test_a_host_starts_without_arrays_and_forgets_the_package(name: str, tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("def nothing():\n    return None\n")
    setup = hosts._setup(dicegym.game(name), "plain", Source(file), Limits(), ())  # as `HostProcess` tells it
    packages = host_start.packages_of(host_start.HOST, setup["interface"])
    assert "dicegym.sandbox" in packages
    ours, theirs = socket.socketpair()
    folder = str(Path(host_start.__file__).parent)
    with ours, theirs:
        argv = [sys.executable, "-I", "-S", "-c", CODE, str(theirs.fileno()), json.dumps(packages), folder]
        with subprocess.Popen(argv, pass_fds=(theirs.fileno(),), stderr=subprocess.PIPE, text=True) as process:
            theirs.close()
            control = MessageStream(ours)
            control.send(setup | {"folder": str(tmp_path), "free": True})
            try:
                assert control.receive(30) == ["ready"]
            finally:
                ours.close()
                said = process.communicate(timeout=30)[1]
    assert said == ""
    assert process.returncode == 0
