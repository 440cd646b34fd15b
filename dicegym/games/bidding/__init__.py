"""What the games of hidden dice and rising bids share."""
