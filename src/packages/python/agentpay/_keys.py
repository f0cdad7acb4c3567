"""Verifies three types of signatures without other packages. All values are public, so timing reveals nothing."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping


def from_base64url(text: str) -> bytes:
    """Decodes base64url as leniently as most decoders."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


def to_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


# Ed25519 (RFC 8032)

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

_Point = tuple[int, int, int, int]


def _add(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while factor > 0:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _x_of(y: int, sign: int) -> int | None:
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P != 0:
        x = x * _ROOT % _P
    if (x * x - square) % _P != 0 or (x == 0 and sign == 1):
        return None
    return _P - x if x & 1 != sign else x


def _point(encoded: bytes) -> _Point | None:
    number = int.from_bytes(encoded, "little")
    y = number & ((1 << 255) - 1)
    x = _x_of(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % _P)


def _encoded(point: _Point) -> bytes:
    inverse = pow(point[2], -1, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | ((x & 1) << 255)).to_bytes(32, "little")


_BASE_Y = 4 * pow(5, -1, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def verify_ed25519(public: bytes, message: bytes, signature: bytes) -> bool:
    if len(public) != 32 or len(signature) != 64:
        return False
    key = _point(public)
    s = int.from_bytes(signature[32:], "little")
    if key is None or s >= _L:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    k = int.from_bytes(digest, "little") % _L
    negative: _Point = (_P - key[0], key[1], 1, _P - key[3])
    return _encoded(_add(_times(s, _BASE), _times(k, negative))) == signature[:32]


# ECDSA over P-256 with SHA-256 (FIPS 186-5)

_Q = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_Affine = tuple[int, int]


def _plus(one: _Affine | None, other: _Affine | None) -> _Affine | None:
    if one is None:
        return other
    if other is None:
        return one
    if one[0] == other[0]:
        if (one[1] + other[1]) % _Q == 0:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, _Q) % _Q
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _Q) % _Q
    x = (slope * slope - one[0] - other[0]) % _Q
    return x, (slope * (one[0] - x) - one[1]) % _Q


def _multiple(factor: int, point: _Affine | None) -> _Affine | None:
    result: _Affine | None = None
    while factor > 0:
        if factor & 1:
            result = _plus(result, point)
        point = _plus(point, point)
        factor >>= 1
    return result


def _integers_in(der: bytes) -> tuple[int, int] | None:
    """The two integers of a signature, which has one encoding in DER."""
    if len(der) < 8 or der[0] != 0x30 or der[1] != len(der) - 2:
        return None
    numbers: list[int] = []
    at = 2
    while at < len(der):
        if der[at] != 2 or at + 2 > len(der):
            return None
        content = der[at + 2 : at + 2 + der[at + 1]]
        if len(content) != der[at + 1] or not content or content[0] & 0x80:
            return None
        if len(content) > 1 and content[0] == 0 and not content[1] & 0x80:
            return None
        numbers.append(int.from_bytes(content, "big"))
        at += 2 + len(content)
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def verify_p256(x: bytes, y: bytes, message: bytes, signature: bytes) -> bool:
    point = (int.from_bytes(x, "big"), int.from_bytes(y, "big"))
    is_on_curve = (point[1] ** 2 - (point[0] ** 3 - 3 * point[0] + _B)) % _Q == 0
    numbers = _integers_in(signature)
    if not is_on_curve or max(point) >= _Q or numbers is None:
        return False
    r, s = numbers
    if not (0 < r < _N and 0 < s < _N):
        return False
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    inverse = pow(s, -1, _N)
    found = _plus(_multiple(digest * inverse % _N, _G), _multiple(r * inverse % _N, point))
    return found is not None and found[0] % _N == r


# RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017)

_SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def verify_rsa(modulus: bytes, exponent: bytes, message: bytes, signature: bytes) -> bool:
    n, e = int.from_bytes(modulus, "big"), int.from_bytes(exponent, "big")
    length = (n.bit_length() + 7) // 8
    if length < 256 or len(signature) != length or int.from_bytes(signature, "big") >= n:
        return False
    found = pow(int.from_bytes(signature, "big"), e, n).to_bytes(length, "big")
    info = _SHA256_INFO + hashlib.sha256(message).digest()
    return found == b"\x00\x01" + b"\xff" * (length - len(info) - 3) + b"\x00" + info


def verify_with_jwk(key: Mapping[str, object], message: bytes, signature: bytes) -> bool | None:
    """Whether the key has signed the message; None for a key of another type."""
    kind = (key.get("kty"), key.get("crv"))
    if kind == ("OKP", "Ed25519"):
        return verify_ed25519(_part(key, "x"), message, signature)
    if kind == ("EC", "P-256"):
        return verify_p256(_part(key, "x"), _part(key, "y"), message, signature)
    if key.get("kty") == "RSA":
        return verify_rsa(_part(key, "n"), _part(key, "e"), message, signature)
    return None


def numbers_of_jwk(key: Mapping[str, object]) -> tuple[int, ...]:
    """The numbers of the key, which are equal for equal keys: JSON writes one key in many ways."""
    names = {"OKP": "x", "EC": "xy"}.get(str(key.get("kty")), "ne")
    return tuple(int.from_bytes(_part(key, name), "big") for name in names)


def _part(key: Mapping[str, object], name: str) -> bytes:
    return from_base64url(str(key.get(name, "")))
