"""The luck of dice in Lucky & Co. Its kernels are cached by this folder's sources (`dicegym.engine.jit`)."""
