"""Games that were played, to be seen again: seats and actions; all else follows from them.

A `Replay` is plain values. It says by which rules it was played, is played again to its stored result, and refuses what
other rules would make of it.
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
