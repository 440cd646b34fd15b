"""Numbers in addresses: those that a table can hold. Another address leads nowhere, as one without a number does."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor

NUMBER = "number"
"""What a path writes for one, as in ``/watch/matches/{match:number}``."""
DIGITS = 9
LARGEST = 10**DIGITS - 1


class NumberConvertor(Convertor[int]):
    """A whole number from 0 to `LARGEST`, as no table here has more rows."""

    regex = f"[0-9]{{1,{DIGITS}}}"

    def convert(self, value: str) -> int:
        """Return the number."""
        return int(value)

    def to_string(self, value: int) -> str:
        """Return its text in an address."""
        return str(value)


register_url_convertor(NUMBER, NumberConvertor())
