"""Whatever a stranger's model file holds, opening it runs nothing, and what is wrong is one error with a way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hostile_models import Bomb, changed, every_place, fields, members_of
from typer.testing import CliRunner

import dicegym
from dicegym import arena
from dicegym.bots.export import export_source
from dicegym.cli.app import app
from dicegym.envs.vector import BatchEnv
from dicegym.errors import DicegymError, ModelError, ParameterError
from dicegym.learning.evaluate import evaluate
from dicegym.players import model as models
from dicegym.players.agent_info import describe_agent, game_for
from dicegym.players.pool import Pool
from dicegym.players.roster import agents_folder

pytest.importorskip("sb3_contrib")

HOG = agents_folder("hog") / "ppo.zip"
GAME = dicegym.game("hog")
PLACES = (
    *("arrays", "all beside arrays", "every field", "policy", "policy as one pickle", "variables", "optimizer"),
    *("system", "itself", "no facts", "fields, no facts"),
)
"""Where in a file something may be hidden that runs."""
each_place = pytest.mark.parametrize("place", PLACES)


DOORS: dict[str, Callable[[str], Any]] = {
    "agent": lambda path: dicegym.agent("hog", path).choose(np.zeros((1, 62), np.float32), np.ones((1, 12), np.bool_)),
    "load": models.load,
    "load_model": lambda path: models.load_model(path, GAME),
    "facts": models.facts,
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
            assert name == "load_model" or place != "all beside arrays", name
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
@pytest.mark.parametrize("place", ["itself", "fields, no facts", "no facts", "every field", "policy"])
def test_no_verb_runs_what_a_file_holds(place: str, own: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    path = changed(own, tmp_path / "m.zip", every_place(own, mark)[place])
    slow = ("tournament", "check", "train", "play", "watch") if place in ("every field", "fields, no facts") else ()
    for verb in VERBS:
        words = [word.replace("MODEL", str(path)).replace("OUT", str(tmp_path)) for word in verb.split()]
        if words[0] in slow:  # the weights are sound, and they would play on
            continue
        done = CliRunner().invoke(app, words, input="quit\n")
        assert not mark.exists(), verb
        assert done.exception is None or isinstance(done.exception, SystemExit | DicegymError), verb


def test_the_same_file_runs_when_it_is_trusted(own: Path, tmp_path: Path) -> None:
    """Or the tests above would show nothing."""
    mark = tmp_path / "mark"
    path = changed(own, tmp_path / "m.zip", every_place(own, mark)["every field"])
    with pytest.raises(ModelError):
        dicegym.agent("hog", str(path), trust=True)
    assert mark.exists()


def test_settings_are_read_past_the_pickles_in_them(arrays: Path, tmp_path: Path) -> None:
    """Of a file whose networks are arrays; one with anything else is built by its author's program alone."""
    data = fields(members_of(arrays)["data"], tmp_path / "mark")
    with pytest.raises(ModelError, match="its learning_rate is not a schedule"):
        models.load_model(changed(arrays, tmp_path / "m.zip", {"data": data}))
    assert not (tmp_path / "mark").exists()


def test_what_only_a_program_tells_is_refused_and_the_option_named(own: Path) -> None:
    assert models.load_model(own, trust=True)[1] == GAME
    with pytest.raises(ModelError, match=r"cannot be loaded as data alone: .*--trust \(in Python trust=True\)"):
        models.load_model(own)


def test_a_contest_strikes_a_damaged_model_and_goes_on(own: Path, tmp_path: Path) -> None:
    content = bytearray(HOG.read_bytes())
    content[-9_000] ^= 1  # among the arrays
    broken = tmp_path / "broken.zip"
    broken.write_bytes(content)
    needy = changed(own, tmp_path / "needy.zip", every_place(own, tmp_path / "mark")["policy"])
    patient = arena.Limits(seconds=60)  # this is not about time
    result = arena.contest("hog", [str(broken), str(needy), "bacon", str(own)], seed=1, games=10, limits=patient)
    struck = {one.name: one.reason for one in result.disqualified}
    assert sorted(struck) == ["broken", "needy"], struck
    assert str(broken) in struck["broken"]
    assert str(needy) in struck["needy"]
    assert not (tmp_path / "mark").exists()


def test_trust_is_for_what_needs_it_alone(tmp_path: Path) -> None:
    """A bot is a program and always runs; a damaged file stays one."""
    assert dicegym.agent("hog", "bacon", trust=True).name == "bacon"
    (tmp_path / "m.zip").write_text("nothing")
    with pytest.raises(ModelError, match="not a zip"):
        dicegym.agent("hog", str(tmp_path / "m.zip"), trust=True)
    with pytest.raises(ParameterError):
        dicegym.agent("hog", f"{HOG}:other", trust=True)


def test_what_somebody_made_here_needs_no_trust_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of one's own plays at once where it was saved; elsewhere, or changed, it needs to be trusted."""
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    from dicegym.envs.sb3 import SB3VecEnv

    class Doubled(BaseFeaturesExtractor):
        def __init__(self, space: Any) -> None:
            super().__init__(space, 4)
            self.layer = torch.nn.Linear(space.shape[0], 4)

        def forward(self, seen: Any) -> Any:
            return 2 * self.layer(seen)

    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **more: tmp_path / "me")
    made = {"features_extractor_class": Doubled, "net_arch": [4]}
    model = PPO("MlpPolicy", SB3VecEnv(GAME, 2), n_steps=4, batch_size=8, policy_kwargs=made, device="cpu")
    path = dicegym.save_model(model, tmp_path / "own.zip", GAME)
    assert dicegym.agent(GAME, str(path)).name == "own"
    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **more: tmp_path / "you")
    with pytest.raises(ModelError, match=r"not plain layers.*--trust \(in Python trust=True\)"):
        dicegym.agent(GAME, str(path))
    assert dicegym.agent(GAME, str(path), trust=True).name == "own"
    monkeypatch.setattr("platformdirs.user_data_path", lambda *names, **more: tmp_path / "me")
    mark = tmp_path / "mark"
    changed(path, tmp_path / "new", {"data": fields(members_of(path)["data"], mark)}).replace(path)
    with pytest.raises(ModelError, match="--trust"):
        dicegym.agent(GAME, str(path))
    assert not mark.exists()


def test_the_bomb_goes_off(tmp_path: Path) -> None:
    import pickle

    pickle.loads(pickle.dumps(Bomb(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()
