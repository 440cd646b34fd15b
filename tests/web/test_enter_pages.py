"""Pages of the service for bots: who sees what, what is refused, and nothing of others that is more than text."""

from __future__ import annotations

import io
import os
import re
import threading
import time
import zipfile
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from web_pages import Visitor

import dicegym
from dicegym.arena.csv_tables import csv_text
from dicegym.errors import DicegymError
from dicegym.sandbox import jail
from dicegym.web.application import create_app
from dicegym.web.enter import bots as limits
from dicegym.web.enter.enter_operations import FORM_BYTES
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.runner import Runner, SubmissionService
from dicegym.web.enter.submission_tables import VersionState
from dicegym.web.enter.uploads import LARGEST_UPLOAD

if TYPE_CHECKING:
    from httpx2 import Response

    from dicegym.web.web_settings import WebSettings

BOT = b"def final_strategy(score, opponent_score):\n    return 5\n"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 191 }}{% for x in y %}",
    "${7*191}#{7*191}<%= 7*191 %>",
    "javascript:alert(1)//",
    "=HYPERLINK(1)",
    "</pre></details></main>",
    "<!--",
    "&lt;script&gt;",
)
"""Names that people could give; each is shorter than the longest."""
WORSE = (
    "\x1b[2J\x1b[31mred\x07",
    "\u202egnp.exe\u202c",
    "a" + "\u0301" * 500,
    "x" * 4_096,
    "\0\r\n\t\u2028\u200b\ufeff",
    "\n" * 50 + "<b>" * 400,
    "data:text/html,<script>alert(1)</script>",
)
"""What bots print and say besides."""


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits, waits: how it is checked stands in another file."""
    monkeypatch.setattr(Runner, "start", lambda self: None)


@pytest.fixture
def service(client: TestClient) -> SubmissionService:
    return client.app.state.web.get(SubmissionService)  # type: ignore[attr-defined]  # Starlette's, which the type hides


def bearer(service: SubmissionService, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {service.tokens.add(name)}"}


def handed_in(client: TestClient, headers: dict[str, str], name: str = "rusher", data: bytes = BOT) -> Response:
    query = {"game": "hog", "name": name}
    return client.post("/api/enter/bots", params=query, content=data, headers=headers)


def report_of(**report: Any) -> dict[str, Any]:
    found = {"ok": True, "load_seconds": 0.1, "seconds": 0.2, "limit": 10.0, "questions": 7, "printed": "", "calls": ""}
    return found | {"unit": "questions", "win_rate": None, "baseline": "", "remarks": [], "reason": ""} | report


def passed(service: SubmissionService, version: int = 1, **report: Any) -> None:
    service.bots.note(version, VersionState.PASSED, report=report_of(**report))


def test_a_token_is_entered_once_and_forgotten_at_will(client: TestClient, service: SubmissionService) -> None:
    assert "hand-in" not in client.get("/enter").text
    refused = client.post("/enter/token", data={"token": "dice_" + "0" * 32})
    assert refused.status_code == 401
    assert "no token" in refused.text
    token = service.tokens.add("ann")
    answer = client.post("/enter/token", data={"token": token}, follow_redirects=False)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert token not in cookie
    assert "You are <strong>ann</strong>" in client.get("/enter").text
    client.post("/enter/leave")
    assert "You are" not in client.get("/enter").text
    client.cookies.set("dicegym_session", cookie.partition("=")[2].partition(";")[0])
    assert "You are" not in client.get("/enter").text, "what was forgotten is worth nothing"


def test_without_a_token_nothing_is_handed_in_or_seen(client: TestClient, service: SubmissionService) -> None:
    headers = bearer(service, "ann")
    assert handed_in(client, headers).status_code in (200, 201)
    others = bearer(service, "bob")
    for known, status in (({}, 401), ({"Authorization": "Bearer nonsense"}, 401), (others, 404)):
        assert client.get("/enter/bots/1", headers=known).status_code == status
        assert client.get("/api/enter/bots/1", headers=known).status_code == status
        assert client.delete("/api/enter/bots/1", headers=known).status_code == status
        assert client.put("/api/enter/bots/1/contests/1", headers=known).status_code == status
    assert handed_in(client, {}).status_code == 401


def test_nothing_is_taken_where_no_jail_holds(settings: WebSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "_find_jail", lambda: (None, "bubblewrap is not installed"))
    with Visitor(create_app(settings)) as client:
        service = client.app.state.web.get(SubmissionService)  # type: ignore[attr-defined]  # as above
        headers = bearer(service, "ann")
        answer = handed_in(client, headers)
        assert answer.status_code == 503
        assert "bubblewrap is not installed" in answer.json()["error"]
        assert "bubblewrap is not installed" in client.get("/enter", headers=headers).text
        assert service.bots.next_waiting() is None


def test_what_is_too_much_is_refused(
    client: TestClient, service: SubmissionService, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(service, "ann")
    refused = handed_in(client, headers, data=b"#" * (LARGEST_UPLOAD + 1))
    assert (refused.status_code, f"more than the {LARGEST_UPLOAD:,} that" in refused.json()["error"]) == (413, True)
    assert handed_in(client, headers, data=b"").status_code == 400
    assert handed_in(client, headers, name="x" * 41).status_code == 400
    assert "game" in client.post("/api/enter/bots", content=BOT, headers=headers).json()["error"]
    for number in range(limits.MOST_WAITING_EACH):
        assert handed_in(client, headers, f"bot {number}").status_code in (200, 201)
    assert "wait to be checked" in handed_in(client, headers).json()["error"]
    for number in range(limits.MOST_WAITING_EACH):
        passed(service, number + 1)
    monkeypatch.setattr(limits, "MOST_KEPT", 10)
    assert "MiB" in handed_in(client, headers).json()["error"]
    monkeypatch.setattr(limits, "MOST_KEPT", 1 << 30)
    monkeypatch.setattr(limits, "MOST_BOTS", limits.MOST_WAITING_EACH)
    assert "give one of their names" in handed_in(client, headers).json()["error"]
    assert handed_in(client, headers, "bot 0").json()["version"]["number"] == 2


@pytest.mark.parametrize("file", ["mine.exe", "mine", "a/../b.py", "a\\b.py"])
def test_a_name_that_is_no_bots_file_is_refused(client: TestClient, service: SubmissionService, file: str) -> None:
    query = {"game": "hog", "name": "a", "file": file}
    answer = client.post("/api/enter/bots", params=query, content=BOT, headers=bearer(service, "ann"))
    assert answer.status_code == 400
    assert f"invalid file name {file!r}: give the name of a .py file" in answer.json()["error"]
    assert not service.bots.of_owner("ann")


def test_forms_take_a_file_or_a_text_and_say_what_is_wrong(client: TestClient, service: SubmissionService) -> None:
    client.post("/enter/token", data={"token": service.tokens.add("ann")})
    form = {"game": "hog", "name": ""}
    both = {"game": "yatzy", "name": "kept", "text": BOT.decode()}
    for data, status, said in (
        (BOT, 400, "a file and a text"),
        (b"#" * (LARGEST_UPLOAD + FORM_BYTES), 413, "send less"),
    ):
        page = client.post("/enter/bots", data=both, files={"file": ("a.py", data)})
        assert page.status_code == status
        kept = ('value="kept"', '<option value="yatzy" selected>', BOT.decode().splitlines()[1].strip())
        assert [words for words in (said, *kept) if words not in page.text] == []
    assert "no file and no text" in client.post("/enter/bots", data=form).text
    shown = client.post("/enter/bots", data=form, files={"file": ("../my bot.py", BOT)})
    assert shown.url.path == "/enter/bots/1"
    assert "<h1>my bot</h1>" in shown.text
    assert f"dicegym {dicegym.__version__}. " in shown.text, "the page's own version is another"
    assert "Waits to be checked" in shown.text
    assert "1 characters" not in client.post("/enter/bots", data=form | {"name": "b", "text": BOT.decode()}).text
    assert "tick the box" in client.post("/enter/bots/1/remove").text
    assert client.post("/enter/bots/1/remove", data={"sure": "yes"}).url.path == "/enter"
    assert client.get("/enter/bots/1").status_code == 404


def test_a_contest_that_cannot_be_is_refused(service: SubmissionService) -> None:
    for given, said in (
        ({"agents": ("nobody",)}, "no agent"),
        ({"options": {"rounds": 3}}, "means nothing to the format"),
        ({"game": "yatzy", "options": {"exact": True}}, r"exact=True cannot be used, as .* has no exact values"),
    ):
        with pytest.raises(DicegymError, match=said):
            ContestPlan(**{"game": "hog"} | given)
    with pytest.raises(DicegymError, match="is past"):
        service.contests.add("Autumn", ContestPlan("hog"), "2020-01-01")


def test_the_newest_version_that_passed_plays_in_a_contest(client: TestClient, service: SubmissionService) -> None:
    ann, contests = bearer(service, "ann"), service.contests

    def playing() -> list[int | None]:
        return [version and version.number for _, version in contests.taking_part(contests.contest(1))]

    assert ContestPlan("hog", options={"exact": True, "games": 0}).words()[:2] == ["exact=True", "games=0"]
    contests.add("Autumn", ContestPlan("hog", agents=("bacon", "swap")), "2 days")
    contests.add("Winter", ContestPlan("hog", "round-robin", options={"games": 3}))  # as commands write it
    assert "Hog, round-robin; games=3" in client.get("/enter/contests/2").text
    handed_in(client, ann)
    refused = client.put("/api/enter/bots/1/contests/1", headers=ann)
    assert "no version" in refused.json()["error"]
    passed(service)
    wanted = contests.count_wanted(1) or 0
    assert client.put("/api/enter/bots/1/contests/1", headers=ann).json()["contests"] == [1]
    assert contests.count_wanted(1) == wanted + 1
    handed_in(client, ann)
    assert playing() == [1], "what is not checked does not play"
    passed(service, 2)
    assert playing() == [2]
    assert contests.count_wanted(1) == wanted + 2
    assert client.get("/api/enter/contests/1").json()["entries"][0]["version"] == 2
    client.delete("/api/enter/bots/1/contests/1", headers=ann)
    assert playing() == []
    contests.close(1)
    assert "is closed" in client.put("/api/enter/bots/1/contests/1", headers=ann).json()["error"]


class _Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.scripts: list[str | None] = []
        self.images = 0
        self.acting: list[tuple[str, str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.images += tag in ("img", "iframe", "object", "embed", "svg", "base", "meta")
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))
        for name, value in attrs:
            leads = name in ("href", "src", "action", "formaction", "hx-get", "hx-post")
            if name.startswith("on") or name == "style" or (leads and not (value or "").startswith(("/", "#"))):
                self.acting.append((tag, name, value))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_that_others_write_is_more_than_text(client: TestClient, service: SubmissionService, name: str) -> None:
    ann = bearer(service, name)
    plain = _Page(client.get("/enter", headers=ann).text)
    service.contests.add(name, ContestPlan("hog"))
    for text in (name, *(WORSE if name == HOSTILE[0] else ())):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("hog.py", BOT)
        file = re.sub(r"[/\\]", "", text) + ".zip"  # other names are refused
        params = {"game": "hog", "name": name, "file": file}
        assert client.post("/api/enter/bots", params=params, content=out.getvalue(), headers=ann).status_code < 300
        number = service.bots.version(1).id
        row = {"agent": text, "strength": text, "seats": 2, "games": 20, "wins": 1, "share": 0.1, "faults": 1}
        row |= {"problem": "", "misplays": [[1, 2, text]], "printed": text + " "}
        service.bots.note(number, VersionState.PASSED, text, results=[row, {**row, "problem": text}])
        passed(service, number, printed=text, calls=text, remarks=[text], baseline=text, win_rate=0.5)
        service.contests.enter(1, service.bots.bot(1, name))
        service.contests.note(1, problem=text, progress=text, running=len(text) % 2 == 0)
        for path in ("/enter", "/enter/bots/1", "/enter/contests/1"):
            shown = client.get(path, headers=ann).text
            found = _Page(shown)
            assert found.scripts == plain.scripts
            assert found.images == plain.images
            assert not found.acting
            assert "1337" not in re.sub(r"[0-9a-f]{16,}", "", shown), "a template of theirs was filled"
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u200b\u2028\ufeff]", shown)
            assert name in found.text
        service.bots.note(number, VersionState.REFUSED, report=report_of(ok=False, reason=text))
        assert not _Page(client.get("/enter/bots/1", headers=ann).text).acting
        passed(service, number)
    grades = csv_text([row.model_dump() for row in service.contests.grades(service.contests.contest(1), None)])
    assert "\n=" not in grades
    assert ",=" not in grades


def test_nonsense_in_addresses_is_told(client: TestClient, service: SubmissionService) -> None:
    teacher = bearer(service, "teacher")
    handed_in(client, teacher)
    for path, status in (
        ("bots/1?version=x", 422),
        (f"bots/1?version={'9' * 20}", 422),
        ("bots/1?version=7", 404),
        (f"bots/{'9' * 23}", 404),
        ("contests/9", 404),
    ):
        assert client.get(f"/enter/{path}", headers=teacher).status_code == status, path


def test_a_version_in_time_plays_though_its_check_ends_later(client: TestClient, service: SubmissionService) -> None:
    ann, contests = bearer(service, "ann"), service.contests
    contests.add("Autumn", ContestPlan("hog", agents=("bacon",)), "2 days")
    handed_in(client, ann)
    passed(service)
    client.put("/api/enter/bots/1/contests/1", headers=ann)
    handed_in(client, ann)
    handed_in(client, ann)
    contests.close(1)
    wanted = contests.count_wanted(1)
    assert wanted is not None
    passed(service, 2)
    assert contests.count_wanted(1) == wanted + 1, "else its grade would name a version that has not played"
    assert client.get("/api/enter/contests/1").json()["entries"][0]["version"] == 2
    contests.note(1, closed="2026-01-01T00:00:00+00:00")  # before any was handed in
    passed(service, 3)
    assert contests.count_wanted(1) == wanted + 1


@pytest.mark.parametrize("change", ["enter", "withdraw"])
def test_nothing_changes_in_a_contest_that_is_closed_just_now(
    change: str, client: TestClient, service: SubmissionService, monkeypatch: pytest.MonkeyPatch
) -> None:
    contests, writing = service.contests, service.store.writing
    contests.add("Autumn", ContestPlan("hog"))
    handed_in(client, bearer(service, "ann"))
    passed(service)
    bot = service.bots.bot(1, "ann")
    if change == "withdraw":
        contests.enter(1, bot)

    def write_after_another() -> Any:
        monkeypatch.setattr(service.store, "writing", writing)
        contests.close(1)
        return writing()

    monkeypatch.setattr(service.store, "writing", write_after_another)
    with pytest.raises(DicegymError, match="is closed"):
        contests.enter(1, bot) if change == "enter" else contests.withdraw(1, bot.id)
    assert len(contests.taking_part(contests.contest(1))) == (change == "withdraw")


def test_what_another_server_unpacks_is_left_to_it(service: SubmissionService) -> None:
    new, old = (service.store.folder / "versions" / name for name in (".new", ".old"))
    for folder in (new, old):
        (folder / "bots").mkdir(parents=True)
    os.utime(old, (0, 0))
    service.bots.requeue_interrupted()
    assert (new.exists(), old.exists()) == (True, False)


def test_what_was_checked_when_a_server_ended_is_checked_anew(client: TestClient, service: SubmissionService) -> None:
    headers = bearer(service, "ann")
    handed_in(client, headers)
    service.bots.note(1, VersionState.PLAYING, "plays", report={"ok": True})
    assert service.bots.next_waiting() is None
    service.bots.requeue_interrupted()
    assert service.bots.next_waiting() == 1
    assert service.bots.version_by_id(1).report is None
    service.bots.note(1, VersionState.PLAYING, "plays", report={"ok": True})
    service.bots.give_up(1, "it took too long")
    assert service.bots.version_by_id(1).state == VersionState.PASSED
    service.bots.give_up(1, "nothing was found out")
    assert service.bots.version_by_id(1).progress == "games were not played: it took too long"
    service.bots.remove(1)
    service.bots.give_up(1, "it is gone")


def test_what_cannot_be_checked_or_held_does_not_keep_others_waiting(
    client: TestClient, service: SubmissionService, settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(service, "ann")
    for name in ("one", "two"):
        handed_in(client, headers, name)
    contest = service.contests.add("Autumn", ContestPlan("hog"))

    def failing(*_: object) -> None:
        raise RuntimeError("nobody expected this")

    monkeypatch.setattr(Runner, "_run", failing)
    monkeypatch.setattr(jail, "probe", lambda *_: "")
    runner = Runner(service.store, settings)
    runner._thread = threading.Thread(target=runner._work, daemon=True)
    runner._thread.start()
    until = time.monotonic() + 10
    while not service.contests.contest(contest.id).problem and time.monotonic() < until:
        time.sleep(0.02)
    runner.stop()
    assert [service.bots.version_by_id(number).state for number in (1, 2)] == [VersionState.FAILED] * 2
    assert "log" in service.contests.contest(contest.id).problem
    assert service.contests.contest(contest.id).state.startswith("could not be run: ")
    service.contests.note(contest.id, wanted=9)  # a bot has come since
    assert service.contests.contest(contest.id).state == "waits to run"
