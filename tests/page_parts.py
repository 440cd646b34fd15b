"""A page of HTML taken apart, and what is demanded of every page that shows names of others."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser


class Parts(HTMLParser):
    """The elements of a page.

    Attributes:
        tags: each with its attributes.
        text: all that is no tag.
        texts: what stands in scripts and styles, by tag.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.CDATA_CONTENT_ELEMENTS:
            self.texts.setdefault(tag, []).append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.cdata_elem:
            self.texts[self.cdata_elem][-1] += data


def check_sealed(page: str) -> Parts:
    """Assert that a page lets nothing run but what it brings along, by a policy; return its parts."""
    parts = Parts(page)
    (policy,) = (str(found["content"]) for _, found in parts.tags if "http-equiv" in found)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        for content in parts.texts[tag]:
            if content and not content.lstrip().startswith("{"):  # which is data
                digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
                assert f"'sha256-{digest}'" in policy.partition(f"{tag}-src ")[2].partition(";")[0]
    assert not [key for _, found in parts.tags for key in found if key == "style" or key.startswith("on")]
    return parts
