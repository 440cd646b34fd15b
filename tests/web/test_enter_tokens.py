"""Tokens: who may hand bots in, how long, and what is kept of it."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import Run

import dicegym
from dicegym.arena.store import opening
from dicegym.errors import DamagedFileError, ParameterError, UnknownNameError
from dicegym.web.enter.bots import Bots
from dicegym.web.enter.course_contests import WebContests
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.submission_tables import NAME, SubmissionStore
from dicegym.web.enter.tokens import Tokens, check_name, parse_end
from dicegym.web.enter.uploads import Upload


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SubmissionStore]:
    with SubmissionStore(tmp_path / "entering") as found:
        yield found


def test_a_token_names_its_holder_until_it_is_revoked(store: SubmissionStore) -> None:
    tokens = Tokens(store)
    token = tokens.add("ann")
    session = tokens.begin_session(token)
    assert session is not None
    assert [tokens.holder(one) for one in (token, token[:-1], "")] == ["ann", None, None]
    assert tokens.of_session(session) == "ann"
    tokens.revoke("ann")
    assert (tokens.holder(token), tokens.of_session(session), tokens.begin_session(token)) == (None, None, None)
    again = tokens.add("ann")
    assert tokens.of_session(session) is None, "a browser of the old token is not one of the new"
    assert tokens.holder(again) == "ann"
    with pytest.raises(UnknownNameError, match="'bob'"):
        tokens.revoke("bob")


def test_tokens_and_sessions_stand_nowhere_as_they_are(store: SubmissionStore, tmp_path: Path) -> None:
    token = Tokens(store).add("ann")
    session = Tokens(store).begin_session(token)
    assert session is not None
    kept = b"".join(path.read_bytes() for path in (tmp_path / "entering").iterdir() if path.is_file())
    assert b"ann" in kept
    assert token.removeprefix("dice_").encode() not in kept
    assert session.encode() not in kept


@pytest.mark.parametrize("spelling", ["ANN", "\uff41nn", "Ann"])
def test_all_spellings_of_a_name_are_one(store: SubmissionStore, spelling: str, tmp_path: Path) -> None:
    tokens = Tokens(store)
    tokens.add("ann")
    with pytest.raises(ParameterError, match=r"'ann' has a token already.*revoke"):
        tokens.add(spelling)
    tokens.revoke(spelling)
    holder = tokens.holder(tokens.add(spelling)) or ""
    assert holder == "ann", "who owns what ann owned"
    assert [one.name for one in tokens.list_known()] == ["ann"]
    bots, game = Bots(store), dicegym.game("hog")
    source = Upload("bot.py", b"def final_strategy(score, opponent_score):\n    return 5\n")
    versions = [bots.submit(holder, game, name, source) for name in ("mine", "MINE", "\uff4dine")]
    assert [(one.bot_id, one.number) for one in versions] == [(versions[0].bot_id, number) for number in (1, 2, 3)]
    contests = WebContests(store)
    contests.add("Autumn", ContestPlan("hog"))
    with pytest.raises(ParameterError, match="there is a contest 'Autumn' already"):
        contests.add("\uff21UTUMN", ContestPlan("hog"))
    assert contests.find_named("autumn").name == "Autumn"


NO_NAMES = [
    "",
    "   ",
    "x" * 41,
    "a\nb",
    "a\tb",
    "a\x1b[2J",
    "a\u202eb",
    "a\u200bb",
    "a\u00a0b",
    "ann  b",
    "ann at 0x1f> b",
]


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_that_cannot_be_shown_or_become_another_one_are_refused(store: SubmissionStore, name: str) -> None:
    """Two bots of one name, once a contest has made one line of both, would end it for everybody."""
    with pytest.raises(ParameterError):
        Tokens(store).add(name)
    with pytest.raises(ParameterError):
        check_name(name, "the bot's name")
    assert check_name(" ann b ", "the bot's name") == "ann b"


def test_a_token_expires(store: SubmissionStore, tmp_path: Path) -> None:
    tokens = Tokens(store)
    token = tokens.add("ann", expires="2 days")
    assert tokens.holder(token) is not None
    with sqlite3.connect(tmp_path / "entering" / NAME) as file:
        file.execute("UPDATE tokens SET expires = '2020-01-01T00:00:00+00:00'")
    assert tokens.holder(token) is None
    assert [one.state for one in tokens.list_known()] == ["expired"]
    assert tokens.holder(tokens.add("ann")) is not None


def test_moments_are_read_as_people_write_them() -> None:
    now = datetime.now(UTC)
    year = now.year + 1
    assert parse_end(f"{year}-12-24") == f"{year}-12-25T00:00:00+00:00"
    assert parse_end(f"{year}-12-24T18:00") == f"{year}-12-24T18:00:00+00:00"
    assert parse_end(f"{year}-12-24T18:00+02:00") == f"{year}-12-24T16:00:00+00:00"
    apart = datetime.fromisoformat(parse_end("3 weeks")) - now
    assert abs(apart - timedelta(weeks=3)) < timedelta(minutes=1)
    for wrong in ("soon", "0 days", "1999-01-01", "99999 weeks", "9999-12-31", "0001-01-01T00:00+10:00"):
        with pytest.raises(ParameterError):
            parse_end(wrong)


def test_a_locked_file_is_told_apart_from_a_damaged_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SubmissionStore(tmp_path), sqlite3.connect(tmp_path / NAME, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(opening, "BUSY", 0.01)
        with pytest.raises(DamagedFileError, match=r"is locked .*: wait until that") as told:
            SubmissionStore(tmp_path)
        other.execute("ROLLBACK")
    assert not [words for words in ("move it away", "--store") if words in str(told.value)]
    (tmp_path / NAME).write_bytes(b"no database at all, but a text that is long enough to be looked at" * 20)
    with pytest.raises(DamagedFileError, match="damaged"):
        SubmissionStore(tmp_path)


def test_tokens_from_the_command_line(tmp_path: Path, run: Run) -> None:
    folder = str(tmp_path / "web")
    SubmissionStore(Path(folder) / "entering").close()

    def said(*words: str) -> str:
        status, out, err = run("web", *words, "--folder", folder)
        assert status == 0, err
        return out

    assert "no tokens yet" in said("token", "list")
    token = said("token", "add", "ann", "--expires", "90 days").strip()
    with SubmissionStore(Path(folder) / "entering") as store:
        assert Tokens(store).holder(token) == "ann"
    assert "valid" in said("token", "list")
    said("token", "revoke", "ann")
    assert "revoked" in said("token", "list")


CONTESTS = {
    "Autumn": ("hog", "--until", "14 days", "--agent", "bacon", "--agent", "swap", "--exact"),
    "Final": ("yatzy", "--format", "swiss", "--rounds", "5", "--games", "10", "--limit", "seconds=3"),
    "Large": ("lucky", "-p", "players=7", "-p", "rounds=30", "--less-luck"),
    "Small": ("liarsdice", "-p", "players=2", "--format", "round-robin", "--seeds", "2"),
}


@pytest.mark.parametrize("name", CONTESTS)
def test_a_contest_is_opened_listed_and_closed_by_commands(name: str, run: Run, tmp_path: Path) -> None:
    status, out, err = run("web", "contest", "add", name, *CONTESTS[name], "--folder", tmp_path)
    assert (status, out.split(":")[0]) == (0, "contest 1"), err
    _, out, _ = run("web", "contest", "list", "--folder", tmp_path)
    assert f"{name}  {CONTESTS[name][0]}" in out
    with SubmissionStore(tmp_path / "entering") as store:
        (found,) = WebContests(store).all()
    assert ("players", 7) in found.plan.parameters.items() or name != "Large"
    assert run("web", "contest", "close", name, "--folder", tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("contest add Autumn hog --agent nobody", "nobody"),
        ("contest add Autumn hog --until 2001-01-01", "2001-01-01"),
        ("contest add Autumn hog --until 2020-01-01", "is past"),
        ("contest add Autumn hog --until ''", "time"),
        ("contest add '' hog --until 9d", "0"),
        ("contest add Autumn hog -p players=3", "players=3"),
        ("contest add Autumn hog --format ladder", "ladder"),
        ("contest add Autumn nosuch", "nosuch"),
        ("token add ann --expires 2020-01-01", "is past"),
        ("token add ann --expires ''", "time"),
        ("token add '' --expires 9d", "0"),
        # Commands that make nothing need the folder of a server.
        *(
            (line, "FOLDER is not the folder of a web server: give")
            for line in ("token list", "token revoke ann", "contest list", "contest close A", "contest grades A")
        ),
    ],
)
def test_a_command_that_cannot_work_makes_no_folder(line: str, said: str, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "web"
    status, out, err = run("web", *shlex.split(line), "--folder", folder)
    assert (status, out) == (2, "")
    assert said.replace("FOLDER", str(folder)) in err
    assert not folder.exists()


@pytest.mark.parametrize("words", [["token", "add", "ann"], ["contest", "add", "Autumn", "hog"]])
def test_a_command_that_makes_the_folder_says_so(words: list[str], tmp_path: Path, run: Run) -> None:
    made = f"made the folder {tmp_path / 'new'} for a web server"
    assert made in run("web", *words, "--folder", tmp_path / "new")[2]
    assert made not in run("web", "token", "add", "bob", "--folder", tmp_path / "new")[2]


@pytest.mark.parametrize("words", [[], ["token", "list"], ["token", "add", "ann"]])
def test_a_file_is_no_folder_of_a_server(words: list[str], tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").write_text("")
    for below in ("", "deeper"):
        status, out, err = run("web", *words, "--folder", tmp_path / "file" / below)
        assert (status, out) == (2, "")
        assert f"as {tmp_path / 'file'} is a file: give a folder" in err


def test_grades_are_read_from_the_store_that_has_them(tmp_path: Path, run: Run) -> None:
    folder, other = tmp_path / "web", tmp_path / "other.sqlite"
    with SubmissionStore(folder / "entering") as store:
        WebContests(store).add("Autumn", ContestPlan("hog"))
    words = ["web", "contest", "grades", "Autumn", "--folder", folder, "-o", tmp_path / "grades.csv", "--store", other]
    assert "Autumn has not run yet" in run(*words)[2]
    (tmp_path / "grades.csv").unlink()
    with SubmissionStore(folder / "entering") as store:
        WebContests(store).note(1, stored=1)
    status, _, err = run(*words)
    assert (status, f"there is no store {other}: give" in err) == (2, True)
    assert run("tournament", "hog", "bacon", "swap", "--games", "2", "--store", other, "--workers", "1")[0] == 0
    status, _, err = run(*words)
    assert (status, f"{other} has no results of Autumn: give" in err) == (2, True)
    assert not (tmp_path / "grades.csv").exists()
