"""How bots and agents are named: by name, by file, by folder, by function in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hog_bots import Write, answers, strategy

from dicegym.bots.source import Source, locate
from dicegym.engine.game import Game
from dicegym.errors import AgentError, DicegymError, ParameterError, UnknownNameError
from dicegym.players.pool import Pool
from dicegym.players.roster import agent, agent_name, agent_names, agents_folder, resolve


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("tunde", UnknownNameError, "Did you mean 'tuned'"),
        ("always_rol(5)", UnknownNameError, "always_roll"),
        ("no/such/file.py", AgentError, "there is no file no/such/file.py"),
        ("no_such.zip", AgentError, "there is no file no_such.zip"),
        ("", ParameterError, "is not an agent"),
        (None, ParameterError, "None is not an agent"),
        (7, ParameterError, "7 is not an agent"),
        ("always_roll(x)", ParameterError, "whole numbers"),
        ("always_roll(1.5)", ParameterError, "whole numbers"),
        ("always_roll(True)", ParameterError, "whole numbers"),
        ("always_roll(__import__('os').getpid())", ParameterError, "whole numbers"),
        ("always_roll(1, 2)", AgentError, "TypeError"),
        ("haphazard(3)", AgentError, "has no function haphazard"),
    ],
)
def test_a_wrong_spec_says_what_to_write(game: Game, spec: object, error: type[DicegymError], message: str) -> None:
    with pytest.raises(error, match=message):
        agent(game, spec)


@pytest.mark.parametrize(
    ("spec", "name", "first"),
    [
        ("always_roll", "always_roll", 5),
        ("always_roll(8)", "always_roll(8)", 8),
        (" always_roll( -1 ) ", "always_roll(-1)", -1),
        ("bacon(11,3)", "bacon(11, 3)", 3),
    ],
)
def test_agents_are_found_by_name(game: Game, spec: str, name: str, first: int) -> None:
    player = agent(game, spec)
    assert player.name == agent_name(game, spec) == name
    assert answers(game, player, 1) == [first]


def test_names_listed_can_all_be_loaded(game: Game) -> None:
    names = agent_names(game)
    assert "always_roll" in names
    player = agent(game, "bacon")
    assert agent(game, player) is player
    assert agent("hog", "bacon").name == "bacon"
    assert names == sorted(names)
    for name in names:
        resolve(game, name)


def test_the_agents_folder_can_be_chosen(game: Game, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DICEGYM_AGENTS", raising=False)
    assert agents_folder("hog").name == "hog"
    folder = write(strategy("return 9"), "hog/mine.py").parent
    write(strategy("return 8"), "hog/_hidden.py")
    monkeypatch.setenv("DICEGYM_AGENTS", str(folder.parent))
    assert agent_names(game) == ["mine"]
    assert answers(game, agent(game, "mine"), 1) == [9]
    with pytest.raises(UnknownNameError, match="mine"):
        agent(game, "always_roll")


def test_files_folders_and_functions_are_located(write: Write) -> None:
    path = write("", "bot/hog.py")
    write("", "bot/other.py")
    folder = str(path.parent)
    assert locate(path, ["hog.py"]) == Source(path)
    assert locate(f"{path}:g", ["hog.py"]) == Source(path, "g")
    assert locate(folder, ["main.py", "hog.py"]) == Source(path)
    assert locate(f"{folder}:other", []) == Source(path.with_name("other.py"), shared=True)
    assert locate(f"{folder}:other.py:g", []) == Source(path.with_name("other.py"), "g", shared=True)
    assert locate(folder, ["main.py"]) is None
    assert locate(f"{folder}:missing:g", ["hog.py"]) is None


def test_what_is_named_in_a_path_is_part_of_the_name(game: Game, write: Write) -> None:
    path = write("def a(x, y):\n    return 2\ndef b(x, y):\n    return 3\n", "mine/other.py")
    write(strategy("return 4"), "mine/hog.py")
    folder = path.parent
    found = {
        f"{path}:a": "other:a",
        f"{folder}:other": "mine:other",
        f"{folder}:other.py:b": "mine:other:b",
        f"{folder}:hog:final_strategy": "mine:hog:final_strategy",
        str(folder): "mine",
        f"{folder}:missing": "mine",
        "x/alice/hog.py": "alice",
        "x/bob.py": "bob",
        "x/m.zip": "m",
    }
    assert {spec: agent_name(game, spec) for spec in found} == found
    assert answers(game, agent(game, f"{path}:a"), 1) == [2]
    assert answers(game, agent(game, f"{folder}:other:b"), 1) == [3]
    assert locate(f"alice:{folder}:other:b", []) is None


def test_an_empty_folder_and_what_is_no_model_are_refused(game: Game, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(AgentError, match=r"holds no hog\.py"):
        agent(game, tmp_path / "folder")
    (tmp_path / "model.zip").write_bytes(b"this is no model")
    with pytest.raises(DicegymError, match="model"):
        agent(game, tmp_path / "model.zip")


def test_a_pool_takes_agents(game: Game) -> None:
    pool = Pool.of(game, {"always_roll(3)": 3, "bacon": 1})
    names = [pool.draw_seats(key, 1, 2)[0].name for key in range(400)]
    assert 0.65 < names.count("always_roll(3)") / 400 < 0.85
