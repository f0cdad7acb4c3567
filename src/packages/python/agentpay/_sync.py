"""The synchronous client."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import httpx

from ._calls import PASSING, STREAM_AGAIN_AFTER_S, Call, CallOptions, Settings
from ._events import Messages
from ._operation import operation
from .errors import NoAnswer, Refused

T = TypeVar("T")
Input = Mapping[str, Any]


class Page(Generic[T]):
    """One page of a list."""

    def __init__(self, page: Mapping[str, Any]) -> None:
        self.data: list[T] = page["data"]
        self.has_more: bool = page["hasMore"]
        self.next_cursor: str | None = page["nextCursor"]


class Pages(Generic[T]):
    """A list: ``for`` gives the records of all pages, ``page()`` the first page."""

    def __init__(self, connection: Connection, line: str, ids: tuple[str, ...], input: Input, options: CallOptions) -> None:
        self._connection, self._line, self._ids, self._input, self._options = connection, line, ids, input, options

    def page(self, cursor: str | None = None) -> Page[T]:
        input = self._input if cursor is None else {**self._input, "cursor": cursor}
        return Page(self._connection.json(self._line, self._ids, input, self._options))

    def pages(self) -> Iterator[Page[T]]:
        page = self.page()
        yield page
        while page.next_cursor is not None:
            page = self.page(page.next_cursor)
            yield page

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


class Connection:
    def __init__(self, settings: Settings, client: httpx.Client | None) -> None:
        self._settings = settings
        self.client = client or httpx.Client()
        self._is_own = client is None

    @property
    def timeout(self) -> float:
        return self._settings.timeout

    def close(self) -> None:
        if self._is_own:
            self.client.close()

    def json(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> Any:
        content = self._answer(line, ids, input, options).content
        try:
            return json.loads(content) if content else None
        except ValueError as error:
            raise NoAnswer(f"{operation(line).key}: the answer is no JSON") from error

    def file(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> bytes:
        return self._answer(line, ids, input, options).content

    def stream(
        self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions, newest: str
    ) -> Iterator[Any]:
        """The records of a stream. A broken connection is opened again after the last record, so that none is missing."""
        # Wrong arguments are refused before the newest record is asked for.
        self._call(line, ids, input, options)
        own = {name.lower(): value for name, value in options.get("headers", {}).items()}
        last = own.get("last-event-id")
        if last is None:
            found = self.json(newest, (), {"limit": 1}, {})["data"]
            last = found[0]["id"] if found else None
        is_first = True
        while True:
            headers = {**own, **({"last-event-id": last} if last else {})}
            try:
                call = self._call(line, ids, input, {**options, "headers": headers})
                with self._open(call) as response:
                    is_first = False
                    messages = Messages()
                    for text in response.iter_lines():
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
            time.sleep(STREAM_AGAIN_AFTER_S)

    def _call(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> Call:
        return Call(operation(line), self._settings, ids, {} if input is None else input, options)

    def _answer(self, line: str, ids: tuple[str, ...], input: Input | None, options: CallOptions) -> httpx.Response:
        with self._open(self._call(line, ids, input, options), is_whole=True) as response:
            return response

    @contextmanager
    def _open(self, call: Call, is_whole: bool = False) -> Iterator[httpx.Response]:
        request = self.client.build_request(**call.request(), timeout=call.timeout)
        while True:
            try:
                response = self.client.send(request, stream=True, follow_redirects=False)
                if is_whole or response.status_code >= 300:
                    response.read()
            except httpx.TransportError as error:
                time.sleep(call.after_break(error))
                continue
            seconds = call.after_answer(response.status_code, response.headers)
            if seconds is None:
                break
            response.close()
            time.sleep(seconds)
        try:
            if response.status_code >= 300:
                raise call.refusal(response)
            yield response
        finally:
            response.close()
