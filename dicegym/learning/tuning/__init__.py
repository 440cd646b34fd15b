"""Searching for settings of a training with Optuna: what is searched, the study, and its report."""
