"""The file that a game gives those who write a bot, and what it tells them of its original interface."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

import dicegym
from dicegym.arena import check
from dicegym.arena.submissions import read_folder
from dicegym.bots.new import new_bot
from dicegym.errors import ParameterError, PartError, UnknownNameError
from dicegym.games.hog import interface as hog
from dicegym.games.liarsdice import adapter as liarsdice
from dicegym.games.liarsdice.interface import ENTRY_POINTS
from dicegym.games.liarsdice.rules import NO_PLAY
from dicegym.games.liarsdice_spot_on import adapter as liarsdice_spot_on
from dicegym.games.liarsdice_spot_on.interface import ENTRY_POINT as MOVE
from dicegym.games.liarsdice_spot_on.rules import NO_MOVE
from dicegym.games.lucky import adapter as lucky
from dicegym.games.lucky.interface import ENTRY_POINT as GET_ORDERS
from dicegym.games.parts import ADAPTER, INTERFACE, need
from dicegym.games.yatzy import protocol as yatzy
from dicegym.players.agent_info import game_of_file
from dicegym.registry import SHIPPED

GAMES = tuple(dict.fromkeys(environment.game for environment in SHIPPED))
FORMS = [(game, form) for game in GAMES for form in need(game, INTERFACE).ENTRY_FILES]


@pytest.mark.parametrize(("game", "form"), FORMS)
def test_a_starter_passes_the_check_and_is_recognised(game: str, form: str, tmp_path: Path) -> None:
    file = new_bot(game, tmp_path / "deep" / "mine" / form)
    assert file == tmp_path / "deep" / "mine" / form
    assert game_of_file(str(file)) == game
    report = check(file, game, debug=True)
    assert report.ok, report.reason
    assert "PURE = True" in file.read_text()
    assert f"dicegym check {file.as_posix()} --show" in file.read_text()


@pytest.mark.parametrize("game", GAMES)
def test_a_folder_gets_a_file_of_the_originals_name(game: str, tmp_path: Path) -> None:
    form = need(game, INTERFACE).ENTRY_FILES[0]
    assert new_bot(game, tmp_path / "folder") == tmp_path / "folder" / form
    assert new_bot(game, tmp_path) == tmp_path / form
    other = new_bot(game, tmp_path / "another_name.py")
    assert game_of_file(str(other)) == game


@pytest.mark.parametrize(("game", "form"), FORMS)
def test_texts_for_authors_hold_no_names_of_ours(game: str, form: str) -> None:
    """A function that is renamed everywhere is renamed in sentences too, if its name was a word."""
    adapter = importlib.import_module(f"dicegym.games.{game}.adapter")
    names = {name for name, value in vars(adapter).items() if "_" in name and callable(value)}
    text = adapter.INTERFACE + adapter.starter(form, "mine.py")
    assert not names & set(re.findall(r"\w+", text))


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    file = new_bot("hog", tmp_path / "hog.py")
    file.write_text("mine")
    with pytest.raises(ParameterError, match="exists: give --force"):
        new_bot("hog", file)
    assert file.read_text() == "mine"
    new_bot("hog", file, force=True)
    assert "final_strategy" in file.read_text()


def test_what_cannot_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.py" / "hog.py").mkdir(parents=True)
    with pytest.raises(ParameterError, match=r"not a Python file: name a \.py file, such as hog\.py"):
        new_bot("hog", tmp_path / "hog.txt")
    with pytest.raises(ParameterError, match=r"cannot be written, as .*file is a file"):
        new_bot("hog", tmp_path / "file" / "hog.py")
    with pytest.raises(ParameterError, match="is a folder"):
        new_bot("hog", tmp_path / "folder.py")
    with pytest.raises(UnknownNameError, match="Did you mean 'hog'"):
        new_bot("hogg", tmp_path)


def test_a_game_without_a_starter_says_so(tmp_path: Path) -> None:
    from flawed.rules import SPEC

    with pytest.raises(PartError):
        new_bot(dicegym.game(SPEC), tmp_path)


# --- the interface in words ------------------------------------------------------------------------------------


def examples(game: str) -> list[tuple[str, tuple[object, ...], object]]:
    """Return (name, arguments, answer) of all calls that the page shows."""
    found = re.findall(r"^    (\w+)(\(.*\)) -> (.+?)(?: {2,}.*)?$", need(game, ADAPTER).INTERFACE, re.MULTILINE)
    evaluated = []
    for name, arguments, answer in found:
        if "..." in arguments or re.search(r"[\d\"\[]", arguments):
            text = arguments.replace(", ...", "")
            values = ast.literal_eval(text)
            evaluated.append((name, values if isinstance(values, tuple) else (values,), ast.literal_eval(answer)))
    return evaluated


@pytest.mark.parametrize("game", GAMES)
def test_the_page_names_all_files_and_shows_calls(game: str) -> None:
    text = need(game, ADAPTER).INTERFACE
    for form in need(game, INTERFACE).ENTRY_FILES:
        assert form in text
    assert max(map(len, text.splitlines())) <= 120
    assert len(examples(game)) >= 3 or game == "yatzy"


def test_examples_of_hog() -> None:
    for name, arguments, answer in examples("hog"):
        assert (name, len(arguments)) == (hog.ENTRY_POINT, 2)
        assert answer in range(-1, 11)


def test_examples_of_liarsdice() -> None:
    hand, play = r"[A-F]:(?:[1-6]{1,5}|x{1,5})?", r"[A-F]:\d+"
    for name, (me, hands, history), answer in examples("liarsdice"):
        assert name in ENTRY_POINTS
        assert me in {*liarsdice.IDS}
        assert re.fullmatch(f"{hand}(?:,{hand})+", str(hands))
        assert not history or re.fullmatch(f"{play}(?:,{play})*", str(history))
        assert isinstance(answer, int)
        assert liarsdice.action_of(answer) != NO_PLAY


def test_examples_of_liarsdice_spot_on() -> None:
    answers = set()
    for name, arguments, answer in examples("liarsdice_spot_on"):
        _, dice, left = arguments
        assert (name, [type(one) for one in arguments]) == (MOVE, [list, list, list])
        assert len(dice) in left
        assert liarsdice_spot_on.action_of(answer) != NO_MOVE
        answers.add(answer)
    assert answers >= {*liarsdice_spot_on.ACTIONS}


def test_examples_of_lucky() -> None:
    for name, arguments, answer in examples("lucky"):
        money, dice, index, _ = arguments
        assert name == GET_ORDERS
        assert [type(one) for one in arguments] == [tuple, tuple, int, dict]
        assert len(money) == len(dice) > index
        assert lucky.counts_of(answer) is not None


def test_examples_of_yatzy() -> None:
    """Messages are those of the server, key by key; commands can be read."""
    text = need("yatzy", ADAPTER).INTERFACE
    found = {}
    decoder = json.JSONDecoder()
    for match in re.finditer(r"^    (?=\{)", text, re.MULTILINE):
        message, _ = decoder.raw_decode(text[match.end() :].replace("[...]", "[]"))
        found.setdefault(message.get("key") or message["type"], []).append(message)
    (standing,) = found[yatzy.STANDING]
    game = dicegym.game("yatzy")
    sent = yatzy.standing_message(game, game.new_game()[0], ["Anna", "Ben"], [1200, 1216])
    assert shape(sent) == shape(standing)
    assert len(found[yatzy.ROLL_DICE]) == 1
    assert len(found[yatzy.SCORE_BOX]) == 2
    for command in found[yatzy.ROLL_DICE] + found[yatzy.SCORE_BOX]:
        yatzy.action_of(command)
    assert yatzy.login_of(found[yatzy.LOGIN][0]) == ("Anna", "abc")
    assert shape(found[yatzy.WELCOME][0]) == shape(yatzy.welcome_message("Anna", 1200))
    assert shape(found[yatzy.ERROR][0]) == shape(yatzy.error_message("no-rolls-left", "x"))
    assert found[yatzy.ERROR][0]["code"] in yatzy.FAULT_CODES.values()
    assert yatzy.FINAL in found


def shape(value: object) -> object:
    """Return a message with its values left out."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else type(value).__name__


def test_tests_of_bots_are_no_entries_of_contests(tmp_path: Path) -> None:
    game = dicegym.game("hog")
    for file in (tmp_path / "mine.py", tmp_path / "hers" / "other.py"):
        new_bot(game, file)
        file.with_name(f"test_{file.name}").write_text("def test_it():\n    pass\n")
    (tmp_path / "test_alone.py").write_text("def final_strategy(score, opponent_score):\n    return 5\n")
    found = {one.name: one for one in read_folder(game, tmp_path).submissions}
    assert set(found) == {"mine", "hers", "test_alone"}, "a test without what it tests is a bot that is called so"
    assert not any(one.problem for one in found.values())
