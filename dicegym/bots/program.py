"""Programs of bots: a source file of an original interface, executed as it is.

`Program` executes a file in its own namespace, with private surroundings: the modules that the game supplies, the
helper files beside it, the module ``random``, the streams of ``sys``, ``print`` and ``input``. Two programs, even of
one file, never see each other, and no module of a bot stays in ``sys.modules``. This protects bots from each other's
accidents; `dicegym.sandbox` protects against malicious bots.

It runs in the small process of a bot, so it loads nothing heavy.
"""

from __future__ import annotations

import builtins
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dicegym.bots.bot_files import is_installed
from dicegym.bots.scan import BadFileError
from dicegym.bots.source import Source, code_of
from dicegym.bots.surroundings import PrivateRandom, PrivateStream, no_input, private_print, private_sys
from dicegym.errors import AgentError, one_line
from dicegym.escape import describe_raised
from dicegym.play.printed import Printed

if TYPE_CHECKING:
    from dicegym.play.turn import Act


_RUNNING: list[tuple[str, types.ModuleType]] = []
"""Entries of ``sys.modules`` for files that are being executed, in all threads."""
_LOCK = threading.Lock()


class Asked:
    """A bot as an adapter knows it: a `Program` here, or one in another process.

    Attributes:
        name: the bot's name in errors.
        last: its last answer, for `explain`: (function that describes it, answer, arguments).
    """

    name: str
    last: tuple[Callable[..., str], object, tuple[Any, ...]] | None = None

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for an error of the bot ``when``."""
        raise NotImplementedError

    def explain(self) -> str:
        """Describe the bot's last answer, its arguments, and what is wrong with it."""
        if self.last is None:
            return ""
        in_words, answer, arguments = self.last
        return in_words(answer, *arguments)


def explaining(act: Act, program: Asked) -> Act:
    """Return ``act`` with the ``explain`` of ``program``."""
    vars(act)["explain"] = program.explain
    return act


class Program(Asked):
    """One running copy of a bot's source.

    Args:
        source: its source.
        name: its name in errors.
        interface: the bot's half of the original interface, a `dicegym.games.parts.Interface`. It supplies the modules
            of the original, and finds the bot in the namespace. Names in a module ``builtins`` need no import.
        seed: of the bot's randomness while the file is executed.
        printed: keeps what the bot prints.

    Attributes:
        namespace: what the file defined.
        bot: the function or class that plays.
        builtins: the names that need no import.
        random: the generator behind the bot's module ``random``.
        remarks: hints for its author, such as which of two classes plays.

    Raises:
        AgentError: the file is missing, not UTF-8, not Python, fails while it is executed, or has no bot.
    """

    def __init__(self, source: Source, name: str, interface: Any, seed: int, printed: Printed) -> None:
        self.source = source
        self.name = name
        self.interface = interface
        self.printed = printed
        self.random = PrivateRandom(seed)
        self._folder = source.file.resolve().parent
        stream = PrivateStream(printed)
        own = {"random": self.random.as_module(), "sys": private_sys(stream)}
        self._modules: dict[str, types.ModuleType] = own | dict(interface.supply_modules(self.random))
        self.builtins = dict(vars(builtins))
        self.builtins |= {"__import__": self._import, "print": private_print(stream), "input": no_input}
        if named := self._modules.pop("builtins", None):
            self.builtins |= {key: value for key, value in vars(named).items() if not key.startswith("__")}
        self._absent: set[str] = set()
        self.remarks: list[str] = []
        module = self._module(source.file.stem, source.file)
        if not (source.shared and is_installed(source.file.stem)):
            self._modules.setdefault(source.file.stem, module)
        self.namespace = module.__dict__
        try:
            self._execute(module, source.file)
            self.bot: Callable[..., Any] = interface.find(self)
        except BaseException as error:
            failure = self.failure(error, "while it was loaded")
            if failure is error:
                raise
            raise failure from error

    @property
    def says_pure(self) -> bool:
        """Whether the file declares that its bot has no memory and no randomness."""
        return self.namespace.get("PURE") is True

    def take_seat(self, seat: int) -> Callable[..., Any]:
        """Return the function to ask in one game. Raises AgentError if the bot fails."""
        return self.interface.seat_bot(self, self.bot, seat)  # type: ignore[no-any-return]  # of any game

    def failure(self, error: BaseException, when: str) -> AgentError:
        """Return the AgentError for an error of the bot ``when``; raise KeyboardInterrupt again."""
        if isinstance(error, KeyboardInterrupt) or type(error).__qualname__ == "BdbQuit":  # of the author's debugger
            raise error
        if isinstance(error, AgentError) and not self.is_own(error):
            return error
        file = self.source.file
        if isinstance(error, BadFileError):
            return AgentError(self.name, str(error))
        if isinstance(error, UnicodeDecodeError) and error.__traceback__ and not self._line(error):
            return AgentError(self.name, f"{file} is not UTF-8 text (byte {error.start}: {error.reason})")
        if isinstance(error, SyntaxError) and not self._line(error):
            where = f"line {error.lineno}" if error.lineno else "no line given"
            what = f"{Path(error.filename or file).name} is not Python: {error.msg} ({where})"
            return AgentError(self.name, what)
        text, line = self.describe_error(error)
        return AgentError(self.name, f"{text} {when}" + (f" ({line})" if line else ""))

    def is_own(self, error: BaseException) -> bool:
        """Return whether the bot's own code raised an error, so that its message is the bot's."""
        *_, is_own = [False, *(own for _, own in self._steps(error))]
        return is_own

    def describe_error(self, error: BaseException) -> tuple[str, str]:
        """Return (what the bot did, its own line or an empty text)."""
        if isinstance(error, SystemExit):
            return "called sys.exit", self._line(error)
        return describe_raised(error) + self._missing(error), self._line(error)

    def _missing(self, error: BaseException) -> str:
        """Return a hint about the modules that a bot may import, if one is missing."""
        if not isinstance(error, ModuleNotFoundError) or not error.name:
            return ""
        top = error.name.partition(".")[0]
        supplied = sorted(self._modules.keys() - {"sys", "random", self.source.file.stem})
        own = f", and {', '.join(supplied)}, which are supplied" if supplied else ""
        if any(name.split("/")[0] in (f"{top}.py", top) for name in self.source.hidden):
            return f" ({top} beside it is another entry, which no bot sees: put what it needs into its own file)"
        return (
            f" (a bot may import Python's modules, files beside it{own}; a file of the course's kit belongs beside it, "
            "or remove the import if the contest does its work)"
        )

    def _line(self, error: BaseException) -> str:
        """Return the bot's innermost line in the traceback of ``error``, such as ``file.py, line 7``."""
        own = [step for step, is_own in self._steps(error) if is_own]
        return f"{Path(own[-1].tb_frame.f_code.co_filename).name}, line {own[-1].tb_lineno}" if own else ""

    def _steps(self, error: BaseException) -> Iterator[tuple[types.TracebackType, bool]]:
        """Yield each step of a traceback, and whether the code is the bot's."""
        step = error.__traceback__
        while step is not None:
            yield step, step.tb_frame.f_globals.get("__builtins__") is self.builtins
            step = step.tb_next

    def get(self, name: str, kind: str = "function") -> Callable[..., Any]:
        """Return the file's function or class ``name``. Raises AgentError if it is missing or not callable."""
        if name not in self.namespace:
            import difflib  # rarely needed, and slow to import

            own = [
                key
                for key, value in self.namespace.items()
                if callable(value) and getattr(value, "__module__", None) == self.namespace["__name__"]
            ]
            close = difflib.get_close_matches(name, own, n=1)
            found = f"found: {', '.join(own[:8])}" if own else f"it defines no {kind} at all"
            guess = f"; is {close[0]} meant?" if close else ""
            raise AgentError(self.name, f"{self.source.file.name} has no {kind} {name} ({found}{guess})")
        value = self.namespace[name]
        if not callable(value):
            raise AgentError(self.name, f"{name} is {one_line(repr(value), 60)}, not a {kind}")
        return value  # type: ignore[no-any-return]  # anybody's code

    def entry(self, default: str, kind: str = "function") -> Callable[..., Any]:
        """Return the bot: ``default``, or what the source names, called with the source's arguments if there are any.

        Raises AgentError if it is missing, fails, or is not callable.
        """
        made = self.get(self.source.attribute or default, kind)
        if self.source.arguments is None:
            return made
        call = f"{self.source.attribute or default}({', '.join(map(str, self.source.arguments))})"
        try:
            value = made(*self.source.arguments)
        except BaseException as error:
            raise self.failure(error, f"in {call}") from error
        if not callable(value):
            raise AgentError(self.name, f"{call} gave {one_line(repr(value), 60)}, not a {kind}")
        return value  # type: ignore[no-any-return]  # anybody's code

    def _module(self, name: str, path: Path) -> types.ModuleType:
        module = types.ModuleType(f"bot.{name}")  # not a name of a real module
        module.__dict__.update(__file__=str(path), __builtins__=self.builtins)
        return module

    def _execute(self, module: types.ModuleType, path: Path) -> None:
        code, own = code_of(path), (module.__name__, module)
        with _LOCK:
            _RUNNING.append(own)
            sys.modules.update([own])  # dataclasses look themselves up while they are made
        try:
            exec(code, module.__dict__)
        finally:
            with _LOCK:  # another thread may execute a file of the same name
                _RUNNING.remove(own)
                sys.modules.pop(own[0], None)
                sys.modules.update(_RUNNING)

    def _helper(self, name: str) -> types.ModuleType | None:
        """Return the module with the dotted ``name`` in the bot's folder, executed on first import, or None."""
        if name in self._modules:
            return self._modules[name]
        if name in self._absent or (self.source.shared and is_installed(name.partition(".")[0])):
            return None
        base = self._folder.joinpath(*name.split("."))
        has_init = (base / "__init__.py").is_file()
        path = base / "__init__.py" if has_init else base.with_name(base.name + ".py")
        # As in Python, a folder without __init__.py comes after installed modules.
        is_bare = not path.is_file() and base.is_dir() and not is_installed(name.partition(".")[0])
        is_package = has_init or is_bare
        if not (is_bare or path.is_file()) or path.relative_to(self._folder).as_posix() in self.source.hidden:
            self._absent.add(name)
            return None
        parent, _, child = name.rpartition(".")
        if parent and self._helper(parent) is None:
            return None
        module = self._module(name, path)
        module.__package__ = name if is_package else parent
        if is_package:
            module.__path__ = [str(base)]
        self._modules[name] = module  # before it runs, for circular imports
        try:
            if not is_bare:
                self._execute(module, path)
        except BaseException:
            del self._modules[name]
            raise
        if parent:
            setattr(self._modules[parent], child, module)
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> types.ModuleType:
        """Replace ``__import__``: look for supplied modules, then in the bot's folder, then for installed modules.

        If the folder may be shared, installed modules come before it.
        """
        if level:
            package = (globals or {}).get("__package__") or ""
            above = package.split(".")[: len(package.split(".")) - level + 1] if package else []
            name = ".".join([*above, name] if name else above)
        found = self._helper(name) if name else types.ModuleType("folder")
        if found is None:
            if level:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return builtins.__import__(name, globals, locals, tuple(fromlist or ()), 0)
        if not fromlist:
            return self._modules[name.partition(".")[0]]
        for child in fromlist:
            if not hasattr(found, child):  # `from package import module`
                below = self._helper(f"{name}.{child}" if name else child)
                if below is not None:
                    setattr(found, child, below)
        return found


def class_in(program: Program, base: type, method: str) -> type[Any]:
    """Return the class that plays: the last one that derives from ``base``.

    Classes of the file itself come before imported ones. If several are left, not counting base classes of others,
    ``program.remarks`` names the one that plays. Raises AgentError if there is no such class.
    """
    found = [
        value
        for value in dict.fromkeys(value for value in program.namespace.values() if isinstance(value, type))
        if issubclass(value, base) and value is not base and not getattr(value, "__abstractmethods__", None)
    ]
    if not found:
        wanted = f"defines no class that derives from {base.__name__} and has a method {method}"
        raise AgentError(program.name, f"{program.source.file.name} {wanted}")
    own = [value for value in found if value.__module__ == program.namespace["__name__"]] or found
    plays = own[-1]
    able = [value.__name__ for value in own if not any(value in other.__mro__[1:] for other in own)]
    if len(able) > 1:
        program.remarks.append(
            f"{len(able)} classes derive from {base.__name__}: {', '.join(able)}. The last one, {plays.__name__}, "
            f"plays; another one is chosen by its name, as in {program.source.file.name}:{able[0]}"
        )
    return plays


def check_class(program: Program, found: object, base: type) -> type[Any]:
    """Return ``found``, the class that a source names. Raises AgentError if it does not derive from ``base``."""
    if isinstance(found, type) and issubclass(found, base):
        return found
    raise AgentError(program.name, f"{program.source.attribute} is not a class that derives from {base.__name__}")
