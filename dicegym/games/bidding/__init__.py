"""The shared parts of the games of hidden dice and rising bids."""
