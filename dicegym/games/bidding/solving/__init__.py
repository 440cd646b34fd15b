"""Solvers of the games of hidden dice: values of whole hands, by all rolls at once."""
