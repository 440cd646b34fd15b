"""Hostile bots in the original interfaces, each with its expected verdict, and the cage around them."""
