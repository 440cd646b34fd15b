"""Visitors of the pages, as many as one machine holds: they load pages, fill in forms, and measure how long it takes.

They know nothing of games: they fill in what forms a page shows, and press a button.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
import zlib
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

THINKS = (1.0, 5.0)
"""Seconds, drawn evenly, that somebody thinks between two clicks: twenty clicks a minute."""
LOOKS_ELSEWHERE = 0.1
"""Of clicks, those that go to another page."""
_CHUNKED = re.compile(rb"transfer-encoding:\s*chunked", re.IGNORECASE)
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_COOKIE = re.compile(rb"set-cookie:\s*([^;\r\n]+)", re.IGNORECASE)
_LOCATION = re.compile(rb"location:\s*([^\r\n]+)", re.IGNORECASE)


class FoundForm(NamedTuple):
    """A form of a page, filled in as it is shown."""

    action: str
    fields: list[tuple[str, str]]
    buttons: list[tuple[str, str]]
    choices: dict[str, list[str]]
    """Values of what is chosen one of, by its name."""


class Forms(HTMLParser):
    """Finds the forms of a page that change something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[FoundForm] = []
        self._open: FoundForm | None = None
        self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in what belongs to a form."""
        told = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = FoundForm(told.get("action", ""), [], [], {}) if told.get("method") == "post" else None
        elif self._open is not None and "disabled" not in told:
            self._part(self._open, tag, told)

    def handle_endtag(self, tag: str) -> None:
        """Keep a form that ends."""
        if tag == "form" and self._open is not None:
            self.found.append(self._open)
            self._open = None

    def _part(self, form: FoundForm, tag: str, told: dict[str, str]) -> None:
        name, value, kind = told.get("name", ""), told.get("value", ""), told.get("type", "text")
        if tag == "select":
            self._select = name
        elif tag == "option":
            form.choices.setdefault(self._select, []).append(value)
        elif tag == "button" or (tag == "input" and kind == "submit"):
            form.buttons.append((name, value))
        elif tag == "input" and kind == "radio":
            form.choices.setdefault(name, []).append(value)
        elif tag == "input" and name and (kind != "checkbox" or "checked" in told):
            form.fields.append((name, value))


class Answered(NamedTuple):
    """An answer."""

    status: int
    body: str
    location: str


class PageVisitor:
    """Somebody with a browser, one connection, and a game.

    Args:
        address: of the pages.
        game: what is played.
        seed: of what is clicked.
        elsewhere: other pages that are looked at.

    Attributes:
        waits: seconds of each request, while ``measures`` is set.
        failures: what went wrong.
    """

    measures = False

    def __init__(self, address: str, game: str, seed: int, elsewhere: tuple[str, ...]) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._game = game
        self._chance = random.Random(seed)
        self._elsewhere = elsewhere
        self._cookie = b""
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.waits: list[tuple[float, str]] = []
        self.failures: list[str] = []

    async def play(self) -> None:
        """Play game after game, until cancelled."""
        try:
            table = ""
            while True:
                await asyncio.sleep(self._chance.uniform(*THINKS))
                if self._chance.random() < LOOKS_ELSEWHERE:
                    await self.ask("GET", self._chance.choice(self._elsewhere), "another page")
                    continue
                table = await self._click(table) if table else await self._begin()
        except (OSError, asyncio.IncompleteReadError) as error:
            self.failures.append(f"a connection was lost: {error!r}")

    async def _begin(self) -> str:
        asked = await self.ask("GET", f"/play/new?game={self._game}", "how to play")
        forms = [form for form in Forms(asked.body).found if form.action == "/play/new"]
        if not forms:
            self.failures.append(f"no game can be begun: {asked.status}")
            return ""
        begun = await self.ask("POST", "/play/new", "begin", forms[0].fields + _firsts(forms[0]))
        if not begun.location:
            self.failures.append(f"a game was not begun: {begun.status}")
        return begun.location

    async def _click(self, table: str) -> str:
        """Press a button of a table; return where the game goes on, nothing if it is over."""
        shown = await self.ask("GET", table, "table")
        forms = [form for form in Forms(shown.body).found if form.action == f"{table}/move"]
        if not forms:
            waiting = "hx-trigger" in shown.body and "/review" not in shown.body
            return table if waiting else ""
        form = self._chance.choice(forms)
        chosen = [(name, self._chance.choice(values)) for name, values in form.choices.items()]
        button = self._chance.choice(form.buttons) if form.buttons else ("", "")
        await asyncio.sleep(self._chance.uniform(*THINKS))
        fields = form.fields + chosen + [button] * bool(button[0])
        await self.ask("POST", form.action, "move", fields, swapped=True)
        return table

    async def ask(
        self, method: str, path: str, what: str, fields: list[tuple[str, str]] | None = None, swapped: bool = False
    ) -> Answered:
        """Ask for a page, as a script would where ``swapped``, and note how long it took to have it whole."""
        body = urlencode(fields or []).encode()
        lines = [f"{method} {path} HTTP/1.1".encode(), f"Host: {self._host}:{self._port}".encode()]
        lines += [b"Accept-Encoding: gzip"] + [b"Cookie: " + self._cookie] * bool(self._cookie)
        lines += [b"HX-Request: true"] * swapped
        if method == "POST":
            lines += [b"Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}".encode()]
            lines += [b"Sec-Fetch-Site: same-origin"]
        began = time.perf_counter()
        head, data = await self._exchange(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        if self.measures:
            self.waits.append((time.perf_counter() - began, what))
        status = int(head[9:12])
        if found := _COOKIE.search(head):
            self._cookie = found[1]
        if status >= 400:
            self.failures.append(f"{what}: {status}")
        moved = _LOCATION.search(head)
        return Answered(status, data.decode(errors="replace"), moved[1].decode() if moved else "")

    async def _exchange(self, request: bytes) -> tuple[bytes, bytes]:
        for fresh in (False, True):
            if fresh or self._writer is None:
                self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
            try:
                self._writer.write(request)
                return await self._answer()
            except (ConnectionError, asyncio.IncompleteReadError):  # it was not used for long, and closed
                if fresh:
                    raise
        raise ConnectionError

    async def _answer(self) -> tuple[bytes, bytes]:
        reader = self._reader
        if reader is None:
            raise ConnectionError
        head = await reader.readuntil(b"\r\n\r\n")
        if _CHUNKED.search(head):
            data = b""
            while size := int(await reader.readuntil(b"\r\n"), 16):
                data += (await reader.readexactly(size + 2))[:-2]
            await reader.readexactly(2)
        else:
            length = _LENGTH.search(head)
            data = await reader.readexactly(int(length[1])) if length else b""
        return head, zlib.decompress(data, 31) if b"content-encoding: gzip" in head.lower() and data else data


def _firsts(form: FoundForm) -> list[tuple[str, str]]:
    """Return what a browser sends of choices that nobody touched."""
    sent = {name for name, _ in form.fields}
    return [(name, values[0]) for name, values in form.choices.items() if name not in sent and name]
