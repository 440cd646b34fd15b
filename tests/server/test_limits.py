"""Token buckets, logs and origins, with fake clocks."""

from __future__ import annotations

from typing import Any

import pytest

from dicegym.errors import ParameterError
from dicegym.server.admission import Origins, origin_of
from dicegym.server.client_limits import BESIDE, ThrottledLog, TokenBucket, room_for


class Clock:
    """A clock that changes only by assignment."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_has_a_maximum_and_refills() -> None:
    clock = Clock()
    bucket = TokenBucket(10, 40, clock)
    assert [bucket.pay(10) for _ in range(5)] == [True] * 4 + [False]
    assert bucket.wait(10) == pytest.approx((10 + 10) / 10)
    clock.now += 2
    assert bucket.pay(10)
    assert not bucket.pay(1)
    clock.now += 1000
    bucket.pay(20)
    bucket.give(1000)
    assert bucket.left == 40, "it never holds more than its maximum"


def test_a_throttled_log_does_not_grow_with_its_input() -> None:
    """From any number of addresses."""
    clock, lines = Clock(), list[str]()
    log = ThrottledLog(lines.append, clock)
    for number in range(1000):
        log.note(f"wrong secret from {number}")
    assert lines == [f"wrong secret from {number}" for number in range(ThrottledLog.AT_ONCE)]
    for _ in range(2):
        clock.now += 1.01 * ThrottledLog.SECONDS
        log.note("another")
    assert lines[-2:] == ["another (and 980 other lines were left out before)", "another"]


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("unknown", "unknown"),
    ],
)
def test_addresses_with_common_limits(address: str, origin: str) -> None:
    assert origin_of(address) == origin


@pytest.mark.parametrize(
    ("listens", "host", "origins", "taken"),
    [
        ("127.0.0.1", "127.0.0.1:5001", [], True),
        ("127.0.0.1", "localhost:5001", [], True),
        ("127.0.0.1", "[::1]:5001", [], True),
        ("127.0.0.1", "LOCALHOST:9", [], True),
        ("127.0.0.1", "evil.example:5001", [], False),
        ("127.0.0.1", "192.168.1.5:5001", [], False),
        ("127.0.0.1", "127.0.0.1.evil.example", [], False),
        ("127.0.0.1", "user@127.0.0.1", [], False),
        ("127.0.0.1", "127.0.0.1/x", [], False),
        ("127.0.0.1", "127.0.0.1:99999", [], False),
        ("127.0.0.1", "", [], False),
        ("0.0.0.0", "192.168.1.5:5001", [], True),
        ("0.0.0.0", "evil.example:5001", [], False),
        ("0.0.0.0", "yatzy.example.org", [], True),
        ("0.0.0.0", "Yatzy.Example.org.:443", [], True),
        ("127.0.0.1", "127.0.0.1:5001", ["http://127.0.0.1:5001"], True),
        ("127.0.0.1", "127.0.0.1:5001", ["http://127.0.0.1:8000"], False),
        ("127.0.0.1", "127.0.0.1:5001", ["http://localhost:5001"], False),
        ("127.0.0.1", "127.0.0.1:5001", ["https://evil.example"], False),
        ("127.0.0.1", "127.0.0.1:5001", ["null"], False),
        ("127.0.0.1", "127.0.0.1:5001", ["file://"], False),
        ("127.0.0.1", "127.0.0.1:5001", [""], False),
        ("127.0.0.1", "127.0.0.1:5001", ["https://bots.example"], True),
        ("127.0.0.1", "127.0.0.1:5001", ["https://bots.example:443"], True),
        ("127.0.0.1", "127.0.0.1:5001", ["http://bots.example"], False),
        ("127.0.0.1", "127.0.0.1:5001", ["https://bots.example", "https://evil.example"], False),
        ("0.0.0.0", "evil.example", ["http://evil.example"], False),
    ],
)
def test_hosts_and_origins(listens: str, host: str, origins: list[str], taken: bool) -> None:
    """A page whose name points here (DNS rebinding) sends that name as host too, and is still refused."""
    fault = Origins(listens, ["yatzy.example.org"], ["https://bots.example"]).fault([host], origins)
    assert (not fault) == taken, fault


def test_a_request_without_exactly_one_host_is_refused() -> None:
    origins = Origins("127.0.0.1")
    assert origins.fault([], [])
    assert origins.fault(["127.0.0.1", "127.0.0.1"], [])


@pytest.mark.parametrize(
    ("hosts", "pages", "complaint"),
    [(["http://x"], [], "--allow-host"), (["a b/c"], [], "--allow-host"), ([], ["bots.example"], "--allow-origin")],
)
def test_invalid_hosts_and_origins(hosts: list[str], pages: list[str], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Origins("127.0.0.1", hosts, pages)


def test_a_limit_of_open_files_is_raised_as_far_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    resource: Any = pytest.importorskip("resource")
    limits = [100 + BESIDE, 444 + BESIDE]
    monkeypatch.setattr(resource, "getrlimit", lambda which: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", lambda which, new: limits.__setitem__(slice(None), new))
    assert room_for(100) == 100
    assert limits == [100 + BESIDE, 444 + BESIDE]
    assert room_for(300) == 300
    assert limits[0] == 300 + BESIDE
    assert room_for(5000) == 444
    assert limits == [444 + BESIDE] * 2
