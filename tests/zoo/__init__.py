"""Bots that mean harm, over the original interfaces, each with its expected verdict, and what holds them."""
