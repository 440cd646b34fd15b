"""Entries sent to other machines, and jobs done there, are the same as here."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pickle
import socket
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import dicegym
from dicegym.arena import contest, ray_executor
from dicegym.arena.executors import local
from dicegym.arena.match import Match
from dicegym.arena.ray_executor import Cluster
from dicegym.bots.source import Source
from dicegym.errors import DependencyError, DicegymError, ParameterError
from dicegym.players.roster import agent_names
from dicegym.registry import GAMES
from dicegym.sandbox import bundles
from dicegym.sandbox.bundles import bundle, unbundle
from dicegym.sandbox.jobs import Entry, entry, seal_files
from dicegym.shipped import shipped_folder

BOT = "import tools\ndef final_strategy(score, opponent_score):\n    return 4\n"


@pytest.fixture
def game() -> dicegym.Game:
    return dicegym.game("hog")


def sent(game: dicegym.Game, one: Entry, folder: Path) -> Entry:
    """Return an entry as it is on a node."""
    return unbundle(pickle.loads(pickle.dumps(bundle(game, one))), folder)


def node(home: Path, files: Mapping[str, str]) -> tuple[Path, Path]:
    """Write files into a home folder; return it and an empty folder, which is the node."""
    for name, text in files.items():
        (home / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "home" / name).write_text(text)
    (home / "node").mkdir()
    return home / "home", home / "node"


def texts(entry: Entry) -> dict[str, str]:
    """Return the texts of the files beside an entry."""
    assert isinstance(entry.origin, Source)
    folder = entry.origin.file.parent
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def test_a_bot_brings_along_what_it_may_read_and_nothing_else(game: dicegym.Game, tmp_path: Path) -> None:
    names = ("ann.py", "tools.py", "ann.json", "ann/table.txt", "other.py", "other.json")
    home, away = node(tmp_path, {name: BOT if name.endswith(".py") else name for name in names})
    one = entry(game, "ann", str(home / "ann.py"))
    arrived = sent(game, one, away)
    assert texts(arrived) == {name: BOT if name.endswith(".py") else name for name in names[:4]}
    assert isinstance(arrived.origin, Source)
    assert seal_files(arrived.origin)[0] == one.seal == arrived.seal
    assert arrived._replace(origin=one.origin) == one
    (home / "ann.py").unlink()  # what is gone is missed there as here
    assert isinstance(gone := sent(game, one, tmp_path / "other node").origin, Source)
    assert not gone.file.exists()


def test_a_folder_of_its_own_is_sent_whole_but_for_what_leads_out(game: dicegym.Game, tmp_path: Path) -> None:
    own = ("hog.py", "tools.py", "deep/weights.txt")
    home, away = node(tmp_path, dict.fromkeys((*(f"ben/{name}" for name in own), "ben/__pycache__/old.pyc"), "x = 1\n"))
    (home / "secret.txt").write_text("secret")
    (home / "ben" / "way_out").symlink_to(home / "secret.txt")
    os.mkfifo(home / "ben" / "pipe")
    assert set(texts(sent(game, entry(game, "ben", str(home / "ben")), away))) == set(own)


def test_entries_that_share_files_and_links_arrive_each_with_all_of_them(game: dicegym.Game, tmp_path: Path) -> None:
    home, away = node(tmp_path, {"real/hog.py": BOT, "real/tools.py": "x = 1\n"})
    (home / "sent").mkdir()
    (home / "sent" / "hog.py").symlink_to(home / "real" / "hog.py")
    one = entry(game, "ann", str(home / "sent" / "hog.py"))
    assert len(one.seal) == 2, "its helper is where the link leads"
    for name in ("ann", "ben"):
        arrived = sent(game, entry(game, name, str(home / "sent" / "hog.py")), away / name)
        assert isinstance(arrived.origin, Source)
        assert seal_files(arrived.origin)[0] == one.seal
    assert sent(game, entry(game, "cat", str(home / "real" / "hog.py")), away / "cat").seal


@pytest.mark.parametrize("name", GAMES)
def test_agents_that_ship_are_found_there_by_their_paths(name: str, tmp_path: Path) -> None:
    """Models too."""
    game = dicegym.game(name)
    for agent in agent_names(game):
        one = entry(game, agent, agent)
        assert sent(game, one, tmp_path) == one
        assert str(shipped_folder("agents")) not in repr(bundle(game, one))


def test_an_agent_that_is_another_one_there_is_no_fault_of_its_own(game: dicegym.Game, tmp_path: Path) -> None:
    packed, contents = bundle(game, entry(game, "bacon", "bacon"))
    with pytest.raises(DependencyError, match="'bacon' differs on another machine"):
        unbundle((packed._replace(seal=(("bacon.py", "0" * 64),)), contents), tmp_path)


@pytest.mark.parametrize(("limit", "value"), [("LARGEST_BUNDLE", 10), ("MOST_DATA", 1)])
def test_a_bot_with_too_much_is_told_so(
    game: dicegym.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(bundles, limit, value)
    (tmp_path / "hog.py").write_text("x = 1\n")
    (tmp_path / "large.txt").write_text("1234567890")
    with pytest.raises(ParameterError, match="entry 'ann' cannot be sent"):
        bundle(game, entry(game, "ann", str(tmp_path / "hog.py")))


@pytest.mark.parametrize("address", ["host", "host:", "host:0", "host:70000", "http://a:80", "ray://a"])
def test_what_is_no_address(address: str) -> None:
    pytest.importorskip("ray")
    said = pytest.raises(
        DicegymError, match=f"no connection to a Ray cluster at '{address}' .*use host:6379, ray://host"
    )
    with said, ray_executor.connect(address):
        pass


class Ray(types.ModuleType):
    """A Ray of two nodes, whose tasks are done here and at once."""

    class RayError(Exception):
        """As Ray's."""

    class RayTaskError(RayError):
        """As Ray's."""

    class TaskCancelledError(RayError):
        """As Ray's."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.exceptions = self
        self.alive = {"one": True, "two": True}
        self.cancelled = list[Any]()
        self.stored = list[Reference]()

    def remote(self, **options: Any) -> Any:
        def send(function: Callable[..., Any], *arguments: Any) -> Reference:
            try:
                return Reference(function(*arguments))
            except DependencyError as cause:
                error = self.RayTaskError()
                error.cause, error.ip = cause, "10.0.0.2"  # type: ignore[attr-defined]
                return Reference(error)

        return lambda function: types.SimpleNamespace(remote=functools.partial(send, function))

    def put(self, value: Any) -> Reference:
        self.stored.append(Reference(value))
        return self.stored[-1]

    def get(self, reference: Reference) -> Any:
        if isinstance(reference.value, Exception):
            raise reference.value
        return reference.value

    def wait(self, references: list[Any], **options: Any) -> tuple[list[Any], list[Any]]:
        return references[:1], references[1:]

    def cancel(self, reference: Any, force: bool) -> None:
        self.cancelled.append(reference)

    def nodes(self) -> list[dict[str, Any]]:
        facts = {"NodeManagerHostname": "host", "Resources": {"CPU": 1.0}}
        return [{"NodeID": name, "Alive": alive, **facts} for name, alive in self.alive.items()]


class Reference:
    """To a value, or an error."""

    def __init__(self, value: Any) -> None:
        self.value, self.fetched = value, 0

    def future(self) -> Future[Any]:
        self.fetched += 1
        done = Future[Any]()
        done.set_result(self.value)
        return done

    def hex(self) -> str:
        return f"{id(self):056x}"


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    """Replace Ray by a fake."""
    fake = Ray()
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setattr(ray_executor, "connect", lambda address, told: contextlib.nullcontext(Cluster(fake, told)))
    monkeypatch.setattr(ray_executor, "reach", lambda address: "auto")
    monkeypatch.setattr(ray_executor, "LOOK_EVERY", 0.0)
    return fake


def test_processors_of_a_lost_node_are_not_counted(ray: Ray) -> None:
    told: list[str] = []
    cluster = Cluster(ray, told.append)
    ray.alive["two"] = False
    cluster.look()
    assert told == ["a Ray cluster of 2 nodes with 2 processors"]
    assert cluster.processors == [1]


@pytest.mark.parametrize("lacks", ["version", "rules", "jail"])
def test_a_node_that_lacks_what_work_needs_is_named(
    lacks: str, ray: Ray, game: dicegym.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacks == "version":
        versions = itertools.chain(["0.0.0"], itertools.repeat("9.9.9"))  # here, and there
        monkeypatch.setattr(ray_executor, "package_version", lambda: next(versions))
    executor = ray_executor.ray_cluster()(game, None, "auto")
    if lacks == "rules":
        executor._how = ("other", *executor._how[1:])  # type: ignore[attr-defined]

    def jail_less(*_: object) -> None:
        raise DependencyError("no jail works there")

    if lacks == "jail":
        monkeypatch.setattr(ray_executor, "Sandbox", jail_less)
    said = {"version": "and 0.0.0 here: install the same", "rules": "has other rules there", "jail": "no jail works"}
    ray_executor.referee.cache_clear()
    jobs = [Match(game, (entry(game, "swap", "swap"), entry(game, "bacon", "bacon")), 1, 2)]
    with executor, pytest.raises(DicegymError, match=f"work on node 10.0.0.2 failed: .*{said[lacks]}"):
        list(executor.run(jobs))


def test_what_was_begun_in_vain_is_cancelled(ray: Ray, game: dicegym.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass ends by the next one, the end of the executor, or a job that cannot be sent."""
    monkeypatch.setattr(ray_executor, "play", lambda version, fingerprint, how, job, bundles: (job, {}))
    both = entry(game, "swap", "swap"), entry(game, "bacon", "bacon")
    jobs = [Match(game, both, 1, 1, number=number) for number in range(4)]

    def broken() -> Iterator[Match]:
        yield from jobs[:2]
        raise ParameterError("too many files")

    with ray_executor.ray_cluster(workers=3)(game, None, "auto") as executor:
        first = executor.run(jobs)
        next(first)
        assert ray.cancelled == []
        second = executor.run(jobs)
        next(second)
        assert len(ray.cancelled) == 2
        first.close()
        assert len(ray.cancelled) == 2, "which is not of its pass"
        with pytest.raises(ParameterError):
            list(executor.run(broken()))
        assert len(ray.cancelled) == 6
        third = executor.run(jobs)
        next(third)
    assert len(ray.cancelled) == 8
    third.close()
    assert len(ray.cancelled) == 8


def test_a_cluster_that_does_not_answer_is_told(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(ray)

    def nodes() -> None:
        raise ray.RayError("gone")

    monkeypatch.setattr(ray, "nodes", nodes)
    with pytest.raises(DicegymError, match=r"the cluster does not answer \(gone\): start it again"):
        cluster.look()


def test_matches_on_a_cluster_are_what_they_are_here(
    ray: Ray, game: dicegym.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray_executor.referee.cache_clear()
    (tmp_path / "cat.py").write_text("def final_strategy(score, opponent_score):\n    raise ValueError(__file__)\n")
    pair = entry(game, "cat", str(tmp_path / "cat.py")), entry(game, "bacon", "bacon")
    jobs = [Match(game, pair, seed, 2) for seed in range(5)]
    with ray_executor.ray_cluster()(game, None, "auto") as executor:
        there = dict(executor.run(iter(jobs)))
        assert list(executor.run([])) == []
        broken_off = executor.run(iter(jobs))
        next(broken_off)
        broken_off.close()  # type: ignore[attr-defined]
        assert ray.cancelled
    ray_executor._open.close()
    assert [one.fetched for one in ray.stored] == [1, 1], "each entry's files once for all matches"
    with local(1)(game, None, "auto") as executor:
        assert there == dict(executor.run(iter(jobs)))
    assert str(tmp_path / "cat.py") in str(there)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("RayTaskError", "work on node 10.0.0.2 failed: .*gone"),
        ("RayError", "gave up Match of swap - bacon: it is lost at most 5 times .*gone"),
    ],
)
def test_lost_work_is_told_from_work_that_fails(
    raised: str, said: str, ray: Ray, game: dicegym.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = getattr(ray, raised)("gone")
    failure.cause, failure.ip = ValueError("gone"), "10.0.0.2"
    lost = types.SimpleNamespace(remote=lambda *arguments: Reference(failure))
    monkeypatch.setattr(ray, "remote", lambda **options: lambda function: lost)
    pair = entry(game, "swap", "swap"), entry(game, "bacon", "bacon")
    with ray_executor.ray_cluster()(game, None, "auto") as executor, pytest.raises(DicegymError, match=said):
        list(executor.run([Match(game, pair, 1, 2)]))


@pytest.mark.parametrize("listens", [True, False])
def test_who_is_turned_away_is_told_what_to_do(listens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def turned_away(address: str, **options: Any) -> None:
        raise ConnectionError(f"Failed to connect to Ray cluster at {address}")

    monkeypatch.setattr(ray, "init", turned_away)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        if not listens:
            server.close()
        said = "Failed to connect" if listens else "Connection refused"
        with pytest.raises(DicegymError, match=said) as error, ray_executor.connect(address):
            pass
    assert "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN" in str(error.value)


def test_a_contest_begins_nowhere_without_its_cluster(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("sqlalchemy")
    from dicegym.arena.store.reading import StoreReader

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    store = tmp_path / "arena.sqlite"
    contest("hog", ["bacon", "swap"], 1, 1, games=1, store=store)
    with pytest.raises(DicegymError, match="no connection to a Ray cluster"):
        contest("hog", ["ham", "swap"], 2, games=1, store=store, executors=ray_executor.ray_cluster(address))
    with StoreReader(store) as reader:
        assert [one.seed for one in reader.contests()] == [1]


def test_a_referee_that_ended_is_not_found_again(game: dicegym.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def sandbox(table: dicegym.Game, workers: int, *how: Any) -> Any:
        if how:
            raise DicegymError("no process can be started")
        yield object()

    monkeypatch.setattr(ray_executor, "Sandbox", sandbox)
    _, folder, _ = ray_executor.referee(game, ())
    with pytest.raises(DicegymError, match="no process"):
        ray_executor.referee(game, ("other limits",))
    assert not folder.exists()
    assert ray_executor.referee(game, ())[1].is_dir()
    ray_executor.referee.cache_clear()
    ray_executor._open.close()
