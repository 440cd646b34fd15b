"""How a training selects its best model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from small_runs import CHOSEN, rows_of, score_of, small

from dicegym.analysis.exploitability import best_reply
from dicegym.errors import DicegymError, ParameterError
from dicegym.learning.configuration import read_config, to_plain
from dicegym.learning.curves import Curve
from dicegym.learning.evaluate import BEST_REPLY
from dicegym.learning.preparation import prepare
from dicegym.learning.train import train
from dicegym.players import model as models
from dicegym.players import model_file, sb3_models
from dicegym.players.asymmetric import AsymmetricPolicy
from dicegym.shipped import shipped_folder

pytestmark = pytest.mark.usefixtures("short_cards")


def test_the_best_model_has_the_highest_score_or_is_the_last() -> None:
    for takes_last, expected in ((False, [True, False, True, False]), (True, [True, True, True, True])):
        curve = Curve()
        values = enumerate((0.3, 0.2, 0.45, 0.45))
        added = [(steps, score_of("x", value)) for steps, value in values]
        assert [curve.add(steps, score, [score], takes_last) for steps, score in added] == expected


def test_the_last_model_is_the_best_at_each_evaluation(training: Any, tmp_path: Path) -> None:
    """Also in a resumed run whose earlier model scored more."""
    folder, against = tmp_path / "run", 'run.evaluate_against=["bacon","swap"]'
    wanted = [*small("hog", CHOSEN), "run.best_by=last", against, "run.temperature=1"]  # measured by games
    run = training.train("hog", folder, overrides=[*wanted, "run.steps=256", "run.card_games=2"])
    for steps in (256, 512):
        if steps > 256:
            run = training.train("hog", folder, overrides=[f"run.steps={steps}"], resume=True)
        rows = rows_of(folder)
        assert int(rows[-1]["steps"]) == run.model.num_timesteps >= steps
        assert float(rows[-1]["score"]) == pytest.approx(sum(float(rows[-1][one]) for one in ("bacon", "swap")) / 2)
        best, last = model_file.facts(folder / "best.zip"), model_file.facts(folder / "model.zip")
        for name in ("timesteps", "score"):
            assert best[name] == last[name]
        assert best["timesteps"] == run.model.num_timesteps
        page = (folder / "best.md").read_text(encoding="utf-8")
        assert "The score is the mean over the opponents" in page


# --- critics that see more, best replies --------------------------------------------------------------------------


TINY = [
    "game.dice=2",  # measured by games
    'run.evaluate_against=["even"]',
    "run.games=16",
    "run.steps=768",
    "run.torch_threads=1",
    "run.evaluate_every=512",
    "run.checkpoint_every=256",
    "run.evaluate_games=10",
    "run.card_games=0",
    "algorithm.n_steps=16",
    "algorithm.batch_size=128",
    "network.net_arch=[16]",
    "self_play.snapshot_every=256",
    "algorithm.kl_coef=0.025",  # an anchor, which must continue too
]
BY_REPLY = 'run.best_by="exploitability"'


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asymmetric") / "run"
    train("liarsdice", folder, "self_play", overrides=TINY)
    return folder


def test_the_best_model_by_exploitability_is_the_hardest_to_exploit(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train("liarsdice", folder, "self_play", overrides=[*TINY, BY_REPLY, "game.dice=1", "run.games=4", "run.steps=64"])
    rows = rows_of(folder)
    assert all(float(row[BEST_REPLY]) == float(row["score"]) <= 0.5 for row in rows)
    most = max(float(row["score"]) for row in rows)
    assert float(model_file.facts(folder / "best.zip")["score"]["value"]) == pytest.approx(most, abs=1e-8)
    player = models.load(folder / "best.zip")
    assert 1 - best_reply(player, player.game).high == pytest.approx(most, abs=1e-3)  # its file is in float32


def test_resumed_self_play_has_the_curve_of_an_uninterrupted_run(trained: Path, tmp_path: Path) -> None:
    class KilledError(Exception):
        pass

    def kill(done: int, total: int, text: str) -> None:
        if done > 512:
            raise KilledError

    cut = tmp_path / "cut"
    with pytest.raises(KilledError):
        train("liarsdice", cut, "self_play", overrides=TINY, progress=kill)
    train("liarsdice", cut, resume=True)
    assert (cut / "curve.csv").read_text() == (trained / "curve.csv").read_text()
    weights = [models.load(folder / "model.zip").policy.layers[0].weight for folder in (cut, trained)]
    np.testing.assert_array_equal(*weights)


def test_a_file_plays_with_numpy_and_can_be_trained_further(trained: Path) -> None:
    """Only the actor plays; the critic is loaded too for further training."""
    path = trained / "best.zip"
    player = models.load(path)
    assert player.policy.layers[0].weight.shape[0] == player.game.observation_size
    model, game = sb3_models.load_model(path)
    assert isinstance(model.policy, AsymmetricPolicy)
    assert sb3_models.count_privileged(model) == model.observation_space.shape[0] - game.observation_size > 0
    seen = np.random.default_rng(0).random((8, game.observation_size), np.float32)
    again = models.PolicyPlayer(model, game)
    np.testing.assert_allclose(again.policy.scores(seen), player.policy.scores(seen), atol=1e-5)


@pytest.mark.slow
def test_a_run_starts_from_a_model_whose_critic_saw_less(trained: Path, tmp_path: Path) -> None:
    """With a fresh critic if that of the file has other inputs."""
    begun = [f'run.start_from="{trained / "best.zip"}"', "run.steps=256"]
    for name, privileged in (("again", "true"), ("less", "false")):
        run = train(
            "liarsdice", tmp_path / name, "self_play", overrides=[*TINY, *begun, f"network.privileged={privileged}"]
        )
        assert run.model.num_timesteps == 256
        assert bool(sb3_models.count_privileged(run.model)) == (privileged == "true")


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["algorithm.name=PPO"], "policy whose critic sees more"),
        (["environment.max_episode_steps=5"], "max_episode_steps"),
    ],
)
def test_incompatible_settings_are_refused(overrides: list[str], text: str, tmp_path: Path) -> None:
    wanted = ["network.privileged=true", *TINY, *overrides]
    with pytest.raises(DicegymError, match=text):
        train("liarsdice", tmp_path / "run", overrides=wanted)


@pytest.mark.parametrize(
    ("game", "overrides", "words"),
    [
        ("liarsdice", [BY_REPLY, "game.players=3"], "worst"),
        ("liarsdice", [BY_REPLY], "worst"),
        ("yatzy", [BY_REPLY], "is played alone.*leave out run.best_by=exploitability"),
        ("lucky", [BY_REPLY], "worst"),
        ("hog", [BY_REPLY, "run.temperature=1"], "worst"),
        ("liarsdice", ["run.less_luck=true", "game.players=6"], "luck cannot be taken out"),
        ("liarsdice", ["run.best_by=bayes"], "no run.best_by 'bayes'.* Known: mean, worst, last, exploitability"),
    ],
)
def test_models_are_not_selected_by_unknown_measures(
    game: str, overrides: list[str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(DicegymError, match=words):
        train(game, tmp_path / "run", overrides=["run.games=4", "run.steps=8", *overrides])
    assert not (tmp_path / "run" / "settings.json").exists()


def test_hog_selects_by_its_exact_best_response(tmp_path: Path) -> None:
    small = ["game.goal=10", *TINY[2:], BY_REPLY, "run.steps=256"]
    train("hog", tmp_path / "run", overrides=small)
    assert all(0 < float(row[BEST_REPLY]) <= 0.5 for row in rows_of(tmp_path / "run"))


def test_a_configuration_may_extend_the_game_s_own(tmp_path: Path) -> None:
    """The shipped self-play configuration changes some settings of the game's own."""
    own, found = to_plain(read_config("liarsdice")), to_plain(read_config("liarsdice", Path("self_play")))
    assert found["opponents"] == {"self": 1.0}
    said = dict.fromkeys(("steps", "games", "torch_threads"))
    assert {**found["run"], **said} == {**own["run"], **said}
    assert found["algorithm"]["gamma"] == own["algorithm"]["gamma"]
    assert found["network"]["privileged"] is True
    assert found == to_plain(read_config("liarsdice", shipped_folder("training") / "configs" / "self_play.toml"))
    path = tmp_path / "mine.toml"
    path.write_text('base = "game"\n[run]\nsteps = 5\n')
    assert read_config("hog", path).run.steps == 5
    assert read_config("hog", path).network == read_config("hog").network
    assert prepare("hog", tmp_path / "run", path, [], False).settings.run.steps == 5
    path.write_text('base = "yatzy"\n')
    with pytest.raises(ParameterError, match='write base = "game"'):
        read_config("hog", path)
    with pytest.raises(ParameterError, match="there are default"):
        read_config("hog", Path("self_plai"))
