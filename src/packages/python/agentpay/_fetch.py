"""A request to a merchant that pays a 402 on the way, for the synchronous and the asynchronous client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import httpx

from .errors import NoAnswer

if TYPE_CHECKING:
    from . import types as records

PAYABLE = "card/charge, stripe/charge"
"""Without it, a merchant may offer one method alone, and not the one that the agent's policy allows."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class PaidRequest:
    """The request, and what may pay for it."""

    url: str
    intent_id: str
    timeout: float
    card_id: str | None = None
    method: Method | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None

    @property
    def _method(self) -> Method:
        return self.method or ("GET" if self.body is None else "POST")

    def sent(self, paying: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The arguments of ``httpx.Client.request``. A redirection would carry the credential to another merchant."""
        headers = httpx.Headers({"accept-payment": PAYABLE})
        headers.update(dict(self.headers))
        headers.update(paying or {})
        content = None if self.body is None else self.body.encode()
        return {
            "method": self._method,
            "url": self.url,
            "headers": headers,
            "content": content,
            "timeout": self.timeout,
            "follow_redirects": False,
        }

    def to_mint(self, answer: httpx.Response) -> records.MppMintInput | None:
        """What to mint for the challenge of the answer; None if it asks for no payment."""
        challenge = answer.headers.get("www-authenticate")
        if answer.status_code != 402 or challenge is None:
            return None
        input: records.MppMintInput = {
            "url": self.url,
            "challenge": challenge,
            "intentId": self.intent_id,
            "method": self._method,
        }
        if self.card_id is not None:
            input["cardId"] = self.card_id
        if self.body is not None:
            input["body"] = self.body
        return input


def credential_of(minted: records.CreatedMppCredential) -> dict[str, str]:
    return {minted["header"]: shown_credential(minted)}


def shown_credential(minted: records.CreatedMppCredential) -> str:
    """A repeated call does not show the credential again."""
    credential = minted["credential"]
    if credential is None:
        raise NoAnswer("mpp.mint: the answer with the credential was lost. Nothing was sent to the merchant.")
    return credential
