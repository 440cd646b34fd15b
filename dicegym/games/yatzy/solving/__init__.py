"""Solvers of Yatzy, for one and for more. Their kernels are cached by this folder's sources (`dicegym.engine.jit`)."""
