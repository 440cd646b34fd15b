"""The errors and warnings of dicegym. Messages say what was passed, why it cannot work, and what to write instead."""

from __future__ import annotations

from dicegym.escape import lines
from dicegym.escape import one_line as one_line  # noqa: PLC0414 - may be imported from here


class DicegymError(Exception):
    """Base class of all errors that dicegym raises on purpose."""

    def __str__(self) -> str:
        """Return the message, with control characters of names, paths and texts escaped."""
        return lines(super().__str__())


class UnknownNameError(DicegymError, LookupError):
    """A named game, agent or option does not exist."""


class UnknownArgumentError(UnknownNameError, TypeError):
    """A function does not take a keyword argument; also a TypeError, as Python raises for it.

    Attributes:
        fault: the message without Python's words, for users who did not call a function.
    """

    fault = ""


class ParameterError(DicegymError, ValueError):
    """A parameter has the wrong type or is outside its range."""


class DamagedFileError(ParameterError):
    """A file is missing, damaged, or not of the expected kind.

    Attributes:
        file: its path.
        reason: what is wrong with it.
        instead: what to do.
    """

    def __init__(self, file: object, reason: str, instead: str) -> None:
        super().__init__(f"{file} {reason}: {instead}")
        self.file, self.reason, self.instead = file, reason, instead

    def __reduce__(self) -> tuple[type[DamagedFileError], tuple[object, str, str]]:
        """Pickle by the three arguments."""
        return type(self), (self.file, self.reason, self.instead)


class PartError(DicegymError, LookupError):
    """A game lacks a part; the message names the file and what to define."""


class IllegalActionError(DicegymError, ValueError):
    """The rules do not allow an action now (only with ``on_illegal="raise"``)."""


class StepError(DicegymError, RuntimeError):
    """An environment was stepped before `reset` or after the end of an episode."""


class AgentError(DicegymError):
    """An agent cannot be loaded, or failed when it had to act.

    Attributes:
        agent: the agent's name.
        reason: what it did, in one line.
    """

    def __init__(self, agent: str, reason: str) -> None:
        super().__init__(f"agent {agent!r}: {reason}")
        self.agent = agent
        self.reason = lines(reason)

    def __reduce__(self) -> tuple[type[AgentError], tuple[str, str]]:
        """Pickle by the two arguments."""
        return type(self), (self.agent, self.reason)


class FaultWarning(RuntimeWarning):
    """An agent failed, and the game continued with the action that its rules prescribe for a failure."""


class UntrustedCodeWarning(UserWarning):
    """A program from outside the package runs in this process, where it can read all memory."""


class ServiceError(DicegymError):
    """An external service failed, such as a model's endpoint: the run ends, and no agent is blamed."""


class ModelError(DicegymError):
    """A model does not fit its game, or its file cannot be read."""


class ReplayError(DicegymError):
    """A stored game cannot be replayed: its rules have changed, or it does not fit them."""


class ConformanceError(DicegymError):
    """A game or an agent breaks a promise of `dicegym.checks`."""


class DependencyError(DicegymError, ImportError):
    """An optional dependency is missing; the message names the extra that installs it."""

    @classmethod
    def for_extra(cls, package: str, extra: str, purpose: str) -> DependencyError:
        """Return the error for a missing ``package``; it names the extra that installs it."""
        return cls(f"{purpose} needs {package}, which is not installed: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return the command that installs an extra, in a checkout or for an installed wheel."""
    from dicegym.shipped import CHECKOUT

    return f"pip install -e '.[{extra}]' in dicegym's folder" if CHECKOUT else f"pip install 'dicegym[{extra}]'"


def unknown_name(kind: str, name: object, known: list[str], hint: str = "") -> UnknownNameError:
    """Return the error for a name that is not in ``known``; it suggests the closest one."""
    return UnknownNameError(_unknown(kind, name, known) + (f" {hint}" if hint else ""))


def unknown_argument(function: str, name: str, known: list[str], kind: str = "argument") -> UnknownArgumentError:
    """Return the error for a keyword argument that ``function`` does not take, in Python's words."""
    fault = _unknown(kind, name, known)
    error = UnknownArgumentError(f"{function}() got an unexpected keyword argument {name!r}: {fault}")
    error.fault = fault
    return error


def _unknown(kind: str, name: object, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(str(name), known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    return f"there is no {kind} {name!r}.{guess} Known: {', '.join(known) if known else 'none'}."
