"""Waiting for a decision: asking until there is one, for a bounded time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from .errors import NoAnswer

T = TypeVar("T", bound=Mapping[str, object])

#: In seconds; the last one from then on, which is rare enough for the rate limit of several that wait.
PAUSES = (0.5, 1.0, 2.0, 3.0, 5.0)
WITHIN = 600.0


class _Wait:
    """What is left of the time. While nobody answers, as in a restart of the service, the asking goes on."""

    def __init__(self, within: float) -> None:
        if not within >= 0:
            raise ValueError("within is a number of seconds, from 0 on")
        self._end = time.monotonic() + within
        self._asked = 0
        self.is_last = within == 0

    def stands(self, record: Mapping[str, object]) -> bool:
        return self.is_last or record["status"] != "created"

    def pause(self) -> float:
        """How many seconds to wait before it is asked again."""
        pause = PAUSES[min(self._asked, len(PAUSES) - 1)]
        self._asked += 1
        left = max(0.0, self._end - time.monotonic())
        self.is_last = left <= pause
        return min(left, pause)


def until_decided(ask: Callable[[], T], within: float) -> T:
    """The record once it is decided or has ended; as it is then where that takes longer."""
    wait = _Wait(within)
    while True:
        try:
            record = ask()
            if wait.stands(record):
                return record
        except NoAnswer:
            if wait.is_last:
                raise
        time.sleep(wait.pause())


async def async_until_decided(ask: Callable[[], Awaitable[T]], within: float) -> T:
    """The same for programs that do other things meanwhile."""
    wait = _Wait(within)
    while True:
        try:
            record = await ask()
            if wait.stands(record):
                return record
        except NoAnswer:
            if wait.is_last:
                raise
        await asyncio.sleep(wait.pause())
