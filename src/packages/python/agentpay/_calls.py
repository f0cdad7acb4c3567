"""What a call is made of, and whether it is sent again: for the sync and the async client."""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypedDict
from urllib.parse import urlsplit

import httpx

from ._operation import Operation
from .errors import NoAnswer, Refused


class CallOptions(TypedDict, total=False):
    """What one call may have of its own."""

    #: Names the call, so that it has one effect however often it is sent. Each one that changes something gets one by itself.
    idempotency_key: str
    #: The run that the call belongs to.
    run_id: str
    headers: Mapping[str, str]
    #: How many seconds one attempt may take.
    timeout: float
    #: How often it is sent again.
    retries: int


class FromEnvironment(Enum):
    """What is not given is looked for in the environment. None is no such thing: it is a token that an answer has not shown."""

    KEY = "AGENTPAY_KEY"


PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
LONGEST_WAIT_S = 60
STREAM_AGAIN_AFTER_S = 1.0
#: Before anything was done, and before the outcome is known: only what may be repeated is sent again.
UNDECIDED = frozenset({"in_progress", "busy", "overloaded", "outcome_unknown", "unavailable"})
#: What passes while a service is restarted, for a stream that is opened again.
PASSING = frozenset({"busy", "overloaded", "unavailable", "too_many_streams"})

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
    """Completes what was given. A key is sent over https only, or to this machine."""
    own_url = os.environ.get("AGENTPAY_URL")
    # A key of the environment belongs to the address there, and is sent to no other.
    if token is None:
        raise TypeError("The token is None: an answer shows it once, when it is made. Make another one.")
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
    """A call that is ready to be sent, and what is known of its attempts."""

    operation: Operation
    settings: Settings
    ids: tuple[str, ...]
    input: Mapping[str, Any]
    options: CallOptions
    key: str | None = None
    _broken: int = field(default=0, init=False)
    _waited: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.operation.takes_key:
            self.key = self.options.get("idempotency_key") or secrets.token_hex(16)

    @property
    def timeout(self) -> float:
        return self.options.get("timeout", self.settings.timeout)

    @property
    def _retries(self) -> int:
        return self.options.get("retries", self.settings.retries)

    def request(self) -> dict[str, Any]:
        """The arguments of a request of httpx."""
        headers = {**self.settings.headers, **self.options.get("headers", {})}
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
        """How many seconds to wait after a broken connection; raises where the call is not sent again."""
        is_repeatable = self.operation.is_repeatable or self.key is not None
        if not is_repeatable or self._broken >= min(self._retries, len(PAUSES)):
            raise NoAnswer(f"{self.operation.key}: {reason or type(reason).__name__}") from reason
        self._broken += 1
        return PAUSES[self._broken - 1]

    def after_answer(self, status: int, headers: Mapping[str, str]) -> float | None:
        """How many seconds to wait before the call is sent again; None where the answer stands."""
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
        """What an answer from 300 on says. Redirections are not followed: they would carry the key elsewhere."""
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
        return Refused(self.operation.key, response.status_code, code, sentence, request_id)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _content(members: Mapping[str, Any]) -> dict[str, Any]:
    """A body with bytes as a form: its other members as texts, or as JSON where they are none."""
    files = {name: value for name, value in members.items() if isinstance(value, bytes)}
    if not files:
        return {"content": json.dumps(members, ensure_ascii=False, allow_nan=False).encode()}
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in members.items()
        if name not in files and value is not None
    }
    return {"data": texts, "files": {name: (name, content) for name, content in files.items()}}
