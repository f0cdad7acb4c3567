"""A call of a tool of a merchant's MCP server that is paid on the way, for the asynchronous client."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ._fetch import shown_credential

if TYPE_CHECKING:
    from . import types as records

PAYMENT_REQUIRED = -32042
DEMAND = "org.paymentauth/payment-required"
CREDENTIAL = "org.paymentauth/credential"

Result = TypeVar("Result", covariant=True)
Challenge = Mapping[str, Any]


class ToolSession(Protocol[Result]):
    """A connected client, such as ``mcp.ClientSession``."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *, meta: Any = None
    ) -> Result: ...


def challenges_of_error(error: Exception) -> list[Challenge]:
    """Those of ``mcp.McpError``, or of ``mcp.MCPError``, if the tool asks for payment."""
    told = getattr(error, "error", None)
    if getattr(told, "code", None) != PAYMENT_REQUIRED:
        return []
    return _challenges_in(getattr(told, "data", None))


def challenges_of_result(result: object) -> list[Challenge]:
    meta = getattr(result, "meta", None)
    return _challenges_in(meta.get(DEMAND)) if isinstance(meta, Mapping) else []


def _challenges_in(data: object) -> list[Challenge]:
    given = data.get("challenges") if isinstance(data, Mapping) else None
    if not isinstance(given, list):
        return []
    return [one for one in given if isinstance(one, Mapping) and isinstance(one.get("id"), str)]


PARAMETERS = ("id", "realm", "method", "intent", "request", "expires", "digest", "opaque")


def _header_of(challenge: Challenge) -> str:
    """A challenge as HTTP has it: its objects are base64url there."""
    texts = {name: _text_of(challenge[name]) for name in PARAMETERS if name in challenge}
    return "Payment " + ", ".join(f'{name}="{text}"' for name, text in texts.items())


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value.replace("\\", "\\\\").replace('"', '\\"')
    content = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def mint_input(
    challenges: list[Challenge], url: str, intent_id: str, card_id: str | None
) -> records.MppMintInput:
    challenge = ", ".join(_header_of(one) for one in challenges)
    input: records.MppMintInput = {"url": url, "challenge": challenge, "intentId": intent_id, "method": "POST"}
    if card_id is not None:
        input["cardId"] = card_id
    return input


def paying_meta(minted: records.CreatedMppCredential, challenges: list[Challenge]) -> dict[str, Any]:
    """The credential as MCP has it, with the challenge as the server wrote it."""
    encoded = shown_credential(minted).partition(" ")[2]
    credential = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    challenge = next(one for one in challenges if one["id"] == minted["challengeId"])
    return {CREDENTIAL: {**credential, "challenge": dict(challenge)}}
