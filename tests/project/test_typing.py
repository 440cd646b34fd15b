"""The script of somebody outside the checkout passes `mypy --strict`, and its types are those of the game."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # mypy reads all of the package and what it imports; `make lint` reads it too

SCRIPT = """
import gymnasium as gym

import dicegym
from dicegym.agents import FunctionPlayer
from dicegym.contest import contest
from dicegym.envs import SB3VecEnv
from dicegym.games.hog.rules import SPEC, View
from dicegym.play.turn import Act


def greedy(turn: dicegym.Turn[View]) -> int:
    reveal_type(turn.view.score)
    return 5 if turn.view.score < 90 else 1


class Mine(dicegym.Player):
    name = "mine"

    def join(self, game: dicegym.Game, seat: int, seed: int) -> Act:
        return greedy


game = dicegym.game(SPEC, goal=50)
reveal_type(game.view(game.new_game(seed=1)[0], 0).opponent_score)
env = gym.make("dicegym/Hog-v0", opponent=FunctionPlayer(greedy, pure=True))
result = contest("hog", ["bacon", "swap", Mine()], workers=1)
reveal_type(result)
row = result.standings[0]
reveal_type(row.place)
reveal_type(row.name)
reveal_type(contest(game, ["bacon", "swap"], format="round_robin", seeds=2).matches[0].wins)
envs = SB3VecEnv("hog", 16, seed=0)
reveal_type(dicegym.agent("hog", "bacon"))
"""
TYPES = [
    "int",
    "int",
    "dicegym.arena.results.ContestResult",
    "int",
    "str",
    "tuple[int, ...]",
    "dicegym.play.player.Player",
]


@pytest.fixture(scope="module")
def cache() -> Path:
    """Return where mypy keeps what it knows of the libraries, as it reads them for 20 s."""
    return Path(sys.prefix) / "cache" / "mypy-outside"


def mypy(script: Path, cache: Path) -> list[str]:
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", script.name]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()


def test_a_script_outside_the_checkout_is_typed(tmp_path: Path, cache: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    *told, last = mypy(script, cache)
    assert last == "Success: no issues found in 1 source file", told
    assert [line.partition('Revealed type is "')[2].rstrip('"') for line in told] == TYPES


def test_a_wrong_name_is_found(tmp_path: Path, cache: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(SCRIPT.replace("turn.view.score < 90", "turn.view.scores < 90").replace("reveal_type", "print"))
    told = mypy(script, cache)
    assert any('"View" has no attribute "scores"' in line for line in told), told
