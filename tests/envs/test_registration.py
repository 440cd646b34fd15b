"""The environments are known to Gymnasium and PettingZoo, whichever is imported first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAIN = os.environ | {"NUMBA_DISABLE_JIT": "1"}
"""Compiled rules are not the matter here, and take longer to load than all else."""


def run(program: str) -> str:
    """Run a program in a process of its own; return what it prints."""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=PLAIN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


KNOWN = """
assert gymnasium.spec("dicegym/Hog-v0").vector_entry_point == "dicegym.envs.vector:BatchEnv"
assert "dicegym/Yatzy-v0" in pettingzoo.aec_registry and "dicegym/Yatzy-v0" in pettingzoo.parallel_registry
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, pettingzoo, dicegym",
        "import dicegym\nfrom gymnasium.envs.registration import make\nimport gymnasium, pettingzoo",
    ],
)
def test_environments_are_known_in_every_order_of_imports(imports: str) -> None:
    run(f"{imports}\n{KNOWN}")


def test_importing_the_package_loads_neither_library_which_keep_their_loaders_and_resources() -> None:
    told = run(
        "import dicegym, sys; print({'gymnasium', 'pettingzoo', 'numpy'} & {*sys.modules})\n"
        "(hook,) = [one for one in sys.meta_path if type(one).__name__ == 'ImportHook']\n"
        "print(hook.find_spec('numpy'), hook.find_spec('gymnasium.envs'))\n"
        "import gymnasium, inspect, importlib.resources, importlib.util, pettingzoo\n"
        "from importlib.machinery import SourceFileLoader\n"
        "print(type(gymnasium.__spec__.loader) is SourceFileLoader, 'Env' in inspect.getsource(gymnasium),\n"
        "      importlib.resources.files(gymnasium).joinpath('core.py').is_file(),\n"
        "      importlib.util.find_spec('gymnasium').origin == gymnasium.__file__)\n"
        f"{KNOWN}"
    )
    assert told == "set()\nNone None\nTrue True True True\n"


def test_reloading_registers_nothing_twice() -> None:
    run(
        "import importlib, sys, warnings; warnings.simplefilter('error')\n"
        "import dicegym; importlib.reload(dicegym)\n"
        "import gymnasium; importlib.reload(gymnasium); importlib.reload(dicegym)\n"
        "from dicegym import registration\n"
        "assert sum(type(one).__name__ == 'ImportHook' for one in sys.meta_path) == 1\n"
        "importlib.reload(registration); importlib.reload(dicegym)\n"
        "import pettingzoo\n"
        "assert 'dicegym/Hog-v0' in gymnasium.registry and 'dicegym/Hog-v0' in pettingzoo.aec_registry\n"
    )


MADE = f"""
import gymnasium, pickle
gymnasium.make("dicegym:dicegym/Hog-v0")
import pettingzoo
{KNOWN}
spec = gymnasium.spec("dicegym/Hog-v0")
assert pickle.loads(pickle.dumps(spec)) == spec
assert gymnasium.spec("dicegym/Hog-v0").make().spec == gymnasium.make("dicegym/Hog-v0").spec
environments = gymnasium.make_vec("dicegym/Hog-v0", 1, vectorization_mode="async")
assert environments.reset(seed=1)[0].shape[0] == 1
environments.close()
"""


def test_environments_are_made_by_the_name_of_the_package_and_in_other_processes() -> None:
    run(MADE)


SPAWNED = """
import dicegym, gymnasium

def make():
    import gymnasium
    return gymnasium.make("dicegym/Hog-v0")

if __name__ == "__main__":
    environments = gymnasium.vector.AsyncVectorEnv([make], context="spawn")
    assert environments.reset(seed=1)[0].shape[0] == 1
    environments.close()
"""


@pytest.mark.slow
def test_environments_are_made_in_processes_that_import_everything_anew(tmp_path: Path) -> None:
    """Each takes a second and a half to begin; those above are forks."""
    program = tmp_path / "workers.py"
    program.write_text(SPAWNED)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_missing_or_broken_is_reported_as_without_us(tmp_path: Path) -> None:
    (tmp_path / "gymnasium.py").write_text("raise RuntimeError('broken')\n")
    told = run(
        f"import sys, dicegym; sys.path.insert(0, {str(tmp_path)!r}); sys.modules['pettingzoo'] = None\n"
        "for name in ('gymnasium', 'pettingzoo'):\n"
        "    try: __import__(name)\n"
        "    except Exception as error: print(type(error).__name__)\n"
    )
    assert told == "RuntimeError\nModuleNotFoundError\n"


def test_other_hooks_may_stand_before_and_after() -> None:
    """As pytest's and those of tools that watch imports: one that finds nothing, and one that asks all others."""
    run(
        "import sys, importlib.util\n"
        "class Nothing:\n"
        "    def find_spec(self, name, path=None, target=None): return None\n"
        "class AsksAll:\n"
        "    busy = False\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if self.busy or name != 'gymnasium': return None\n"
        "        self.busy = True\n"
        "        try: return importlib.util.find_spec(name)\n"
        "        finally: self.busy = False\n"
        "sys.meta_path.insert(0, Nothing())\n"
        "import dicegym\n"
        "sys.meta_path.insert(0, AsksAll()); sys.meta_path.insert(0, Nothing())\n"
        f"import gymnasium, pettingzoo\n{KNOWN}"
    )
