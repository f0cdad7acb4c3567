"""Signs in with nothing but the address, as a person's assistant would, and buys within the mandate."""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

ADDRESS, CALLBACK, WALLET = sys.argv[1:]


class Memory(TokenStorage):
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def show(address: str) -> None:
    print(address, flush=True)


async def answer() -> AuthorizationCodeResult:
    line = await asyncio.to_thread(sys.stdin.readline)
    query = {name: values[0] for name, values in parse_qs(urlsplit(line.strip()).query).items()}
    return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])


async def main() -> None:
    metadata = OAuthClientMetadata(client_name="Python assistant", redirect_uris=[CALLBACK])
    provider = OAuthClientProvider(ADDRESS, metadata, Memory(), show, answer)
    async with create_mcp_http_client(auth=provider) as http:
        async with Client(streamable_http_client(ADDRESS, http_client=http)) as client:
            order = {"amountEuros": 2.5, "walletId": WALLET, "purpose": "A report"}
            intent = (await client.call_tool("declare_intent", order)).structured_content
            paid = await client.call_tool("pay_intent", {"intentId": intent["id"]})
            print(json.dumps({"declared": intent["status"], "paid": paid.structured_content}), flush=True)


asyncio.run(main())
