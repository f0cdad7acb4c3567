"""Errors of calls."""

from __future__ import annotations


class AgentPayError(Exception):
    """The base of all errors of this package."""


class Refused(AgentPayError):
    """The service has refused a call. Nothing was done unless the message says otherwise."""

    def __init__(
        self, operation: str, status: int, code: str, message: str, request_id: str | None, challenge_id: str | None = None
    ) -> None:
        super().__init__(message)
        #: The operation: ``intents.create``.
        self.operation = operation
        self.status = status
        #: The reason for programs. ``agentpay.types`` has the closed list of each operation: ``IntentsCreateCode``.
        self.code = code
        #: Name it in questions about the refusal.
        self.request_id = request_id
        #: What a passkey must sign first: ``passkeys.get_challenge(challenge_id)``, with the same key.
        self.challenge_id = challenge_id


class NoAnswer(AgentPayError):
    """There was no answer. A call that was sent may have had its effect."""
