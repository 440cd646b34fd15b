"""``python -m dicegym`` is the command ``dicegym``."""

from dicegym.cli import main

main()
