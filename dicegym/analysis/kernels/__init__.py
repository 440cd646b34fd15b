"""Compiled loops of the analysis, kept by the sources of this folder alone: who edits beside it compiles nothing."""
