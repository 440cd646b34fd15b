"""Model files carry their weights as plain arrays: who plays needs no PyTorch, and plays the very same actions."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_models import changed, members_of
from shipped_models import each_model, each_ppo

import dicegym
from dicegym.bots.network import ACTIVATIONS, Layer, Network
from dicegym.engine.game import Game
from dicegym.errors import ModelError, ParameterError, UnknownArgumentError
from dicegym.players import model as models
from dicegym.players import model_file, sb3_models
from dicegym.players.model_file import CRITIC_MEMBER, MEMBER, NETWORK_MEMBER
from dicegym.players.roster import agents_folder

NEAR = 1e-4
"""Float32 rounds each of the some hundred products of a score by 6e-8 of its size, and scores are about ten: what is
this near another score may come out above it there, and below it in the float64 that NumPy plays in."""


def played_states(game: Game, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what movers see and may do in ``n`` states of random games: float32[n, size] and bool[n, n_actions]."""
    batch = game.batch(250, seed=7)
    seen, masks = [], []
    for time in range(n // 250):
        seen.append(batch.observations.copy())
        masks.append(batch.masks.copy())
        batch.step(batch.random_actions(time))
    return np.concatenate(seen), np.concatenate(masks)


@pytest.mark.slow_after(2)
@each_ppo
def test_shipped_models_choose_as_their_torch_policy_does_in_10_000_states(path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    model, game = sb3_models.load_model(path)
    player = models.load(path)
    seen, masks = played_states(game, 10_000)
    assert len({one.tobytes() for one in seen}) > 1_000
    chosen = player.choose(seen, masks)
    blind = np.pad(seen, ((0, 0), (0, sb3_models.count_privileged(model))))  # what its critic alone saw in training
    library = model.predict(blind, deterministic=True, action_masks=masks)[0]
    scores = player.policy.scores(seen)
    best_two = np.partition(np.where(masks, scores, -np.inf), -2, axis=1)[:, -2:]
    clear = best_two[:, 1] - best_two[:, 0] > NEAR
    assert clear.mean() > 0.99
    assert np.array_equal(chosen[clear], library[clear])
    # And without rounding there is nothing to tolerate: the torch policy in float64 chooses the same everywhere.
    parts = [model.policy.mlp_extractor.policy_net, model.policy.action_net]
    with torch.no_grad():
        exact = torch.nn.Sequential(*parts).double()(torch.as_tensor(seen).double()).numpy()
    assert np.abs(exact - scores).max() < 1e-9
    assert np.array_equal(chosen, np.where(masks, exact, -np.inf).argmax(axis=1))


@each_model
def test_a_shipped_model_is_its_policy(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert [name for name in archive.namelist() if name != "data"] == MEMBERS  # settings, once written
        content = archive.read(NETWORK_MEMBER)
    with np.load(io.BytesIO(content)) as packed:
        wanted = "float32" if path.parent.name == "hog" else "float16"  # rates of Hog are exact
        assert {array.dtype for array in packed.values()} == {np.dtype(wanted)}


def test_a_model_plays_where_nothing_of_torch_can_be_imported() -> None:
    """In a process of its own, in which importing PyTorch or Stable-Baselines3 fails."""
    known = model_file.facts(agents_folder("hog") / "ppo.zip")["score"]["value"]
    program = f"""
import sys
for name in ("torch", "stable_baselines3", "sb3_contrib"):
    sys.modules[name] = None
import dicegym
from dicegym.bots.export import export_source
from dicegym.learning.evaluate import evaluate

game = dicegym.game("hog")
assert abs(evaluate(game, "ppo").value - {known!r}) < 1e-9
assert "def final_strategy" in export_source(dicegym.agent(game, "ppo"), game, "hog.py")
import gymnasium
env = gymnasium.make("dicegym/Hog-v0", opponent="ppo")
env.reset(seed=0)
env.step(5)
print("played")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "played\n", done.stderr


HOG = agents_folder("hog") / "ppo.zip"
MEMBERS = [MEMBER, NETWORK_MEMBER]
ONLY_PLAYS = "plays, but cannot be trained further: algorithm"


def scored(path: Path, seen: np.ndarray) -> np.ndarray:
    return models.load(path).policy.scores(seen)


def fresh(kind: Any, games: Any, policy: Any = "MlpPolicy", **more: Any) -> Any:
    """Return a model that has learned nothing."""
    return kind(policy, games, **{"n_steps": 8, "batch_size": 16, "device": "cpu"} | more)


def test_files_without_a_network_and_broken_arrays_are_refused(own: Path, tmp_path: Path) -> None:
    found = members_of(own)
    about = {key: value for key, value in json.loads(found[MEMBER]).items() if key != "network"}
    packed = io.BytesIO()
    np.savez(packed, weight0=np.array([print], object), allow_pickle=True)
    for changes, words in (
        ({NETWORK_MEMBER: None, MEMBER: json.dumps(about).encode()}, "has no network"),
        ({NETWORK_MEMBER: packed.getvalue()}, r"network\.npz cannot be read"),
        ({NETWORK_MEMBER: found[NETWORK_MEMBER][:1000]}, r"network\.npz cannot be read"),
    ):
        with pytest.raises(ModelError, match=words):
            models.load(changed(own, tmp_path / "m.zip", changes))


def test_what_the_library_saves_alone_says_how_to_write_it(theirs: Path) -> None:
    for door in (models.load, model_file.facts, sb3_models.load_model):
        with pytest.raises(ModelError, match=r"by Stable-Baselines3 and has .*dicegym\.save_model"):
            door(theirs)


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([(62, 8, "Tanh"), (8, 11, "")], "has 11 outputs"),
        ([(61, 8, "Tanh"), (8, 12, "")], "layer 0 has weights (61, 8)"),
        ([(62, 8, "Tanh"), (9, 12, "")], "layer 1 has weights (9, 12)"),
        ([(62, 8, "Swish"), (8, 12, "")], "layer 0 is followed by 'Swish'"),
        ([(62, 8, ""), (8, 12, "")], "layer 0 is followed by ''"),
        ([(62, 12, "ReLU")], "layer 0 is followed by 'ReLU'"),
        ([], "its network has 62 outputs"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(layers: list[tuple[int, int, str]], words: str, tmp_path: Path) -> None:
    network = Network(tuple(Layer(np.zeros((i, o)), np.zeros(o), kind) for i, o, kind in layers))
    about = model_file.facts(HOG)
    path = tmp_path / "m.zip"
    model_file.write(path, about, network)
    with pytest.raises(ModelError) as refused:
        models.load(path)
    assert words in str(refused.value)


def test_the_same_weights_make_the_same_file(tmp_path: Path) -> None:
    network = models.load(HOG).policy
    made = []
    for name in ("a.zip", "b.zip"):
        model_file.write(tmp_path / name, model_file.facts(HOG), network)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert model_file.facts(tmp_path / "a.zip") == model_file.facts(HOG)


@pytest.mark.parametrize("label", sorted(model_file.ALGORITHMS))
def test_what_each_algorithm_learned_plays_from_a_file(label: str, tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from dicegym.envs.sb3 import SB3VecEnv

    game = dicegym.game("hog")
    settings: dict[str, Any] = {"n_steps": 8} | ({"batch_size": 32} if "PPO" in label else {})
    if label == "DQN":
        settings = {"learning_starts": 8, "buffer_size": 100, "policy_kwargs": {"net_arch": [16]}}
    kind = sb3_models.algorithm(label)
    model = kind("MlpPolicy", SB3VecEnv(game, 4, seed=0), seed=0, device="cpu", **settings).learn(40)
    seen, masks = played_states(game, 250)
    expected = models.PolicyPlayer(model, game).choose(seen, masks)
    ours = dicegym.save_model(model, tmp_path / "ours", "hog")
    assert ours == tmp_path / "ours.zip"
    assert np.array_equal(models.load(ours).choose(seen, masks), expected)
    if label == "DQN":
        with pytest.raises(ModelError, match=ONLY_PLAYS):
            sb3_models.load_model(ours)
    else:
        again, _ = sb3_models.load_model(ours)
        assert np.array_equal(models.PolicyPlayer(again, game).choose(seen, masks), expected)
    with pytest.raises(ModelError, match=r"observations \(62,\) and 12 actions"):
        dicegym.save_model(model, tmp_path / "wrong.zip", "lucky")
    assert not (tmp_path / "wrong.zip").exists()


def test_a_saved_policy_is_there_once_and_comes_back_whole(own: Path, learner: Any) -> None:
    import torch

    with zipfile.ZipFile(own) as archive:
        assert archive.namelist() == [*MEMBERS, CRITIC_MEMBER]
    again, game = sb3_models.load_model(own)
    assert game == dicegym.game("hog")
    wanted, found = learner.policy.state_dict(), again.policy.state_dict()
    assert list(found) == list(wanted)
    assert all(torch.equal(found[name], value) for name, value in wanted.items())
    seen = torch.as_tensor(played_states(game, 250)[0])
    with torch.no_grad():
        assert torch.equal(again.policy.predict_values(seen), learner.policy.predict_values(seen))


def test_settings_of_a_loaded_model_are_the_callers_and_the_defaults(own: Path) -> None:
    from sb3_contrib import MaskablePPO

    from dicegym.envs.sb3 import SB3VecEnv

    model, game = sb3_models.load_model(own, None, "cpu", 2, n_steps=8, batch_size=16, learning_rate=0.01, seed=5)
    assert isinstance(model, MaskablePPO)
    assert (model.n_envs, model.n_steps, model.batch_size, model.learning_rate, model.seed) == (2, 8, 16, 0.01, 5)
    assert (model.n_epochs, model.gamma, model.num_timesteps) == (10, 0.99, 0)
    model.set_env(SB3VecEnv(game, 2, seed=0))
    before = model.policy.value_net.weight.detach().clone()
    assert model.learn(16).num_timesteps == 16
    assert not before.equal(model.policy.value_net.weight)
    with pytest.raises(UnknownArgumentError, match="Did you mean 'n_steps'"):
        sb3_models.load_model(own, n_step=8)
    for name in ("policy_kwargs", "env", "policy", "_init_setup_model"):
        with pytest.raises(UnknownArgumentError, match=name):
            sb3_models.load_model(own, **{name: None})
    with pytest.raises(ParameterError, match="n_envs=0"):
        sb3_models.load_model(own, n_envs=0)
    for wrong in ({"n_steps": "many"}, {"learning_rate": "fast"}):
        (name,) = wrong
        with pytest.raises(ParameterError, match=rf"{name}=.* cannot be used for 1 games of a MaskablePPO model: "):
            sb3_models.load_model(own, **wrong)
    with pytest.raises(ParameterError, match=r"n_steps=1000000000.* 1,000 games .*MemoryError"):
        sb3_models.load_model(own, n_envs=1000, n_steps=10**9)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_file_without_its_critic_plays_and_learns_on_with_a_fresh_one(dtype: str, own: Path, tmp_path: Path) -> None:
    """As models that ship are written."""
    from dicegym.envs.sb3 import SB3VecEnv

    game, path, whole = dicegym.game("hog"), tmp_path / "m.zip", model_file.ModelFile(own)
    model_file.write(path, whole.facts, whole.network, dtype=dtype)
    seen, _ = played_states(game, 250)
    with zipfile.ZipFile(path) as archive, np.load(io.BytesIO(archive.read(NETWORK_MEMBER))) as packed:
        assert archive.namelist() == MEMBERS
        assert {array.dtype for array in packed.values()} == {np.dtype(dtype)}
    near = 0 if dtype == "float32" else 1e-2
    np.testing.assert_allclose(scored(path, seen), scored(own, seen), atol=near)
    assert "critic" not in model_file.facts(path)
    model, _ = sb3_models.load_model(path, n_envs=2, n_steps=8, batch_size=16)
    assert model.policy.value_net.weight.shape == (1, 4)  # as wide as the policy
    np.testing.assert_allclose(models.PolicyPlayer(model, game).policy.scores(seen), scored(path, seen), atol=1e-5)
    model.set_env(SB3VecEnv(game, 2, seed=0))
    assert model.learn(16).num_timesteps == 16


def test_policies_of_somebodys_own_play_where_their_layers_are_plain(tmp_path: Path) -> None:
    contrib, sb3 = pytest.importorskip("sb3_contrib"), pytest.importorskip("stable_baselines3")
    import torch

    from dicegym.envs.sb3 import SB3VecEnv

    class Own(contrib.common.maskable.policies.MaskableActorCriticPolicy):
        pass

    class Residual(sb3.common.torch_layers.BaseFeaturesExtractor):
        def __init__(self, space: Any) -> None:
            super().__init__(space, 16)
            self.first, self.second = torch.nn.Linear(space.shape[0], 16), torch.nn.Linear(16, 16)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.first(x))
            return x + torch.relu(self.second(x))

    game = dicegym.game("hog")
    games = SB3VecEnv(game, 2, seed=0)
    mine = fresh(contrib.MaskablePPO, games, Own)
    path = dicegym.save_model(mine, tmp_path / "m.zip", game)
    seen, masks = played_states(game, 250)
    assert np.array_equal(models.load(path).choose(seen, masks), models.PolicyPlayer(mine, game).choose(seen, masks))
    again, _ = sb3_models.load_model(path)
    assert np.array_equal(models.PolicyPlayer(again, game).choose(seen, masks), models.load(path).choose(seen, masks))
    model = fresh(sb3.PPO, games, policy_kwargs={"features_extractor_class": Residual, "net_arch": [16]})
    with pytest.raises(ModelError, match=r"it has Residual.*function of \(observation, mask\)"):
        dicegym.agent(game, model)


def test_models_that_saw_other_numbers_or_score_otherwise_are_refused(tmp_path: Path) -> None:
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
    contrib = pytest.importorskip("sb3_contrib")
    from dicegym.envs.sb3 import SB3VecEnv

    games = SB3VecEnv("hog", 2, seed=0)
    blind = fresh(contrib.MaskablePPO, vec_env.VecNormalize(games))
    with pytest.raises(ModelError, match=r"changed by VecNormalize.*norm_obs=False"):
        dicegym.save_model(blind, tmp_path / "blind.zip", "hog")
    with pytest.raises(ModelError, match=r"norm_obs=False"):
        dicegym.agent("hog", blind)
    paid = fresh(contrib.MaskablePPO, vec_env.VecNormalize(games, norm_obs=False))
    assert dicegym.save_model(paid, tmp_path / "paid.zip", "hog").is_file()
    recurrent = contrib.RecurrentPPO("MlpLstmPolicy", games, device="cpu")
    values = contrib.QRDQN("MlpPolicy", games, device="cpu", buffer_size=10)
    for model, words in ((recurrent, "RecurrentPPO, and recurrent policies"), (values, "must map .* to scores")):
        with pytest.raises(ModelError, match=words):
            dicegym.save_model(model, tmp_path / "r.zip", "hog")


def test_own_networks_play_and_are_written_down_where_they_can(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    game = dicegym.game("hog")
    seen, masks = played_states(game, 250)
    for activation in ACTIVATIONS:
        layers = torch.nn.Sequential(
            torch.nn.Linear(62, 9), getattr(torch.nn, activation)(), torch.nn.Linear(9, 12, bias=False)
        )
        path = dicegym.save_model(layers, tmp_path / "mine.zip", "hog")
        with torch.no_grad():
            expected = layers(torch.as_tensor(seen)).numpy()
        assert np.allclose(models.load(path).policy.scores(seen), expected, atol=1e-5)
        assert np.array_equal(dicegym.agent(game, layers).choose(seen, masks), models.load(path).choose(seen, masks))
    with pytest.raises(ModelError, match=f"{ONLY_PLAYS} 'Sequential'"):
        sb3_models.load_model(path)
    steep = torch.nn.Sequential(torch.nn.Linear(62, 9), torch.nn.LeakyReLU(0.5), torch.nn.Linear(9, 12))
    with pytest.raises(ModelError, match="does not compute its linear layers in sequence"):
        dicegym.save_model(steep, tmp_path / "steep.zip", "hog")
    diverged = torch.nn.Linear(62, 12)
    torch.nn.init.constant_(diverged.weight, float("nan"))
    for wrong, words in (
        (diverged, "weights that are not finite"),
        (torch.nn.Linear(62, 5), "scores 5 actions"),
        (torch.nn.Linear(5, 12), "does not map observations of 62"),
        (torch.nn.LSTM(62, 12), "this gives tuple"),
        (object(), "object 'policy' is not a model"),
    ):
        with pytest.raises(ModelError, match=words):
            models.PolicyPlayer(wrong, game)


def test_what_cannot_be_saved_says_why(learner: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="there is no folder"):
        dicegym.save_model(learner, tmp_path / "no" / "m.zip", "hog")
    with pytest.raises(ParameterError, match="names no file"):
        dicegym.save_model(learner, ".", "hog")
    with pytest.raises(ParameterError, match="has its parameters already"):
        dicegym.save_model(learner, tmp_path / "m.zip", dicegym.game("hog"), goal=50)
    path = dicegym.save_model(learner, tmp_path / "m.zip", "hog", goal=50)
    assert models.load(path).game == dicegym.game("hog", goal=50)
