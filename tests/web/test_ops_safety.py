"""What keeps pages and visitors safe: on every address, whatever section it belongs to."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import http.client
import socket
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient
from web_pages import Visitor

from dicegym.errors import ParameterError
from dicegym.web import static_files, workers
from dicegym.web.address import address_of, listen
from dicegym.web.application import create_app
from dicegym.web.context import A_SECOND, AT_ONCE, HEADER_BYTES, SMALL_BODY, AddressLimits
from dicegym.web.section import NumberConvertor
from dicegym.web.security import COOKIE, SAFETY_HEADERS
from dicegym.web.serving import PageServer, list_notes
from dicegym.web.web_settings import WebSettings
from dicegym.web.workers import Answer, TooBusyError, WorkerThreads

from .conftest import Running

GONE = "0" * 32
OWN = "http://127.0.0.1:8000"


def every_route() -> list[tuple[str, str]]:
    """Return method and path of every route, something in place of each parameter."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(WebSettings(Path(folder)))
    found = []
    for route in app.routes:
        path = route.path_format
        for name, convertor in route.param_convertors.items():
            path = path.replace(f"{{{name}}}", "0" if isinstance(convertor, NumberConvertor) else "nothing")
        found += [(method, path) for method in sorted(route.methods or ())]
    return found


ROUTES = every_route()


@pytest.mark.parametrize("path", sorted({path for method, path in ROUTES if method in ("GET", "HEAD")}))
def test_every_address_has_the_headers(reader: TestClient, path: str) -> None:
    answer = reader.get(path, follow_redirects=False)
    assert answer.status_code < 500
    for name, value in SAFETY_HEADERS.items():
        assert name in answer.headers
        assert name == "Cache-Control" or answer.headers[name] == value
    assert answer.is_redirect or not answer.headers["content-type"].startswith("text/html") or "<h1" in answer.text


OTHERS = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": OWN},
    {"Origin": "http://elsewhere.example"},
    {"Origin": "http://127.0.0.1:8001"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "null"},
    {"Origin": ""},
)
"""What browsers send with a form of another site, of another port, and of a page in a sandbox."""


@pytest.mark.parametrize(("method", "path"), [one for one in ROUTES if one[0] not in ("GET", "HEAD")])
def test_every_address_refuses_forms_of_others(reader: TestClient, method: str, path: str) -> None:
    with_cookie = {"Cookie": f"{COOKIE}={GONE}"}
    for sent in (
        {"data": {"a": "b"}},
        {"files": {"file": b"x"}},
        {"content": "{}", "headers": {"Content-Type": "text/plain"}},
        {"content": "{}", "headers": {"Content-Type": "application/json"}},
    ):
        for headers in (*OTHERS, *(others | with_cookie for others in OTHERS)):
            stranger = TestClient(reader.app, base_url=OWN, headers=headers)
            assert stranger.request(method, path, **sent).status_code == 403, headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Cookie": f"{COOKIE}={GONE}"},
        {"Sec-Fetch-Site": "none", "Cookie": f"{COOKIE}={GONE}"},
        {"Origin": OWN, "Cookie": f"{COOKIE}={GONE}"},  # without https browsers send no Sec-Fetch-Site
        {"Authorization": "Bearer x"},
        {"Cookie": f"{COOKIE}={GONE}"},  # a program or a text browser
        {},
    ],
)
def test_own_forms_and_programs_are_answered(reader: TestClient, headers: dict[str, str]) -> None:
    sender = TestClient(reader.app, base_url=OWN, headers=headers)
    assert sender.post("/nothing", data={"a": "b"}).status_code == 404


def test_forms_pass_a_proxy_that_ends_https(settings: WebSettings) -> None:
    server = Running(dataclasses.replace(settings, hosts=("games.example.org",), proxies=("127.0.0.1",)))
    seen = {"Host": "games.example.org", "X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}

    def send(origin: str, cookie: str) -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as proxy:
            proxy.request("POST", "/nothing", b"", {**seen, "Origin": origin, "Cookie": cookie})
            return proxy.getresponse().status

    try:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as proxy:
            proxy.request("GET", "/rules", headers=seen)
            cookie, _, attributes = (proxy.getresponse().getheader("Set-Cookie") or "").partition("; ")
        assert {"HttpOnly", "SameSite=Lax", "Secure"} <= {*attributes.split("; ")}
        assert [send("https://games.example.org", cookie), send("https://games.example.org:8443", cookie)] == [404, 403]
        assert send(f"http://127.0.0.1:{server.port}", cookie) == 403
    finally:
        server.stop()


def test_visitors_are_random_and_kept(settings: WebSettings) -> None:
    app = create_app(settings)
    with Visitor(app) as one, Visitor(app) as other:
        for visitor in (one, other):
            visitor.get("/")
        number = one.cookies[COOKIE]
        assert (len(bytes.fromhex(number)), number == other.cookies[COOKIE]) == (16, False)
        assert "set-cookie" not in one.get("/").headers
        assert "set-cookie" in TestClient(app, base_url=OWN, cookies={COOKIE: "../" + GONE}).get("/").headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "a b", "user@127.0.0.1"])
def test_pages_answer_to_their_own_names_alone(reader: TestClient, host: str) -> None:
    refused = reader.get("/", headers={"Host": host})
    assert refused.status_code == 421
    assert "Secure" not in refused.headers.get("set-cookie", "")


def test_a_name_may_be_allowed(settings: WebSettings) -> None:
    allowed = dataclasses.replace(settings, hosts=("games.example.org",))
    with TestClient(create_app(allowed), base_url="https://games.example.org") as asked:
        answer = asked.get("/")
        assert answer.status_code == 200
        assert "; Secure" in answer.headers["set-cookie"]
        assert "HttpOnly" in answer.headers["set-cookie"]


def test_bodies_have_a_size(client: TestClient) -> None:
    refused = client.post("/nothing", content=b"x" * (SMALL_BODY + 1), headers={"Content-Type": "application/json"})
    assert refused.status_code == 413
    assert f"{SMALL_BODY:,}" in refused.text
    unsaid = client.post("/nothing", content=(b"x" * 4096 for _ in range(40)))
    assert unsaid.status_code == 413


def test_what_is_sent_has_a_size(running: Running) -> None:
    for size, status in ((HEADER_BYTES - 1000, 200), (HEADER_BYTES + 1, 431), (70_000, 431)):
        with closing(http.client.HTTPConnection("127.0.0.1", running.port)) as asked:
            asked.request("GET", "/robots.txt", headers={"X-Long": "a" * size})
            assert asked.getresponse().status == status, size
    with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)) as browser:
        browser.request("POST", "/nothing", b"x" * (9 << 20))  # browsers, too, read nothing before all is sent
        assert browser.getresponse().status == 413


def test_a_full_server_says_so(settings: WebSettings) -> None:
    server, idle = Running(dataclasses.replace(settings, connections=8)), list[socket.socket]()

    def ask() -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as browser:
            browser.request("GET", "/rules")
            return browser.getresponse().status

    try:
        assert ask() == 200
        idle += [socket.create_connection(("127.0.0.1", server.port)) for _ in range(8)]
        assert ask() == 503
    finally:
        for one in idle:
            one.close()
        server.stop()


def test_a_place_may_take_more_and_small_files_do_not_wait_for_large_ones(settings: WebSettings) -> None:
    app = create_app(settings)
    app.state.web.limits.bodies["/large"] = 200_000
    with Visitor(app) as asked, pytest.MonkeyPatch.context() as patch:
        assert asked.post("/large", content=b"x" * 100_000).status_code == 404
        assert asked.post("/larger", content=b"x" * 100_000).status_code == 413
        patch.setattr("dicegym.web.security.LARGE_AT_ONCE", 0)
        assert asked.post("/large", content=b"x" * 100).status_code == 404
        assert asked.post("/large", content=b"x" * 100_000).status_code == 503


def test_errors_have_a_number_that_stands_in_the_log(
    settings: WebSettings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(settings)

    def breaks(request: object) -> None:
        raise ValueError("a secret of the machine")

    home = next(one for one in app.routes if one.path == "/")
    monkeypatch.setattr(home, "app", lambda scope, receive, send: breaks(scope))
    with Visitor(app) as asked:
        answer = asked.get("/")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    number = next(record.args[0] for record in caplog.records if record.name == "dicegym.web")
    assert str(number) in answer.text
    assert "a secret of the machine" in caplog.text


def test_files_are_kept_by_their_content(client: TestClient) -> None:
    kept = client.get(static_files.address("style.css"))
    assert ("immutable" in kept.headers["cache-control"], "set-cookie" in kept.headers) == (True, False)
    loose = client.get("/static/style.css")
    assert "no-cache" in loose.headers["cache-control"]
    assert client.get("/static/style.css", headers={"If-None-Match": loose.headers["etag"]}).status_code == 304
    plain = client.get("/static/style.css", headers={"Accept-Encoding": "identity"})
    assert ("content-encoding" in plain.headers, plain.text) == (False, loose.text)
    for answer in (loose, client.get("/play/new?game=hog")):
        assert answer.headers["content-encoding"] == "gzip"
    for path in ("/static/../app.py", "/static/%2e%2e/app.py"):
        assert client.get(path).status_code == 404
    assert (client.head("/").status_code, client.head("/").text) == (200, "")
    assert "Disallow: /" in client.get("/robots.txt").text
    assert client.get("/learn/").url.path == "/learn"


def test_an_address_may_ask_for_so_much() -> None:
    now = [0.0]
    limits = AddressLimits(lambda: now[0])

    class Asking:
        def __init__(self, host: str) -> None:
            self.client = type("Client", (), {"host": host})

    one = Asking("198.51.100.7")
    for _ in range(int(AT_ONCE / 250)):
        limits.pay(one, 250)
    with pytest.raises(HTTPException, match="try again in 1 second"):
        limits.pay(one, 250)
    limits.pay(Asking("198.51.100.8"), 250)
    now[0] += 1
    for _ in range(int(A_SECOND / 250)):
        limits.pay(one, 250)
    with pytest.raises(HTTPException):
        limits.pay(one)
    for _ in range(1000):
        limits.pay(Asking("127.0.0.1"), 250)


def test_who_asks_too_often_is_told_when_to_come_again(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.web.context.AT_ONCE", 2.0)
    monkeypatch.setattr("dicegym.web.context.A_SECOND", 1 / 60)
    answers = [client.get("/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_QUEUED_EACH", 3)
    monkeypatch.setattr(workers, "MOST_QUEUED", 4)
    threads = WorkerThreads(threads=1)
    hold, order = threading.Event(), []
    first = threads.begin("greedy", hold.wait)
    while threads.waiting:
        time.sleep(0.001)
    later = [threads.begin("greedy", order.append, f"greedy {number}") for number in range(3)]
    with pytest.raises(TooBusyError, match="wait for one"):
        threads.begin("greedy", print)
    modest = threads.begin("modest", order.append, "modest")
    with pytest.raises(TooBusyError, match="too much to do"):
        threads.begin("late", print)
    hold.set()
    for one in (first, *later, modest):
        one.result(5)
    assert order == ["greedy 0", "greedy 1", "greedy 2", "modest"]
    with pytest.raises(ZeroDivisionError):
        threads.begin("modest", lambda: 1 / 0).result(5)
    threads.end()
    with pytest.raises(TooBusyError, match="about to end"):
        threads.begin("modest", print)


def test_who_waits_for_what_fails_adds_nothing_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def wait() -> None:
        early, late = Answer[None](), Answer[None]()
        early.future.set_exception(ParameterError("damaged"))
        await early.settle(1)
        await late.settle(0.01)
        late.future.set_exception(ParameterError("damaged"))
        await asyncio.sleep(0.01)

    asyncio.run(wait())
    gc.collect()
    assert caplog.records == []


def test_work_goes_on_after_a_thread_could_not_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    threads = WorkerThreads(threads=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError):
            threads.begin("ann", print)
    assert threads.begin("ann", lambda: 7).result(5) == 7


def test_a_failure_that_took_long_is_told_before_it_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, tries, now = WorkerThreads(threads=1), [], [0.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: now[0])

    def fail(answer: object) -> None:
        tries.append(answer)
        now[0] += 2 * workers.RETRY_SECONDS
        raise ParameterError("it took too long")

    def ask() -> str:
        answer = threads.answer("ann", "game", fail)
        with pytest.raises(ParameterError):
            answer.future.result(5)
        return str(answer.error)

    assert [ask(), ask()] == ["it took too long"] * 2
    assert len(tries) == 1
    now[0] += 2 * workers.RETRY_SECONDS
    ask()
    assert len(tries) == 2


def test_a_server_says_where_it_listens_and_what_that_means(settings: WebSettings) -> None:
    assert list_notes(settings) == ["Ctrl-C ends the server"]
    everywhere = " ".join(list_notes(dataclasses.replace(settings, host="0.0.0.0")))
    assert "everybody" in everywhere
    assert "--allow-host" in everywhere
    assert address_of("::1", 80) == "http://[::1]:80/"
    assert address_of("0.0.0.0", 80) == "http://127.0.0.1:80/"


def test_bodies_have_a_time(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.web.security.BODY_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", running.port)) as slow:
        slow.sendall(b"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nabc")
        slow.settimeout(5)
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    ("host", "port", "says"),
    [("127.0.0.1", 70000, "--port"), ("192.0.2.1", 0, "not an address"), ("no host", 0, "--host")],
)
def test_where_nothing_can_listen_is_said(host: str, port: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        listen(host, port)


@pytest.mark.parametrize("proxy", ["127.0.0.1", "::1", "10.0.0.0/8", "*"])
def test_a_proxy_is_an_address_or_a_network(settings: WebSettings, proxy: str) -> None:
    assert dataclasses.replace(settings, proxies=(proxy,)).proxies == (proxy,)


def test_a_taken_port_is_said(settings: WebSettings) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port} of 127.0.0.1 is taken"):
            listen("127.0.0.1", port)
    assert PageServer(settings).number == 0
