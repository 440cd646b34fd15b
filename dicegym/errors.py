"""Every mistake a user of dicegym can make has one class here.

Messages follow one form: what was passed, why it cannot work, what to write instead.
"""

from __future__ import annotations

from dicegym.escape import lines
from dicegym.escape import one_line as one_line  # noqa: PLC0414 - says that it may be imported from here


class DicegymError(Exception):
    """Base class of all errors that dicegym raises on purpose."""

    def __str__(self) -> str:
        """Return the message, harmless: names, paths and texts of others stand in it."""
        return lines(super().__str__())


class UnknownNameError(DicegymError, LookupError):
    """A game, an agent or an option was named that does not exist."""


class UnknownArgumentError(UnknownNameError, TypeError):
    """A keyword argument was given that a function does not take; to Python, and to what probes for it, a TypeError."""


class ParameterError(DicegymError, ValueError):
    """A parameter has the wrong type or lies outside its range."""


class DamagedFileError(ParameterError):
    """A file that a user or another program gave holds something else than it should: broken off, changed, or no such.

    Attributes:
        file: which.
        reason: what is wrong with it.
        instead: what to do about it, as a sentence.
    """

    def __init__(self, file: object, reason: str, instead: str) -> None:
        super().__init__(f"{file} {reason}: {instead}")
        self.file, self.reason, self.instead = file, reason, instead

    def __reduce__(self) -> tuple[type[DamagedFileError], tuple[object, str, str]]:
        """Pickle by the three arguments."""
        return type(self), (self.file, self.reason, self.instead)


class PartError(DicegymError, LookupError):
    """A game is asked for something that its folder holds no file for; the message says what to write."""


class IllegalActionError(DicegymError, ValueError):
    """An action was passed that the rules do not allow now (only with ``on_illegal="raise"``)."""


class StepError(DicegymError, RuntimeError):
    """An environment was stepped before its reset or after the end of its episode."""


class AgentError(DicegymError):
    """An agent cannot be loaded, or failed while it was asked for an action.

    Attributes:
        agent: name of the agent at fault.
        reason: what it did, in one line.
    """

    def __init__(self, agent: str, reason: str) -> None:
        super().__init__(f"agent {agent!r}: {reason}")
        self.agent = agent
        self.reason = lines(reason)

    def __reduce__(self) -> tuple[type[AgentError], tuple[str, str]]:
        """Pickle by the two arguments, so that the error survives a process boundary."""
        return type(self), (self.agent, self.reason)


class FaultWarning(RuntimeWarning):
    """An agent failed, and the game went on with what its rules take a failure for."""


class UntrustedCodeWarning(UserWarning):
    """A program that does not ship with the package runs in this process, where it can read all that is in memory."""


class ModelError(DicegymError):
    """A trained model does not fit the game it is asked to play."""


class ReplayError(DicegymError):
    """A stored game cannot be played again as it was: its rules are others than today's, or it does not fit them."""


class ConformanceError(DicegymError):
    """A game or an agent breaks a promise that everything else relies on (`dicegym.checks`)."""


class DependencyError(DicegymError, ImportError):
    """An optional dependency is missing; the message names the extra that brings it."""

    @classmethod
    def for_extra(cls, package: str, extra: str, purpose: str) -> DependencyError:
        """Build the error for ``package``, needed for ``purpose``, that names the extra which installs it."""
        return cls(f"{purpose} needs {package}, which is not installed: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return how an extra is installed, from the project's own folder: no package index has dicegym."""
    return f"pip install -e '.[{extra}]' in dicegym's folder"


def unknown_name(kind: str, name: object, known: list[str], hint: str = "") -> UnknownNameError:
    """Return the error for a name that is not among ``known``, with the closest ones suggested."""
    return UnknownNameError(_unknown(kind, name, known) + (f" {hint}" if hint else ""))


def unknown_argument(function: str, name: str, known: list[str], kind: str = "argument") -> UnknownArgumentError:
    """Return the error for a keyword argument that ``function`` does not take, in the words that Python has for it."""
    return UnknownArgumentError(
        f"{function}() got an unexpected keyword argument {name!r}: {_unknown(kind, name, known)}"
    )


def _unknown(kind: str, name: object, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(str(name), known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return f"there is no {kind} {name!r}.{guess} Known: {', '.join(known) if known else 'none'}."
