"""What can go wrong with a call."""

from __future__ import annotations


class AgentPayError(Exception):
    """Everything that this package raises by itself."""


class Refused(AgentPayError):
    """The service has refused a call. Nothing was done, unless the message says otherwise."""

    def __init__(self, operation: str, status: int, code: str, message: str, request_id: str | None) -> None:
        super().__init__(message)
        #: The operation that was called: ``intents.create``.
        self.operation = operation
        self.status = status
        #: Why, for programs. ``agentpay.types`` has the closed list of each operation: ``IntentsCreateCode``.
        self.code = code
        #: Name it when you ask about the refusal.
        self.request_id = request_id


class NoAnswer(AgentPayError):
    """No answer came. What was sent may have had its effect, unless it was never sent."""
