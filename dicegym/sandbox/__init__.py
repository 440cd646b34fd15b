"""Isolated processes for untrusted programs, watched and limited."""
