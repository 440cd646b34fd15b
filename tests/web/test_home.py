"""The first page, and pages that are not there, as others try to misuse them; test_browser.py looks at it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from played_forms import forms_of
from starlette.testclient import TestClient

from dicegym.registry import GAMES
from dicegym.web import readiness
from dicegym.web.readiness import STEPS, GettingReadyError, Readiness
from dicegym.web.static_files import files


def test_unknown_pages_say_so(client: TestClient) -> None:
    answer = client.get("/nothing")
    assert answer.status_code == 404
    assert "<h1>" in answer.text
    assert "gone" in client.get("/api/nothing").json()["error"]


def test_pages_run_no_script_but_their_own(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("headers", [{"Origin": "http://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_forms_of_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/", headers=headers).status_code == 403


def test_no_page_waits_for_a_game_that_is_being_compiled(client: TestClient) -> None:
    ready = client.app.state.web.readiness  # type: ignore[attr-defined]  # Starlette's own
    ready._waiting, ready.done, ready.of = {"hog"}, 3, 20
    assert "getting ready, 3 of 20" in client.get("/").text
    asked = {"game": "hog", "against": "easy", "seat": "1", "seed": "7", "parameters-goal": "30"}
    answer = client.post("/play/new", data=asked)
    assert answer.status_code == 503
    form = next(one for one in forms_of(answer.text) if one.action == "/play/new")
    assert dict(form.fixed).items() >= asked.items()
    for page in ("/play", "/play/new?game=hog", "/rules", "/rules/hog"):
        assert client.get(page).status_code == 200
    ready._waiting = set()
    assert client.post("/play/new", data=dict(form.fixed)).url.path != "/play/new"


def test_readiness_counts_what_a_process_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [name for name in GAMES for _ in range(STEPS)]
    script = f"print({chr(10).join(lines[:-1])!r}, flush=True); input()"
    started = subprocess.Popen
    monkeypatch.setattr(
        "dicegym.web.readiness.subprocess.Popen",
        lambda command, **options: started([sys.executable, "-c", script], **options | {"stdin": subprocess.PIPE}),
    )
    mark = tmp_path / "ready"
    monkeypatch.setattr("dicegym.web.readiness._mark", lambda: mark)
    ready = Readiness()
    assert not ready.running
    mark.touch()
    ready.start()
    assert not ready.running, "all of it is on disk"
    mark.unlink()
    ready.start()
    until = time.monotonic() + 30
    while ready.done < len(lines) - 1 and time.monotonic() < until:
        time.sleep(0.01)
    ready.check(GAMES[0])
    with pytest.raises(GettingReadyError, match=f"{len(lines) - 1} of {len(lines)}"):
        ready.check(GAMES[-1])
    ready.stop()
    while ready.running and time.monotonic() < until:
        time.sleep(0.01)
    ready.check(GAMES[-1])  # who plays it compiles it


@pytest.mark.parametrize("broken", [None, GAMES[0]])
def test_what_could_not_be_compiled_is_tried_again(
    broken: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(name: str) -> list[None]:
        if name == broken:
            raise OSError("no space left")
        return [None] * STEPS

    monkeypatch.setattr(readiness, "_compile", compiled)
    monkeypatch.setattr(readiness, "_mark", lambda: tmp_path / "ready")
    monkeypatch.setattr(readiness.os, "nice", lambda by: None, raising=False)
    readiness._main()
    assert (tmp_path / "ready").exists() == (broken is None)


def test_every_game_that_ships_has_a_cover() -> None:
    assert {f"covers/{name}.svg" for name in GAMES} <= set(files())
