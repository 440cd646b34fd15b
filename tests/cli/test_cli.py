"""The command line: every verb once with right input, how it ends, and bots as their authors type them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run

import dicegym
from dicegym.cli import main
from dicegym.cli.evaluation import FAULTS_SHOWN
from dicegym.registry import ENVIRONMENTS
from dicegym.shipped import shipped_folder

BOT = "def final_strategy(score, opponent_score):\n    return 5\n"
HOG = shipped_folder("agents") / "hog"


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- streams, and how it ends --------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams by a shell")
@pytest.mark.parametrize(
    ("words", "streams", "status", "said"),
    [
        pytest.param("games hog", "2>&-", 0, "", marks=pytest.mark.slow),
        ("check bot.py --game hog -p goal=10", "<&- >&- 2>&-", 0, ""),  # it starts a process, which needs pipes
        *(
            pytest.param(
                *(words, ">/dev/full", 2, "No space left on device"),
                marks=[pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full"), *slow],
            )
            for words, slow in (("--help", []), ("games", [pytest.mark.slow]))
        ),
    ],
)
def test_outputs_may_be_closed_or_full(words: str, streams: str, status: int, said: str) -> None:
    Path("bot.py").write_text(BOT)
    command = ["/bin/sh", "-c", f"exec {sys.executable} -m dicegym {words} {streams}"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=buffered, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (status, bool(said)), done.stderr
    assert said in done.stderr


def test_outputs_may_lack_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    with pytest.raises(SystemExit, match="0"):
        main(["watch", "at_once", "--game", "yatzy", "--seed", "1"])
    sys.stdout.flush()
    assert re.search(rb"\?[1-6] \?[1-6]", written.getvalue())  # dice, whose pictures ASCII lacks


def test_an_error_of_the_system_says_what_failed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gone").mkdir()
    monkeypatch.chdir("gone")
    Path("../gone").rmdir()
    status, _, err = run("new", "bot", "hog", "x.py")
    assert (status, err.count("\n")) == (2, 1)
    assert "No such file or directory" in err


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
def test_an_argument_that_is_no_text_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["dicegym", "evaluate", os.fsdecode(b"b\xf6t.py"), "--game", "hog"])
    status, _, err = run(*sys.argv[1:])
    assert (status, err.count("\n")) == (2, 1)
    assert "is not valid utf-8" in err


def test_ctrl_c_ends_with_a_word(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(game: str) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(dicegym, "agent_names", interrupted, raising=False)
    status, _, err = run("games", "hog")
    assert (status, err) == (130, "dicegym: interrupted\n")


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"dicegym {dicegym.__version__}\n", "")


def test_threads_of_libraries_wait_idly_unless_the_user_says_otherwise(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    run("--version")
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
    monkeypatch.delenv("OMP_WAIT_POLICY")
    run("--version")
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


# --- lists and settings --------------------------------------------------------------------------------------------


def test_games_and_agents_are_listed_with_what_they_are(run: Run) -> None:
    status, out, _ = run("games")
    assert status == 0
    assert re.search(r"dicegym/YatzySolo-v0 +yatzy +players=1 +Yatzy: fifteen rounds", out)
    assert all(environment.full_id in out for environment in ENVIRONMENTS)
    status, out, _ = run("games", "hog")
    assert status == 0
    _, about, _, _, *rows = out.splitlines()
    assert re.fullmatch(r"hog +2 +12 +62 +goal=100 memory=0", about)
    assert len(rows) > 10
    for line in rows:
        assert re.match(r"\w+ {2,}\S.*\S", line), line
    assert "memory" not in {line.split()[0] for line in rows}
    status, out, _ = run("games", "hog", "-p", "memory=1")
    assert status == 0
    assert re.search(r"^memory +\w+ model, .* exact win rate against always_roll\(5\)$", out, re.MULTILINE)


@pytest.mark.parametrize(("game", "words"), [("hog", "final_strategy(12, 70) -> 0"), ("yatzy", '"key": "FINAL"')])
def test_the_rules_are_printed_with_the_interface(run: Run, game: str, words: str) -> None:
    status, out, _ = run("games", game, "--rules")
    assert status == 0
    assert "``" not in out
    parts = ("Version history", "Original interface", words, "Printing costs nothing", f"dicegym new bot {game}")
    assert [part for part in parts if part not in out] == []


def test_settings_of_a_training_are_told_with_what_they_take_and_mean(run: Run) -> None:
    pytest.importorskip("pydantic")
    status, out, _ = run("runs", "settings")
    assert status == 0
    for part in (
        "[run]",
        "steps: a whole number from 1 on (default: 1000000)\n      decisions of the learner in all",
        'priority: one of "hard", "uniform" (default: "uniform")',
        "[opponents]\n  KEY: a number above 0",
        "  teacher: a text\n      DAgger: a source of values",
    ):
        assert part in out


# --- bots ----------------------------------------------------------------------------------------------------------


def test_a_new_bot_is_written_once_and_checked(run: Run) -> None:
    status, out, _ = run("new", "bot", "hog", "my/hog.py")
    assert status == 0
    assert out.startswith("wrote my/hog.py\ntest it: dicegym check my/hog.py --show")
    status, _, err = run("new", "bot", "hog", "my/hog.py")
    assert (status, "my/hog.py exists: give --force" in err) == (2, True)
    assert run("new", "bot", "hog", "my/hog.py", "--force")[0] == 0
    status, out, _ = run("check", "my/hog.py", "--debug", "-o", "found.json")
    assert (status, "my: ok" in out) == (0, True)
    assert json.loads(Path("found.json").read_text())["ok"] is True


def test_check_passes_a_good_bot_and_names_what_is_wrong_with_a_bad_one(run: Run) -> None:
    status, out, _ = run("check", "always_roll", "--game", "hog")
    assert status == 0
    assert re.search("10,?000", out)
    Path("hog.py").write_text("def final_strategy(score, opponent_score):\n    return 11 if score == 7 else 4\n")
    status, out, _ = run("check", "hog.py")
    assert (status, "final_strategy(7, 0)" in out, "11" in out) == (1, True, True)


WITH_DEFAULTS = {
    "hog": "def final_strategy(score, opponent_score, margin=8, rolls=4):\n    return rolls\n",
    "liarsdice": "def get_play(me, hands, history, debug=False):\n    return 0 if history else 11\n",
    "liarsdice_spot_on": "from player import Player\nclass Mine(Player):\n"
    "    def __init__(self, index, name='x'):\n        super().__init__(index)\n"
    "    def move(self, bids, player_dice, n_dice, debug=False):\n        return 'Liar' if bids else (1, 1)\n",
    "lucky": "from bot import Bot\nclass Mine(Bot):\n    def __init__(self, random, greedy=True):\n"
    "        super().__init__(random)\n"
    "    def get_orders(self, money, dice, index, shop, most=3):\n        return []\n",
    "yatzy": "def command(standing, *, verbose=False):\n"
    "    row = next(one for one in standing['standing']"
    " if one['playerName'] == standing['currentPlayer']['playerName'])\n"
    "    return {'key': 'SCORE_BOX', 'box': row['score'].split(',').index('-') + 1, 'dice': [0]}\n",
}
TWO_GAMES = "def final_strategy(a, b):\n    return 4\ndef play(a, b, c):\n    return 0\n"
COURSE_PROJECT = HOG.joinpath("course_project.py").read_text()
CLIENT = "import socket\n\n\ndef main():\n    socket.create_connection(('127.0.0.1', 5000))\n"


@pytest.mark.parametrize(
    ("file", "text", "status", "words"),
    [
        # what can be called as the interface calls is a bot
        *(pytest.param("mine.py", text, 0, ["mine: ok"], id=game) for game, text in WITH_DEFAULTS.items()),
        ("mine.py", "def final_strategy(score, opponent_score, rolls):\n    return rolls\n", 2, ["mine.py"]),
        # two games fit, and --game decides; a course project, which defines `play` too, is its own games
        ("hog.py", TWO_GAMES, 2, ["hog.py matches the interfaces of hog and liarsdice: choose one by --game"]),
        ("hog.py --game hog", TWO_GAMES, 0, []),
        ("hog.py", COURSE_PROJECT, 0, []),
        ("project.py", COURSE_PROJECT, 0, []),
        # what is no bot is told what would be one
        ("typo.py", "def final_stratgy(a, b):\n    return 4\n", 2, ["--game"]),
        ("typo.py --game hog", "def final_stratgy(a, b):\n    return 4\n", 1, ["is final_stratgy meant?"]),
        ("client.py", CLIENT, 2, ["--game"]),
        ("client.py --game yatzy", CLIENT, 1, ["has no function command"]),
    ],
)
def test_whose_bot_a_file_is(run: Run, file: str, text: str, status: int, words: list[str]) -> None:
    Path(file.partition(" ")[0]).write_text(text)
    found, out, err = run("check", *file.split(), "--debug")
    assert found == status, err
    assert [word for word in words if word not in out + err] == []


def test_a_model_says_its_game_and_is_evaluated_and_exported(run: Run) -> None:
    Path("m.zip").write_bytes((HOG / "ppo.zip").read_bytes())
    status, out, _ = run("evaluate", "m.zip", "-o", "score.json")
    assert (status, "exact win rate against always_roll(5)" in out) == (0, True)
    value = json.loads(Path("score.json").read_text())[0]["value"]
    status, out, _ = run("evaluate", "m.zip", "--sampled", "--games", "2000")
    low, high = (float(number) for number in re.search(r"\[([\d.]+), ([\d.]+)\]", out).groups())
    assert low - 0.02 < value < high + 0.02
    assert run("export", "m.zip", "--as", "hog.py")[0] == 0
    assert run("evaluate", "hog.py", "--game", "hog", "--isolation", "none")[1].startswith(f"{value:.4f}")


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("game", "agent", "form"),
    [
        ("liarsdice", "equilibrium", "player.py"),
        ("liarsdice_spot_on", "equilibrium", "bot.py"),
        ("yatzy", "winner", "yatzy.py"),
    ],
)
def test_what_an_agent_reads_is_exported_with_it(run: Run, tmp_path: Path, game: str, agent: str, form: str) -> None:
    words = ("export", agent, "--game", game, "--as", f"new/folder/{form}")
    assert run(*words)[0] == 0
    bot = tmp_path / "new" / "folder" / form
    assert sorted(bot.parent.iterdir()) == sorted([bot, bot.with_suffix(".table")])
    assert run("check", bot, "--game", game, "--isolation", "none")[0] == 0
    bot.unlink()
    status, _, err = run(*words)
    assert (status, f"{bot.stem}.table exists: give --force" in err) == (2, True)


def test_agents_need_no_game_named_and_parameters_count(run: Run) -> None:
    assert run("export", "bacon", "--as", "hog.py", "-p", "goal=20")[0] == 0
    text = Path("hog.py").read_text()
    assert ("The choices of bacon in Hog" in text, "trained" in text) == (True, False)
    assert len(re.search(r'TABLE = """\n(.*?)\n"""', text, re.DOTALL)[1].split()) == 20
    assert run("evaluate", "bacon")[1].startswith("0.3639 exact win rate")
    assert "passed all 400 questions" in run("check", "hog.py", "-p", "goal=20")[1]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("path", "is_said"), [(HOG / "bacon.py", False), ("mine.py", True), (HOG / "ppo.zip", False)])
def test_isolation_is_said_of_those_who_are_kept_apart(run: Run, path: Path | str, is_said: bool) -> None:
    """The report of a contest says that none was needed where this says nothing; in a pipe there is no bar."""
    Path("mine.py").write_text(BOT)
    status, out, err = run("tournament", "hog", path, "swap", "--games", "1", "--store", "none", "--workers", "1")
    assert status == 0
    assert ("are isolated by" in err) is is_said
    assert ("none was needed" in " ".join(out.split())) is not is_said
    told = [line for line in err.splitlines() if "are isolated by" not in line]
    assert [line for line in told if not re.match(r"\d+:\d\d, |dicegym: contest 1 of ", line)] == []
    assert "\x1b" not in err


def test_faults_are_counted_and_few_are_told(run: Run) -> None:
    Path("lost").mkdir()
    Path("lost/player.py").write_text("def get_play(me, hands, history):\n    raise ValueError('no idea')\n")
    status, _, err = run("evaluate", "lost/player.py", "--game", "liarsdice", "--games", "20", "-o", "result.json")
    assert status == 0
    assert err.count("fault: agent 'lost': raised ValueError (says: \"no idea\")") == FAULTS_SHOWN
    (score,) = json.loads(Path("result.json").read_text())
    assert score["faults"] >= 20 * 5  # it loses every die of every game by one
    assert f"and {score['faults'] - FAULTS_SHOWN:,} more faults" in err
