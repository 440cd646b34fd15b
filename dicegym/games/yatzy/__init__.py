"""Yatzy with five dice and fifteen boxes, by the rules of a server for bots."""
