"""Train an agent: ``python training/train.py hog --run-dir runs/hog`` is ``dicegym train hog --run-dir runs/hog``.

``dicegym/learning/training_run.py`` is the training; ``training/configs`` has its settings.
"""

import sys

from dicegym.cli import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])
