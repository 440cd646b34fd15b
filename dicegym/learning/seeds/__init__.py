"""Trainings that differ in their seed alone, side by side: on this machine, or on a cluster.

`training.train_seeds` is what ``dicegym train --seeds`` calls. Each seed is a training like any other, in a process and
a folder of its own; `dicegym.learning.seeds.summary` sums them up.
"""
