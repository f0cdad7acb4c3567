"""JSON as ECMAScript reads and writes it, which is the form of signed documents (RFC 8785)."""

from __future__ import annotations

import json
from collections.abc import Mapping

_MOST_LEVELS = 64
# The shortest text of a double has at most this many digits.
_MOST_DIGITS = 17
# Deeper than any leaf.
_MOST_LEVELS_OF_A_LINE = 100


def _digits_of(text: str) -> str:
    """Significant digits: no sign, point, exponent, or outer zeros."""
    return text.lower().partition("e")[0].replace("-", "").replace(".", "").strip("0")


def _number(token: str) -> float | str:
    """A number that would lose digits is read as text, so that no change of a digit goes unnoticed."""
    digits = _digits_of(token)
    value = float(token) if len(digits) <= _MOST_DIGITS else float("inf")
    return token if value in (float("inf"), float("-inf")) or _digits_of(number_text(value)) != digits else value


def _refused(token: str) -> object:
    raise ValueError(f"{token} is no JSON")


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a member stands twice in an object")
    return found


def parse_one_meaning(text: str) -> object:
    """Reads untrusted JSON without ambiguity: exact numbers, each member once, a bounded depth."""
    try:
        value = json.loads(
            text, parse_int=_number, parse_float=_number, parse_constant=_refused, object_pairs_hook=_object
        )
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    # The count of brackets bounds the depth.
    if text.count("[") + text.count("{") > _MOST_LEVELS_OF_A_LINE:
        _check_levels(value, _MOST_LEVELS_OF_A_LINE)
    return value


def _check_levels(value: object, levels: int) -> None:
    if not isinstance(value, (dict, list)):
        return
    if levels == 0:
        raise ValueError("JSON is nested too deeply")
    for member in value.values() if isinstance(value, dict) else value:
        _check_levels(member, levels - 1)


def number_text(value: float) -> str:
    """Writes a number like ECMAScript."""
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
    # A lone surrogate has no encoding in UTF-8.
    value.encode()
    return json.dumps(value, ensure_ascii=False)
