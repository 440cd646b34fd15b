"""Forms: each carries a key made for its visitor, so that no other site can send one in a visitor's name."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from starlette.exceptions import HTTPException
from starlette.requests import Request

from dicegym.web.context import Web

FORM_KEY = "form_key"
"""The field of a form, which nobody sees, by which it is known as one of ours."""
HEADER = "x-form-key"
"""Where htmx says the same."""
_SALT = 16
"""Letters that make each page's key another one, so that compression tells nothing of it."""
_FORM = re.compile(r"<form\b[^>]*\bmethod=[\"']?post\b[^>]*>", re.IGNORECASE)


def sign(web: Web, *words: str) -> str:
    """Return a signature of some words that nobody else can make."""
    return hmac.new(web.secret, "\0".join(words).encode(), hashlib.sha256).hexdigest()


def form_key(request: Request) -> str:
    """Return what the forms of a page carry in `FORM_KEY`: nobody else can know it."""
    salt = secrets.token_hex(_SALT // 2)
    return salt + sign(request.state.web, "form", request.state.visitor, salt)


def check_form_key(request: Request, given: object) -> None:
    """Raise HTTPException (403) if a form does not carry what `form_key` gave its visitor."""
    text = given if isinstance(given, str) else ""
    expected = sign(request.state.web, "form", request.state.visitor, text[:_SALT])
    if not hmac.compare_digest(text[_SALT:].encode(), expected.encode()):
        raise HTTPException(403, "this form is not one that was shown to you here: open its page again, then send it")


def with_keys(html: str, key: str) -> str:
    """Return a page in which every form that changes something carries a key: no template can forget it."""
    return _FORM.sub(lambda found: f'{found[0]}<input type="hidden" name="{FORM_KEY}" value="{key}">', html)
