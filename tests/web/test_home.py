"""The first page, and pages that are not there, as others try to misuse them; test_browser.py looks at it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from played_forms import forms_of
from rules_page import page as rules_page
from rules_page import section, table
from starlette.testclient import TestClient
from variants import each_game

import dicegym
from dicegym.registry import ENVIRONMENTS, GAMES
from dicegym.web import readiness
from dicegym.web.application import SECTIONS
from dicegym.web.readiness import GettingReadyError, Readiness
from dicegym.web.static_files import files


def test_the_first_page_names_all_sections_and_unknown_ones_say_so(client: TestClient) -> None:
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)
    main = answer.text.partition("<main")[2]
    for one in SECTIONS:
        assert re.search(rf'href="{one.path}"[^>]*>\s*(<[^>]*>\s*)*{one.title}', main), one.path
    answer = client.get("/nothing")
    assert (answer.status_code, "<h1>" in answer.text) == (404, True)
    assert "gone" in client.get("/api/nothing").json()["error"]


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which compiled games are marked; none are."""
    monkeypatch.setattr(readiness, "CACHE_FOLDER", str(tmp_path))
    monkeypatch.setattr(readiness.os, "nice", lambda by: None, raising=False)
    return tmp_path


def test_no_page_waits_for_a_game_that_is_being_compiled(
    client: TestClient, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = client.app.state.web.readiness  # type: ignore[attr-defined]  # Starlette's own
    started = subprocess.Popen
    monkeypatch.setattr(
        readiness.subprocess, "Popen", lambda _, **options: started([sys.executable, "-c", SLEEP], **options)
    )
    ready.start()
    asked = {"game": "hog", "against": "easy", "seat": "1", "seed": "7", "parameters-goal": "30"}
    answer = client.post("/play/new", data=asked)
    assert (answer.status_code, "Hog is being compiled" in answer.text) == (503, True)
    form = next(one for one in forms_of(answer.text) if one.action == "/play/new")
    assert dict(form.fixed).items() >= asked.items()
    for page in ("/play", "/play/new?game=hog", "/rules", "/rules/hog"):
        assert client.get(page).status_code == 200
    assert client.post("/play/new", data={"game": "chess"}).status_code == 404
    (marks / "hog-is-ready").touch()
    assert client.post("/play/new", data=dict(form.fixed)).url.path != "/play/new"
    with pytest.raises(GettingReadyError):
        ready.check("yatzy")
    ready.stop()
    ready.check("yatzy")  # who plays it compiles it


SLEEP = "import time; time.sleep(60)"
"""What compiles for long."""


@pytest.mark.parametrize("broken", [None, GAMES[0]])
def test_what_could_not_be_compiled_is_tried_again(
    broken: str | None, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def compiled(name: str) -> None:
        tried.append(name)
        if name == broken:
            raise OSError("no space left")

    monkeypatch.setattr(readiness, "_compile", compiled)
    monkeypatch.setattr(readiness.subprocess, "Popen", lambda command, **options: readiness._main())
    Readiness().start()
    Readiness().start()
    assert tried == [*GAMES, *([broken] if broken else [])]


# --- the rules of each game ----------------------------------------------------------------------------------------


@each_game
def test_a_page_has_all_of_the_rules(reader: TestClient, name: str) -> None:
    assert f'href="/rules/{name}"' in reader.get("/rules").text
    text = reader.get(f"/rules/{name}").text
    assert text.count("<h1>") == 1
    assert f"covers/{name}.svg" in text
    assert f"covers/{name}.svg" in files()
    for title in ("Parameters", "Actions", "Observation", "Rewards"):
        assert f"<h3>{title}</h3>" in text
    for row in table(section(rules_page(name), "Actions")):
        assert f"<td><p>{row['action']}</p></td>" in text.replace(" ", "") or row["action"] in text
    for agent in dicegym.agent_names(dicegym.game(name)):
        assert f"<code>{agent}</code>" in text
    for one in ENVIRONMENTS:
        assert (f"<code>{one.full_id}</code>" in text) == (one.game == name)
    assert "style=" not in text
    assert not re.search(r"system-message|``|\|---", text), "everything was understood"
    unknown = reader.get("/rules/chess")
    assert (unknown.status_code, name in unknown.text) == (404, True)
