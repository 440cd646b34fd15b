"""What a state is worth, what a decision cost and how lucky the dice were, once for all games.

A game's ``values.py`` says where values come from (`dicegym.games.worth`); here they are asked for.
"""
