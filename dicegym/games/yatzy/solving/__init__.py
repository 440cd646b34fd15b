"""The solver of Yatzy, for one player and for several. Its kernels are cached by the sources of this folder."""
