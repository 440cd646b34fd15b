"""Settings of trainings: defaults, files, overrides and descriptions."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

import dicegym
from dicegym.cli import main
from dicegym.errors import ParameterError, UnknownNameError
from dicegym.learning import preparation
from dicegym.learning.configuration import (
    SettingDescription,
    as_toml,
    describe_settings,
    from_plain,
    override,
    read_config,
    to_plain,
    to_toml,
)
from dicegym.learning.preparation import prepare
from dicegym.learning.train import train
from dicegym.learning.training_settings import RunSettings, TrainingSettings
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder

each_game = pytest.mark.parametrize("game", GAMES)


@each_game
def test_a_shipped_configuration_is_read(game: str) -> None:
    plain = tomllib.loads((shipped_folder("training") / f"configs/{game}.toml").read_text())
    read = to_plain(read_config(game))
    for section, values in plain.items():
        assert {key: read[section][key] for key in values} == values
    assert from_plain(read) == read_config(game)


def test_a_file_need_not_repeat_defaults_and_its_errors_name_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for text, settings in (("[run]\nsteps = 5_000\n", {"run": RunSettings(steps=5000)}), ("", {})):
        path.write_text(text)
        assert read_config("hog", path) == TrainingSettings(**settings)
    with pytest.raises(UnknownNameError, match="Did you mean 'hog'"):
        read_config("hogg", path)
    path.write_text("[self_play]\nkeep = 1.5\n")
    with pytest.raises(ParameterError, match=r"mine\.toml: self_play\.keep=1\.5 cannot be used: give a whole number"):
        read_config("hog", path)
    with pytest.raises(ParameterError, match=r"--set 'run.games=true': run\.games=True cannot be used"):
        override(TrainingSettings(), ["run.games=true"])


def repeated_defaults() -> Iterator[tuple[str, str, str]]:
    """Yield (game, section.key, reason) of each line of a shipped configuration that repeats a default."""
    defaults = to_plain(TrainingSettings())
    for game in GAMES:
        section = ""
        for line in (shipped_folder("training") / f"configs/{game}.toml").read_text().splitlines():
            if head := re.match(r"\[(\w+)\]", line):
                section = head[1]
            elif line and not line.startswith("#"):
                ((key, value),) = tomllib.loads(line).items()
                if key in defaults[section] and defaults[section][key] == value:
                    yield game, f"{section}.{key}", line.partition(" # ")[2].strip()


def test_a_default_is_repeated_only_with_a_reason_of_the_game() -> None:
    """A reason that two games share belongs in `dicegym runs settings`."""
    found = list(repeated_defaults())
    assert found
    for game, setting, reason in found:
        assert reason, f"{game}.toml: {setting} is the default: say why beside it, or leave it out"
        others = {other for other, *rest in found if other != game and rest == [setting, reason]}
        assert not others, f"{game}.toml: {setting} is the default, for a reason that also {others} give: leave it out"


def test_every_setting_has_a_description() -> None:
    told = {f"{one.section}.{one.key}": one for one in describe_settings()}
    for section, values in to_plain(TrainingSettings()).items():
        assert {f"{section}.{key}" for key in values} <= set(told)
    assert all(one.takes and one.meaning for one in told.values())
    assert {name for name, one in told.items() if not one.key} == {"game.", "environment.", "opponents."}
    assert told["run.steps"].default == "1000000"
    assert not [one for one in told.values() if one.takes == "any value"]


@pytest.mark.parametrize(
    ("text", "section", "key", "value"),
    [
        ("network.net_arch={pi=[128,128],vf=[256,256]}", "network", "net_arch", {"pi": [128, 128], "vf": [256, 256]}),
        ('opponents={"bacon"=1,"self"=1}', "opponents", "self", 1.0),
        ("opponents.bacon=2", "opponents", "bacon", 2.0),
        ('run.evaluate_against=["even", ["bayes","honest"]]', "run", "evaluate_against", ["even", ["bayes", "honest"]]),
        ("run.start_from=runs/first/best.zip", "run", "start_from", "runs/first/best.zip"),
        ("run.steps=5_000", "run", "steps", 5000),
        ("run.average=1", "run", "average", 1.0),
        ("game.goal=50", "game", "goal", 50),
        ("algorithm.target_kl=0.01", "algorithm", "target_kl", 0.01),
        ("self_play.priority=hard", "self_play", "priority", "hard"),
        ('opponents={"swap"=1}', "opponents", "swap", 1.0),
        ("run.steps=1e6", "run", "steps", 1_000_000),  # a whole number, however it is written
        ("run.seed=2.0", "run", "seed", 2),
        ("game.goal=5e1", "game", "goal", 50),
        ("algorithm.n_steps=16.0", "algorithm", "n_steps", 16),
        ("network.net_arch=[6.4e1]", "network", "net_arch", [64]),
        ("network.net_arch={pi=[64.0], vf=[32]}", "network", "net_arch", {"pi": [64], "vf": [32]}),
    ],
)
def test_overrides(text: str, section: str, key: str, value: Any) -> None:
    before = read_config("hog")
    after = override(before, [text])
    assert repr(to_plain(after)[section][key]) == repr(value)
    assert before == read_config("hog")


def test_a_whole_section_is_replaced() -> None:
    after = override(read_config("hog"), ['algorithm={name="DQN", buffer_size=500}', 'opponents={"swap"=1}'])
    assert to_plain(after)["algorithm"] == {"name": "DQN", "buffer_size": 500}
    assert after.opponents == {"swap": 1.0}
    assert after.algorithm.n_steps is None  # the algorithm's default


@pytest.mark.parametrize("value", ["\U0001f642.py", "a\x7f\x80\u2028b\\", 'say "no"', math.inf, 1e300, 1e-300, True])
def test_every_value_is_written_as_toml_reads_it(value: Any) -> None:
    assert tomllib.loads(f"value = {as_toml({'a b': [value]})}")["value"] == {"a b": [value]}
    if isinstance(value, str):
        settings = from_plain({"opponents": {value: 1.0}})
        assert from_plain(tomllib.loads(to_toml(settings))) == settings


def test_a_game_object_passes_its_parameters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    game, asked = dicegym.game("liarsdice", players=3, dice=2), list[Any]()
    monkeypatch.setattr(preparation, "prepare", lambda *given: asked.extend(given) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train(game, tmp_path, overrides=["run.seed=4"])
    settings = override(read_config(asked[0]), asked[3])
    assert (asked[0], settings.run.seed) == ("liarsdice", 4)
    assert dicegym.game(asked[0], **settings.game) == game


@pytest.mark.parametrize("value", ["1.5", "inf", "nan", "-1e6", "1e300", "true", '"1e6"'])
def test_numbers_that_are_not_whole_are_refused(value: str) -> None:
    with pytest.raises(ParameterError, match=r"run\.steps=.* cannot be used: give a whole number from 1 on"):
        override(read_config("hog"), [f"run.steps={value}"])


@pytest.mark.parametrize(
    "setting", [one for one in describe_settings() if one.section == "algorithm" and "number" in one.takes]
)
def test_every_number_of_the_algorithm_has_a_range(setting: SettingDescription) -> None:
    refused = {"a number above 0": ["0", "-1"], "a number from 0 to 1": ["-0.1", "1.5"]}
    for value in refused.get(setting.takes, ["-1"]):
        with pytest.raises(ParameterError, match=rf"algorithm\.{setting.key}=.* cannot be used: give {setting.takes}"):
            override(TrainingSettings(), [f"algorithm.{setting.key}={value}"])


def test_a_run_is_resumed_with_its_own_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(
        '{"command": "dicegym train hog --set run.seed=3", "settings": {"run": {"seed": 3}, "self_play": {}}}'
    )
    _, settings, command, *_ = prepare("hog", tmp_path, None, ["run.steps=7"], resume=True)
    assert settings == TrainingSettings(run=RunSettings(seed=3, steps=7))
    assert command == "dicegym train hog --set run.seed=3 --set run.steps=7"
    with pytest.raises(ParameterError, match="holds a run of hog, not of liarsdice: name that game"):
        prepare("liarsdice", tmp_path, None, [], resume=True)


@pytest.mark.parametrize(
    "file", sorted((shipped_folder("training") / "configs").glob("*.toml")), ids=lambda file: file.stem
)
def test_a_configuration_says_what_was_searched(file: Path) -> None:
    head = file.read_text(encoding="utf-8").partition("\n\n")[0]
    assert "\n# Searched: " in head


@pytest.mark.parametrize(
    ("config", "overrides", "words"),
    [
        ("hog_taught", ['opponents={"bacn"=1}'], "Did you mean 'bacon'"),
        ("hog_taught", ["run.seed=2", "algorithm.teacher=reply(bacn)"], "Did you mean 'bacon'"),
        (None, ['run.evaluate_against=["bacn"]'], "Did you mean 'bacon'"),
        ("equilibrium_taught", [], "agent of Hog 'even'"),
    ],
)
def test_unknown_agents_in_settings_are_refused(
    config: str | None, overrides: list[str], words: str, tmp_path: Path
) -> None:
    file = None if config is None else Path(config)
    with pytest.raises(UnknownNameError, match=words):
        prepare("hog", tmp_path / "run", file, overrides, False)


def test_an_error_names_the_configuration_of_another_game(tmp_path: Path) -> None:
    for other, why in (("liarsdice", "'dice'"), ("yatzy", "players=1")):
        with pytest.raises(ParameterError, match=rf"--config {other} is not for hog \(.*{why}.*name another"):
            prepare("hog", tmp_path / "run", Path(other), [], False)


def test_trust_is_for_a_run_to_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["train", "hog", "--run-dir", str(tmp_path / "run"), "--trust"])
    assert "--trust needs --resume" in capsys.readouterr().err
