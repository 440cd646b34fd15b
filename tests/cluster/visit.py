"""A contest on this machine, and the same one on a cluster that loses nodes: what runs in a cage, as ``cluster.visit``.

What came of both is written as JSON to a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import dicegym
from dicegym.arena import contest
from dicegym.arena.check import Check
from dicegym.arena.executors import Executor, Executors, local
from dicegym.arena.ray_executor import connect, ray_cluster
from dicegym.errors import DicegymError
from dicegym.players.roster import agents_folder
from dicegym.sandbox.jobs import Job, entry
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.sandbox import JobOutcome

NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.1"}
CLIENT_PORT = 10017
HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
HEALTH["raylet_liveness_self_check_interval_ms"] = 500
"""Whether a node still lives is asked more often than usual, by others and by its own processes, which end with it."""
BOTS = {
    "ann.py": (
        "import json, os\nfrom tools import dice\nTABLE = json.load(open(os.path.splitext(__file__)[0] + '.json'))\n"
        "def final_strategy(score, opponent_score):\n    return dice(TABLE, score)\n"
    ),
    "ann.json": "[4, 5, 3]",
    "tools.py": "def dice(table, score):\n    return table[score % len(table)]\n",
    "ben/hog.py": (
        "import random\nprint('I am', __file__)\nDICE = int(open(__file__.replace('hog.py', 'data/dice.txt')).read())\n"
        "def final_strategy(score, opponent_score):\n    return random.randint(3, DICE)\n"
    ),
    "ben/data/dice.txt": "6\n",
    "cat.py": "def final_strategy(score, opponent_score):\n    raise ValueError(__file__)\n",
    "dan.py": "import os\ndef final_strategy(score, opponent_score):\n    return 5 if score <= 50 else os._exit(3)\n",
    "eve.py": "import nothing_of_the_kind\n",
    "fay/hog.py": "PURE = True\ndef final_strategy(score, opponent_score):\n    return 4\n",
}


def written(folder: Path, names: list[str] | None = None) -> list[str]:
    """Write the bots, and return them as entries, all or those of these names."""
    for name, text in BOTS.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "gil").symlink_to(folder / "ben")  # one folder under two names
    bots = [*(name for name in BOTS if name.endswith(".py") and name != "tools.py"), "gil/hog.py"]
    return [str(folder / name) for name in bots if names is None or name in names]


def strangers(game: str, agents: list[str]) -> list[str]:
    """Return two agents of a game as files of somebody else, the last by name."""
    folder = Path.cwd() / "bots"
    shutil.copytree(agents_folder(game), folder)
    return [str(folder / f"{name}.py") for name in agents if (folder / f"{name}.py").is_file()][-2:]


@contextlib.contextmanager
def nodes(number: int, outside: bool = False) -> Iterator[Any]:
    """Yield a cluster of nodes with a processor each, of which the first one stays, connected to it.

    Args:
        number: of nodes.
        outside: connect by Ray's client, which does not start where nodes have the address 127.0.0.1.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    plain: dict[str, Any] = {name: value for name, value in NODE.items() if not outside or name != "node_ip_address"}
    client = {"ray_client_server_port": CLIENT_PORT} if outside else {}
    cluster = Cluster(initialize_head=True, head_node_args={**plain, **client, "_system_config": HEALTH})
    try:
        for _ in range(number - 1):
            cluster.add_node(**plain, wait=False)
        cluster.wait_for_nodes()
        with connect(f"ray://127.0.0.1:{CLIENT_PORT}" if outside else cluster.address):
            yield cluster
    finally:
        cluster.shutdown()


def counting(executors: Executors, counted: Counter[str], after: dict[int, Callable[[], object]]) -> Executors:
    """Return what makes the same executors, which count how often each job is yielded, and do something after some."""

    def make(game: dicegym.Game, limits: Limits | None, isolation: str) -> Executor:
        executor: Any = executors(game, limits, isolation)
        play = executor.run

        def run(jobs: Iterable[Job], watch: object = None) -> Iterator[tuple[Job, JobOutcome]]:
            for job, outcome in play(jobs):
                counted[f"{[entry.name for entry in job.entries]}: {job.facts}"] += 1
                yield job, outcome
                if act := after.pop(sum(counted.values()), None):
                    act()

        executor.run = run
        return executor  # type: ignore[no-any-return]  # as it was made

    return make


def held(game: str, entries: list[str], executors: Executors, games: int) -> str:
    """Return what a contest came to, as text."""
    return json.dumps(contest(game, entries, 11, executors=executors, games=games).to_json(), indent=1)


def losing(request: dict[str, Any]) -> dict[str, Any]:
    """Hold a contest here, and on a cluster in which nodes end after some outcomes and others come.

    Where there is one node alone, which has to stay, its referee ends instead.
    """
    agents = dicegym.agent_names(request["game"])
    hog = request["game"] == "hog"
    entries = written(Path.cwd() / "bots", request.get("bots")) if hog else strangers(request["game"], agents)
    entries += agents[: request["agents"]]
    counted: Counter[str] = Counter()
    here = held(request["game"], entries, local(1), request["games"])
    with nodes(request["nodes"], request.get("outside", False)) as cluster:

        def lose() -> None:
            if not cluster.worker_nodes:
                os.kill(referees()[0], signal.SIGKILL)
                return
            cluster.remove_node(sorted(cluster.worker_nodes, key=id)[0], allow_graceful=False)
            if not request.get("outside"):
                cluster.add_node(**NODE, wait=False)

        after = dict.fromkeys(request["losses"], lose)
        there = held(request["game"], entries, counting(ray_cluster(), counted, after), request["games"])
    return {"here": here, "there": there, "counted": counted, "not lost": list(after)}


@dataclass(frozen=True)
class Deadly(Check):
    """A check that ends the process that reads it."""

    def __reduce__(self) -> tuple[Callable[[int], NoReturn], tuple[int]]:
        return os._exit, (9,)


def deadly(request: dict[str, Any]) -> dict[str, Any]:
    """Do a job that ends its referee each time, and another one."""
    game = dicegym.game("hog")
    checks = [kind(game, (entry(game, "bacon", "bacon"),), 1, Limits()) for kind in (Deadly, Check)]
    done, said = 0, ""
    with nodes(1), ray_cluster()(game, None, "auto") as executor:
        try:
            for _ in executor.run(checks):
                done += 1
        except DicegymError as error:
            said = str(error)
    return {"error": said, "done": done}


def killed(request: dict[str, Any]) -> dict[str, Any]:
    """Kill the command in the middle of a contest on a cluster, and give it again."""
    command = [sys.executable, "-m", "dicegym", "tournament", "hog", "bacon", "swap", "tuned", "wild"]
    command += ["--seed", "3", "--games", "300"]
    whole = subprocess.run([*command, "--workers", "1", "--store", "none"], capture_output=True, text=True, check=True)
    with nodes(1) as cluster:
        command += ["--ray", cluster.address, "--store", "one.sqlite"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as first:
            while stored("one.sqlite") < 2:
                assert first.poll() is None
                time.sleep(0.1)
            first.kill()
        deadline = time.monotonic() + request["patience"]
        while (left := referees()) and time.monotonic() < deadline:
            time.sleep(0.2)
        again = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"whole": whole.stdout, "again": again.stdout, "told": again.stderr, "left": left}


def stored(file: str) -> int:
    """Return how many matches a store holds."""
    from dicegym.arena.store.reading import StoreReader

    try:
        with StoreReader(file) as reader:
            return sum(contest.played for contest in reader.contests())
    except DicegymError:
        return 0


def referees() -> list[int]:
    """Return the processes of referees, which are Ray's that do a match or have done one."""
    titles = (b"ray::play", b"ray::IDLE")
    return [int(one.parent.name) for one in Path("/proc").glob("[0-9]*/cmdline") if read(one).startswith(titles)]


def read(file: Path) -> bytes:
    """Return what is in a file; nothing if it is gone."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def main(request: dict[str, Any]) -> None:
    """Do what is wanted."""
    found = {"losing": losing, "deadly": deadly, "killed": killed}[request["what"]](request)
    Path(request["result"]).write_text(json.dumps(found))


if __name__ == "__main__":
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    main(json.loads(sys.argv[1]))
