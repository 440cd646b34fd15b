"""Games as data and kernels, and the loops, dice and batches that all games share."""
