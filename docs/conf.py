"""Sphinx's configuration: ``make docs`` builds the site in ``docs/_build/html``, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # for `generate`, beside this file, and `benchmarks`

import generate  # noqa: E402 - found by the line above

import dicegym  # noqa: E402 - in order with it

project = "dicegym"
author = "the dicegym authors"
copyright = f"2026, {author}"
version = release = dicegym.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "examples", "curves_text.md"]  # results.md includes the last one
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "code"  # docstrings name things in single backticks, whether or not the site has a page for them
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes that are fields of a class too are documented once
napoleon_use_rtype = False

html_theme = "furo"
html_title = "dicegym"
html_theme_options = {"source_directory": "docs/"}
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> None:
    """Write the generated pages before Sphinx reads any."""
    app.connect("builder-inited", lambda app: generate.write_all(Path(app.srcdir)))
