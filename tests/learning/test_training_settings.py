"""Settings of trainings: what they do, and how wrong ones are refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")


from small_runs import SMALL, Train, each_game, small

import dicegym
from dicegym.errors import ModelError, ParameterError, UnknownNameError
from dicegym.players import model_file
from dicegym.players.roster import find_model_file
from dicegym.shipped import shipped_folder

pytestmark = pytest.mark.usefixtures("short_cards")


def test_training_starts_from_another_model(training: Any, done: Train, tmp_path: Path) -> None:
    first, folder = done("hog", small("hog"))
    begin = f"run.start_from={folder}/model.zip"
    second = training.train("hog", tmp_path / "second", overrides=[*small("hog"), begin, "run.seed=2", "run.steps=512"])
    assert (
        second.state.curve.evaluations[0].value == first.state.curve.evaluations[-1].value
    )  # measured before it learns anything
    about = model_file.facts(tmp_path / "second/model.zip")
    assert about["began_with"]["timesteps"] == first.model.num_timesteps
    page = (tmp_path / "second/model.md").read_text()
    assert f"| stage 1 | `{first.command}`: 3,072 steps" in page
    assert training.train("hog", tmp_path / "second", resume=True).state.began_with == about["began_with"]
    with pytest.raises(ParameterError, match=r"another policy network than \[network\] says.*16"):
        training.train("hog", tmp_path / "third", overrides=[*small("hog"), begin, "network.net_arch=[8]"])
    with pytest.raises(ModelError, match="cannot play"):
        training.train("yatzy", tmp_path / "third", overrides=[*SMALL, begin])
    assert not (tmp_path / "third").exists()


def test_a_training_from_a_taught_model_has_a_new_critic(training: Any, tmp_path: Path) -> None:
    """Imitation learns no values, so the taught critic has eight units, too few for learning from rewards."""
    short = ["run.steps=16", "algorithm.n_steps=1", "algorithm.batch_size=16", "algorithm.n_epochs=1"]
    wide = [*SMALL, *short, "run.card_games=0", "run.start_from=taught", "game.memory=0"]
    sizes = "network.net_arch={pi=[512,512],vf=[64,32]}"
    run = training.train("hog", tmp_path / "run", overrides=[*wide, sizes])
    layers = [one.out_features for one in run.model.policy.mlp_extractor.value_net if hasattr(one, "out_features")]
    assert layers == [64, 32]
    taught = model_file.facts(shipped_folder("agents") / "hog/taught.zip")["score"]["value"]
    assert run.state.curve.evaluations[0].value == pytest.approx(taught, abs=1e-6)  # its policy is the taught one
    assert model_file.facts(tmp_path / "run/model.zip")["began_with"]["path"] == "taught"  # as it was named
    with pytest.raises(ParameterError, match=r"another policy network than .*vf\) may have other layers"):
        training.train("hog", tmp_path / "other", overrides=[*wide, "network.net_arch={pi=[64],vf=[64]}"])


def test_a_training_starts_from_an_agent_a_file_or_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell does not expand a tilde in a setting or a file."""
    game, file = dicegym.game("liarsdice"), shipped_folder("agents") / "liarsdice" / "taught.zip"
    assert find_model_file(game, "taught") == str(file)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    for name in ("mine.zip", "model.zip", "best.zip"):
        shutil.copy(file, tmp_path / name)
    assert find_model_file(game, "~/mine.zip") == str(tmp_path / "mine.zip")
    assert find_model_file(game, str(tmp_path)) == str(tmp_path / "best.zip")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("tought", r"Did you mean 'taught'.*|ppo, taught"),
        ("bayes", "bayes is a bot.*by its file"),
        ("nobody.zip", r"^there is no file nobody\.zip, and run\.start_from takes a model file.*: ppo, taught$"),
        ("runs/x/best.zip", r"^there is no file runs/x/best\.zip, and run\.start_from"),
        ("taught.zip", r"^there is no file taught\.zip, .*: ppo, taught$"),
        ("./", r"^\./ is a folder, not a file, and"),
    ],
)
def test_an_unknown_start_lists_the_models(
    training: Any, named: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError if "." not in named else ModelError, match=words):
        training.train("liarsdice", tmp_path / "run", overrides=[*SMALL, f"run.start_from={named}"])
    assert not (tmp_path / "run" / "settings.json").exists()


def test_an_agent_with_other_parameters_cannot_be_the_start(training: Any, tmp_path: Path) -> None:
    """The error does not say that the name is unknown."""
    with pytest.raises(ModelError, match=r"taught\.zip.*dice"):
        training.train("liarsdice", tmp_path / "run", overrides=[*SMALL, "game.dice=1", "run.start_from=taught"])


def test_a_file_and_a_card_may_be_left_out_and_opponents_are_a_pool(training: Any, tmp_path: Path) -> None:
    text = (shipped_folder("training") / "configs/hog.toml").read_text()
    left_out = ("evaluate_against", "best_by", "priority", "games = 200")
    fewer = "\n".join(line for line in text.splitlines() if not line.startswith(left_out))
    (tmp_path / "fewer.toml").write_text(fewer)
    overrides = [
        *SMALL[:-3],
        "run.card_games=0",
        "self_play.games=2",
        "game.goal=20",
        'opponents={"bacon"=1, "always_roll(4)"=2}',
        "run.steps=256",
    ]
    run = training.train("hog", tmp_path / "run", tmp_path / "fewer.toml", overrides)
    assert run.model.num_timesteps == 256
    assert {player.name for player in run.learner.env.batch.pool.players} == {"bacon", "always_roll(4)"}
    assert not list((tmp_path / "run").glob("*.md"))


@pytest.mark.parametrize(
    ("overrides", "error", "match"),
    [
        (["run.stepz=5"], ParameterError, "run.stepz=5.*Did you mean 'steps'"),
        (["run.less_luck=1"], ParameterError, "give true or false"),
        (["network.net_arch=[0]"], ParameterError, r"give a list of sizes such as \[128, 128\]"),
        (["run=5"], ParameterError, "run=5 is not a section"),
        (["nothing"], ParameterError, "'nothing' sets nothing"),
        (["walk.steps=5"], ParameterError, "walk.steps=5"),
        (["algorithm.name=SAC"], UnknownNameError, "algorithm 'SAC'"),
        (['opponents={"nobody"=1}'], UnknownNameError, "agent of Hog 'nobody'"),
        (["game.goal=1"], ParameterError, "goal=1"),
        (["run.games=0"], ParameterError, "run.games=0 cannot be used: give a whole number from 1 on"),
        (["run.seed=-1"], ParameterError, "seed=-1"),
        (["run.best_by=median"], UnknownNameError, "'median'"),
        (['run.evaluate_against=["bacn"]'], UnknownNameError, "Did you mean 'bacon'"),
        (["run.evaluate_games=0"], ParameterError, "evaluate_games=0"),
        (["run.evaluate_against=[[]]"], ParameterError, "empty list of opponents"),
        (['opponents={"self"=-1}'], ParameterError, "weight of 'self'=-1.0 cannot be used"),
        (['opponents={"self"="x"}'], ParameterError, "opponents.self='x' cannot be used"),
        (["self_play.priority=soft"], UnknownNameError, "'soft'"),
        (["run.steps=abc"], ParameterError, "run.steps='abc' cannot be used"),
        (["algorithm.n_stps=3"], ParameterError, "Did you mean 'n_steps'"),
        (["algorithm.policy=CnnPolicy"], ParameterError, "'policy'"),
        (["algorithm={ent_coef_end=0.1}"], ParameterError, "algorithm.ent_coef_end has no start"),
        (["network.activation=Foo"], ParameterError, "activation='Foo'"),
        (["environment.max_steps=5"], UnknownNameError, "Did you mean 'max_episode_steps'"),
        (["environment.seat=9"], ParameterError, "seat=9"),
        (["environment.wrap=shaped.py:lead"], UnknownNameError, "setting 'wrap'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(
    training: Any, overrides: list[str], error: type[Exception], match: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=match):
        training.train("hog", tmp_path / "run", overrides=overrides)
    assert not (tmp_path / "run").exists()


def test_folders_that_do_not_fit_are_refused(training: Any, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("precious")
    with pytest.raises(ParameterError, match="is not empty"):
        training.train("hog", tmp_path)
    with pytest.raises(ParameterError, match="no run to resume"):
        training.train("hog", tmp_path, resume=True)
    with pytest.raises(ParameterError, match="no configuration"):
        training.train("hog", tmp_path / "x", config=tmp_path / "none.toml")
    assert (tmp_path / "kept.txt").read_text() == "precious"
    for text, match in (
        ("[run", "is not TOML"),
        ("[run]\nstepz = 5", "mine.toml: run.stepz sets nothing"),
        ("[walk]", "there is no section 'walk'"),
    ):
        (tmp_path / "mine.toml").write_text(text)
        with pytest.raises(ParameterError, match=match):
            training.train("hog", tmp_path / "x", config=tmp_path / "mine.toml")


@each_game
def test_every_game_has_a_configuration_with_a_reason_beside_each_value(game: str) -> None:
    for line in (shipped_folder("training") / "configs" / f"{game}.toml").read_text().splitlines():
        code = line.split("#")[0].strip()
        if "=" in code:
            assert "#" in line, f"no reason beside {code!r}"
    assert dicegym.game(game)
