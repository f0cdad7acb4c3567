"""Proofs of the audit trail: that it includes an entry, and that it is append-only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .audit import AuditRejected, _Checkpoint, _hash_in, _leaf, _node

_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError)


def verify_audit_proof(proof: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """
    Proves that an entry (the answer of ``GET /audit/{id}/proof``) is in the trail of its checkpoint, and returns the
    sealed entry, with personal texts as HMACs. ``keys`` is your copy of ``/.well-known/jwks.json``. Works offline. Raises
    ``AuditRejected``.
    """
    try:
        return _proven_entry(proof, keys)
    except AuditRejected:
        raise
    except _MALFORMED as error:
        raise AuditRejected(f"This is no proof of an entry: {error}") from error


def _proven_entry(proof: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    position, leaf = proof["position"], proof["leaf"]
    checkpoint = _Checkpoint(proof["checkpoint"], keys)
    path = [_hash_in(text) for text in proof["proof"]]
    if not _proves_inclusion(position, checkpoint.size, _leaf(leaf), path, checkpoint.root):
        raise AuditRejected("The proof does not lead from the entry to the checkpoint.", position)
    entry: dict[str, Any] = json.loads(leaf)
    if not checkpoint.origin.endswith(f"/{entry['ownerId']}/{entry['mode']}"):
        raise AuditRejected("The entry belongs to another trail.", position)
    return entry


def verify_audit_growth(kept: str, growth: Mapping[str, Any], keys: Mapping[str, Any]) -> int:
    """
    Proves that the trail of a newer checkpoint begins with that of a checkpoint that you have kept, by the answer of
    ``GET /audit/consistency?from=<its size>``; returns the newer size. Raises ``AuditRejected`` if a sealed entry was
    changed.
    """
    try:
        older, newer = _Checkpoint(kept, keys), _Checkpoint(growth["checkpoint"] or "", keys)
        path = [_hash_in(text) for text in growth["proof"]]
    except AuditRejected:
        raise
    except _MALFORMED as error:
        raise AuditRejected(f"This is no proof that a trail has grown: {error}") from error
    if older.origin != newer.origin or not _proves_growth(older, newer, path):
        raise AuditRejected("The trail is not a continuation of the older checkpoint: sealed entries were changed.")
    return newer.size


def _split(size: int) -> int:
    """The number of leaves in the left half of a tree: the largest power of two below its size (RFC 6962)."""
    return int(2 ** ((size - 1).bit_length() - 1))


def _proves_inclusion(index: object, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Whether the path leads from the leaf to the root."""
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < size:
        return False
    sides = _sides(index, size)
    if len(sides) != len(path):
        return False
    found = leaf
    for is_left, other in zip(sides, path):
        found = _node(other, found) if is_left else _node(found, other)
    return found == root


def _sides(index: int, size: int) -> list[bool]:
    """From the leaf upwards: whether the sibling is on the left."""
    sides, begin, end = [], 0, size
    while end - begin > 1:
        middle = begin + _split(end - begin)
        sides.append(index >= middle)
        begin, end = (middle, end) if index >= middle else (begin, middle)
    return sides[::-1]


def _proves_growth(older: _Checkpoint, newer: _Checkpoint, path: Sequence[bytes]) -> bool:
    """Whether the newer tree begins with the unchanged older one."""
    begin, end = older.size, newer.size
    if begin > end:
        return False
    if begin == 0:
        return not path
    if begin == end:
        return not path and older.root == newer.root
    sides = _growth_sides(begin, end)
    is_whole = begin & (begin - 1) == 0
    hashes = [older.root, *path] if is_whole else list(path)
    if len(hashes) != len(sides) + 1:
        return False
    old = new = hashes[0]
    for is_left, other in zip(sides, hashes[1:]):
        old, new = (_node(other, old), _node(other, new)) if is_left else (old, _node(new, other))
    return old == older.root and new == newer.root


def _growth_sides(begin: int, end: int) -> list[bool]:
    """From the last complete subtree of the older tree upwards: whether the sibling is on the left, and so in both trees."""
    sides, start, stop = [], 0, end
    while stop != begin:
        middle = start + _split(stop - start)
        sides.append(begin > middle)
        start, stop = (middle, stop) if begin > middle else (start, middle)
    return sides[::-1]
