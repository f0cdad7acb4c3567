"""JSON as ECMAScript reads and writes it: what is signed is written so (RFC 8785)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_MOST_LEVELS = 64
_LONG_NUMBER = re.compile(r"[\d.]{16}")


def _digits_of(text: str) -> str:
    return re.sub(r"^0+|0+$", "", re.sub(r"[.-]", "", re.sub(r"e.*$", "", text, flags=re.I)))


def _number(token: str) -> float | str:
    """A number that loses digits is read as a text, so that no digit can be changed unseen."""
    value = float(token)
    return value if _digits_of(number_text(value)) == _digits_of(token) else token


def _refused(token: str) -> object:
    raise ValueError(f"{token} is no JSON")


def parse_exactly(text: str) -> object:
    if not _LONG_NUMBER.search(text):
        return json.loads(text, parse_int=float, parse_float=float, parse_constant=_refused)
    return json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refused)


def number_text(value: float) -> str:
    """A number as ECMAScript writes it."""
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("JSON cannot hold a number that is not finite")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(float(value))).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{sign}{digits[0]}{'.' + digits[1:] if count > 1 else ''}{power}"


def canonical(value: object, level: int = 0) -> str:
    if level > _MOST_LEVELS:
        raise ValueError(f"JSON nested deeper than {_MOST_LEVELS} levels")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number_text(float(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(canonical(item, level + 1) for item in value)}]"
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        members = (f"{_text(name)}:{canonical(value[name], level + 1)}" for name in names)
        return "{" + ",".join(members) + "}"
    raise TypeError(f"JSON cannot hold a {type(value).__name__}")


def _text(value: str) -> str:
    # Half of a surrogate pair has no form in UTF-8.
    value.encode()
    return json.dumps(value, ensure_ascii=False)
