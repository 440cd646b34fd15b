"""Train an agent: ``python training/train.py hog --run-dir runs/hog`` is ``dicegym train hog --run-dir runs/hog``.

What a training does stands in ``dicegym/learning/training_run.py``, and its settings in ``training/configs``.
"""

import sys

from dicegym.cli import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])
