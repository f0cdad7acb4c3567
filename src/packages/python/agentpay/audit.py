"""Verifies exports of the audit trail."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypedDict

from ._json import canonical, parse_one_meaning
from ._keys import from_base64url, verify_ed25519
from .verify import SignatureRejected

_FORGOTTEN = "[forgotten]"
_LARGEST = 2**53 - 1
_LONGEST_LINE = 4_194_304
_CHECKPOINT = re.compile(r"([^\n+ ]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n\n([\s\S]+)\n")
_KEY = re.compile(r"[A-Za-z0-9_-]{43}")


class AuditRejected(SignatureRejected):
    """The export differs from the sealed trail. ``position`` is that of the first wrong entry, if known."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class VerifiedAudit(TypedDict):
    """The facts that an export proves."""

    ownerId: str
    mode: str
    #: The number of entries in the export; ``size`` is that of the trail.
    entries: int
    size: int
    #: Entries of which the export only has the hash, since they were purged or not requested.
    hidden: int
    checkpoint: str
    #: The older checkpoint of the comparison.
    since: str | None
    #: Whether the keys were your own copy.
    isWithOwnKeys: bool


def verify_audit(
    content: bytes | Iterable[bytes | str], *, keys: Mapping[str, Any] | None = None, since: str | None = None
) -> VerifiedAudit:
    """
    Proves that an export of the audit trail (NDJSON) is the sealed trail: compares every entry with its leaf, and all
    leaves with each checkpoint and with one that you have kept. Works offline. ``keys`` is your copy of
    ``/.well-known/jwks.json``; the default is the key set in the export.
    """
    reader = _Reader(keys, since)
    try:
        for line in _lines([content] if isinstance(content, bytes) else content):
            reader.read(line)
        return reader.end()
    except AuditRejected:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        why = f"What stands at entry {reader.tree.size} is no part of an export: {error}"
        raise AuditRejected(why, reader.tree.size) from error


def _lines(content: Iterable[bytes | str]) -> Iterator[str]:
    """Lines that are not empty. The pieces of a line are joined once, at its end."""
    is_first = True
    for line in _whole_lines(content):
        text = line.decode()
        if is_first:
            text = text.removeprefix("\ufeff")
        is_first = False
        if text:
            yield text


def _whole_lines(content: Iterable[bytes | str]) -> Iterator[bytes]:
    pieces: list[bytes] = []
    length = 0
    for piece in content:
        *ends, rest = (piece.encode() if isinstance(piece, str) else piece).split(b"\n")
        for end in ends:
            if length + len(end) > _LONGEST_LINE:
                raise ValueError("a line is longer than 4 MiB")
            yield b"".join([*pieces, end])
            pieces, length = [], 0
        pieces.append(rest)
        length += len(rest)
        if length > _LONGEST_LINE:
            raise ValueError("a line is longer than 4 MiB")
    yield b"".join(pieces)


# The tree (RFC 6962)


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return _sha256(b"\x01" + left + right)


def _leaf(text: str) -> bytes:
    return _sha256(b"\x00" + text.encode())


def _cover(begin: int, end: int) -> list[int]:
    """Levels of the complete subtrees over the leaves from `begin` to `end`, from left to right."""
    levels = []
    while begin < end:
        level = 0
        while begin % 2 ** (level + 1) == 0 and begin + 2 ** (level + 1) <= end:
            level += 1
        levels.append(level)
        begin += 2**level
    return levels


class _Tree:
    """An append-only tree, as its complete subtrees from left to right."""

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[tuple[int, bytes]] = []

    def append(self, hash: bytes, level: int = 0) -> None:
        self.size += 2**level
        while self._peaks and self._peaks[-1][0] == level:
            hash, level = _node(self._peaks.pop()[1], hash), level + 1
        self._peaks.append((level, hash))

    def root(self) -> bytes:
        if not self._peaks:
            return _sha256(b"")
        *left, (_, root) = self._peaks
        for _, hash in reversed(left):
            root = _node(hash, root)
        return root


# Checkpoints (C2SP tlog-checkpoint and signed-note)


class _Checkpoint:
    def __init__(self, note: str, keys: Mapping[str, Any]) -> None:
        # In code units of UTF-16, like the verifiers in other languages.
        is_short = len(note.encode("utf-16-le", "surrogatepass")) <= 20_000
        found = _CHECKPOINT.fullmatch(note) if is_short else None
        lines = [] if found is None else found[4].split("\n")
        if found is None or not all(line.startswith("— ") and len(line) > 2 for line in lines):
            raise AuditRejected("This is no checkpoint.")
        self.origin, self.size, self.root = found[1], int(found[2]), _hash_in(found[3])
        if self.size > _LARGEST or not self.root:
            raise AuditRejected("This is no checkpoint.")
        text = f"{found[1]}\n{found[2]}\n{found[3]}\n"
        if not any(self._is_signed(line, text, keys["keys"]) for line in lines):
            raise AuditRejected("None of these keys has signed this checkpoint.")

    def _is_signed(self, line: str, text: str, keys: Sequence[Mapping[str, Any]]) -> bool:
        prefix = f"— {self.origin} "
        content = _from_base64(line[len(prefix) :]) if line.startswith(prefix) else b""
        if len(content) != 68:
            return False
        for key in keys:
            is_known = (key.get("kty"), key.get("crv")) == ("OKP", "Ed25519")
            if not is_known or not isinstance(key.get("x"), str) or not _KEY.fullmatch(key["x"]):
                continue
            public = from_base64url(key["x"])
            name = _sha256(f"{self.origin}\n".encode() + b"\x01" + public)[:4]
            if name == content[:4] and verify_ed25519(public, text.encode(), content[4:]):
                return True
        return False


def _from_base64(text: object) -> bytes:
    """Decodes base64; only the canonical spelling is accepted."""
    try:
        content = base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        return b""
    return content if base64.b64encode(content).decode() == text else b""


def _hash_in(text: object) -> bytes:
    """Invalid hashes compare unequal to all."""
    content = _from_base64(text)
    return content if len(content) == 32 else b""


# Entries


# The value at a place that does not exist.
_NOTHING = object()


def _is_index(name: str, length: int) -> bool:
    """Whether the place is an index of a list of this length, in its canonical spelling."""
    return len(name) < 16 and name.isascii() and name.isdecimal() and name == str(int(name)) and int(name) < length


def _value_at(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if isinstance(value, dict):
            value = value.get(name, _NOTHING)
        elif isinstance(value, list) and _is_index(name, len(value)):
            value = value[int(name)]
        else:
            return _NOTHING
    return value


def _with_value_at(value: Any, names: Sequence[str], new: object) -> Any:
    """A copy with another value at this place. If there is no object, nothing changes, and the leaf does not match."""
    if not names:
        return new
    name, *rest = names
    if isinstance(value, dict):
        if rest and not isinstance(value.get(name), (dict, list)):
            return value
        return {**value, name: _with_value_at(value.get(name), rest, new)}
    if isinstance(value, list) and _is_index(name, len(value)):
        return [_with_value_at(one, rest, new) if n == int(name) else one for n, one in enumerate(value)]
    return value


def _leaf_of(entry: Mapping[str, Any], commitments: Mapping[str, str]) -> bytes:
    # An entry's own version overrides this one and changes the leaf, so it cannot hide a member.
    leaf: Any = {"version": 1, **entry}
    for place, digest in commitments.items():
        leaf = _with_value_at(leaf, place.split("."), {"hmac": digest})
    return _leaf(canonical(leaf))


def _false_commitment(entry: Mapping[str, Any], commitments: Mapping[str, str], salts: Mapping[str, str]) -> str | None:
    """The place of a personal text that does not match its commitment; None if all do."""
    for place in salts:
        if place not in commitments:
            return place
    for place, expected in commitments.items():
        value = _value_at(entry, place.split("."))
        if place not in salts:
            if value is not None and value != _FORGOTTEN:
                return place
            continue
        salt = _from_base64(salts[place])
        if len(salt) != 16 or not isinstance(value, str):
            return place
        if base64.b64encode(hmac.digest(salt, value.encode(), "sha256")).decode() != expected:
            return place
    return None


# The lines of an export


def _is_count(value: object) -> bool:
    return isinstance(value, float) and value.is_integer() and 0 <= value <= _LARGEST


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_key_set(value: object) -> bool:
    keys = value.get("keys") if isinstance(value, dict) else None
    return isinstance(keys, list) and all(isinstance(key, dict) for key in keys)


# The types of members, checked before they are used; other members are ignored.
_MEMBERS: dict[str, dict[str, Callable[[object], bool]]] = {
    "trail": {
        "version": _is_count,
        "origin": _is_text,
        "ownerId": _is_text,
        "mode": _is_text,
        "checkpoint": _is_text,
        "keys": _is_key_set,
    },
    "entry": {
        "position": _is_count,
        "leaf": _is_text,
        "entry": lambda value: value is None or isinstance(value, dict),
        "commitments": _is_texts,
        "salts": _is_texts,
    },
    "hashes": {
        "from": _is_count,
        "to": _is_count,
        "hashes": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    },
    "checkpoint": {"checkpoint": _is_text},
}


def _line(line: object) -> Mapping[str, Any]:
    members = None
    if isinstance(line, dict) and isinstance(line.get("type"), str):
        members = _MEMBERS.get(line["type"])
    if members is None or not isinstance(line, dict):
        raise ValueError("this is not a line of an export")
    for name, is_such in members.items():
        if name not in line or not is_such(line[name]):
            raise ValueError(f"{name} has a wrong value for a line of this type")
    return line


class _Reader:
    """Verifies an export line by line."""

    def __init__(self, keys: Mapping[str, Any] | None, since: str | None) -> None:
        self.tree = _Tree()
        self._own_keys, self._keys = keys, keys or {"keys": []}
        self._since_note = since
        self._head: Mapping[str, Any] | None = None
        self._older: _Checkpoint | None = None
        self._is_older_met = False
        self._entries = self._hidden = self._proven_to = 0

    def read(self, text: str) -> None:
        line = self._parsed(text)
        if self._head is None:
            self._begin(line)
        elif line["type"] == "entry":
            self._entry(line)
        elif line["type"] == "hashes":
            self._hashes(line)
        elif line["type"] == "checkpoint":
            self._checkpoint(line["checkpoint"])
        else:
            raise AuditRejected("A second trail begins within the export.", self.tree.size)

    def _parsed(self, text: str) -> Mapping[str, Any]:
        try:
            return _line(parse_one_meaning(text))
        except ValueError as error:
            why = f"The line of entry {self.tree.size} is not the JSON of an export: {error}"
            raise AuditRejected(why, self.tree.size) from error

    def _begin(self, line: Mapping[str, Any]) -> None:
        if line["type"] != "trail" or line.get("version") != 1:
            raise AuditRejected("The first line does not say which trail it is.")
        if self._own_keys is None:
            self._keys = line["keys"]
        self._head = line
        if self._since_note is not None:
            self._older = self._opened(self._since_note)
        if line["origin"] != f"agentpay/audit/{line['ownerId']}/{line['mode']}":
            raise AuditRejected("The first line names two trails.")

    def _entry(self, line: Mapping[str, Any]) -> None:
        following, entry = self.tree.size, line.get("entry")
        if line["position"] != following:
            self._break(following, f"Entry {following} is missing: what follows is {canonical(line['position'])}.")
        if not isinstance(entry, dict):
            self._break(following, f"Entry {following} is gone, and no purge has removed it.")
        if not self._origin.endswith(f"/{entry['ownerId']}/{entry['mode']}"):
            self._break(following, f"Entry {following} belongs to another trail.")
        place = _false_commitment(entry, line["commitments"], line["salts"])
        if place is not None:
            self._break(following, f"Entry {following} has another {place} than was sealed.")
        if _leaf_of(entry, line["commitments"]) != _hash_in(line["leaf"]):
            self._break(following, f"Entry {following} is not what was sealed.")
        self.tree.append(_hash_in(line["leaf"]))
        self._entries += 1
        self._meet_older()

    def _hashes(self, line: Mapping[str, Any]) -> None:
        begin = self.tree.size
        if line["from"] != begin:
            self._break(begin, f"Hashes stand for the entries from {canonical(line['from'])} on, not from {begin}.")
        hashes = [_hash_in(text) for text in line["hashes"]]
        levels = _cover(begin, int(line["to"]))
        if not levels or len(levels) != len(hashes):
            self._break(begin, f"The hashes that stand for the entries from {begin} on are not complete.")
        for level, hash in zip(levels, hashes):
            self.tree.append(hash, level)
            self._meet_older()
        self._hidden += self.tree.size - begin

    def _checkpoint(self, note: str) -> _Checkpoint:
        checkpoint = self._opened(note)
        size = self.tree.size
        if checkpoint.size != size:
            self._break(size, f"The trail has {size} entries where its checkpoint says {checkpoint.size}.")
        self._compare(checkpoint)
        return checkpoint

    @property
    def _origin(self) -> str:
        return "" if self._head is None else str(self._head["origin"])

    def _opened(self, note: str) -> _Checkpoint:
        last = max(self.tree.size - 1, 0)
        try:
            checkpoint = _Checkpoint(note, self._keys)
        except AuditRejected as error:
            self._break(last, f"A checkpoint is not genuine. {error}")
        if checkpoint.origin != self._origin:
            self._break(last, "A checkpoint is that of another trail.")
        return checkpoint

    def _compare(self, checkpoint: _Checkpoint) -> None:
        if self.tree.root() != checkpoint.root:
            self._break(
                self._proven_to,
                f"The entries from {self._proven_to} to {checkpoint.size - 1} are not those that the checkpoint of "
                f"{checkpoint.size} entries has signed.",
            )
        self._proven_to = checkpoint.size

    def _meet_older(self) -> None:
        if self._older is not None and self._older.size == self.tree.size:
            self._compare(self._older)
            self._is_older_met = True

    def _break(self, position: int, message: str) -> NoReturn:
        raise AuditRejected(message, position)

    def end(self) -> VerifiedAudit:
        head = self._head
        if head is None:
            raise AuditRejected("The export is empty.")
        size = self._checkpoint(head["checkpoint"]).size
        if self._older is not None and not self._is_older_met:
            raise self._unmet(self._older.size, size)
        return {
            "ownerId": head["ownerId"],
            "mode": head["mode"],
            "entries": self._entries,
            "size": size,
            "hidden": self._hidden,
            "checkpoint": head["checkpoint"],
            "since": self._since_note,
            "isWithOwnKeys": self._own_keys is not None,
        }

    def _unmet(self, older: int, size: int) -> AuditRejected:
        if older > size:
            return AuditRejected(f"The trail had {older} entries once, and has {size} now.", size)
        return AuditRejected(
            f"The export has only hashes around position {older}, so it cannot be compared with the checkpoint of that "
            f"size: GET /audit/consistency?from={older} proves that the trail has only grown."
        )
