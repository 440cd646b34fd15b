"""What runs inside a sandbox's process.

A keeper loads the rules once and then forks a child for every job, so that whatever a bot does to its
process (memory, threads, patched modules, recursion limits) is gone with the next job. Only the child runs
bots, and before it runs one that does not ship with the package it gives up writing compiled kernels. Where
there is no fork, the keeper runs the jobs itself and is replaced if one goes wrong.

Children answer in JSON and not by pickle: what comes from the process of an untrusted bot is only data.
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
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NoReturn

from dicegym.bots.source import code_of
from dicegym.engine.game import Game
from dicegym.errors import AgentError, DicegymError, one_line
from dicegym.play.drive import play_game
from dicegym.play.printed import Printed
from dicegym.sandbox.heartbeat import Heartbeat
from dicegym.sandbox.jobs import Entry, Job
from dicegym.sandbox.limits import Limits, end_with, give_up_kernels, limit_memory
from dicegym.signals import ENDING

CAN_FORK = hasattr(os, "fork")


def rehearse(game: Game, entry: Entry) -> None:
    """Play one game between copies of ``entry``, so that all kernels are in memory before anybody is timed."""
    state = play_game(game, [entry.load(game, seat) for seat in range(game.players)])
    game.returns(state)
    game.observe(state, 0)  # models look and are told what is legal; bots play by a view
    game.legal(game.new_game()[0])


def outcome(pickled: bytes, heartbeat: Heartbeat) -> bytes:
    """Run a pickled job; return {"value": ...}, or {"actor": ..., "reason": ...} of the entry at fault, as JSON."""
    stray = Printed()
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = stray
    answer: dict[str, Any]
    try:
        job: Job = pickle.loads(pickled)
        answer = {"value": job.run(heartbeat, stray)}
    except AgentError as error:
        answer = {"actor": heartbeat.actor, "reason": error.reason}
    except DicegymError as error:
        answer = {"actor": heartbeat.actor, "reason": one_line(error)}
    except BaseException as error:  # a contest must go on, and a bot can break anything in its process
        answer = {"actor": heartbeat.actor, "reason": f"broke its process: {type(error).__name__}: {one_line(error)}"}
    finally:
        sys.stdout, sys.stderr = streams
    return json.dumps(answer).encode()


def keep(conn: Connection, cells: Any, game: Game, entry: Entry, limits: Limits) -> None:
    """Serve jobs that come through ``conn`` until it is closed.

    They come as pickles of (files to compile first, whether all entries are trusted, pickled job).

    Each is answered by one message: what `outcome` returned, or ``died <text>`` if the child left none.
    The message ``stop`` during a job kills the child.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)  # which reach the whole group; the parent decides
    heartbeat = Heartbeat(cells)
    rehearse(game, entry)
    gc.collect()
    gc.freeze()  # so that the children's collections do not copy what they share
    try:
        conn.send_bytes(b"ready")
    except OSError:  # the parent has gone meanwhile
        return
    while True:
        try:
            message = conn.recv_bytes()
        except (EOFError, OSError):
            return
        if message == b"stop":  # came too late: the job had ended
            continue
        files, trusted, job = pickle.loads(message)
        for file in files:
            with contextlib.suppress(Exception):  # the child will say what is wrong with it
                code_of(file)  # now, so that programs of it start sooner
        if CAN_FORK:
            conn.send_bytes(_by_child(job, trusted, conn, heartbeat, limits))
        else:
            heartbeat.reset()
            conn.send_bytes(outcome(job, heartbeat))


def _by_child(job: bytes, trusted: bool, conn: Connection, heartbeat: Heartbeat, limits: Limits) -> bytes:
    receiver, sender = Pipe(duplex=False)
    heartbeat.reset()
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        end_with(keeper)
        conn.close()
        receiver.close()
        _child(job, trusted, sender, heartbeat, limits)
    sender.close()
    answer = b""
    parent_gone = False
    ready = wait([conn, receiver])
    if receiver in ready:
        with contextlib.suppress(EOFError, OSError):
            answer = receiver.recv_bytes()
    else:
        try:
            conn.recv_bytes()
        except (EOFError, OSError):
            parent_gone = True
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # with everything that the bot may have started
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    receiver.close()
    if parent_gone:
        os._exit(0)
    return answer or f"died {_status_in_words(status)}".encode()


def _status_in_words(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _child(job: bytes, trusted: bool, sender: Connection, heartbeat: Heartbeat, limits: Limits) -> NoReturn:
    """Run one job and leave, whatever happens."""
    own = os.getpid()
    status = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        if not trusted:
            give_up_kernels()
        limit_memory(limits.memory)
        heartbeat.reset()  # by the clock of this process
        multiprocessing.current_process().daemon = False  # may a bot have children: all that it starts ends with it
        multiprocessing.set_start_method(None, force=True)  # what Python starts them by, not what started this one
        answer = outcome(job, heartbeat)
        if os.getpid() == own:  # a bot may have forked; the copy has nothing to say
            sender.send_bytes(answer)
        status = 0
    finally:
        os._exit(status)
