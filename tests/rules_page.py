"""Reads the page at the top of each game's ``rules.py``, for the tests that compare it with the code.

The tables are those of reStructuredText: columns between borders of ``=``, first row the heads. What is read:

Parameters
    Columns name, default, range (``low-high``); the word "none" instead of a table if there are none.
Actions: ``Discrete(n)``
    Column action: a number or a range ``low..high``, from 0 without gaps.
Observation: ``Box(0, 1, (n,))``, or ``(m,)`` with ``parameter``
    Columns part, length, meaning. The length is a number or a sum or product of numbers and parameters. A
    meaning that begins "with <parameter>," is that of a part which is there only if the parameter is not 0.
"""

from __future__ import annotations

import ast
import importlib
import operator
import re
from collections.abc import Mapping

from dicegym.registry import rules_module


def page(name: str) -> str:
    return importlib.import_module(rules_module(name)).__doc__ or ""


def section(text: str, title: str) -> str:
    """Return the section of the page that begins with ``title``, heading included."""
    found = re.search(rf"^{title}\b.*\n?(?:(?: .*)?\n|$)*", text, flags=re.MULTILINE)
    assert found, f"the rules page has no section {title!r}"
    return found.group()


def table(text: str) -> list[dict[str, str]]:
    """Return the first table of ``text``, one mapping from head to cell per row."""
    lines = text.splitlines()
    borders = [number for number, line in enumerate(lines) if re.fullmatch(r"\s*=+(\s+=+)*\s*", line)]
    assert len(borders) >= 3, f"there is no table in {text!r}"
    columns = [match.span() for match in re.finditer("=+", lines[borders[0]])]
    columns[-1] = (columns[-1][0], 10_000)

    def cells(line: str) -> list[str]:
        return [line[start:end].strip() for start, end in columns]

    heads = cells(lines[borders[0] + 1])
    rows: list[dict[str, str]] = []
    for line in lines[borders[1] + 1 : borders[2]]:
        row = dict(zip(heads, cells(line), strict=True))
        if row[heads[0]]:
            rows.append(row)
        else:  # a row's text goes on
            for head, more in row.items():
                rows[-1][head] = f"{rows[-1][head]} {more}".strip()
    return rows


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def length_of(text: str, parameters: Mapping[str, int]) -> int:
    """Evaluate a length such as ``10`` or ``6 * dice + 1``."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.BinOp):
            return int(OPERATIONS[type(node.op)](value(node.left), value(node.right)))
        return parameters[node.id] if isinstance(node, ast.Name) else int(ast.literal_eval(node))

    return value(ast.parse(text.replace("`", ""), mode="eval").body)


def observation_of(text: str, parameters: Mapping[str, int]) -> dict[str, int]:
    """Return the parts of the observation that the page promises under ``parameters``."""
    parts = {}
    for row in table(section(text, "Observation")):
        condition = re.match(r"with `*(\w+)`*,", row["meaning"])
        if condition is None or parameters[condition.group(1)]:
            parts[row["part"]] = length_of(row["length"], parameters)
    return parts
