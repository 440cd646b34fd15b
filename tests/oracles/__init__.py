"""Slow second implementations, written from the rule texts alone: what the fast kernels are compared with."""
