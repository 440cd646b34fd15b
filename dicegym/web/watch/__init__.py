"""Watching: contests while they run, their matches and games, agents, and games that are played to be watched."""
