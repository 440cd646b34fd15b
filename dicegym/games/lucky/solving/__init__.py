"""What luck is worth in Lucky & Co. Its kernels are cached by the sources of this folder (`dicegym.engine.jit`)."""
