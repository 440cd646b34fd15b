"""Connections that are slow, many or never end, at the pages' server."""

from __future__ import annotations

import functools
import socket
import time

import pytest

from dicegym.web.browser_connections import Guarded
from dicegym.web.web_settings import WebSettings

from .conftest import Running


def closed_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_slow_clients_are_let_go(settings: WebSettings) -> None:
    running = Running(settings, functools.partial(Guarded, headers=0.4, writing=0.4))
    try:
        for said in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
            with socket.create_connection(("127.0.0.1", running.port)) as slow:
                slow.sendall(said)
                assert closed_within(slow, 5)
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", running.port))
            ask = b"GET /static/vendor/htmx.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            deaf.sendall(ask * 120)  # six megabytes that it does not read, more than the system keeps
            until = time.monotonic() + 10
            while running.connections and time.monotonic() < until:
                time.sleep(0.02)
            assert not running.connections
        with socket.create_connection(("127.0.0.1", running.port)) as quick:
            quick.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert quick.recv(100).startswith(b"HTTP/1.1 200")
    finally:
        running.stop()


def test_bodies_have_a_time(settings: WebSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dicegym.web.bodies.SECONDS", 0.3)
    monkeypatch.setattr("dicegym.web.bodies.Bodies.__init__.__defaults__", (0.3,))
    running = Running(settings)
    try:
        with socket.create_connection(("127.0.0.1", running.port)) as slow:
            slow.sendall(b"POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nabc")
            slow.settimeout(5)
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
            assert closed_within(slow, 5)
    finally:
        running.stop()
