"""Compiled loops of the analysis, cached by the sources of this folder: edits elsewhere compile nothing anew."""
