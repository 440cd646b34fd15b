"""Whatever a stranger's model file holds, opening it runs nothing, and what is wrong is one error with a way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hostile_models import Bomb, changed, every_place
from typer.testing import CliRunner

import dicegym
from dicegym import arena
from dicegym.bots.export import export_source
from dicegym.cli.app import app
from dicegym.envs.vector import BatchEnv
from dicegym.errors import DicegymError, ModelError
from dicegym.learning.evaluate import evaluate
from dicegym.players import model as models
from dicegym.players import model_file, sb3_models
from dicegym.players.agent_info import describe_agent, game_for
from dicegym.players.pool import Pool
from dicegym.players.roster import agents_folder

pytest.importorskip("sb3_contrib")

HOG = agents_folder("hog") / "ppo.zip"
GAME = dicegym.game("hog")
PLACES = ("arrays", "all beside arrays", "no network", "itself", "no facts")
"""Where in a file something may be hidden that runs."""
each_place = pytest.mark.parametrize("place", PLACES)


DOORS: dict[str, Callable[[str], Any]] = {
    "agent": lambda path: dicegym.agent("hog", path).choose(np.zeros((1, 62), np.float32), np.ones((1, 12), np.bool_)),
    "load": models.load,
    "load_model": lambda path: sb3_models.load_model(path, GAME),
    "facts": model_file.facts,
    "describe": lambda path: describe_agent(GAME, path),
    "game_for": game_for,
    "evaluate": lambda path: evaluate("hog", path, "bacon"),
    "opponent of evaluate": lambda path: evaluate("hog", "bacon", path),
    "gym.make": lambda path: gym.make("dicegym/Hog-v0", opponent=path).reset(seed=0),
    "batch": lambda path: BatchEnv("hog", 2, opponent={path: 1, "bacon": 2}).reset(seed=0),
    "pool": lambda path: Pool.of(GAME, [path]),
    "export": lambda path: export_source(dicegym.agent("hog", path), GAME, "hog.py"),
}


@each_place
def test_no_door_of_python_runs_what_a_file_holds(place: str, own: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    places = every_place(own, mark)
    assert tuple(places) == PLACES
    path = changed(own, tmp_path / "m.zip", places[place])
    for name, door in DOORS.items():
        try:
            door(str(path))
        except ModelError:
            assert place != "all beside arrays", name
        assert not mark.exists(), name


VERBS = (
    "evaluate MODEL --game hog --games 2",
    "evaluate bacon --game hog --against MODEL",
    "export MODEL --game hog --as OUT/hog.py",
    "play hog --against MODEL",
    "watch MODEL --game hog --delay 0",
    "values grade hog MODEL --games 1",
    "values exploitability hog MODEL --seconds 1",
    "check MODEL --game hog",
    "train hog --run-dir OUT/run --set run.start_from=MODEL --steps 100",
    "train hog --run-dir OUT/other --set opponents={'MODEL'=1} --steps 100",
    "server join yatzy 127.0.0.1:9 --agent MODEL",
    "tournament hog MODEL bacon --games 1",
)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("place", ["itself", "no facts", "no network"])
def test_no_verb_runs_what_a_file_holds(place: str, own: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    path = changed(own, tmp_path / "m.zip", every_place(own, mark)[place])
    for verb in VERBS:
        words = [word.replace("MODEL", str(path)).replace("OUT", str(tmp_path)) for word in verb.split()]
        done = CliRunner().invoke(app, words, input="quit\n")
        assert not mark.exists(), verb
        assert done.exception is None or isinstance(done.exception, SystemExit | DicegymError), verb


def test_a_contest_strikes_a_damaged_model_and_goes_on(own: Path, tmp_path: Path) -> None:
    content = bytearray(HOG.read_bytes())
    content[-9_000] ^= 1  # among the arrays
    broken = tmp_path / "broken.zip"
    broken.write_bytes(content)
    needy = changed(own, tmp_path / "needy.zip", every_place(own, tmp_path / "mark")["no network"])
    patient = arena.Limits(seconds=60)  # this is not about time
    result = arena.contest("hog", [str(broken), str(needy), "bacon", str(own)], seed=1, games=10, limits=patient)
    struck = {one.name: one.reason for one in result.disqualified}
    assert sorted(struck) == ["broken", "needy"], struck
    assert str(broken) in struck["broken"]
    assert str(needy) in struck["needy"]
    assert not (tmp_path / "mark").exists()


def test_the_bomb_goes_off(tmp_path: Path) -> None:
    import pickle

    pickle.loads(pickle.dumps(Bomb(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()
