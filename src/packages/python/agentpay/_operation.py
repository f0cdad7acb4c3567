"""The table of operations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Operation:
    key: str
    method: str
    path: str
    #: ``query`` or ``body``: the place of the members; empty if there are none.
    place: str
    takes_key: bool
    #: Whether a repetition has no further effect, even without an idempotency key.
    is_repeatable: bool

    def address(self, ids: tuple[str, ...]) -> str:
        """The path with these ids. `.` and `..` are refused, since they lead to another address even if escaped."""
        from urllib.parse import quote

        left = list(ids)

        def segment(_: re.Match[str]) -> str:
            value = left.pop(0)
            if not isinstance(value, str):
                raise TypeError(f"{self.key}: an id is a text, not {type(value).__name__}")
            if value in ("", ".", ".."):
                raise ValueError(f"{value!r} names nothing")
            return quote(value, safe="!'()*~")

        return re.sub(r"\{\w+\}", segment, self.path)


@lru_cache(maxsize=None)
def operation(line: str) -> Operation:
    """Reads ``intents.create POST /intents bk``."""
    key, method, path, *rest = line.split(" ")
    letters = rest[0] if rest else ""
    place = "body" if "b" in letters else "query" if "q" in letters else ""
    return Operation(key, method, path, place, "k" in letters, "r" in letters)
