"""Translated rules play as compiled ones do: record by record, observation by observation."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from variants import one_always

import dicegym
from dicegym.engine.dice import game_key
from dicegym.engine.game import Game
from dicegym.engine.twins import declared
from dicegym.errors import ParameterError
from dicegym.games.controls import Basket, DiceToggles, PickOne, PlayForm
from dicegym.games.keyboard import Place
from dicegym.games.parts import CONTROLS, KEYBOARD, need
from dicegym.pictures.drawing import PICTURE, Viewpoint
from dicegym.players import model
from dicegym.players.drawing import drawn, gives_away, probabilities
from dicegym.players.twins import twin_numbers
from dicegym.registry import GAMES
from dicegym.shipped import shipped_folder
from dicegym.web.export.data import game_script, model_script
from dicegym.web.export.screens import Screen, screen
from dicegym.web.export.translate.games import TranslatedGame, translated

NODE = shutil.which("node")
SEED = 20261122
ALWAYS = ("hog", "liarsdice")
"""A game without secrets, and one with, whose model draws."""
pytestmark = pytest.mark.skipif(NODE is None, reason="games are played in JavaScript by node, which is not installed")


class Played:
    """Games as the engine played them, and the bytes of what it saw."""

    def __init__(self, name: str, translation: TranslatedGame, shown: Screen, network: Any, most: int) -> None:
        self.game = dicegym.game(name)
        self.shown = shown
        self.translation, self.network, self.most = translation, network, most
        self.numbers = [twin_numbers(self.game)[twin] for twin in translation.twins]
        self.kernels = [declared(self.game.spec.module)[number].kernel for number in self.numbers]
        self.screens = True
        self.games: list[dict[str, Any]] = []
        self.seen: list[tuple[str, np.ndarray]] = []

    def play(self, table: Game, seed: int, wild: bool, generator: np.random.Generator) -> None:
        key = game_key(seed, 0)
        states = table.new_game(seed)
        actions: list[int] = []
        brief = "told" in self.shown.brief
        self._note(table, states, 0)
        while not states[0]["over"] and len(actions) < self.most:
            if wild and generator.random() < 0.1:
                action = int(generator.choice([-2, -1, *generator.integers(0, 5 * table.n_actions, 3), 10**12]))
            else:
                action = int(generator.choice(np.flatnonzero(table.legal(states[0]))))
            actions.append(action)
            before = states.copy()
            self._note(table, states, table.step(states[0], action), action, before[0])
        settings = {"players": table.players, **table.parameters}
        self.games.append(
            {"settings": settings, "key": str(key), "actions": actions, "brief": brief, "screens": self.screens}
        )

    def _note(self, table: Game, states: np.ndarray, fault: int, action: int = 0, before: Any = None) -> None:
        state = states[0]
        self.seen.append(("fault", np.array([fault], np.int32)))
        self.seen += [(f"field {name}", np.atleast_1d(state[name]).copy()) for name in table.spec.state.names or ()]
        self.seen += [(f"observation of seat {seat}", table.observe(state, seat)) for seat in range(table.players)]
        self.seen += [("mask", table.legal(state)), ("returns", table.returns(state))]
        if self.screens:
            self._see(table, state, fault, action, before)
        if state["over"]:
            return
        chosen = [int(kernel(state)) for kernel in self.kernels]
        self.seen.append(("choices of the twins", np.array(chosen, np.int64)))
        if self.network is not None:
            scores = self.network.scores(table.observe(state, int(state["player"]))[None])
            chances = probabilities(scores, table.legal(state)[None], self.network.temperature)
            self.seen.append(("choice of the model", drawn(chances, np.array([0.37])).astype(np.int32)))

    def _see(self, table: Game, state: Any, fault: int, action: int, before: Any) -> None:
        text = json.dumps(self._said(table, state, fault, action, before)).encode()
        self.seen.append(("screen", np.frombuffer(text, np.uint8)))

    def _said(self, table: Game, state: Any, fault: int, action: int, before: Any) -> list[Any]:
        names = tuple(f"agent {seat}" for seat in range(table.players))
        seat = int((state if before is None else before)["player"])
        keyboard, controls = need(table, KEYBOARD), need(table, CONTROLS)
        place = Place(table, seat, names)
        said: list[Any] = [table.scene(state, seat), table.scene(state, None)]
        for viewer, opened in ((seat, keyboard.OPEN), (None, frozenset())):
            drawn = need(table, PICTURE).picture(state, Viewpoint(viewer, names, opened))
            said.append([drawn.width, drawn.height, list(drawn.tiles)])
        if before is not None:
            brief = "told" in self.shown.brief
            said.append(keyboard.told(place, before, action, state, table.spec.faults[fault], brief))
        if state["over"]:
            return [*said, keyboard.ending(place, state)]
        mover = Place(table, int(state["player"]), names)
        forms = controls.forms(mover, state)
        fields = filled(forms[0])
        try:
            actions: Any = [int(one) for one in controls.chosen(mover, state, forms[0].name, fields)]
        except ParameterError as error:
            actions = str(error)
        return [*said, forms, list(fields.items()), actions]


def filled(form: PlayForm) -> dict[str, list[str]]:
    """A form filled in as it is offered."""
    fields = {}
    for widget in form.widgets:
        if isinstance(widget, PickOne):
            fields[widget.name] = [widget.chosen or next(one.value for one in widget.options if not one.refused)]
        elif isinstance(widget, DiceToggles):
            fields[widget.name] = ["0", "2"]
        elif isinstance(widget, Basket):
            fields[f"{widget.name}.{widget.items[0].value}"] = ["1"]
        else:
            fields[widget.name] = [str(widget.value)]
    return fields


def played_in_javascript(folder: Path, played: Played, scripts: str) -> bytes:
    scripts_of_pages = resources.files("dicegym.web.export") / "scripts"
    (folder / "game.js").write_text(scripts)
    (folder / "games.json").write_text(json.dumps(played.games))
    program = Path(__file__).with_name("play_translated.js")
    done = subprocess.run(
        [
            *(str(NODE), str(program), str(scripts_of_pages / "python.js"), str(scripts_of_pages / "engine.js")),
            *(str(folder / "game.js"), str(folder / "games.json")),
        ],
        capture_output=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return done.stdout


def tables(name: str) -> list[Game]:
    """The game as it is by default, and with other numbers of players and parameters that its network plays as well."""
    low, high = dicegym.game(name).spec.players
    return [dicegym.game(name), *(dicegym.game(name, players=players) for players in {low, high})]


def compare(name: str, folder: Path, games: int, most: int, screens: int = 1) -> None:
    """Play games in both languages; every so many of them with all that is on the screen."""
    game = dicegym.game(name)
    translation, shown = translated(game), screen(game)
    assert not shown.refused
    file = shipped_folder("agents") / name / "ppo.zip"
    network = model.load(file, temperature=1.0 if gives_away(game) else 0.0)
    played = Played(name, translation, shown, network, most)
    generator = np.random.default_rng(SEED)
    for number in range(games):
        table = tables(name)[number % len(tables(name))]
        played.screens = number % screens == 0
        played.play(table, SEED + number, number % 4 == 3, generator)
    scripts = game_script(game, translation, shown) + model_script(
        "ppo", game, network.plain_network(), network.temperature
    )
    found, at = played_in_javascript(folder, played, scripts), 0
    for number, (what, expected) in enumerate(played.seen):
        wanted = expected.tobytes()
        if what == "screen":
            size = int(np.frombuffer(found[at : at + 4], np.int32)[0])
            at += 4
            assert json.loads(found[at : at + size]) == json.loads(wanted)
            at += size
            continue
        if found[at : at + len(wanted)] != wanted:
            there = np.frombuffer(found[at : at + len(wanted)], expected.dtype)
            last = [seen.tolist() for kind, seen in played.seen[:number] if kind == "fault"]
            pytest.fail(f"{what} after {len(last)} records: {there.tolist()} instead of {expected.ravel().tolist()}")
        at += len(wanted)
    assert at == len(found)


@pytest.mark.parametrize("name", one_always(sorted(GAMES, key=lambda name: name not in ALWAYS), 2))
def test_rules_observations_and_agents_are_the_same(name: str, tmp_path: Path) -> None:
    compare(name, tmp_path, games=9, most=30)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_thousands_of_games_are_the_same(name: str, tmp_path: Path) -> None:
    compare(name, tmp_path, games=1000, most=200, screens=50)
