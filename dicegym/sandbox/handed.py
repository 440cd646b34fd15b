"""What a host's process runs first: it takes what it needs of the package as compiled code from its referee.

So nothing of the package is looked for, read or compiled in each of these processes, whether or not compiled files lie
on disk; containers often have none. Packages above what is loaded are not executed.

`hand_over` is the referee's side, in a process that has the package; the rest runs as a script, which has nothing yet.
"""

from __future__ import annotations

import importlib
import marshal
import os
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

HOST = "dicegym.sandbox.host"
"""What is run then: its `main`. Not loaded here: a script has nothing of the package yet."""


def hand_over(interface: str) -> bytes:
    """Return what a host of bots of an interface needs: [packages and their folders, modules, files and their code].

    These are the modules that hold something of each other, from the host and the interface on. What is missed is
    loaded from its file.

    Args:
        interface: name of the game's module, which is loaded.
    """
    modules: dict[str, tuple[str, types.CodeType]] = {}
    waiting = [HOST, interface]
    tops = {name.partition(".")[0] for name in waiting}
    packages = {name: list(sys.modules[name].__path__) for name in parents_of(*waiting)}
    while waiting:
        name = waiting.pop()
        module = sys.modules[name]
        code = _code(module)
        if name in modules or code is None or hasattr(module, "__path__"):
            continue
        modules[name] = str(module.__file__), code
        for value in vars(module).values():
            other = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            if isinstance(other, str) and other in sys.modules and other.partition(".")[0] in tops:
                waiting.append(other)
    packages |= {name: list(sys.modules[name].__path__) for name in parents_of(*modules)}
    return marshal.dumps((packages, modules))


def parents_of(*modules: str) -> list[str]:
    """Return the names of all packages above ``modules``, each after those above it."""
    found: dict[str, None] = {}
    for module in modules:
        parts = module.split(".")[:-1]
        found |= {".".join(parts[: end + 1]): None for end in range(len(parts))}
    return list(found)


def _code(module: types.ModuleType) -> types.CodeType | None:
    """Return a module's compiled code, if its loader has it."""
    spec = module.__spec__
    get_code: Any = getattr(spec and spec.loader, "get_code", None)
    code: types.CodeType | None = get_code(module.__name__) if get_code is not None else None
    return code


class Handed:
    """Finds the modules that were handed over, as an entry of ``sys.meta_path``."""

    def __init__(self, modules: dict[str, tuple[str, types.CodeType]]) -> None:
        self._modules = modules

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return where a module is; None: it was not handed over."""
        if name not in self._modules:
            return None
        loader: Any = self
        spec = ModuleSpec(name, loader, origin=self._modules[name][0])
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: a plain module will do."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute it."""
        exec(self._modules[module.__name__][1], module.__dict__)

    def forget(self) -> None:
        """Let all later imports of the package load it whole."""
        sys.meta_path.remove(self)
        tops = {name.partition(".")[0] for name in self._modules}
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]


def main(control: int, handed: int) -> None:
    """Serve the referee at the other end of socket ``control``, with what is in file ``handed``."""
    data = os.pread(handed, os.fstat(handed).st_size, 0)  # others read the same file
    os.close(handed)
    packages, modules = marshal.loads(data)
    for name, folders in packages.items():
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = folders
    finder = Handed(modules)
    sys.meta_path.insert(0, finder)
    importlib.import_module(HOST).main(control, finder.forget)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
