"""Reads an e-mail as Python's own parser does, and prints what it has as JSON."""

import json
import sys
from email import message_from_bytes, policy

message = message_from_bytes(sys.stdin.buffer.read(), policy=policy.default)


def defects(part):
    return [type(defect).__name__ for defect in part.defects]


parts = [part for part in message.walk() if not part.is_multipart()]
print(
    json.dumps(
        {
            "subject": message["subject"],
            "from": [[one.display_name, one.addr_spec] for one in message["from"].addresses],
            "to": [one.addr_spec for one in message["to"].addresses],
            "messageId": message["message-id"],
            "autoSubmitted": message["auto-submitted"],
            "names": sorted({name.lower() for name in message.keys()}),
            "type": message.get_content_type(),
            "parts": [[part.get_content_type(), part.get_content().replace("\r\n", "\n")] for part in parts],
            "defects": defects(message) + [one for part in parts for one in defects(part)],
        }
    )
)
