"""The command line: every verb once with right and once with wrong input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Never

import pytest
from command_line import Run

import dicegym
from dicegym.cli import main
from dicegym.cli.shared_options import decisions
from dicegym.engine.game import Game
from dicegym.errors import ParameterError
from dicegym.registry import ENVIRONMENTS
from dicegym.shipped import shipped_folder


def test_games_lists_every_environment(run: Run) -> None:
    status, out, _ = run("games")
    assert status == 0
    assert re.search(r"dicegym/YatzySolo-v0 +yatzy +players=1 +Yatzy: fifteen rounds", out)
    assert all(environment.full_id in out for environment in ENVIRONMENTS)


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams by a shell")
@pytest.mark.parametrize(
    ("words", "closed", "status"),
    [
        ("watch at_once --game yatzy --seed 1", "", 0),
        ("play hog", ">&-", 2),
        ("games hog", "2>&-", 0),
        ("evaluate bacon --game hog", "<&- >&- 2>&-", 0),
    ],
)
def test_outputs_may_be_closed_or_lack_letters(words: str, closed: str, status: int) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} -m dicegym {words} {closed}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    if not closed:
        assert re.search(r"\?[1-6] \?[1-6]", done.stdout)  # dice, whose pictures ASCII lacks


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("{} games >/dev/full", "No space left on device: '<stdout>'"),
        ("{} --help >/dev/full", "No space left on device: '<stdout>'"),
        ("PYTHONUNBUFFERED=1 {} --help >/dev/full", "No space left on device: '<stdout>'"),
        ("mkdir gone; cd gone; rmdir ../gone; {} new bot hog x.py", "the current folder no longer exists"),
    ],
)
def test_an_error_of_the_system_says_what_failed(script: str, said: str, tmp_path: Path) -> None:
    words = ["/bin/sh", "-c", script.format(f"{sys.executable} -m dicegym")]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=buffered, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert said in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
def test_an_argument_that_is_no_text_is_refused(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "dicegym", "evaluate", b"b\xf6t.py", "--game", "hog"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "is not valid utf-8" in done.stderr


def test_agents_lists_bots_with_what_they_are(run: Run) -> None:
    status, out, _ = run("games", "hog")
    assert status == 0
    _, about, _, _, *rows, last = out.splitlines()
    assert re.fullmatch(r"hog +2 +12 +62 +goal=100 memory=0", about)
    assert len(rows) > 10
    for line in rows:
        assert re.match(r"\w+ {2,}\S.*\S", line), line
    assert last == "With other parameters there are memory, memory_taught: dicegym games hog -p memory=1"
    status, out, _ = run("games", "hog", "-p", "memory=1")
    assert status == 0
    assert re.search(r"^memory +\w+ model, .* exact win rate against always_roll\(5\)$", out, re.MULTILINE)


def test_check_passes_a_good_bot_and_names_what_is_wrong_with_a_bad_one(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("check", "always_roll", "--game", "hog")
    assert status == 0
    assert "10,000" in out or "10000" in out
    bad = tmp_path / "hog.py"
    bad.write_text("def final_strategy(score, opponent_score):\n    return 11 if score == 7 else 4\n")
    status, out, _ = run("check", str(bad))
    assert status == 1
    assert "final_strategy(7, 0)" in out
    assert "11" in out


def test_evaluate_and_export_take_a_model_that_says_its_game(run: Run, tmp_path: Path) -> None:
    models = pytest.importorskip("dicegym.players.model")
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO

    import dicegym
    from dicegym.envs.sb3 import SB3VecEnv

    game = dicegym.game("hog")
    model = MaskablePPO("MlpPolicy", SB3VecEnv("hog", 8, seed=0), n_steps=16, batch_size=64, seed=0, device="cpu")
    models.save(model.learn(256), game, tmp_path / "m.zip", {})
    status, out, _ = run("evaluate", str(tmp_path / "m.zip"), "-o", str(tmp_path / "score.json"))
    assert status == 0
    assert "exact win rate against always_roll(5)" in out
    value = json.loads((tmp_path / "score.json").read_text())[0]["value"]
    status, out, _ = run("evaluate", str(tmp_path / "m.zip"), "--sampled", "--games", "2000")
    low, high = (float(number) for number in re.search(r"\[([\d.]+), ([\d.]+)\]", out).groups())
    assert low - 0.02 < value < high + 0.02
    bot = tmp_path / "hog.py"
    assert run("export", str(tmp_path / "m.zip"), "--as", str(bot))[0] == 0
    assert run("evaluate", str(bot), "--game", "hog", "--isolation", "none")[1].startswith(f"{value:.4f}")


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
    words = ("export", agent, "--game", game, "--as")
    assert run(*words, tmp_path / form)[0] == 0
    table = Path(form).with_suffix(".table").name
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([form, table])
    assert run("check", tmp_path / form, "--game", game, "--isolation", "none")[0] == 0
    (tmp_path / form).unlink()
    status, _, err = run(*words, tmp_path / form)
    assert status
    assert f"{table} exists: give --force" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("games", "hgo"), "there is no game 'hgo'. Did you mean 'hog'?"),
        (("values", "grade", "hog", "bacon", "-p", "goal"), "write NAME=NUMBER"),
        (("play", "hog", "--seat", "5"), "invalid --seat 5: give 0 to 1"),
        (("evaluate", "no_such.zip"), "there is no file no_such.zip"),
        (("train", "hog", "--set", "x"), "sets nothing"),
        (("check", "nowhere.py"), "nowhere.py"),
        (("evaluate", "bacn"), "Did you mean 'bacon'?"),
        (("evaluate", "r1/best.zip:foo"), "a model has no parts to choose from; write 'r1/best.zip'"),
        (("evaluate", "bacon", "--sampled", "--seed", str(1 << 63)), "the seed of an evaluation"),
        (("evaluate", "bacon", "-o", "/nowhere/x.json"), "there is no folder /nowhere"),
        (("tournament", "hog", "-o", "/nowhere/x.json"), "there is no folder /nowhere"),
        (("doctor", "--bench", "-o", "/nowhere/x.json"), "there is no folder /nowhere"),
        (("export", "bacon", "--as", "bacon.txt"), "is not a Python file: name a .py file"),
        (("export", "bacon", "--as", "/"), "/ exists: give --force"),
        (("export", "bacon", "--as", "/", "--force"), "/ is a folder"),
        (("play", "hog", "--against", "bacon", "--against", "swap"), "seats 1 beside you"),
        (("play", "hog", "--against", "esay"), "Opponents by strength: easy (bacon), normal (swap), hard"),
        (("play", "yatzy", "-p", "players=1", "--against", "easy"), "leave out --against"),
        (("play", "hog", "-p", "players=3"), "players=3 cannot be used as the number of players of Hog"),
        (("values", "exploitability", "hog", "swap", "--seconds", "-1"), "seconds=-1.0 cannot be used as a time"),
        (("check", "bacon", "--limit", "load=0"), "start=0.0 leaves no time"),
        (("check", "bacon", "--limit", "disk=3"), "limits here are seconds, load, move, memory"),
        (("check", "bacon", "--limit", "seconds"), "write NAME=NUMBER, such as seconds=5"),
        (("evaluate", "bacon", "--limit", "move=3"), "unknown --limit move: limits here are seconds, memory"),
        (("evaluate", "bacon", "-o", "x.csv"), "--output x.csv must end in .json"),
        (("tournament", "hog", "-o", "a.json", "-o", "b.json"), "a.json and b.json are both .json"),
        (("arena", "list", "--store", "none"), "a store is needed here: name a file"),
        (("games", "--rules"), "name it, as in `dicegym games hog --rules`"),
        (("games", "hog", "--rules", "--playthrough"), "ask for one at a time"),
        (("games", "hog", "--rules", "-p", "memory=1"), "leave --parameter out"),
        (("doctor", "--games", "hog"), "give --bench with them"),
        (("check", "bacon", "-p", "gaol=20"), "Did you mean 'goal'?"),
    ],
)
def test_mistakes_end_with_one_helpful_line(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run(*arguments)
    assert status in (1, 2)
    assert message in out + err
    assert "Traceback" not in out + err
    assert len((out + err).splitlines()) == 1


def test_paths_are_refused_before_the_work(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes long must not have begun when a result turns out to have no place."""
    import dicegym.bench
    import dicegym.learning.evaluate

    def work(*_: object, **__: object) -> Never:
        raise AssertionError("the work has begun")

    for place in (dicegym.learning.evaluate, "evaluate"), (dicegym.bench, "run_bench"):
        monkeypatch.setattr(*place, work)
    for arguments in (
        ("evaluate", "bacon", "-o", str(tmp_path / "no" / "x.json")),
        ("doctor", "--bench", "-o", str(tmp_path / "x.json" / "y.json")),
    ):
        assert run(*arguments)[0] == 2


def test_places_of_pages_are_refused_before_anything_listens(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlalchemy")
    file = tmp_path / "file"
    file.write_text("no database at all, though it is long enough to look like one" * 20)

    def listen(*_: object) -> Never:
        raise AssertionError("it listens")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dicegym.web.address.listen", listen)
    for option, place in (
        ("--folder", file),
        ("--store", file),
        ("--store", tmp_path),
        ("--store", "none"),
        ("--store", tmp_path / "no" / "x"),
    ):
        status, out, err = run("web", option, str(place))
        assert (status, out) == (2, "")
        assert str(place) in err


@pytest.mark.parametrize("typed", ["1000000", "1_000_000", "1e6", "1E+06", 1_000_000])
def test_a_million_decisions_may_be_typed_as_people_write_them(typed: str | int) -> None:
    assert decisions(typed) == 1_000_000


@pytest.mark.parametrize("typed", ["0", "-1", "1.5", "1e13", "nan", "inf", "many", ""])
@pytest.mark.parametrize(
    "verb",
    [
        ("train", "hog", "--steps"),
        ("runs", "tune", "hog", "--steps"),
        ("values", "exploitability", "hog", "bacon", "--steps"),
    ],
    ids=lambda words: words[0],
)
def test_no_number_of_decisions_is_refused_with_one_that_is(run: Run, verb: tuple[str, ...], typed: str) -> None:
    status, _, err = run(*verb, typed)
    assert status == 2
    assert f"invalid number {typed!r}: give a whole number from 1" in err
    assert "such as 1000000 or 1e6" in err


def test_what_the_system_refuses_is_one_line_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, out, err = run("train", "hog", "--run-dir", str(tmp_path / "file" / "run"))
    assert (status, out) == (2, "")
    assert err.startswith("dicegym: ")
    assert len(err.splitlines()) == 1


def test_the_version(run: Run) -> None:
    import dicegym

    assert run("--version") == (0, f"dicegym {dicegym.__version__}\n", "")


def test_no_progress_bar_in_a_pipe(run: Run) -> None:
    """On a slow machine there are plain lines; tests/cli/test_progress.py is about them."""
    status, _, err = run("tournament", "hog", "bacon", "swap", "--workers", "1")
    assert status == 0
    assert [line for line in err.splitlines() if not re.match(r"\d+:\d\d, |dicegym: contest 1 of ", line)] == []
    assert "\x1b" not in err


def test_agents_need_no_game_named_and_parameters_count(run: Run, tmp_path: Path) -> None:
    bot = tmp_path / "hog.py"
    assert run("export", "bacon", "--as", str(bot), "-p", "goal=20")[0] == 0
    assert "The choices of bacon in Hog" in bot.read_text()
    assert "trained" not in bot.read_text()
    assert len(re.search(r'TABLE = """\n(.*?)\n"""', bot.read_text(), re.DOTALL)[1].split()) == 20
    assert run("evaluate", "bacon")[1].startswith("0.3639 exact win rate")
    assert "passed all 400 questions" in run("check", str(bot), "-p", "goal=20")[1]


def test_with_several_games_the_file_or_the_name_tells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second game knows no bot; the path of a missing file fits none."""
    import types

    from dicegym import games
    from dicegym.errors import UnknownNameError
    from dicegym.players import agent_info

    hog, adapter = games.game("hog"), types.SimpleNamespace(ENTRY_FILES=("o.py",), recognises=lambda text: False)
    other = types.SimpleNamespace()
    part, entry_files = agent_info.part, agent_info.entry_files
    monkeypatch.setattr(agent_info, "part", lambda game, kind: adapter if game is other else part(game, kind))
    monkeypatch.setattr(agent_info, "entry_files", lambda game: ("o.py",) if game is other else entry_files(game))

    def resolve(game: Game, spec: str) -> str:
        if game is hog and spec == "bacon":
            return spec
        raise UnknownNameError("no such agent")

    monkeypatch.setattr(agent_info, "GAMES", ("hog", "other"))
    monkeypatch.setattr(agent_info, "make_game", lambda name: hog if name == "hog" else other)
    monkeypatch.setattr(agent_info, "resolve", resolve)
    bot = tmp_path / "hog.py"
    bot.write_text("def final_strategy(score, opponent_score):\n    return 4\n")
    assert agent_info.game_of_file(str(bot)) == "hog"
    assert agent_info.game_of_file("bacon") == "hog"
    monkeypatch.setattr(agent_info, "agent_names", lambda game: ["bacon"] if game is hog else [])
    with pytest.raises(UnknownNameError, match="Did you mean 'bacon'"):
        agent_info.game_of_file("bacn")
    with pytest.raises(ParameterError, match="there is no file"):
        agent_info.game_of_file(str(tmp_path / "none.py"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ParameterError, match="empty matches no game's interface"):
        agent_info.game_of_file(str(tmp_path / "empty"))


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


def test_help_names_every_verb(run: Run) -> None:
    shown = run("--help")[1]
    for verb in ("check", "doctor", "evaluate", "export", "games", "play", "tournament", "train", "values"):
        assert re.search(rf"^\W*{verb}\b", shown, re.MULTILINE), verb


def test_ctrl_c_ends_with_a_word(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(game: str) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(dicegym, "agent_names", interrupted, raising=False)
    with pytest.raises(SystemExit) as end:
        main(["games", "hog"])
    assert end.value.code == 130
    assert capsys.readouterr().err == "dicegym: interrupted\n"


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("name", "is_said"), [("agents/hog/bacon.py", False), ("agents/hog/ppo.zip", False), ("mine.py", True)]
)
def test_isolation_is_said_of_those_who_are_kept_apart(run: Run, tmp_path: Path, name: str, is_said: bool) -> None:
    """The report of a contest says that none was needed where this says nothing."""
    (tmp_path / "mine.py").write_text("def final_strategy(score, opponent_score):\n    return 5\n")
    path = tmp_path / name if is_said else shipped_folder("agents").parent / name
    status, out, err = run("tournament", "hog", str(path), "swap", "--games", "1", "--store", "none")
    assert status == 0
    assert ("are kept apart by" in err) is is_said
    assert ("none was needed" in " ".join(out.split())) is not is_said


def test_export_takes_any_path_and_makes_its_folder(run: Run, tmp_path: Path) -> None:
    for game, agent, path in (("hog", "bacon", "new/folder/mine.py"), ("liarsdice", "even", "other/any.py")):
        assert run("export", agent, "--game", game, "--as", str(tmp_path / path))[0] == 0
        assert run("check", str(tmp_path / path), "--game", game)[0] == 0


def test_an_unknown_parameter_is_told_without_words_of_python(run: Run) -> None:
    status, out, err = run("games", "hog", "-p", "foo=1")
    assert (status, out) == (2, "")
    assert err.startswith("dicegym: there is no parameter of Hog 'foo'. Known: players,")
