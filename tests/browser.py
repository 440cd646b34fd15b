"""A browser without a window, for tests of pages: Chromium, asked by its own protocol."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 30.0


class Page:
    """A page that is open."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._number = 0
        self.complaints: list[str] = []
        """What the browser has against the page: errors of scripts, and what the page's own policy refused."""

    def call(self, method: str, **parameters: Any) -> Any:
        """Ask the browser for something, and return its answer."""
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=SECONDS))
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"):
                self.complaints.append(json.dumps(message["params"]))
            if message.get("id") == self._number:
                return message["result"]

    def open(self, file: Path, width: int = 1200, height: int = 900) -> None:
        """Show a file in a window of some size, and wait until it is there."""
        for domain in ("Page", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=file.as_uri())
        until = time.monotonic() + SECONDS
        while self.ask("document.readyState + location.protocol") != "completefile:" and time.monotonic() < until:
            time.sleep(0.02)

    def ask(self, script: str) -> Any:
        """Return the value of an expression on the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")


@contextlib.contextmanager
def browser() -> Iterator[Page]:
    """Yield a page of a new browser; skip the test where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser is installed: {', '.join(PROGRAMS)}")
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        # A session of its own, so that all that it starts can be ended together.
        process = subprocess.Popen(
            [*words, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            assert process.stderr is not None
            host = next(filter(None, (re.search("listening on ws://([^/]+)/", line) for line in process.stderr)))[1]
            with urllib.request.urlopen(f"http://{host}/json", timeout=SECONDS) as answer:
                tabs = json.load(answer)
            address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            with connect(address, max_size=None) as connection:
                yield Page(connection)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stderr and process.stderr.close()
