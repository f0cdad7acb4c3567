"""The asynchronous client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

import httpx

from ._calls import PASSING, STREAM_AGAIN_AFTER_S, Call, CallOptions, Settings
from ._events import Messages
from ._operation import operation
from ._sync import Page
from .errors import NoAnswer, Refused

T = TypeVar("T")
Input = Mapping[str, Any]


class AsyncPages(Generic[T]):
    """A list: ``async for`` gives the records of all pages, ``await`` its first page."""

    def __init__(self, connection: AsyncConnection, line: str, ids: tuple[str, ...], input: Input, options: CallOptions) -> None:
        self._connection, self._line, self._ids, self._input, self._options = connection, line, ids, input, options

    async def page(self, cursor: str | None = None) -> Page[T]:
        input = self._input if cursor is None else {**self._input, "cursor": cursor}
        return Page(await self._connection.json(self._line, self._ids, input, self._options))

    def __await__(self) -> Generator[Any, None, Page[T]]:
        return self.page().__await__()

    async def pages(self) -> AsyncIterator[Page[T]]:
        page = await self.page()
        yield page
        while page.next_cursor is not None:
            page = await self.page(page.next_cursor)
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for record in page.data:
                yield record


class AsyncConnection:
    def __init__(self, settings: Settings, client: httpx.AsyncClient | None) -> None:
        self._settings = settings
        self.client = client or httpx.AsyncClient()
        self._is_own = client is None

    @property
    def timeout(self) -> float:
        return self._settings.timeout

    async def close(self) -> None:
        if self._is_own:
            await self.client.aclose()

    async def json(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> Any:
        content = (await self._answer(line, ids, input, options)).content
        try:
            return json.loads(content) if content else None
        except ValueError as error:
            raise NoAnswer(f"{operation(line).key}: the answer is no JSON") from error

    async def file(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> bytes:
        return (await self._answer(line, ids, input, options)).content

    async def stream(
        self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions, newest: str
    ) -> AsyncIterator[Any]:
        """The records of a stream. A broken connection is opened again after the last record, so that none is missing."""
        # Wrong arguments are refused before the newest record is asked for.
        self._call(line, ids, input, options)
        own = {name.lower(): value for name, value in options.get("headers", {}).items()}
        last = own.get("last-event-id")
        if last is None:
            found = (await self.json(newest, (), {"limit": 1}, {}))["data"]
            last = found[0]["id"] if found else None
        is_first = True
        while True:
            headers = {**own, **({"last-event-id": last} if last else {})}
            try:
                call = self._call(line, ids, input, {**options, "headers": headers})
                async with self._open(call) as response:
                    is_first = False
                    messages = Messages()
                    async for text in response.aiter_lines():
                        data = messages.add(text)
                        if data is not None:
                            last = messages.id
                            yield json.loads(data)
            except NoAnswer:
                if is_first:
                    raise
            except Refused as refused:
                if is_first or refused.code not in PASSING:
                    raise
            except httpx.TransportError:
                pass
            await asyncio.sleep(STREAM_AGAIN_AFTER_S)

    def _call(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> Call:
        return Call(operation(line), self._settings, ids, {} if input is None else input, options)

    async def _answer(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> httpx.Response:
        async with self._open(self._call(line, ids, input, options), is_whole=True) as response:
            return response

    @asynccontextmanager
    async def _open(self, call: Call, is_whole: bool = False) -> AsyncIterator[httpx.Response]:
        request = self.client.build_request(**call.request(), timeout=call.timeout)
        while True:
            try:
                response = await self.client.send(request, stream=True, follow_redirects=False)
                if is_whole or response.status_code >= 300:
                    await response.aread()
            except httpx.TransportError as error:
                await asyncio.sleep(call.after_break(error))
                continue
            seconds = call.after_answer(response.status_code, response.headers)
            if seconds is None:
                break
            await response.aclose()
            await asyncio.sleep(seconds)
        try:
            if response.status_code >= 300:
                raise call.refusal(response)
            yield response
        finally:
            await response.aclose()
