"""Fill templates of pages with Jinja2, which makes every value harmless (`dicegym.escape`) and escapes it.

A content security policy names the page's style and script by their hashes, so a browser runs nothing else, whatever an
entry is called.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from dicegym.columns import numeric_columns
from dicegym.errors import DependencyError
from dicegym.escape import harmless, lines

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment

SHADES = 10
"""Steps of colour of a heat map on either side of the middle, as in ``parts.css``."""
LONGEST_TEXT = 4000
"""Most characters of a value."""


@functools.cache
def environment() -> Environment:
    """Return the environment of this folder's templates. Raises DependencyError without Jinja2."""
    try:
        import jinja2
    except ImportError:
        raise DependencyError.for_extra("jinja2", "arena", "a page of HTML") from None
    return make_environment(jinja2.FunctionLoader(asset))


def make_environment(loader: BaseLoader) -> Environment:
    """Return an environment that makes values harmless and escapes them."""
    import jinja2
    from markupsafe import Markup

    cached = functools.lru_cache(8192)(harmless)  # most texts were on other pages before

    def make_harmless(value: Any) -> Any:
        """Make a value harmless; Jinja2 escapes it too."""
        return value if isinstance(value, Markup) or not isinstance(value, str) else cached(value[:LONGEST_TEXT])

    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=make_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["text"] = lambda value: Markup.escape(lines(value))  # of several lines
    environment.filters |= {"numeric": numeric_columns, "shade": name_shade}
    return environment


def name_shade(value: float | None) -> str:
    """Return the class of a colour for -1 (the column is ahead) .. 1 (the row is); None: unknown."""
    if value is None:
        return "none"
    step = round(SHADES * max(-1.0, min(1.0, value)))
    return f"up{step}" if step > 0 else f"down{-step}" if step < 0 else "even"


def render(template: str, styles: Sequence[str], script: str = "", **shown: Any) -> str:
    """Return a page in one file: a template of this folder with its styles and its script.

    Raises DependencyError without Jinja2.
    """
    style, code = "".join(map(asset, styles)), asset(script) if script else ""
    own = {"style": trust(style), "style_hash": digest(style), "script": trust(code), "script_hash": digest(code)}
    text: str = environment().get_template(template).render(own | shown)
    return text


@functools.cache
def asset(name: str) -> str:
    """Return a file of this folder."""
    return (resources.files("dicegym.arena.pages") / name).read_text(encoding="utf-8")


def trust(text: str) -> Any:
    """Return a text as markup; it must not contain text of others."""
    from markupsafe import Markup

    return Markup(text)


def digest(text: str) -> str:
    """Return a style or script's name in a policy, after ``sha256-``."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
