"""Messages of server-sent events, from lines."""

from __future__ import annotations


class Messages:
    """Collects the lines of a message. An id applies until the next one."""

    def __init__(self) -> None:
        self.id = ""
        self._data: list[str] = []

    def add(self, line: str) -> str | None:
        """The data of the message, if this line ends one."""
        if line == "":
            data, self._data = self._data, []
            return "\n".join(data) if data else None
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.id = value
        return None
