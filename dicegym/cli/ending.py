"""How a command ends: by itself, by a mistake of the user, or because it was told to."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterable

from dicegym.cli.console import err
from dicegym.errors import DicegymError, ParameterError
from dicegym.signals import as_interrupts, status_of, word_of

MISTAKE = 2
"""The status of a command that was given what cannot work."""


def run_to_the_end(command: Callable[[], object], name: str) -> None:
    """Run a command of Typer's; say in a line what has ended it, and exit with the status for that.

    Mistakes of the user, and files that cannot be read or written, end with status 2. Ctrl-C, SIGTERM and SIGHUP end
    what is being done as `dicegym.signals` says. The text of a KeyboardInterrupt says what was saved and how to
    continue.
    """
    _print_anywhere()
    try:
        with as_interrupts():
            _refuse_what_is_no_text(sys.argv[1:])
            command()
    except (DicegymError, OSError) as error:
        _say(f"{name}: {getattr(error, 'fault', '') or _words_of(error)}")
        try:
            sys.stdout.flush()
        except OSError:  # at its end Python would try again, and say so
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(MISTAKE)
    except KeyboardInterrupt as end:
        _leave(name, end)
    except SystemExit as end:
        # Typer makes an exit of every KeyboardInterrupt, without a word, and of the end of the input, with one.
        cause = getattr(end.__context__, "__cause__", None)
        if isinstance(cause, KeyboardInterrupt):
            _leave(name, cause)
        raise


def _print_anywhere() -> None:
    """Let the outputs take any text: what they have no letters for is a question mark; one that is closed drops all."""
    while (free := os.open(os.devnull, os.O_RDWR)) < 3:
        pass  # a pipe with the number of a closed stream would be lost to processes that are started
    os.close(free)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _refuse_what_is_no_text(words: Iterable[str]) -> None:
    """Raise ParameterError for an argument that is not in the locale's encoding: no store or result can name it."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ParameterError(
                f"the argument {word} is not valid {sys.getfilesystemencoding()}, the encoding of this shell: set "
                "PYTHONUTF8=1, or use another name"
            ) from None


def _words_of(error: DicegymError | OSError) -> str:
    """Return an error's message; some of the system's do not say what is gone, or what is full."""
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return "the current folder no longer exists: change to one that does"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:  # of Typer's help, say
        return f"{error}: '<stdout>', or a temporary file"
    return str(error)


def _leave(name: str, end: KeyboardInterrupt) -> None:
    said = f", {end}" if end.args else ""
    _say(f"{name}: {word_of(end)}{said}")
    sys.exit(status_of(end))


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may have gone, which is what SIGHUP says
        err.print(text)
