"""How pages are made: by Jinja2, with everything that is put into them made harmless (`dicegym.escape`) and escaped.

In one place, so that no part of a template can forget it. A content security policy names a page's style and script by
their hashes, so that a browser runs nothing else, whatever an entry is called.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources
from typing import TYPE_CHECKING, Any

from dicegym.errors import DependencyError
from dicegym.escape import harmless, lines

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment

LONGEST_TEXT = 4000
"""Characters of a line of others that is shown."""


@functools.cache
def environment() -> Environment:
    """Return what fills the templates of this folder. Raises DependencyError without Jinja2."""
    try:
        import jinja2
    except ImportError:
        raise DependencyError.for_extra("jinja2", "arena", "a page of HTML") from None
    return made_environment(jinja2.FunctionLoader(asset))


def made_environment(loader: BaseLoader) -> Environment:
    """Return what fills templates, and makes harmless and escapes what is put into them."""
    import jinja2
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """Make what is put into the page harmless; it is escaped besides."""
        return value if isinstance(value, Markup) or not isinstance(value, str) else harmless(value[:LONGEST_TEXT])

    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["text"] = lambda value: Markup.escape(lines(value))  # of several lines
    return environment


@functools.cache
def asset(name: str) -> str:
    """Return a file of this folder."""
    return (resources.files("dicegym.arena.pages") / name).read_text(encoding="utf-8")


def trusted(text: str) -> Any:
    """Return a file of ours, in which no text of others stands, as markup."""
    from markupsafe import Markup

    return Markup(text)


def digest(text: str) -> str:
    """Return how a policy names a style or a script, after ``sha256-``."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
