"""Polls for a record, for a bounded time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from ._calls import PASSING, CallOptions
from .errors import NoAnswer, Refused

T = TypeVar("T", bound=Mapping[str, object])

#: In seconds; the last one repeats, and suits the rate limit of several concurrent waits.
PAUSES = (0.5, 1.0, 2.0, 3.0, 5.0)
WITHIN = 600.0
LEAST_S = 1.0


class _Wait:
    """
    The time that is left. Unanswered attempts, as during a restart, do not end the wait. The next poll repeats them:
    retries of the call itself would outlast the time limit.
    """

    def __init__(self, statuses: tuple[str, ...], within: float, timeout: float) -> None:
        if not within >= 0:
            raise ValueError("within is a number of seconds, from 0 on")
        self._end = time.monotonic() + within
        self._statuses = statuses
        self._timeout = timeout
        self._asked = 0
        self.is_last = within == 0

    def options(self) -> CallOptions:
        """Of one attempt, which ends with the time that is left, but has at least a second."""
        left = self._end - time.monotonic()
        return {"retries": 0, "timeout": min(self._timeout, max(left, LEAST_S))}

    def is_final(self, record: Mapping[str, object]) -> bool:
        return self.is_last or record["status"] not in self._statuses

    def passes(self, error: NoAnswer | Refused) -> bool:
        return not self.is_last and (isinstance(error, NoAnswer) or error.code in PASSING)

    def pause(self) -> float:
        """Seconds before the next attempt."""
        pause = PAUSES[min(self._asked, len(PAUSES) - 1)]
        self._asked += 1
        left = max(0.0, self._end - time.monotonic())
        self.is_last = left <= pause
        return min(left, pause)


def while_in(statuses: tuple[str, ...], ask: Callable[[CallOptions], T], within: float, timeout: float) -> T:
    """The record once it has left these statuses; after the time limit, as it is."""
    wait = _Wait(statuses, within, timeout)
    while True:
        try:
            record = ask(wait.options())
            if wait.is_final(record):
                return record
        except (NoAnswer, Refused) as error:
            if not wait.passes(error):
                raise
        time.sleep(wait.pause())


async def async_while_in(
    statuses: tuple[str, ...], ask: Callable[[CallOptions], Awaitable[T]], within: float, timeout: float
) -> T:
    """The asynchronous form."""
    wait = _Wait(statuses, within, timeout)
    while True:
        try:
            record = await ask(wait.options())
            if wait.is_final(record):
                return record
        except (NoAnswer, Refused) as error:
            if not wait.passes(error):
                raise
        await asyncio.sleep(wait.pause())
