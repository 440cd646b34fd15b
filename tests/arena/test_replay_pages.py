"""The page of a replay is complete, shows names as text, and hides what a seat may not know."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from browser import browser
from page_parts import check_sealed
from variants import each_game

import dicegym
from dicegym.arena.match import play_match
from dicegym.arena.replay import Replay, ReplayIncident, moments, replay_of
from dicegym.arena.replay.page import pack, page_data, write_page
from dicegym.engine.game import Game
from dicegym.pictures.drawing import draw
from dicegym.pictures.svg import Drawing, Tile
from dicegym.pictures.watched import tell_apart
from dicegym.play.player import RandomPlayer

NAMES = ("</script><img src=x onerror=alert(1)>", "@data@ <!--", "c\x1b[31m")


@cache
def random_game(game: Game) -> Replay:
    players = [RandomPlayer() for _ in range(game.players)]
    names = [NAMES[seat % 3] + str(seat) for seat in range(game.players)]
    incidents = (ReplayIncident(0, 1, "raised <script>alert(2)</script>"),)
    replay = replay_of(game, names, 6, play_match(game, players, 6, 1))
    return replace(replay, incidents=incidents)


def unpack(values: dict[str, Any]) -> list[Drawing]:
    """Return the pictures from the values of `pack`, as ``player.js`` does."""
    (width, height), pieces = values["size"], values["pieces"]
    bodies = [(title, "".join(pieces[number] for number in numbers)) for title, numbers in values["pictures"]]
    return [Drawing(width, height, (Tile(0, 0, width, height, body),), title) for title, body in bodies]


SMALL = {"hog": {"goal": 60}, "lucky": {"players": 3, "rounds": 8}}
"""Parameters with which pages are small: random players reach the last round of Lucky."""


def small_game(name: str) -> Game:
    return dicegym.game(name, **SMALL.get(name, {}))


@cache
def data_of(game: Game) -> dict[str, Any]:
    """Return what the page of `random_game` holds; not to be changed by those who ask."""
    return page_data(random_game(game))


@each_game
def test_a_page_holds_all_it_needs(name: str, tmp_path: Path) -> None:
    game = small_game(name)
    replay = random_game(game)
    write_page(replay, tmp_path / "game.html")
    text = (tmp_path / "game.html").read_text(encoding="utf-8")
    assert len(text) < 200_000
    parts = check_sealed(text)
    data, script = parts.texts["script"]
    assert not {tag for tag, _ in parts.tags} & {"img", "b", "iframe", "base", "object", "form"}
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttp|import\(", script)
    assert {*re.findall(r"https?://[^\s\"'<]+", text)} == {"http://www.w3.org/2000/svg"}
    assert json.loads(data) == json.loads(json.dumps(data_of(game)))
    assert "\x1b" not in text


@each_game
def test_its_data_are_the_moments_of_the_game(name: str) -> None:
    """The script shows the same as the terminal, and the same pictures."""
    game = small_game(name)
    replay, data = random_game(game), data_of(game)
    views = [None if view < 0 else view for view in data["views"]]
    hides = bool(game.spec.private) or game.spec.joint_action is not None
    assert views == [None, *(range(game.players) if hides else ())]
    pictures, names = unpack(json.loads(json.dumps(data["pictures"]))), tell_apart(replay.seats)
    for number, view in enumerate(views):
        seen = list(moments(replay, view))
        drawn = [draw(replay.table(), frame.state, view, names) for frame in replay.frames()]
        assert len(seen) == len(data["frames"])
        for moment, picture, (shown, done) in zip(seen, drawn, data["frames"], strict=True):
            assert scene_of(data, shown[number]) == (
                moment.scene.title,
                [tuple(line) for line in moment.scene.lines],
                moment.scene.footer,
            )
            told: dict[int, list[str]] = {}
            for seat, text, _, knowing in done:
                if number in knowing:
                    told.setdefault(seat, []).append(data["words"][text])
            lines = tuple(f"{data['names'][seat]}: {', '.join(texts)}" for seat, texts in told.items())
            assert lines == moment.done
            found = pictures[shown[number]]
            assert (found.body, found.title) == (picture.body, picture.title)
            assert [found.width, found.height] == data["pictures"]["size"]
    assert len({json.dumps(line) for line in data["lines"]}) == len(data["lines"])


def test_pictures_are_packed_without_loss_or_left_out_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = ["<g><text>a</text><rect/></g>", "<g><text>b</text><rect/></g>", "<g><rect/></g> x", "", "<a/><b/>"]
    drawings = [
        Drawing(4, 2, (Tile(0, 0, 4, 2, body),), f"picture {number}") for number, body in enumerate([*bodies, *bodies])
    ]
    values = pack(drawings)
    assert unpack(values) == drawings
    assert len(set(values["pieces"])) == len(values["pieces"])
    assert pack([])["pictures"] == []
    monkeypatch.setattr("dicegym.arena.replay.page.PICTURES_BUDGET", 100)
    assert page_data(random_game(dicegym.game("hog")))["pictures"] is None


def scene_of(data: dict[str, Any], number: int) -> tuple[str, list[Any], str]:
    title, lines, footer = data["scenes"][number]
    rows = [data["lines"][line] for line in lines]
    return title, [(label, text, dice, bool(active), cells) for label, text, dice, active, cells in rows], footer


@pytest.mark.parametrize("name", ["hog", "lucky", "liarsdice"])
def test_a_page_for_a_seat_holds_no_more_than_it_was_shown(name: str) -> None:
    replay = replace(random_game(small_game(name)), incidents=(ReplayIncident(1, 1, "a secret of 1"),))
    everything, own, other = page_data(replay), page_data(replay, 1), page_data(replay, 0)
    assert own["views"] == [1]
    assert "a secret of 1" in json.dumps(everything)
    assert "a secret of 1" in json.dumps(own)
    assert "a secret of 1" not in json.dumps(other)
    assert str(replay.seed) in everything["facts"][0].split()[1]
    assert not [fact for fact in other["facts"] if "seed" in fact]  # from which all dice follow
    shown = {tuple(map(str, line)) for line in other["lines"]}
    spectator = {tuple(map(str, data_line)) for data_line in everything["lines"]}
    hidden = {line for line in spectator - shown if line[2] not in ("()", "(0,)")}
    assert hidden
    if name != "liarsdice":
        assert {seat for _, done in other["frames"] for seat, *_ in done} == {0}


def test_notes_are_told_to_those_who_may_know_them() -> None:
    replay, note = random_game(dicegym.game("hog")), "a note on a decision"
    data = page_data(replay, notes={(1, 1): note})
    (number,) = (number for number, words in enumerate(data["words"]) if words.endswith(note))
    ((seat, _, wrong, views),) = (one for _, done in data["frames"] for one in done if one[1] == number)
    assert (seat, wrong, [data["views"][view] for view in views]) == (1, 1, [-1, 1])
    assert note not in json.dumps(page_data(replay, 0, {(1, 1): note}))


@pytest.mark.slow
def test_a_browser_steps_through_it(tmp_path: Path) -> None:
    """A file on the disk: buttons, keys, slider and list, every view, on a telephone too."""
    replay = random_game(dicegym.game("hog", goal=20))
    path = tmp_path / "game.html"
    write_page(replay, path)
    last = len(page_data(replay)["frames"]) - 1
    key = "document.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true}))"
    done = "document.getElementById('done').textContent"
    with browser() as shown:
        shown.open(path)

        def at() -> str:
            return str(shown.ask("document.getElementById('count').textContent"))

        assert at() == f"move 0 of {last}"
        assert shown.ask(done) == "The game begins."
        for script, place in (
            ("document.getElementById('forward').click()", 1),
            (key % "ArrowRight", 2),
            (key % "ArrowLeft", 1),
            (key % "End", last),
            (key % "ArrowRight", last),
            ("document.getElementById('first').click()", 0),
            (f"document.querySelectorAll('#list li')[{last}].click()", last),
            (key % "Home", 0),
            ("let s = document.getElementById('slider'); s.value = 2; s.dispatchEvent(new Event('input'))", 2),
            ("location.hash = '#move=99999&view=7'", last),
            ("location.hash = '#move=nonsense&view=x'", 0),
            ("document.getElementById('wrong').click()", 1),
        ):
            shown.ask(script)
            shown.ask("new Promise(requestAnimationFrame)")
            assert at() == f"move {place} of {last}", script
        assert "(raised <script>alert(2)</script>)" in shown.ask(done)
        assert shown.ask("location.hash") == "#move=1&view=-1"
        shown.ask(key % "v")
        shown.ask(key % "v")
        assert shown.ask("document.getElementById('view').selectedOptions[0].textContent") == replay.seats[1]
        assert shown.ask(done) == "not shown to this seat"
        dice = "document.querySelectorAll('#board .dice svg').length"
        assert shown.ask(dice) == 0
        shown.ask(key % "v")
        assert shown.ask(dice) > 0
        shown.ask("document.getElementById('speed').value = '20'")
        shown.ask("document.getElementById('last').click(); document.getElementById('play').click()")
        until = time.monotonic() + 20
        while at() != f"move {last} of {last}" and time.monotonic() < until:
            time.sleep(0.05)
        assert at() == f"move {last} of {last}"
        shown.open(path, 360, 700)
        assert shown.ask("document.documentElement.scrollWidth") <= 360
        assert shown.ask("document.querySelectorAll('img, b img, script').length") == 2
        assert shown.complaints == []
