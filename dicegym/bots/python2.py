"""Errors by which a bot shows that it was written for Python 2."""

from __future__ import annotations

import re
import sys

_SYNTAX = (
    "Missing parentheses in call to",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
    "Function parameters cannot be parenthesized",
)
"""How messages about syntax that was Python 2 begin. ``print x`` and ``except E, e`` are the first two."""
_TEXT = re.compile(r"\braise\s+\w+\s*,|`|<>|\bur['\"]|\b\d+[lL]\b")
"""What else was Python 2, in the line of an error."""
_NAMES = frozenset({"basestring", "cmp", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"})
_MODULES = frozenset({"ConfigParser", "Queue", "StringIO", "Tkinter", "cPickle", "cStringIO", "urllib2", "urlparse"})
_METHODS = frozenset({"has_key", "iteritems", "iterkeys", "itervalues"})


def old_python(error: BaseException) -> str:
    """Return, as the rest of a message, that an error comes of Python 2; empty if it does not seem to."""
    if isinstance(error, SyntaxError):
        found = error.msg.startswith(_SYNTAX) or _TEXT.search(error.text or "") is not None
    else:
        kinds = ((ModuleNotFoundError, _MODULES), (NameError, _NAMES), (AttributeError, _METHODS))
        found = any(isinstance(error, kind) and getattr(error, "name", None) in names for kind, names in kinds)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f". This is Python 2, and bots run on Python {version}: translate it, with `2to3` say" if found else ""
