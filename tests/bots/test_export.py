"""Sending players back out in the original interface: the file plays what the player plays."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from variants import FINISHED, one_always

import dicegym
from dicegym.bots.export import export_forms, export_source
from dicegym.bots.surroundings import PrivateRandom
from dicegym.errors import ParameterError
from dicegym.games.parts import ADAPTER, INTERFACE, need
from dicegym.games.yatzy.protocol import table_message
from dicegym.games.yatzy.rules import View
from dicegym.play.drive import play_game
from dicegym.play.player import Player
from dicegym.registry import GAMES

pytest.importorskip("sb3_contrib")

FORMS = [(name, form) for name in GAMES for form in export_forms(dicegym.game(name))]
each_form = pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{name}-{form}" for name, form in FORMS])
MOST_BYTES = 2 << 20
MOST_TABLES = 100
"""Sizes of tables, the smallest first: all of them. Copies of a model may wait for each other's dice for 500 rounds."""


@functools.cache
def model(name: str) -> Player:
    """The trained model that comes with a game, by its best actions: files that draw do so by their own randomness."""
    return dicegym.agent(dicegym.game(name), "ppo", temperature=0)


@functools.cache
def exported(name: str, form: str) -> str:
    """The source of that model in the original interface."""
    return export_source(model(name), dicegym.game(name), form)


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a model's file; returns its path."""

    def write(name: str, form: str, file: str | None = None) -> Path:
        path = tmp_path / (file or form)
        path.write_text(exported(name, form), encoding="utf-8")
        return path

    return write


def test_every_finished_game_has_a_form() -> None:
    assert {name for name, _ in FORMS} >= set(FINISHED)


@pytest.mark.slow_after(5)
@each_form
@pytest.mark.parametrize("tables", one_always([2, MOST_TABLES]))
def test_file_and_model_play_the_same_games_in_every_seat_of_every_table(
    name: str, form: str, tables: int, written: Callable[..., Path]
) -> None:
    low, high = dicegym.game(name).spec.players
    bot = dicegym.agent(dicegym.game(name), str(written(name, form)))
    for players in range(low, high + 1)[:tables]:
        game = dicegym.game(name, players=players)
        with_model = play_game(game, [model(name)] * players, players)
        with_file = play_game(game, [bot] * players, players)
        assert with_model.tobytes() == with_file.tobytes(), players


@pytest.mark.slow_after(3)
@each_form
def test_file_and_model_play_the_same_games_among_others(name: str, form: str, written: Callable[..., Path]) -> None:
    game = dicegym.game(name)
    bot, other = dicegym.agent(game, str(written(name, form))), dicegym.agent(game, game.spec.baseline)
    for seed in range(4):
        table = [other] * game.players
        seat = seed % game.players
        with_model = play_game(game, [*table[:seat], model(name), *table[seat + 1 :]], seed)
        with_file = play_game(game, [*table[:seat], bot, *table[seat + 1 :]], seed)
        assert with_model.tobytes() == with_file.tobytes(), seed


@each_form
def test_file_needs_numpy_and_its_interface_alone_and_is_small(name: str, form: str) -> None:
    source = exported(name, form)
    assert len(source.encode()) <= MOST_BYTES
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.partition(".")[0])
    supplied = set(need(dicegym.game(name), INTERFACE).supply_modules(PrivateRandom()))
    assert imported <= {"numpy"} | supplied | set(sys.stdlib_module_names)


def alone(folder: Path, program: str) -> str:
    """Return the words that a program prints in a process that has neither dicegym nor this folder's settings."""
    head = f"import sys; sys.path.insert(0, {str(folder)!r}); sys.modules['dicegym'] = None; "
    command = [sys.executable, "-I", "-c", head + program]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


def test_exported_hog_file_runs_without_dicegym_and_holds_all_choices(written: Callable[..., Path]) -> None:
    folder = written("hog", "hog.py").parent
    words = alone(folder, "import hog; print(*(hog.final_strategy(s, o) for s in range(100) for o in range(100)))")
    game = dicegym.game("hog")
    examined = need(game, ADAPTER).examine(game, model("hog"), lambda question: None)
    assert (np.array(words.split(), int).reshape(100, 100) == examined).all()


def test_exported_yatzy_file_runs_without_dicegym_and_reads_the_standings_of_any_server(
    written: Callable[..., Path],
) -> None:
    """Other servers write spaces, give words of their own and number rounds as they like."""
    folder = written("yatzy", "yatzy.py").parent
    one = table_message(View(1, 1, 1, 2, (6, 6, 1, 6, 2), ((-1,) * 15,) * 2), ("anna", "bob"), (1200, 1100))
    other = one | {"roundNumber": 0, "table": 7, "standing": [row | {"age": 3} for row in one["standing"]]}
    other["standing"][0]["score"] = other["standing"][0]["score"].replace(",", ", ")
    words = alone(folder, f"import yatzy; print(*map(yatzy.command, [{one!r}, {other!r}]), sep='\\n')")
    first, second = words.splitlines()
    assert first == second == str({"type": "ROLL_DICE", "key": "ROLL_DICE", "dice": [2, 4]})


@pytest.mark.slow_after(4)
@each_form
def test_file_of_a_model_that_draws_draws_with_its_probabilities(name: str, form: str, tmp_path: Path) -> None:
    game = dicegym.game(name)
    player = dicegym.agent(game, "ppo", temperature=3)
    if name == "hog":
        with pytest.raises(ParameterError, match="temperature 0"):
            export_source(player, game, form)
        return
    path = tmp_path / form
    path.write_text(export_source(player, game, form), encoding="utf-8")
    bot = dicegym.agent(game, str(path))
    assert not bot.pure
    states = game.new_game(1)
    seat, n = int(states[0]["player"]), 40
    chances = player.chances(game, states)[0]  # type: ignore[attr-defined]  # a model's
    turn = dicegym.Turn(game, states[0], seat)
    acts = [bot.join(game, seat, 7) for _ in range(2)]
    first = [acts[0](turn) for _ in range(n)]
    assert first == [acts[1](turn) for _ in range(n)]
    if game.spec.joint_action is not None:  # a whole choice is asked for once
        orders = {bot.join(game, seat, seed)(turn) for seed in range(8)}
        assert len(orders) > 1 or chances.max() > 0.9
        return
    assert len(set(first)) > 1
    if max(first) >= len(chances):  # said in the interface's own words, which are more than there are actions
        return
    expected = (chances**2).sum()
    assert abs(chances[first].mean() - expected) < 4 * np.sqrt((chances**3).sum() - expected**2) / np.sqrt(n)


def test_export_of_another_form_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"export as hog\.py"):
        export_source(model("hog"), "hog", "bot.py")
    with pytest.raises(ParameterError, match=r"export as hog\.py or .*, and write the text to mine/hog\.py"):
        export_source(model("hog"), dicegym.game("hog"), "mine/hog.py")


@pytest.mark.parametrize(
    ("text", "named", "words"),
    [
        ("import helper\ndef command(standing): return helper.roll()\n", "", r"imports helper\.py: give a bot"),
        (
            "def command(standing): return {}\ndef other(standing): return 1\n",
            ":other",
            "is other in bot",
        ),
    ],
)
def test_a_bot_that_its_file_alone_does_not_play_is_not_exported(
    text: str, named: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("def roll(): return {}\n")
    (tmp_path / "bot.py").write_text(text)
    with pytest.raises(ParameterError, match=words):
        export_source(dicegym.agent("yatzy", f"{tmp_path / 'bot.py'}{named}"), "yatzy", "yatzy.py")


@pytest.mark.parametrize(("game", "agent"), [("hog", "swap"), ("hog", "ppo")])
def test_a_name_adds_nothing_to_the_program(game: str, agent: str) -> None:
    """Whoever made a model names its file, and so the player; what is written out is run by others."""
    table = dicegym.game(game, goal=100 if agent == "ppo" else 20)
    player = dicegym.agent(table, agent)
    forms = export_forms(table)
    plain = [ast.dump(part) for part in ast.parse(export_source(player, table, forms[0])).body[1:]]
    for name in ('"""\nimport os\n"""', "\\", 'quote"', '\\"\\"\\"\nimport os', "{table}\x1b[2J"):
        player.name = name
        found = ast.parse(export_source(player, table, forms[0]))
        assert [ast.dump(part) for part in found.body[1:]] == plain
        assert isinstance(ast.get_docstring(found), str)
