"""Mistakes in what is typed end with one helpful line, before anything is played, computed, written or listened for."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Never

import pytest
from command_line import Run

from dicegym.cli.shared_options import decisions

WORK = (
    "dicegym.sandbox.sandbox.Sandbox.run",
    "dicegym.learning.evaluate.evaluate",
    "dicegym.bench.run_bench",
    "dicegym.web.address.listen",
)
MISTAKES = [
    ("hint hog", "there is no command 'hint'. Did you mean `dicegym values hint`?"),
    ("games hgo", "there is no game 'hgo'. Did you mean 'hog'?"),
    ("games hogg --rules", "Did you mean 'hog'"),
    ("games --rules", "--rules needs a game, as in `dicegym games hog --rules`"),
    ("games hog --rules --playthrough", "give one of them"),
    ("games hog --rules -p memory=1", "leave --parameter out"),
    ("games hog -p foo=1", "dicegym: there is no parameter of Hog 'foo'. Known: players,"),
    ("doctor --games hog", "need --bench"),
    ("doctor --bench -o /nowhere/x.json", "the folder /nowhere does not exist"),
    ("doctor --bench -o notes/y.json", "the folder notes does not exist"),
    # bots and models
    ("check nowhere.py", "nowhere.py"),
    ("check empty", "empty matches no game's interface"),
    ("check bacon --limit load=0", "start=0.0 cannot be used as seconds for a bot"),
    ("check bacon --limit disk=3", "limits here are seconds, load, move, memory"),
    ("check bacon --limit seconds", "write NAME=NUMBER, such as seconds=5"),
    ("check bacon -p gaol=20", "Did you mean 'goal'?"),
    ("check bacon --game hog --debug --show", "--show and --debug exclude each other"),
    ("evaluate no_such.zip", "there is no file no_such.zip"),
    ("evaluate bacn", "Did you mean 'bacon'?"),
    ("evaluate r1/best.zip:foo", "a model has no parts to choose from; write 'r1/best.zip'"),
    ("evaluate bacon --sampled --seed 9223372036854775808", "the seed of an evaluation"),
    ("evaluate bacon -o /nowhere/x.json", "the folder /nowhere does not exist"),
    ("evaluate bacon -o notes/y.json", "the folder notes does not exist"),
    ("evaluate bacon --limit move=3", "unknown --limit move: limits here are seconds, memory"),
    ("evaluate bacon -o x.csv", "--output x.csv must end in .json"),
    ("export bacon --as bacon.txt", "is not a Python file: name a .py file"),
    ("export bacon --as /", "/ exists: give --force"),
    ("export bacon --as / --force", "/ is a folder"),
    # playing and watching
    ("play hog --seat 5", "invalid --seat 5: give 0 to 1"),
    ("play hog --against bacon --against swap", "has seats for 1 opponent: give"),
    ("play hog --against esay", "Opponents by strength: easy (bacon), normal (swap), hard"),
    ("play yatzy -p players=1 --against easy", "leave out --against"),
    ("play hog -p players=3", "players=3 cannot be used as the number of players of Hog"),
    ("watch swap --game hog --seat 2", "seat=2 cannot be used as a seat"),
    ("watch swap --game hog -o x.avi", "must end in .gif"),
    ("watch swap --game hog -o x", "must end in .gif"),
    ("watch swap --game hog -o /nowhere/x.gif", "the folder /nowhere does not exist"),
    ("watch swap --game hog -o x.gif --delay 0", "invalid --delay 0 for a film: give 0.01 to 160 seconds"),
    ("watch swap --game hog -o x.gif --delay 600", "invalid --delay 600 for a film"),
    ("watch swap --game hog --against bacn", "Did you mean 'bacon'"),
    ("watch swap --game hog --against bacon --against swap", "2 opponents do not fit at one table"),
    # trainings
    ("train hog --set x", "sets nothing"),
    ("train hog --run-dir notes/run", "dicegym: "),
    # values
    ("values grade hog bacon -p goal", "write NAME=NUMBER"),
    ("values grade hog nobody", "nobody"),
    ("values exploitability hog swap --seconds -1", "seconds=-1.0 cannot be used as a time"),
    (
        "values exploitability liarsdice ppo --steps 64 --from nobody.zip",
        "no file nobody.zip, and start takes a model file",
    ),
    (
        "values exploitability liarsdice ppo --steps 64 --from bayes",
        "no trained agent of Liar's Dice for start 'bayes'",
    ),
    ("values exploitability liarsdice ppo --from taught", "add --steps N"),
    ("values analyse FILE --values guesses", "there is no source of values 'guesses'"),
    ("values analyse FILE -o x.csv", "must end in .json, which chooses the format"),
    ("values analyse nothing.json", "cannot be read"),
    # contests
    ("tournament hog -o /nowhere/x.json", "the folder /nowhere does not exist"),
    ("tournament hog -o a.json -o b.json", "a.json and b.json both end in .json"),
    ("tournament lucky idle thrifty --seeds 2", "seeds=2 means nothing to the format 'groups': leave it out"),
    ("tournament lucky idle thrifty --exact", "exact=True means nothing to the format 'groups': leave it out"),
    ("tournament hog bacon swap --games 0", "games=0 cannot be used as the number of games of a match"),
    ("tournament hog bacon swap --limit seconds=0", "seconds=0.0 cannot be used as seconds for a bot"),
    ("tournament hog bacon nosuch.py", "there is no file nosuch.py"),
    ("tournament hog bacon nosuch/hog.py", "there is no file nosuch/hog.py"),
    ("tournament hog bacon x=nosuch.py", "there is no file nosuch.py"),
    ("tournament hog bacon x=", "invalid entry 'x=': write NAME=ENTRY"),
    ("tournament hog bacon bacon=swap", "two entries are called 'bacon'"),
    ("tournament hog bacon swap --format swis", "Did you mean 'swiss'?"),
    ("tournament hog bacon swap --rounds 2", "rounds=2 means nothing to the format 'round-robin'"),
    ("tournament hog bacon swap --store none --label x", "leave --store none out"),
    ("tournament hog bacon swap --store none -o data.csv", "data-matches.csv is a folder"),
    ("tournament hog --seeds 100000 --store none", "matches are more than the 3,000,000 that a contest can have"),
    ("tournament lucky idle thrifty --format ladder", "there is no format of contests 'ladder'"),
    ("compare hog bacon swap --store none --elo 30 20", "smaller one first"),
    ("compare hog bacon swap --store none --margins 0 0.1 --elo 0 20", "same thing twice"),
    ("compare hog bacon swap --store none --others ham --elo 0 20", "do not meet"),
    ("compare hog bacon swap --store none --others nobody", "there is no agent of Hog 'nobody'"),
    # stored contests
    ("arena list --store none", "a store is needed here: name a file"),
    ("arena replay FILE --seat 2", "seat 2 is no seat of a game of 2: give 0 to 1"),
    ("arena replay FILE -o x.mp4", "must end in .gif or .html or .json"),
    ("arena replay FILE -o /nowhere/x.html", "the folder /nowhere does not exist"),
    ("arena replay FILE -o x.gif --delay 0", "invalid --delay 0 for a film"),
    ("arena replay FILE -o x.json --seat 0", "leave --seat out"),
    ("arena replay FILE --store x", "leave --store out"),
    ("arena replay 1 --store .", ". is a folder: name a file in it"),
    ("arena replay nothing.json", "No such file"),
    ("arena replay ann", "names no game: give MATCH or MATCH.GAME"),
    ("arena replay 1.0", "names no game"),
    ("arena replay 1.2.3", "names no game"),
    ("arena replay 1", "there is no store"),
    ("arena replay 1 --store FILE", "game.json"),
    # pages
    ("web --folder notes", "notes"),
    ("web --store notes", "notes"),
    ("web --store .", "."),
    ("web --store none", "none"),
    ("web --store no/x", "no/x"),
    ("web --port 0 --folder web --allow-host http://x", "invalid --allow-host 'http://x'"),
    ("web --port 0 --folder web --proxy nonsense", "invalid --proxy 'nonsense': give an address"),
    ("web --port 0 --folder web --proxy 10.0.0.1/8", "invalid --proxy '10.0.0.1/8'"),
    ("web --port 0 --folder web --runs nosuch", "--runs nosuch is not a folder"),
    ("web --port 0 --folder web --isolation foo", "there is no isolation 'foo'"),
]


@pytest.mark.parametrize(("line", "said"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_ends_with_one_helpful_line(
    line: str, said: str, file: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_: object, **__: object) -> Never:
        raise AssertionError("the work has begun")

    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("no database at all, though it is long enough to look like one" * 20)
    Path("empty").mkdir()
    Path("data-matches.csv").mkdir()
    for name in WORK:
        if "--seed" not in line:  # which `evaluate` refuses itself
            monkeypatch.setattr(name, work)
    status, out, err = run(*(str(file) if word == "FILE" else word for word in shlex.split(line)))
    assert (status, out) == (2, ""), err
    assert said in err
    assert err.startswith("dicegym: ")
    assert len(err.splitlines()) == 1, err
    assert {path.name for path in tmp_path.iterdir()} - {"web"} == {"empty", "notes", "data-matches.csv"}


@pytest.mark.parametrize("typed", ["nan", "inf", "-1", "1e300"])
@pytest.mark.parametrize("command", ["watch swap --game hog", "arena replay 1"])
def test_what_is_no_time_to_wait_is_refused(command: str, typed: str, run: Run) -> None:
    status, out, err = run(*command.split(), f"--delay={typed}")
    assert (status, out) == (2, "")
    assert "Invalid value for '--delay'" in err


TAKE_STEPS = itertools.cycle(("train hog", "runs tune hog", "values exploitability hog bacon"))
NO_NUMBERS = ("0", "-1", "1.5", "1e13", "nan", "inf", "many", "")


@pytest.mark.parametrize(("command", "typed"), [(next(TAKE_STEPS), typed) for typed in NO_NUMBERS])
def test_no_number_of_decisions_is_refused_with_one_that_is(run: Run, command: str, typed: str) -> None:
    status, out, err = run(*command.split(), "--steps", typed)
    assert (status, out) == (2, "")
    assert f"invalid number {typed!r}: give a whole number from 1" in err
    assert "such as 1000000 or 1e6" in err


@pytest.mark.parametrize("typed", ["1000000", "1_000_000", "1e6", "1E+06", 1_000_000])
def test_a_million_decisions_may_be_typed_as_people_write_them(typed: str | int) -> None:
    assert decisions(typed) == 1_000_000
