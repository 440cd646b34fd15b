"""Solvers of Hog: sweeps over all states. Their kernels are cached by this folder's sources (`dicegym.engine.jit`)."""
