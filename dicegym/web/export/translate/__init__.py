"""Kernels of games as JavaScript: the rules stay written once, in Python, and browsers play by them all the same.

What Numba compiles is a small part of Python, so it can be translated function by function. The types of all values are
found as Numba finds them, and its own tables are asked what an operation gives (`dicegym.web.export.translate.types`).
What is not in that part is refused, with the file and the line.
"""
