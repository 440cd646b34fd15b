"""A referee's process: it loads the rules once, and then does one job after the other.

What plays in this process is trusted: agents that ship with the package, models, and players made by the caller. Bots'
files play in other processes (`dicegym.sandbox.hosts`). See `dicegym.sandbox.sandbox` for the whole.
"""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from multiprocessing.connection import Connection, wait
from typing import Any

from dicegym.engine.game import Game
from dicegym.errors import AgentError, DicegymError, ServiceError, one_line
from dicegym.play.drive import play_game
from dicegym.play.player import RandomPlayer
from dicegym.play.printed import Printed
from dicegym.players import batch_players
from dicegym.sandbox import jail, scratch
from dicegym.sandbox.confinement import end_with
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.hosts import Hosts
from dicegym.sandbox.jobs import Context, Job
from dicegym.sandbox.limits import Limits
from dicegym.sandbox.remote import GoneError, StartError
from dicegym.signals import ENDING


def rehearse(game: Game) -> None:
    """Play one game, so that all kernels are loaded before anybody is timed."""
    state = play_game(game, [RandomPlayer()] * game.players)
    game.returns(state)
    game.observe(state, 0)  # models use observations and legal actions; bots use a view
    game.legal(game.new_game()[0])
    batch_players.prepare(game)


def outcome(job: Job, heartbeat: Heartbeat, hosts: Hosts) -> dict[str, Any]:
    """Do a job; return its result as a dict.

    {"value": ...} is the job's value, {"ended": ...} why the run must end, and {"actor": ..., "reason": ...} a fault;
    "gone": True means that the reason already says when.
    """
    stray = Printed()
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = stray
    try:
        hosts.prepare(job.entries)
        return {"value": job.run(Context(heartbeat, stray, hosts.load, hosts.apart))}
    except GoneError as error:
        return {"actor": heartbeat.blamed, "reason": error.reason, "gone": True}
    except AgentError as error:
        return {"actor": heartbeat.blamed, "reason": error.reason}
    except StartError as error:  # the job is done again
        return {"actor": -1, "reason": one_line(error)}
    except ServiceError as error:
        return {"ended": one_line(error)}
    except DicegymError as error:
        return {"actor": heartbeat.blamed, "reason": one_line(error)}
    except BaseException as error:  # the contest must continue, and a player can break anything in this process
        return {"actor": heartbeat.blamed, "reason": f"broke its process: {type(error).__name__}: {one_line(error)}"}
    finally:
        sys.stdout, sys.stderr = streams
        heartbeat.rest()
        hosts.end_job()


def serve_jobs(conn: Connection, cells: Any, game: Game, limits: Limits, level: jail.Isolation, folder: str) -> None:
    """Do the pickled jobs that come through ``conn`` until it is closed; answer each with its `outcome` as JSON.

    See `Hosts` for the last three arguments.
    """
    end_with(os.getppid())
    for number in ENDING:  # they reach the whole group, but the parent decides; not SIG_IGN, which children inherit
        signal.signal(number, lambda *_: None)
    heartbeat = Heartbeat(cells)
    hosts = Hosts(game, limits, level, folder)
    watcher = threading.Thread(target=_end_with_caller, args=(hosts, folder), daemon=True)
    watcher.start()
    gc.freeze()  # a collection that visits the fork server's objects would copy all of their memory
    rehearse(game)
    gc.collect()
    gc.freeze()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    multiprocessing.current_process().daemon = False  # players may start processes, which end with this one
    try:
        with contextlib.suppress(EOFError, OSError):  # the caller has closed the pipe or ended
            conn.send_bytes(b"ready")
            while True:
                job: Job = pickle.loads(conn.recv_bytes())
                heartbeat.reset()
                conn.send_bytes(json.dumps(outcome(job, heartbeat, hosts)).encode())
    finally:
        hosts.close()
        if _caller_is_gone(0):
            watcher.join()


def _caller_is_gone(seconds: float | None = None) -> bool:
    """Wait at most ``seconds`` (None: forever) for the end of the calling process; return whether it has ended."""
    caller = multiprocessing.parent_process()
    return caller is not None and bool(wait([caller.sentinel], seconds))


def _end_with_caller(hosts: Hosts, folder: str) -> None:
    """End this process as soon as the caller has ended in any way, because nobody reads the results then.

    Otherwise the end would be noticed only after the match, which may take minutes. `end_with` does not help: it
    follows the fork server, which lives as long as this process.
    """
    if _caller_is_gone():
        hosts.kill()
        scratch.throw_away(folder)
        os._exit(1)
