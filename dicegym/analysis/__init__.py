"""What a state is worth, what a decision cost and how lucky the dice were, once for all games."""
