"""Requests and their repetition, for the synchronous and the asynchronous client."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypedDict, cast
from urllib.parse import urlsplit

import httpx

from ._operation import Operation
from .errors import NoAnswer, Refused


class CallOptions(TypedDict, total=False):
    """Options of one call."""

    #: A call with a key has one effect however often it is sent. Each call that changes something gets a key automatically.
    idempotency_key: str
    #: The run that the call belongs to.
    run_id: str
    headers: Mapping[str, str]
    #: Timeout of one attempt in seconds.
    timeout: float
    #: How often the call is repeated.
    retries: int


class WaitOptions(TypedDict, total=False):
    """Options of waiting for a record: it decides itself how often it asks."""

    run_id: str
    headers: Mapping[str, str]
    #: Timeout of one attempt in seconds.
    timeout: float


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_headers(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)


def _is_span(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


#: What an option must be, in words, and whether a value is it.
_KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "token": ("a key or a token", lambda value: isinstance(value, str) and value != ""),
    "dashboard_secret": ("a text", _is_text),
    "idempotency_key": ("a text", _is_text),
    "run_id": ("a text", _is_text),
    "headers": ("a mapping of texts", _are_headers),
    "timeout": ("a number of seconds, above 0", _is_span),
    "retries": ("a whole number, from 0 on", _is_count),
}


def check_kinds(of: str, options: Mapping[str, object]) -> None:
    """A wrong value would fail deep in a call, where the name of its option is lost."""
    for name, value in options.items():
        words, fits = _KINDS[name]
        if not fits(value):
            raise TypeError(f"{of}: {name} is {words}")


def wait_options(method: str, options: Mapping[str, Any]) -> CallOptions:
    """An option that a wait does not have would be ignored."""
    for name in options:
        if name not in WaitOptions.__annotations__:
            raise TypeError(f"{method} has no option {name}, but within, {', '.join(WaitOptions.__annotations__)}")
    check_kinds(method, options)
    return cast(CallOptions, options)


def waiting(wait: bool, options: CallOptions) -> CallOptions:
    """Without waiting, the service answers at once with the record of what goes on."""
    if not isinstance(wait, bool):
        raise TypeError("wait is True or False: another value would wait")
    if wait:
        return options
    return {**options, "headers": {**options.get("headers", {}), "prefer": "respond-async"}}


class FromEnvironment(Enum):
    """The default of ``token``. It differs from None, which is a token that an answer does not show."""

    KEY = "AGENTPAY_KEY"


PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
LONGEST_WAIT_S = 60
STREAM_AGAIN_AFTER_S = 1.0
#: Nothing was done, or the outcome is unknown: only repeatable calls are sent again.
UNDECIDED = frozenset({"in_progress", "busy", "overloaded", "outcome_unknown", "unavailable"})
#: Temporary refusals, as during a restart, after which a stream is opened again and a wait goes on.
PASSING = frozenset({"busy", "overloaded", "rate_limited", "unavailable", "too_many_streams"})

_CHALLENGE = re.compile(r'</passkeys/challenges/(\w+)>; rel="challenge"')
_LOOPBACK = re.compile(r"^(localhost|127(\.\d+){3}|::1)$")


@dataclass(frozen=True)
class Settings:
    url: str
    headers: Mapping[str, str]
    timeout: float
    retries: int


def settings_of(
    url: str | None,
    token: str | FromEnvironment | None,
    dashboard_secret: str | None,
    headers: Mapping[str, str] | None,
    timeout: float,
    retries: int,
) -> Settings:
    """Adds defaults. A credential is sent by https only, or to this machine."""
    own_url = os.environ.get("AGENTPAY_URL")
    # A key of the environment belongs to the address there, and is sent to no other.
    if token is None:
        raise TypeError("The token is None: an answer shows it once, when it is made. Make another one.")
    # Not shown, since it may be the key.
    if url is not None and (not isinstance(url, str) or (url and "://" not in url)):
        raise TypeError("AgentPay takes url first, such as https://pay.example.com: write token=… for a key")
    given = {"token": token, "dashboard_secret": dashboard_secret, "headers": headers}
    known = {name: value for name, value in given.items() if value is not None and value is not FromEnvironment.KEY}
    check_kinds("AgentPay", {**known, "timeout": timeout, "retries": retries})
    if isinstance(token, FromEnvironment):
        token = os.environ.get(token.value, "") if url in (None, own_url) else ""
    url = url or own_url
    if not url:
        raise ValueError("Say where the service is: url, or AGENTPAY_URL in the environment.")
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and _LOOPBACK.match(parts.hostname or "")):
        raise ValueError(f"{url} is not encrypted, and a key is not sent there: use https.")
    credentials = {
        **({"authorization": f"Bearer {token}"} if token else {}),
        **({"x-dashboard-secret": dashboard_secret} if dashboard_secret else {}),
    }
    return Settings(url.rstrip("/"), {**credentials, **(headers or {})}, timeout, retries)


@dataclass
class Call:
    """A call, and the count of its attempts."""

    operation: Operation
    settings: Settings
    ids: tuple[str, ...]
    input: Mapping[str, Any]
    options: CallOptions
    key: str | None = None
    _broken: int = field(default=0, init=False)
    _waited: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.operation.check_input(self.input)
        self.operation.check_options(self.options, CallOptions.__annotations__)
        check_kinds(self.operation.method_name, self.options)
        if self.operation.takes_key:
            key = self.options.get("idempotency_key")
            self.key = secrets.token_hex(16) if key is None else key

    @property
    def timeout(self) -> float:
        return self.options.get("timeout", self.settings.timeout)

    @property
    def _retries(self) -> int:
        return self.options.get("retries", self.settings.retries)

    def request(self) -> dict[str, Any]:
        """The arguments of ``httpx.Client.request``."""
        accept = {"accept": "text/csv"} if self.operation.is_csv else {}
        headers = {**self.settings.headers, **accept, **self.options.get("headers", {})}
        if "run_id" in self.options:
            headers["x-run-id"] = self.options["run_id"]
        if self.key is not None:
            headers["idempotency-key"] = self.key
        sent: dict[str, Any] = {
            "method": self.operation.method,
            "url": self.settings.url + self.operation.address(self.ids),
            "headers": headers,
        }
        if self.operation.place == "query":
            sent["params"] = {name: _text(value) for name, value in self.input.items() if value is not None}
        elif self.operation.place == "body":
            if not any(isinstance(value, bytes) for value in self.input.values()):
                headers["content-type"] = "application/json"
            sent.update(_content(self.input))
        return sent

    def after_break(self, reason: Exception) -> float:
        """Seconds to wait after a broken connection; raises if the call is not repeated."""
        is_repeatable = self.operation.is_repeatable or self.key is not None
        if not is_repeatable or self._broken >= min(self._retries, len(PAUSES)):
            raise NoAnswer(f"{self.operation.key}: {reason or type(reason).__name__}") from reason
        self._broken += 1
        return PAUSES[self._broken - 1]

    def after_answer(self, status: int, headers: Mapping[str, str]) -> float | None:
        """Seconds to wait before the call is repeated; None if the answer is final."""
        try:
            seconds = max(1, math.ceil(float(headers.get("retry-after", "1"))))
        except (ValueError, OverflowError):
            return None
        if self._waited >= self._retries or seconds > LONGEST_WAIT_S:
            return None
        is_limited = status == 429 and "retry-after" in headers
        is_repeatable = self.operation.is_repeatable or self.key is not None
        if not is_limited and not (is_repeatable and headers.get("x-error-code") in UNDECIDED):
            return None
        self._waited += 1
        return seconds

    def refusal(self, response: httpx.Response) -> Exception:
        """The error of an answer. A redirection is one, too: following it would carry the key elsewhere."""
        code = response.headers.get("x-error-code")
        if code is None:
            return NoAnswer(
                f"{self.operation.key}: the status {response.status_code} came from something before the service"
            )
        try:
            sentence = response.json()["error"]
        except (ValueError, KeyError, TypeError):
            sentence = code
        request_id = response.headers.get("x-request-id")
        linked = _CHALLENGE.search(response.headers.get("link", ""))
        challenge_id = linked[1] if linked else None
        return Refused(self.operation.key, response.status_code, code, sentence, request_id, challenge_id)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _content(members: Mapping[str, Any]) -> dict[str, Any]:
    """A body with bytes becomes a form, whose other members are text or JSON."""
    files = {name: value for name, value in members.items() if isinstance(value, bytes)}
    if not files:
        return {"content": json.dumps(members, ensure_ascii=False, allow_nan=False).encode()}
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in members.items()
        if name not in files and value is not None
    }
    return {"data": texts, "files": {name: (name, content) for name, content in files.items()}}
