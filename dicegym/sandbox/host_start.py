"""What a host's process runs first, as a script: it loads the host, and executes no package above what that needs.

So a process for a bot's program has no compiled code and no arrays, and starts in a moment. `packages_of` is the
referee's side, in a process that has the package.
"""

from __future__ import annotations

import importlib
import json
import sys
import types

HOST = "dicegym.sandbox.host"
"""What is run then: its `main`. Not loaded here: a script has nothing of the package yet."""


def packages_of(*modules: str) -> dict[str, list[str]]:
    """Return all packages that are loaded of the libraries that ``modules`` are in: names -> their folders."""
    tops = {name.partition(".")[0] for name in modules}
    return {
        name: list(module.__path__)
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in tops and hasattr(module, "__path__")
    }


def main(control: int, packages: dict[str, list[str]]) -> None:
    """Serve the referee at the other end of socket ``control``, with packages that are empty but for their folders."""
    for name, folders in packages.items():
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = folders
    tops = {name.partition(".")[0] for name in packages}

    def forget() -> None:
        """Let all later imports of the package load it whole."""
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]

    importlib.import_module(HOST).main(control, forget)


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
