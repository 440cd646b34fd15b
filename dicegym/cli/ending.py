"""How a command ends: normally, by a mistake of the user, or by a signal."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable

from dicegym.cli.console import err
from dicegym.errors import DicegymError, ParameterError
from dicegym.signals import as_interrupts, status_of, word_of

MISTAKE = 2
"""The exit status after a mistake of the user."""


def run_to_the_end(command: Callable[[], object], name: str) -> None:
    """Run a command of Typer's; print in one line why it failed, and exit with the matching status.

    Mistakes of the user, and files that cannot be read or written, exit with status 2. Ctrl-C, SIGTERM and SIGHUP end
    the command as `dicegym.signals` says; the text of a KeyboardInterrupt says what was saved and how to continue.
    """
    _print_anywhere()
    try:
        with as_interrupts():
            _check_encoding(sys.argv[1:])
            command()
    except (DicegymError, OSError) as error:
        _say(f"{name}: {getattr(error, 'fault', '') or error}")
        try:
            sys.stdout.flush()
        except OSError:  # Python would flush again at exit, and print an error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(MISTAKE)
    except KeyboardInterrupt as end:
        _leave(name, end)
    except SystemExit as end:
        # Typer turns every KeyboardInterrupt into a SystemExit.
        cause = getattr(end.__context__, "__cause__", None)
        if isinstance(cause, KeyboardInterrupt):
            _leave(name, cause)
        raise


def _print_anywhere() -> None:
    """Let both outputs accept any text. Unencodable characters become question marks; a closed stream drops text."""
    while (free := os.open(os.devnull, os.O_RDWR)) < 3:
        pass  # a new pipe must not get the number of a closed standard stream
    os.close(free)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _check_encoding(words: Iterable[str]) -> None:
    """Raise ParameterError for an argument outside the locale's encoding, which no store or result could name."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ParameterError(
                f"the argument {word} is not valid {sys.getfilesystemencoding()}, the encoding of this shell: set "
                "PYTHONUTF8=1, or use another name"
            ) from None


def _leave(name: str, end: KeyboardInterrupt) -> None:
    said = f", {end}" if end.args else ""
    _say(f"{name}: {word_of(end)}{said}")
    sys.exit(status_of(end))


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may be gone: SIGHUP says so
        err.print(text)
