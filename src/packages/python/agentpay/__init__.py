"""Agent Payments: payments for autonomous software agents, under rules that their owners set."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from . import _async_api, _sync_api
from ._async import AsyncConnection, AsyncPages
from ._calls import CallOptions, FromEnvironment, settings_of
from ._fetch import Method, PaidRequest, credential_of
from ._sync import Connection, Page, Pages
from ._tool import Result, ToolSession, challenges_of_error, challenges_of_result, mint_input, paying_meta
from .audit import AuditRejected, VerifiedAudit, verify_audit
from .audit_proofs import verify_audit_growth, verify_audit_proof
from .errors import AgentPayError, NoAnswer, Refused
from .verify import (
    ApprovalRejected,
    GivenApproval,
    ProvenApproval,
    SignatureRejected,
    UnknownSigningKey,
    WebhookMessage,
    WebhookRejected,
    verify_approval,
    verify_signed,
    verify_webhook,
)

__all__ = [
    "AgentPay",
    "AgentPayError",
    "ApprovalRejected",
    "AsyncAgentPay",
    "AsyncPages",
    "AuditRejected",
    "CallOptions",
    "FromEnvironment",
    "GivenApproval",
    "NoAnswer",
    "Page",
    "Pages",
    "ProvenApproval",
    "Refused",
    "SignatureRejected",
    "ToolSession",
    "UnknownSigningKey",
    "VerifiedAudit",
    "WebhookMessage",
    "WebhookRejected",
    "verify_approval",
    "verify_audit",
    "verify_audit_growth",
    "verify_audit_proof",
    "verify_signed",
    "verify_webhook",
]


class AgentPay(_sync_api.Api):
    """
    The client: each noun of the service is a member, each operation a method of it. ``url`` and ``token`` default to
    ``AGENTPAY_URL`` and ``AGENTPAY_KEY``. A ``token`` of None, as in an answer that does not show it, is an error.
    ``timeout`` is in seconds, for one attempt of a call.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | FromEnvironment | None = FromEnvironment.KEY,
        *,
        dashboard_secret: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60,
        retries: int = 3,
        http_client: httpx.Client | None = None,
    ) -> None:
        settings = settings_of(url, token, dashboard_secret, headers, timeout, retries)
        self._connection = Connection(settings, http_client)
        super().__init__(self._connection)

    def fetch(
        self,
        url: str,
        *,
        intent_id: str,
        card_id: str | None = None,
        method: Method | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
    ) -> httpx.Response:
        """
        Requests an address, and pays a 402 on the way from an approved intent for this merchant. It pays once. If the
        second answer is lost, ``mpp.list({"intentId": …})`` shows the outcome.
        """
        timeout = self._connection.timeout
        request = PaidRequest(url, intent_id, timeout, card_id, method, headers or {}, body)
        answer = self._connection.client.request(**request.sent())
        to_mint = request.to_mint(answer)
        if to_mint is None:
            return answer
        return self._connection.client.request(**request.sent(credential_of(self.mpp.mint(to_mint))))

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> AgentPay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncAgentPay(_async_api.Api):
    """The asynchronous client."""

    def __init__(
        self,
        url: str | None = None,
        token: str | FromEnvironment | None = FromEnvironment.KEY,
        *,
        dashboard_secret: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60,
        retries: int = 3,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = settings_of(url, token, dashboard_secret, headers, timeout, retries)
        self._connection = AsyncConnection(settings, http_client)
        super().__init__(self._connection)

    async def fetch(
        self,
        url: str,
        *,
        intent_id: str,
        card_id: str | None = None,
        method: Method | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
    ) -> httpx.Response:
        """As ``AgentPay.fetch``."""
        timeout = self._connection.timeout
        request = PaidRequest(url, intent_id, timeout, card_id, method, headers or {}, body)
        answer = await self._connection.client.request(**request.sent())
        to_mint = request.to_mint(answer)
        if to_mint is None:
            return answer
        return await self._connection.client.request(**request.sent(credential_of(await self.mpp.mint(to_mint))))

    async def call_tool(
        self,
        session: ToolSession[Result],
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        intent_id: str,
        url: str,
        card_id: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Result:
        """
        Calls a tool of a merchant's MCP server, and pays for it if it asks for payment, from an approved intent for this
        merchant. ``url`` is an address of the merchant, such as that of the server: its host is the payee. It pays once. If
        the second answer is lost, ``mpp.list({"intentId": …})`` shows the outcome.
        """
        try:
            result = await session.call_tool(name, arguments, meta=dict(meta) if meta else None)
            challenges = challenges_of_result(result)
            if not challenges:
                return result
        except Exception as error:
            challenges = challenges_of_error(error)
            if not challenges:
                raise
        minted = await self.mpp.mint(mint_input(challenges, url, intent_id, card_id))
        return await session.call_tool(name, arguments, meta={**(meta or {}), **paying_meta(minted, challenges)})

    async def close(self) -> None:
        await self._connection.close()

    async def __aenter__(self) -> AsyncAgentPay:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
