"""Yatzy with five dice and fifteen boxes, as a server of bots plays it."""
