"""The distribution: what it holds, and that it works where there is no checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath
from typing import Literal

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
DATA_FOLDERS = {folder: package.replace(".", "/") for package, folder in SETUPTOOLS["package-dir"].items()}


def shipped(folder: str) -> set[str]:
    """Return the files below a folder of the checkout, without what running the code leaves there."""
    files = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()}
    rubbish = {path for path in files if any(part == "__pycache__" or part.startswith(".") for part in path.parts)}
    return {path.as_posix() for path in files - rubbish}


def run(*command: str | Path, cwd: str | Path, more: Mapping[str, str] | None = None) -> str:
    """Run a command away from all that would lead it back to the checkout; return what it prints.

    ``more`` is added to its environment.
    """
    ours = ("PYTHON", "DICEGYM_", "VIRTUAL_ENV")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours) or name == "DICEGYM_CACHE"}
    clean |= {"COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"} | dict(more or {})
    done = subprocess.run([*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that ``make`` filled, by one test worker for all: the others wait for it."""
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    shared = factory.getbasetemp().parent if parallel else factory.getbasetemp()
    folder = shared / name
    with FileLock(shared / f"{name}.lock"):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "done").touch()
    return folder


def build_in(source: Path, what: Literal["sdist", "wheel"], folder: Path) -> Path:
    """Do what `python -m build --no-isolation` does, without asking first what it requires; return what was built."""
    from build import ProjectBuilder  # one worker needs it

    def start(command: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
        run(*command, cwd=cwd or source, more=extra_environ)

    return Path(ProjectBuilder(source, runner=start).build(what, folder))


def copy_to(source: Path, *unneeded: str) -> None:
    """Copy the checkout: setuptools writes beside the sources, and would pack what an earlier build left there."""
    rubbish = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "runs", "*.egg-info", *unneeded)
    shutil.copytree(ROOT, source, ignore=rubbish)


def files_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, from what the package consists of; a slow test builds it from the sdist, as an index would."""

    def build(folder: Path) -> None:
        copy_to(folder / "source", "tests", "docs", "notebooks", "benchmarks")
        build_in(folder / "source", "wheel", folder)

    (found,) = once(tmp_path_factory, "built", build).glob("*.whl")
    return found


@pytest.fixture(scope="session")
def wheel_files(wheel: Path) -> set[str]:
    """Return the names of the files in the wheel."""
    return files_in(wheel)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment that borrows this one's dependencies; return its bin folder."""

    def scheme(home: Path, name: str) -> Path:
        return Path(sysconfig.get_path(name, "venv", {"base": str(home), "installed_base": str(home)}))

    def install(home: Path) -> None:
        run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
        uv = (sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps")
        run(*uv, "--python", scheme(home, "scripts") / "python", wheel, cwd=home)
        # A path file adds these folders after the environment's own, and does not read the path files inside
        # them: the one of an editable dicegym stays without effect.
        borrowed = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
        (scheme(home, "purelib") / "borrowed.pth").write_text("\n".join(borrowed) + "\n", encoding="utf-8")

    return scheme(once(tmp_path_factory, "installed", install), "scripts")


def test_every_package_is_listed_and_says_what_it_is() -> None:
    folders = {PurePosixPath(name).parent for name in shipped("dicegym") if name.endswith(".py")}
    assert folders, "no package found"
    listed = set(SETUPTOOLS["packages"]) - set(SETUPTOOLS["package-dir"])
    assert {folder.as_posix().replace("/", ".") for folder in folders} == listed, "see packages in pyproject.toml"
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def test_the_wheel_holds_the_whole_package_its_data_and_nothing_else(wheel_files: set[str]) -> None:
    data = {DATA_FOLDERS[folder] + name.removeprefix(folder) for folder in DATA_FOLDERS for name in shipped(folder)}
    assert all(shipped(folder) for folder in DATA_FOLDERS)
    metadata = {name for name in wheel_files if name.startswith("dicegym-") and ".dist-info/" in name}
    assert wheel_files - metadata == shipped("dicegym") | data, "see packages and package-data in pyproject.toml"
    assert "dicegym/py.typed" in wheel_files


def test_the_wheel_and_the_agents_in_it_are_small(wheel: Path) -> None:
    """Models are most of both; see CONTRIBUTING.md."""
    sizes = [path.stat().st_size for path in (ROOT / name for name in shipped("agents"))]
    assert max(sizes) < 3_000_000
    assert sum(sizes) < 16_000_000
    assert wheel.stat().st_size < 12_000_000


def files_of_its_own_tests() -> set[str]:
    """Return the files that an sdist needs to test itself."""
    expected = set().union(*map(shipped, ("dicegym", "tests", "agents", "training", "notebooks")))
    expected |= {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md"}
    return expected | {"constraints.txt", "pyproject.toml", "setup.cfg"}


def test_the_sdist_gets_all_that_its_tests_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the lines of MANIFEST.in: setuptools adds the package, its data and what pyproject.toml names."""
    from setuptools.command.egg_info import FileList  # one worker needs it

    monkeypatch.chdir(ROOT)
    found = FileList()
    for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            found.process_template_line(line)
    added = set().union(*map(shipped, ("dicegym", *DATA_FOLDERS)))
    added |= {"LICENSE", "README.md", "pyproject.toml", "setup.cfg"}
    assert sorted(files_of_its_own_tests() - added - set(found.files)) == [], "not in the sdist, see MANIFEST.in"


@pytest.mark.slow
def test_the_installed_package_compiles(installed: Path, tmp_path: Path) -> None:
    program = PLAYS.replace("PROGRAM", repr(str(installed / "dicegym")))
    compiled = {"NUMBA_DISABLE_JIT": "0", "DICEGYM_CACHE": str(tmp_path / "kernels")}
    assert run(installed / "python", "-c", program, cwd=tmp_path, more=compiled)
    assert any(tmp_path.glob("kernels/*/*.nbc"))


@pytest.mark.slow
def test_the_sdist_can_test_itself_and_makes_the_same_wheel(wheel_files: set[str], tmp_path: Path) -> None:
    copy_to(tmp_path / "source")
    sdist = build_in(tmp_path / "source", "sdist", tmp_path)
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
        archive.extractall(tmp_path / "unpacked", filter="data")
    assert sorted(files_of_its_own_tests() - names) == [], "not in the sdist, see MANIFEST.in"
    made = build_in(tmp_path / "unpacked" / sdist.name.removesuffix(".tar.gz"), "wheel", tmp_path)
    assert files_in(made) == wheel_files


PLAYS = """
import runpy, sys
import gymnasium, dicegym
environment = gymnasium.make("dicegym/Hog-v0")
environment.reset(seed=1)
environment.step(environment.action_space.sample())
environment.close()
print(dicegym.__version__, dicegym.__file__, sep="\\n", flush=True)
sys.argv = ["dicegym", "games", "hog"]
runpy.run_path(PROGRAM, run_name="__main__")
"""


@pytest.fixture(scope="module")
def played(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Play with the installed package, away from the checkout, and run its command in the same process.

    Returns its version, where it is, and the lines that the command prints.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    assert not folder.is_relative_to(ROOT)
    program = PLAYS.replace("PROGRAM", repr(str(installed / "dicegym")))
    plain = {"NUMBA_DISABLE_JIT": "1"}  # compiled rules take longer to load than all else
    return run(installed / "python", "-c", program, cwd=folder, more=plain).splitlines()


def test_one_version_everywhere(wheel: Path, wheel_files: set[str], played: list[str]) -> None:
    (metadata,) = (name for name in wheel_files if name.endswith(".dist-info/METADATA"))
    with zipfile.ZipFile(wheel) as archive:
        version = HeaderParser().parsestr(archive.read(metadata).decode())["Version"]
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert played[0] == version


NAMED = re.compile(r"""\.\[([a-z,]+)\]'|(?i:extra) `{1,2}([a-z]+)`|for_extra\(.+, "([a-z]+)", f?".+\)""")
"""Extras, as pages and messages name them."""


def test_every_extra_that_is_named_exists() -> None:
    """The command's own table is compared in tests/cli/test_doctor.py."""
    known, named = set(PROJECT["project"]["optional-dependencies"]), set()
    texts = [path for pattern in ("*.md", "Makefile", "constraints.txt") for path in ROOT.glob(pattern)]
    for folder, pattern in (("docs", "**/*.md"), ("docs", "*/Containerfile"), ("dicegym", "**/*.py")):
        texts += (ROOT / folder).glob(pattern)
    for path in texts:
        found = {one for names in NAMED.findall(path.read_text("utf-8")) for part in names for one in part.split(",")}
        assert found - {""} <= known, path
        named |= found - {""}
    assert named == known, "each is on some page, or in a message"


def test_the_first_page_lists_all_extras_and_those_that_are_installed() -> None:
    page, makefile = ((ROOT / name).read_text("utf-8") for name in ("docs/start.md", "Makefile"))
    table = re.findall(r"^\| `(\w+)` \|", page.partition("| extra | adds |")[2], re.MULTILINE)
    assert table == list(PROJECT["project"]["optional-dependencies"])
    (installed,) = re.findall(r"\$\(INSTALL\).*'\.\[([a-z,]+)\]'$", makefile, re.MULTILINE)
    (count,) = re.findall(r"`make install` installs the first (\w+);", page)
    assert table[: ["zero", "one", "two", "three", "four", "five", "six", "seven"].index(count)] == installed.split(",")


def test_every_pin_is_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    loose = [line for line in pins if line.count("==") != 1 or "://" in line or "@" in line]
    assert not loose


def test_the_installed_package_plays_and_is_not_the_checkout(installed: Path, played: list[str]) -> None:
    found = Path(played[1])
    assert found.is_relative_to(installed.parent)
    for name in DATA_FOLDERS:
        assert not (found.parents[1] / name).exists(), f"{name} is left in site-packages under a name anybody may use"


def test_the_installed_command_finds_the_agents(installed: Path, played: list[str]) -> None:
    """From an empty folder they can only come from the installed package."""
    assert (installed / "dicegym").read_text(encoding="utf-8").startswith(f"#!{installed / 'python'}")
    bots = {Path(name).stem for name in shipped("agents/hog") if name.endswith(".py")}
    assert bots, "agents/hog has no bots"
    printed = "\n".join(played[2:])
    assert sorted(bot for bot in bots if bot not in printed) == [], printed
