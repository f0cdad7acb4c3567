"""The table of operations."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
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
    #: Whether it asks for CSV in place of JSON.
    is_csv: bool
    #: Members that take an id, by the prefix of that id: ``{"wallet": "fromWalletId"}``.
    id_members: Mapping[str, str]

    def check_input(self, input: object) -> None:
        """The command takes every id without its name, so that people write ``pay.mpp.list("intent_…")``."""
        if isinstance(input, Mapping):
            return
        prefix = str(input).split("_")[0]
        member = self.id_members.get(prefix)
        shown = f'{{"{member}": "{prefix}_…"}}' if member else "{…}"
        place = f" after {' and '.join(self._params)}" if self._params else ""
        what = member or "its members"
        raise TypeError(f"{self.method_name} takes one dict{place}: put {what} into it: {self._example(shown)}")

    def check_options(self, names: Iterable[str], known: Iterable[str]) -> None:
        """The command takes members by name, so that people write ``pay.mpp.list(intent_id=…)``, which would list all."""
        wrong = next((name for name in names if name not in known), None)
        if wrong == "wait":
            raise TypeError(f"{self.method_name} always waits for its outcome: leave out wait")
        if wrong is not None and not self.place:
            raise TypeError(f"{self.method_name} has no option {wrong}, but {', '.join(known)}")
        if wrong is not None:
            member = re.sub(r"_(\w)", lambda found: found[1].upper(), wrong)
            shown = self._example(f'{{"{member}": …}}')
            raise TypeError(f"{self.method_name} takes one dict of members: put {member} into it: {shown}")

    @property
    def _params(self) -> list[str]:
        return [_snake(name) for name in re.findall(r"\{(\w+)\}", self.path)]

    @property
    def method_name(self) -> str:
        noun, verb = map(_snake, self.key.split("."))
        return f"pay.{noun}.{verb}_" if keyword.iskeyword(verb) else f"pay.{noun}.{verb}"

    def _example(self, *rest: str) -> str:
        return f"{self.method_name}({', '.join([*self._params, *rest])})"

    def address(self, ids: tuple[str, ...]) -> str:
        """The path with these ids. `.` and `..` are refused, since they lead to another address even if escaped."""
        from urllib.parse import quote

        left = list(ids)
        members = ["{…}"] if self.place == "body" else []

        def segment(_: re.Match[str]) -> str:
            value = left.pop(0)
            if not isinstance(value, str):
                first = " and ".join(self._params)
                raise TypeError(f"{self.method_name} takes {first} first, as text: {self._example(*members)}")
            if value in ("", ".", ".."):
                raise ValueError(f"{value!r} names nothing")
            return quote(value, safe="!'()*~")

        return re.sub(r"\{\w+\}", segment, self.path)


@lru_cache(maxsize=None)
def operation(line: str) -> Operation:
    """Reads ``cards.fund POST /cards/{id}/fund bk wallet:fromWalletId``."""
    key, method, path, letters, ids = [*line.split(" "), "", ""][:5]
    place = "body" if "b" in letters else "query" if "q" in letters else ""
    # Of two members for ids of one kind, the first one counts.
    id_members = {prefix: member for prefix, _, member in (pair.partition(":") for pair in reversed(ids.split(",")))}
    return Operation(key, method, path, place, "k" in letters, "r" in letters, "c" in letters, id_members)


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
