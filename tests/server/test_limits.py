"""Budgets, places, back-off and origins by themselves, with clocks that the tests turn."""

from __future__ import annotations

from typing import Any

import pytest

from dicegym.errors import ParameterError
from dicegym.server.budget import AT_ONCE, BYTES, FORGIVEN, MESSAGE, PAUSES, Budget, TokenBucket
from dicegym.server.capacity import SPARE, Capacity
from dicegym.server.descriptors import room_for
from dicegym.server.guesses import FORGOTTEN, FREE, FREE_BY_ADDRESS, LONGEST, REMEMBERED, Guesses
from dicegym.server.murmur import QUIET, Murmur
from dicegym.server.origins import Origins, origin_of


class Clock:
    """Stands until it is turned."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_holds_so_much_and_fills_up() -> None:
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
    assert bucket.left == 40, "it never holds more than at first"


def test_moves_cost_nothing_and_all_else_costs() -> None:
    budget = Budget(clock=Clock())
    messages = AT_ONCE * BYTES // MESSAGE
    for _ in range(100 * messages):
        budget.came(60)
        budget.moved(60)
    assert not budget.empty
    for _ in range(messages):
        budget.worked()
    assert not budget.empty
    budget.worked()
    assert budget.empty


def test_who_goes_on_after_pauses_is_disconnected() -> None:
    clock = Clock()
    budget = Budget(clock=clock)
    pauses = []
    for _ in range(PAUSES):
        budget.came(2 * AT_ONCE * BYTES)
        assert budget.empty
        pauses.append(budget.pause())
        assert not budget.empty
        clock.now += pauses[-1]
    assert min(pauses) > 0
    budget.came(2 * AT_ONCE * BYTES)
    assert budget.pause() is None
    clock.now += FORGIVEN + 1
    budget.came(2 * AT_ONCE * BYTES)
    assert budget.pause() is not None, "an hour later it is forgotten"


def test_a_murmur_says_a_thing_once_and_counts_the_rest() -> None:
    clock, lines = Clock(), list[str]()
    murmur = Murmur(lines.append, clock)
    for _ in range(1000):
        murmur.note("wrong", "1.2.3.4", "wrong secret")
    murmur.note("wrong", "1.2.3.5", "another")
    clock.now += QUIET
    murmur.note("wrong", "1.2.3.4", "wrong secret")
    assert lines == ["wrong secret", "another", "wrong secret (and 999 times more before)"]
    for number in range(5000):
        murmur.note("wrong", str(number), "x")
    assert len(murmur._kinds) <= 1000


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
def test_what_counts_as_one_address(address: str, origin: str) -> None:
    assert origin_of(address) == origin


class Visitor:
    """A connection, as far as places go."""

    def __init__(self, idleness: int = 3) -> None:
        self.idleness = idleness


def test_without_secrets_the_first_who_come_have_the_places() -> None:
    capacity = Capacity(2, owners=False)
    first, second, third = (Visitor() for _ in range(3))
    assert [capacity.enter(each) for each in (first, second)] == ["", ""]
    assert "all it takes" in capacity.enter(third)
    capacity.leave(third)
    capacity.leave(first)
    assert capacity.enter(third) == ""


def test_an_owner_gets_the_place_of_the_idlest() -> None:
    capacity = Capacity(3, owners=True)
    silent, asleep, plays = Visitor(idleness=1), Visitor(idleness=2), Visitor(idleness=0)
    for each in (silent, plays, asleep):
        assert capacity.enter(each) == ""
    owners = [Visitor() for _ in range(3)]
    gone = []
    for owner in owners:
        assert capacity.enter(owner) == "", "there is room to log in"
        owner.idleness = 0
        gone.append(capacity.own(owner))
        if gone[-1] is not None:
            capacity.leave(gone[-1])
    assert gone == [asleep, silent, None], "who plays is not sent away, and the owner is in all the same"
    guest = Visitor()
    assert capacity.enter(guest) == ""
    assert "all it takes" in capacity.stay(guest)


def test_who_waits_to_log_in_makes_room_for_who_comes_later() -> None:
    capacity = Capacity(1, owners=True)
    capacity.enter(Visitor())
    crowd = [Visitor() for _ in range(SPARE)]
    for each in crowd:
        capacity.enter(each)
        assert capacity.surplus() is None
    late = Visitor()
    capacity.enter(late)
    assert capacity.surplus() is crowd[0]


def test_wrong_secrets_cost_growing_delays() -> None:
    clock = Clock()
    guesses = Guesses(clock)
    delays = []
    for _ in range(12):
        delays.append(guesses.delay("1.2.3.4", "anna"))
        guesses.wrong("1.2.3.4", "anna")
    assert delays[:FREE] == [0.0] * FREE
    assert delays[FREE:] == sorted(delays[FREE:])
    assert delays[FREE] > 0
    assert delays[-1] == LONGEST
    assert guesses.delay("5.6.7.8", "anna") == 0, "from another address the owner gets in at once"
    assert guesses.delay("1.2.3.4", "bob") < LONGEST, "another name at the same address waits less"
    guesses.right("1.2.3.4", "anna")
    assert guesses.delay("1.2.3.4", "anna") < LONGEST
    clock.now += FORGOTTEN + 1
    assert guesses.delay("1.2.3.4", None) == 0


def test_guessing_at_many_names_is_found_by_the_address() -> None:
    guesses = Guesses(Clock())
    for number in range(FREE_BY_ADDRESS):
        assert guesses.delay("1.2.3.4", f"name-{number}") == 0
        guesses.wrong("1.2.3.4", f"name-{number}")
    assert guesses.delay("1.2.3.4", "anna") > 0
    for number in range(2 * REMEMBERED):
        guesses.wrong(f"address-{number}", None)
    assert len(guesses._wrong) <= REMEMBERED


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
    """A page of a name that leads here has that name as its host too: being the same does not help it."""
    fault = Origins(listens, ["yatzy.example.org"], ["https://bots.example"]).fault([host], origins)
    assert (not fault) == taken, fault


def test_a_request_with_no_host_or_two_is_refused() -> None:
    origins = Origins("127.0.0.1")
    assert origins.fault([], [])
    assert origins.fault(["127.0.0.1", "127.0.0.1"], [])


@pytest.mark.parametrize(
    ("hosts", "pages", "complaint"),
    [(["http://x"], [], "--allow-host"), (["a b/c"], [], "--allow-host"), ([], ["bots.example"], "--allow-origin")],
)
def test_what_is_no_host_or_origin(hosts: list[str], pages: list[str], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Origins("127.0.0.1", hosts, pages)


def test_a_limit_of_open_files_is_raised_as_far_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    resource: Any = pytest.importorskip("resource")
    limits = [256, 600]
    monkeypatch.setattr(resource, "getrlimit", lambda which: tuple(limits))
    monkeypatch.setattr(resource, "setrlimit", lambda which, new: limits.__setitem__(slice(None), new))
    assert room_for(100) == 100
    assert limits == [256, 600]
    assert room_for(300) == 300
    assert limits[0] > 300
    assert 400 < room_for(5000) < 600
    assert limits == [600, 600]
