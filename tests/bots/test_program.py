"""Bots of the original interface: how their files are loaded, kept apart and asked."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from calls import counted
from hog_bots import Write, answers, strategy

from dicegym.bots.bot_player import BotPlayer
from dicegym.bots.program import Program
from dicegym.bots.source import Source, code_of
from dicegym.engine.game import Game
from dicegym.errors import AgentError
from dicegym.play.printed import Printed
from dicegym.play.turn import Turn
from dicegym.players.roster import agent

# Loading


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def final_strategy(a, b:\n    return 4", "not Python: .*line 1"),
        ("x = 1 / 0\n" + strategy("return 4"), r"ZeroDivisionError.* while it was loaded \(bot.py, line 1\)"),
        ("import sys\n\nsys.exit()\n" + strategy("return 4"), r"sys.exit while it was loaded \(bot.py, line 3\)"),
        ("quit()\n", "called sys.exit"),
        ("input('name? ')\n", 'EOFError .says: "input'),
        ("import no_such_module\n", "No module named 'no_such_module'.*line 1"),
        (
            "import compare_strategies\n",
            "files beside it, and dice, ucb, which are supplied; a file of the course's kit",
        ),
        ("print 'hello'\n", "is not Python: Missing parentheses in call to 'print'.* .line 1"),
        ("from dice import eight_sided\n", "eight_sided"),
        ("def strategy(a, b):\n    return 4\n", "has no function final_strategy .found: strategy"),
        ("def final_stratgy(a, b):\n    return 4\n", "is final_stratgy meant"),
        ("", "defines no function at all"),
        ("final_strategy = 5\n", "final_strategy is 5, not a function"),
        ("class Odd(Exception):\n    def __str__(self):\n        raise self\nraise Odd\n", "raised Odd"),
        ("def f():\n    f()\nf()\n", "RecursionError"),
        ("raise BaseException('x')\n", 'BaseException .says: "x".'),
        ("a = 1\0\n", "null"),
    ],
)
def test_a_bad_file_says_what_is_wrong(game: Game, write: Write, source: str, reason: str) -> None:
    with pytest.raises(AgentError, match=reason) as error:
        agent(game, write(source))
    assert error.value.agent == "bot"
    assert "\n" not in error.value.reason


def test_letters_of_files(game: Game, tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_bytes(b"# caf\xe9\n" + strategy("return 4").encode())
    with pytest.raises(AgentError, match="not UTF-8"):
        agent(game, path)
    path.write_bytes(b"\xef\xbb\xbf" + strategy("'\\d'; return 4").encode())  # a byte order mark, and an odd escape
    assert answers(game, agent(game, path), 1) == [4]


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "KeyboardInterrupt()"])
def test_ctrl_c_is_the_users(game: Game, write: Write, error: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        agent(game, write(f"raise {error}\n"))


# Asking


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return None", r"final_strategy\(0, 0\) returned None instead of an integer"),
        ("return 4.0", "returned 4.0, a float instead"),
        ("return '4'", "returned '4', a str instead"),
        ("return True", "returned True, a bool instead"),
        ("import numpy; return numpy.bool_(1)", "instead of an integer"),
        ("return final_strategy", "a function instead of an integer"),
        ("return lambda: 4", "a function instead of an integer"),
        ("return 11", r"returned 11, outside -1\.\.10"),
        ("return -2", r"returned -2, outside -1\.\.10"),
        ("return 10**5000", "outside"),
        ("return undefined", r"NameError.*in final_strategy\(0, 0\) \(bot.py, line 2\)"),
        ("raise SystemExit(3)", "called sys.exit in final_strategy"),
        ("input()", "EOFError"),
        ("return final_strategy(score, opponent_score)", "RecursionError"),
    ],
)
def test_a_bad_answer_says_what_is_wrong(game: Game, write: Write, body: str, reason: str) -> None:
    player = agent(game, write(strategy(body)))
    with pytest.raises(AgentError, match=reason):
        answers(game, player)


@pytest.mark.parametrize("number", [*map(str, range(-1, 11)), "__import__('numpy').int64(7)"])
def test_every_legal_number_becomes_its_action(game: Game, write: Write, number: str) -> None:
    found = answers(game, agent(game, write(strategy(f"return {number}"))), 1)
    assert found == [int(number) if len(number) < 3 else 7]


def test_the_strategy_sees_its_own_score_first(game: Game, write: Write) -> None:
    player = agent(game, write(strategy("return score - opponent_score")))
    state = game.new_game()[0]
    state["scores"] = (30, 37)
    assert player.join(game, 1, 0)(Turn(game, state, 1)) - 1 == 7


# The world of a bot


def test_randomness_is_repeatable_and_private(game: Game, write: Write) -> None:
    body = "import random\n" + strategy("return random.randint(-1, 10)")
    player, other = agent(game, write(body)), agent(game, write(body, "other.py"))
    random.seed(1)
    expected = random.Random(5).randint(0, 10)
    state = random.getstate()
    first = answers(game, player, 50)
    answers(game, other, 7)
    assert answers(game, player, 50) == first
    assert answers(game, other, 50) == first
    assert answers(game, player, 50, seed=2) != first
    assert len(set(first)) > 6
    seeded = "import random\n" + strategy("random.seed(5); return random.randint(0, 10)")
    assert answers(game, agent(game, write(seeded, "seeded.py")), 3) == [expected] * 3, "its own seed is its own"
    assert len(set(answers(game, agent(game, write(body, "plain.py")), 30))) > 3
    assert random.getstate() == state


@pytest.mark.parametrize(
    "expression",
    [
        "random.choice(range(11))",
        "random.Random().randint(0, 10)",
        "random.SystemRandom().randint(0, 10)",
        "generator.randint(0, 10)",
        "int(random.random() * 11)",
        "randint(0, 10)",
        "random.sample(range(11), 3)[0]",
        "four_sided() + six_sided()",
        "numbers[0] if random.shuffle(numbers) is None else 0",
    ],
)
@pytest.mark.parametrize("keep", [False, True])
def test_every_way_to_randomness_is_repeatable(game: Game, write: Write, expression: str, keep: bool) -> None:
    head = "from random import *\nimport random\nfrom dice import *\ngenerator = Random()\nnumbers = [0, 1, 2, 3]\n"
    path = write(head + strategy(f"return {expression}"))
    runs = [answers(game, agent(game, path, keep=keep), 30, seed=9) for _ in range(2)]
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 2


def test_what_is_printed_or_written_is_kept_from_the_terminal(
    game: Game, write: Write, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for body, text, count in (
        ("print('a', score, sep='-'); print('x', file=sys.stderr)", "a-0\nx\n", 2),
        (
            "sys.stderr.write('a'); sys.stdout.writelines(['b', 'c']); err.flush(); err.isatty(); "
            "print('d', file=err); sys.stdout = None; print(sys.version_info >= (3,))",
            "abcd\nTrue\n",
            None,
        ),
        (f"print('to file', file=open({str(tmp_path / 'log')!r}, 'w'))", "", 0),
    ):
        player = agent(game, write("import sys\nfrom sys import stderr as err\n" + strategy(f"{body}; return 1")))
        assert isinstance(player, BotPlayer)
        streams = sys.stdout, sys.stderr
        assert answers(game, player, 1) == [1]
        assert player.printed.text == text
        assert count is None or player.printed.count == count
        assert (sys.stdout, sys.stderr) == streams
        assert capfd.readouterr() == ("", "")
    assert (tmp_path / "log").read_text() == "to file\n"


def test_what_is_printed_is_not_kept_for_ever(game: Game, write: Write) -> None:
    player = agent(game, write(strategy("print('x' * 1000); return 1")))
    assert isinstance(player, BotPlayer)
    answers(game, player, 50)
    assert player.printed.count == 50
    assert len(player.printed.text) <= 2000


# Helper modules


def test_two_bots_do_not_see_each_others_helpers(game: Game, write: Write) -> None:
    for folder, number in (("one", 1), ("two", 2)):
        write(f"NUMBER = {number}\n", f"{folder}/helper.py")
        write("import helper\n" + strategy("return helper.NUMBER"), f"{folder}/hog.py")
    before = set(sys.modules)
    players = [agent(game, write("", f"{folder}/x.py").parent) for folder in ("one", "two")]
    assert [answers(game, player, 1) for player in players] == [[1], [2]]
    assert "helper" not in set(sys.modules) - before
    assert [player.name for player in players] == ["one", "two"]


@pytest.mark.parametrize(
    ("late", "expression"),
    [
        ("import helper", "helper.NUMBER"),
        ("from helper import NUMBER", "NUMBER"),
        ("from .helper import NUMBER", "NUMBER"),
        ("from . import helper", "helper.NUMBER"),
        ("import package.inner", "package.inner.NUMBER"),
        ("from package import inner", "inner.NUMBER"),
        ("from package.inner import NUMBER", "NUMBER"),
        ("from package.outer import NUMBER", "NUMBER"),
        ("from package import inner as other", "other.NUMBER"),
        ("import bare.inner", "bare.inner.NUMBER"),
        ("from bare.below import inner", "inner.NUMBER"),
        ("from bare.below.inner import NUMBER", "NUMBER"),
        ("import json", "len(json.dumps('four'))"),
    ],
)
def test_helpers_are_found_at_once_and_late(game: Game, write: Write, late: str, expression: str) -> None:
    write("NUMBER = 6\n", "helper.py")
    write("", "package/__init__.py")
    write("NUMBER = 6\n", "package/inner.py")
    write("from .inner import NUMBER\nfrom ..helper import NUMBER as again\nimport math\n", "package/outer.py")
    for folder in ("bare", "bare/below", "json"):  # a folder without __init__.py is none of Python's modules
        write("NUMBER = 6\n", f"{folder}/inner.py")
    assert answers(game, agent(game, write(f"{late}\n" + strategy(f"return {expression}"))), 2) == [6, 6]
    assert answers(game, agent(game, write(strategy(f"{late}; return {expression}"), "hog.py")), 2) == [6, 6]


def test_helpers_may_import_each_other_and_fail_by_their_names(game: Game, write: Write) -> None:
    write("import b\ndef number():\n    return b.NUMBER\n", "a.py")
    write("import a\nNUMBER = 3\n", "b.py")
    assert answers(game, agent(game, write("import a\n" + strategy("return a.number()"))), 1) == [3]
    write("\n\nboom\n", "helper.py")
    with pytest.raises(AgentError, match=r"NameError.*\(helper.py, line 3\)"):
        agent(game, write("import helper\n"))


def test_dataclasses_and_enums_work_without_a_module_to_be_found(game: Game, write: Write) -> None:
    source = """
from __future__ import annotations
import enum
from dataclasses import dataclass, field
from typing import NamedTuple

class Kind(enum.IntEnum):
    LOW = 2

class Pair(NamedTuple):
    a: int = 1

@dataclass
class Memory:
    seen: list[int] = field(default_factory=list)

memory = Memory()

def final_strategy(score, opponent_score):
    memory.seen.append(Pair().a)
    return Kind.LOW + len(memory.seen)

if __name__ == '__main__':
    boom
"""
    path = write(source)
    assert answers(game, agent(game, path), 3) == [3, 4, 5]
    path.write_text(source.replace("@dataclass", "import time; time.sleep(0.002)\n@dataclass"))
    with ThreadPoolExecutor(4) as pool:  # others load files of the same name meanwhile
        assert len(list(pool.map(lambda number: agent(game, path), range(100)))) == 100
    assert not [name for name in sys.modules if name.startswith("bot.")]


# State


COUNTER = "calls = 0\ndef final_strategy(score, opponent_score):\n    global calls\n    calls += 1\n    return calls\n"


def test_each_game_is_played_by_a_fresh_program_unless_it_is_kept(game: Game, write: Write) -> None:
    path = write(COUNTER)
    player = agent(game, path)
    assert [answers(game, player, 2) for _ in range(2)] == [[1, 2], [1, 2]]
    player = agent(game, path, keep=True)
    assert [answers(game, player, 2) for _ in range(2)] == [[1, 2], [3, 4]]
    assert answers(game, agent(game, path, keep=True), 2) == [1, 2]
    path.write_text(strategy("return 10"))
    assert answers(game, agent(game, path), 1) == [10], "a changed file is read again"


def test_a_pure_bot_is_executed_once(game: Game, write: Write) -> None:
    assert agent(game, write("PURE = True\n" + strategy("return 4"))).pure
    assert not agent(game, write(strategy("return 4"), "b.py")).pure
    assert not agent(game, write("PURE = True\n" + COUNTER, "c.py"), keep=True).pure


def test_a_pure_bot_plays_many_games_as_it_plays_one(game: Game) -> None:
    player = agent(game, "tuned")
    states = game.new_states(300)
    generator = np.random.default_rng(1)
    states["scores"] = generator.integers(0, 100, (300, 2))
    rows, seats = generator.permutation(300)[:200], generator.integers(0, 2, 200)
    act = player.join(game, 0, 0)
    expected = [act(Turn(game, states[row], int(seat))) for row, seat in zip(rows, seats, strict=True)]
    for _ in range(2):
        assert player.act_rows(game, states, rows, seats).tolist() == expected


def test_threads_that_compile_bots_leave_warnings_as_they_were(write: Write) -> None:
    files = [write(f"x = [{'1, ' * 800}]", f"b{number}.py") for number in range(100)]
    before, pace = list(warnings.filters), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(code_of, files))
    finally:
        sys.setswitchinterval(pace)
    assert warnings.filters == before


def test_loading_again_is_cheap(game: Game) -> None:
    """It looks whether the file has changed, in 1,900 calls of functions."""
    agent(game, "course_project")
    with counted() as calls:
        agent(game, "course_project")
    assert 100 < calls.made < 5_000


# Ruling 9: the whole course project


def test_a_course_project_is_loaded_without_running_it(
    game: Game, write: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    source = """
from dice import four_sided, six_sided, make_test_dice
from ucb import main, trace, log_current_line, interact

rolled = []

@trace
def roll_dice(num_rolls, dice=six_sided):
    return sum(dice() for _ in range(num_rolls))

assert roll_dice(4, make_test_dice(1, 2, 3)) == 7
assert all(1 <= four_sided() <= 4 and 1 <= six_sided() <= 6 for _ in range(200))
assert {four_sided() for _ in range(200)} == {1, 2, 3, 4}
assert {six_sided() for _ in range(200)} == set(range(1, 7))

def final_strategy(score, opponent_score):
    log_current_line()
    interact('hello')
    return roll_dice(1)

@main
def run(*args):
    rolled.append(1)
    print('this must not happen')
"""
    path = write(source)
    player = agent(game, path)
    assert isinstance(player, BotPlayer)
    first = answers(game, player, 30)
    assert set(first) <= set(range(1, 7))
    assert len(set(first)) > 3
    assert answers(game, agent(game, path), 30) == first
    assert player.printed.count == 0
    assert capfd.readouterr() == ("", "")


def test_bots_run_in_the_original_program_too(root: Path) -> None:
    """Every agent is a plain file: it loads where there is no dicegym, with stand-ins for the course's modules."""
    code = """
import importlib.util, sys, types
course = {"dice": "four_sided six_sided make_test_dice", "ucb": "main trace log_current_line interact"}
for name, members in course.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update({member: lambda f=None, *a: f for member in members.split()})
for path in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("hog", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert type(module.final_strategy(12, 34)) is int, path
assert "dicegym" not in sys.modules and "numpy" not in sys.modules
"""
    paths = sorted(str(path) for path in (root / "agents" / "hog").glob("*.py"))
    run = subprocess.run([sys.executable, "-I", "-c", code, *paths], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_program_can_be_loaded_for_any_interface(write: Write) -> None:
    path = write("import referee\nprint(referee.NAME)\nclass Bot:\n    pass\n")
    import types

    referee = types.ModuleType("referee")
    referee.NAME = "fair"
    interface = types.SimpleNamespace(
        supply_modules=lambda rng: {"referee": referee}, find=lambda program: program.get("Bot", "class")
    )
    program = Program(Source(path), "bot", interface, 0, Printed())
    assert program.printed.text == "fair\n"
    assert program.bot.__name__ == "Bot"
    with pytest.raises(AgentError, match="has no class Player"):
        program.get("Player", "class")
