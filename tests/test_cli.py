"""The command line: every verb once with right and once with wrong input."""

import json
import re
import subprocess
import sys

import pytest

from dicegym.cli import main


@pytest.fixture
def run(capsys):
    """Run the command line in this process; return (exit status, standard output, standard error)."""

    def call(*arguments):
        status = 0
        try:
            main(list(arguments))
        except SystemExit as end:
            status = end.code or 0
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return call


def test_games_lists_every_environment(run):
    status, out, _ = run("games")
    assert status == 0
    assert re.search(r"dicegym/Hog-v0 +hog +2 +12 +62 +goal=100 memory=0", out)


def test_agents_lists_bots_with_what_they_are(run):
    status, out, _ = run("agents", "hog")
    assert status == 0
    assert len(out.splitlines()) > 10
    for line in out.splitlines()[1:]:
        assert re.match(r"\w+ {2,}\S.*\S", line), line


def test_check_passes_a_good_bot_and_names_what_is_wrong_with_a_bad_one(run, tmp_path):
    status, out, _ = run("check", "always_roll", "--game", "hog")
    assert status == 0
    assert "10,000" in out or "10000" in out
    bad = tmp_path / "hog.py"
    bad.write_text("def final_strategy(score, opponent_score):\n    return 11 if score == 7 else 4\n")
    status, out, _ = run("check", str(bad))
    assert status == 1
    assert "final_strategy(7, 0)" in out
    assert "11" in out


def test_tournament_prints_the_report_and_writes_json(run, tmp_path):
    target = tmp_path / "result.json"
    status, out, _ = run("tournament", "hog", "always_roll", "bacon", "swap", "--json", str(target), "--workers", "1")
    assert status == 0
    assert "Winrate against `always_roll(5)`" in out
    assert "Entry 0's wins" in out
    assert json.loads(target.read_text())


def test_exact_prints_win_rates_and_best_replies(run, tmp_path):
    assert run("exact", "hog", "always_roll(8)", "always_roll(5)")[1].startswith("0.630940 exact win rate")
    assert run("exact", "hog", "always_roll(0)")[1].startswith("0.102878")
    assert run("exact", "hog", "always_roll(5)", "--best-response")[1].startswith("0.84474")
    bot = tmp_path / "hog.py"
    arguments = (
        "exact",
        "hog",
        "always_roll(5)",
        "-p",
        "goal=20",
        "--best-table",
        "--trials",
        "2",
        "--output",
        str(bot),
    )
    assert run(*arguments)[0] == 0
    assert "def final_strategy" in bot.read_text()
    status, _, err = run(*arguments)
    assert status == 2
    assert "--force" in err
    status, _, err = run("exact", "hog", "bacon", "-p", "memory=1")
    assert status == 2
    assert "dicegym evaluate" in err


def test_evaluate_and_export_take_a_model_that_says_its_game(run, tmp_path):
    policy = pytest.importorskip("dicegym.players.policy")
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO

    import dicegym
    from dicegym.envs.sb3 import SB3VecEnv

    game = dicegym.game("hog")
    model = MaskablePPO("MlpPolicy", SB3VecEnv("hog", 8, seed=0), n_steps=16, batch_size=64, seed=0, device="cpu")
    policy.save(model.learn(256), game, tmp_path / "m.zip", {})
    status, out, _ = run("evaluate", str(tmp_path / "m.zip"), "--json", str(tmp_path / "score.json"))
    assert status == 0
    assert "exact win rate against always_roll(5)" in out
    value = json.loads((tmp_path / "score.json").read_text())[0]["value"]
    status, out, _ = run("evaluate", str(tmp_path / "m.zip"), "--sampled", "--games", "2000")
    low, high = (float(number) for number in re.search(r"\[([\d.]+), ([\d.]+)\]", out).groups())
    assert low - 0.02 < value < high + 0.02
    bot = tmp_path / "hog.py"
    assert run("export", str(tmp_path / "m.zip"), "--as", "hog.py", "--output", str(bot))[0] == 0
    assert run("exact", "hog", str(bot))[1].startswith(f"{value:.6f}")
    status, _, err = run("export", str(tmp_path / "m.zip"), "--as", "player.py", "--output", str(tmp_path / "p.py"))
    assert status == 2
    assert "hog.py" in err


def test_play_at_the_keyboard_until_the_end_and_with_input_that_ends():
    command = [sys.executable, "-m", "dicegym", "play", "hog", "--against", "always_roll(1)", "-p", "goal=20"]
    done = subprocess.run(command, input="x\n99\n" + "6\n" * 200, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "'x' is none of the actions above" in done.stdout
    assert "wins" in done.stdout
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "keyboard" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("agents", "hgo"), "there is no game 'hgo'. Did you mean 'hog'?"),
        (("exact", "hog", "bacn"), "Did you mean 'bacon'?"),
        (("exact", "hog", "bacon", "-p", "goal"), "write NAME=NUMBER"),
        (("play", "hog", "--seat", "5"), "--seat 5 is no seat"),
        (("evaluate", "no_such.zip"), "no_such.zip cannot be read as a model"),
        (("train", "hog", "--set", "x"), "sets nothing"),
        (("check", "nowhere.py"), "nowhere.py"),
    ],
)
def test_mistakes_end_with_one_helpful_line(run, arguments, message):
    status, out, err = run(*arguments)
    assert status in (1, 2)
    assert message in out + err
    assert "Traceback" not in out + err


def test_help_names_every_verb():
    done = subprocess.run([sys.executable, "-m", "dicegym", "--help"], capture_output=True, text=True, check=True)
    for verb in (
        "agents",
        "bench",
        "check",
        "demo",
        "evaluate",
        "exact",
        "export",
        "games",
        "play",
        "tournament",
        "train",
    ):
        assert re.search(rf"^\W*{verb}\b", done.stdout, re.MULTILINE), verb
