"""Toss a coin after each roll."""

import random


def roll_again(score, opponent_score, turn_total):
    return random.random() < 0.5
