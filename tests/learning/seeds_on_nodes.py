"""A program for test_seeds.py: seeds on a cluster of several nodes, one of which is killed while they train."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path


def main() -> None:
    """Train as the JSON request in the first argument says, and write the results."""
    from ray.cluster_utils import Cluster

    from dicegym.learning.seeds.ray_trainer import ray_backend
    from dicegym.learning.seeds.seeded_training import train_seeds

    request = json.loads(sys.argv[1])
    folder = Path(request["folder"])
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    workers = [nodes.add_node(num_cpus=1) for _ in range(2)]  # one is left for both

    def kill() -> None:
        while not list(folder.glob("seed-*/checkpoint")):
            time.sleep(0.05)
        nodes.remove_node(workers[0], allow_graceful=False)

    threading.Thread(target=kill, daemon=True).start()
    try:
        with ray_backend(nodes.address) as backend:
            found = train_seeds("hog", folder, 2, overrides=request["overrides"], backend=backend)
        left = len(nodes.worker_nodes)
    finally:
        nodes.shutdown()
    results = [[one.seed, one.how, one.best, one.end] for one in found.results]
    Path(request["result"]).write_text(json.dumps({"results": results, "left": left}))


if __name__ == "__main__":
    main()
