"""Replays: recorded games as seats and actions, from which they are played again.

A `Replay` is plain values. It records its rules and its result, and is refused if either differs when it is played
again.
"""

from __future__ import annotations

from dicegym.arena.replay.replay import (
    Replay,
    ReplayIncident,
    from_json,
    load,
    moments,
    record_replay,
    replay_of,
    save,
    to_json,
)

__all__ = ["Replay", "ReplayIncident", "from_json", "load", "moments", "record_replay", "replay_of", "save", "to_json"]
