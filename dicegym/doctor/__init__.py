"""What this machine has of what dicegym can use, what it lacks, what is broken, and what to do about it.

``dicegym doctor`` prints it. Nothing is installed, changed or sent anywhere, PyTorch is not loaded, and what takes long
is left out: it answers within three seconds.
"""

from __future__ import annotations

from dicegym.doctor.data import store, tables, trained_models
from dicegym.doctor.diagnosis import BROKEN, LACKING, OK, Diagnosis
from dicegym.doctor.machine import display, graphics, isolation, kernels, port, processor, terminal
from dicegym.doctor.packages import core, extras, python

__all__ = ["BROKEN", "LACKING", "OK", "Diagnosis", "examine"]

EXAMINATIONS = (
    python,
    core,
    extras,
    processor,
    kernels,
    graphics,
    isolation,
    store,
    tables,
    trained_models,
    display,
    terminal,
    port,
)


def examine() -> list[Diagnosis]:
    """Return what is there, what is lacking and what is broken, topic by topic. Never raises for what it finds."""
    found: list[Diagnosis] = []
    for one in EXAMINATIONS:
        try:
            found += one()
        except Exception as error:  # a machine may be broken in ways that nobody thought of, and the rest counts too
            words = f"could not be examined: {type(error).__name__}: {error}"
            found.append(Diagnosis(one.__name__, "", BROKEN, words, "report it with this line"))
    return found
