"""``dicegym new``, ``games --rules`` and ``check``, as an author types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_new_bot_is_written_once_and_checked(run: Run) -> None:
    status, out, _ = run("new", "bot", "hog", "my/hog.py")
    assert status == 0
    assert out.startswith("wrote my/hog.py\ntry it: dicegym check my/hog.py --show")
    status, _, err = run("new", "bot", "hog", "my/hog.py")
    assert status == 2
    assert "my/hog.py exists: give --force" in err
    assert run("new", "bot", "hog", "my/hog.py", "--force")[0] == 0
    status, out, _ = run("check", "my/hog.py", "--debug", "-o", "found.json")
    assert status == 0
    assert "my: ok" in out
    assert json.loads(Path("found.json").read_text())["ok"] is True
    status, _, err = run("check", "my/hog.py", "--debug", "--show")
    assert status == 2
    assert "do not go together" in err


@pytest.mark.parametrize(("game", "words"), [("hog", "final_strategy(12, 70) -> 0"), ("yatzy", '"key": "FINAL"')])
def test_the_rules_are_printed_with_the_interface(run: Run, game: str, words: str) -> None:
    status, out, _ = run("games", game, "--rules")
    assert status == 0
    assert "Version history" in out
    assert "``" not in out
    for part in ("Original interface", words, "Printing costs nothing", f"dicegym new bot {game}"):
        assert part in out


def test_rules_of_no_game(run: Run) -> None:
    status, _, err = run("games", "hogg", "--rules")
    assert status == 2
    assert "Did you mean 'hog'" in err


def test_a_course_project_is_its_own_games(run: Run, root: Path) -> None:
    """It defines ``play`` too, as bots of Liar's Dice do."""
    for file in (root / "agents/hog/course_project.py", "mine/hog.py", "mine/project.py"):
        path = Path(file)
        if not path.is_absolute():
            path.parent.mkdir(exist_ok=True)
            path.write_text((root / "agents/hog/course_project.py").read_text())
        assert run("check", str(path), "--debug")[0] == 0


def test_the_name_of_a_file_decides_between_games(run: Run) -> None:
    text = "def final_strategy(a, b):\n    return 4\ndef play(a, b, c):\n    return 0\n"
    for name in ("hog.py", "other.py"):
        Path(name).write_text(text)
    assert run("check", "hog.py", "--debug")[0] == 0
    status, _, err = run("check", "other.py", "--debug")
    assert status == 2
    assert "other.py matches the interfaces of hog and liarsdice: choose one by --game" in err


def test_what_is_no_bot_is_told_what_would_be_one(run: Run) -> None:
    Path("typo.py").write_text("def final_stratgy(score, opponent_score):\n    return 4\n")
    status, _, err = run("check", "typo.py")
    assert (status, "--game" in err) == (2, True)
    assert "is final_stratgy meant?" in run("check", "typo.py", "--game", "hog")[1]
    Path("many").mkdir()
    status, _, err = run("check", "many")
    assert status == 2
    assert all(word in err for word in ("many",))


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


@pytest.mark.parametrize("game", WITH_DEFAULTS)
def test_what_can_be_called_as_the_interface_calls_is_a_bot(run: Run, game: str) -> None:
    Path("mine.py").write_text(WITH_DEFAULTS[game])
    status, out, err = run("check", "mine.py", "--debug")
    assert (status, out.partition(":")[0]) == (0, "mine"), err


def test_what_cannot_be_called_so_is_none(run: Run) -> None:
    Path("mine.py").write_text("def final_strategy(score, opponent_score, rolls):\n    return rolls\n")
    assert run("check", "mine.py", "--debug")[0] == 2


CLIENT = """
import json
import socket

def main():
    with socket.create_connection(("127.0.0.1", 5000)) as connection:
        connection.sendall(json.dumps({"type": "SCORE_BOX", "box": 1, "dice": [0]}).encode())

"""


@pytest.mark.parametrize("end", ["main()\n", "if __name__ == '__main__':\n    main()\n"])
def test_a_client_of_the_server_is_told_what_a_bot_is(run: Run, end: str) -> None:
    Path("client.py").write_text(CLIENT + end)
    status, out, _ = run("check", "client.py", "--debug")
    assert status == 1
    for words in ("command(standing)", "LOGIN"):
        assert words in out
