"""Trainings that differ only in their seed, in parallel on this machine or on a cluster (``dicegym train --seeds``)."""
