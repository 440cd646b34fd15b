"""SVG as text: elements, with everything that is put into them escaped, and a drawing made of them."""

from __future__ import annotations

import html
from typing import NamedTuple


class Drawing(NamedTuple):
    """A picture."""

    width: int
    """In units that are pixels at its own size."""
    height: int
    body: str
    """Elements of SVG."""
    title: str
    """What it shows, in words, for those who do not see it."""

    def svg(self) -> str:
        """Return it as a document of its own, which also stands inside a page."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img">'
            f"<title>{html.escape(self.title)}</title>{self.body}</svg>"
        )

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""
        return self.svg()


def element(name: str, content: str = "", **attributes: object) -> str:
    """Return an element; ``content`` is SVG already, names of attributes have ``_`` for ``-``, None is left out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def text(words: str, x: float, y: float, **attributes: object) -> str:
    """Return a line of text, escaped."""
    return element("text", html.escape(words) or " ", x=f"{x:g}", y=f"{y:g}", **attributes)
