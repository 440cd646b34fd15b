"""The script that a host's process runs first: it loads the host and executes no other package than the host needs.

So the process of a bot has no compiled code and no arrays, and starts fast. `packages_of` runs in the referee, which
has loaded the package.
"""

from __future__ import annotations

import importlib
import json
import sys
import types

HOST = "dicegym.sandbox.host"
"""The module whose `main` runs; named, not imported, because the script starts without the package."""


def packages_of(*modules: str) -> dict[str, list[str]]:
    """Return the loaded packages of the libraries that contain ``modules``: name -> folders."""
    tops = {name.partition(".")[0] for name in modules}
    return {
        name: list(module.__path__)
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] in tops and hasattr(module, "__path__")
    }


def main(control: int, packages: dict[str, list[str]]) -> None:
    """Serve the referee at the other end of socket ``control``; packages are empty modules with their folders."""
    for name, folders in packages.items():
        package = sys.modules[name] = types.ModuleType(name)
        package.__path__ = folders
    tops = {name.partition(".")[0] for name in packages}

    def forget() -> None:
        """Make later imports load the whole package."""
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]

    importlib.import_module(HOST).main(control, forget)


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
