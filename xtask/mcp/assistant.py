"""An assistant made with the Python SDK, for the browser test. It prints each page that the person has to open, after
AUTHORIZE or APPROVE, and goes on when they have decided there."""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


def say(*words) -> None:
    print(*words, flush=True)


class Memory:
    """Keeps the tokens and the registration while the program runs."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Callback:
    """The address on this machine to which the person's browser returns."""

    async def start(self) -> str:
        self.queries = asyncio.Queue()
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback"

    async def answer(self, reader, writer) -> None:
        target = (await reader.readline()).decode().split(" ")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nThanks.")
        await writer.drain()
        writer.close()
        if len(target) > 1 and target[1].startswith("/callback?"):
            await self.queries.put(parse_qs(urlsplit(target[1]).query))

    async def wait(self) -> AuthorizationCodeResult:
        query = await self.queries.get()
        values = {name: query[name][0] for name in ("code", "state", "iss") if name in query}
        return AuthorizationCodeResult(**values)


async def main(url: str) -> None:
    callback = Callback()
    redirect = await callback.start()

    async def open_page(page: str) -> None:
        say("AUTHORIZE", page)

    metadata = OAuthClientMetadata(
        client_name="Python assistant", redirect_uris=[redirect], token_endpoint_auth_method="none"
    )
    auth = OAuthClientProvider(url, metadata, Memory(), open_page, callback.wait)
    async with create_mcp_http_client(auth=auth) as client:
        async with streamable_http_client(url, http_client=client) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.discover()
                await assist(session)


async def call(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, (tool, result)
    return result.structured_content


async def assist(session) -> None:
    tools = {it.name for it in (await session.list_tools()).tools}
    say("TOOLS", *sorted(tools))
    overview = await call(session, "get_overview")
    say("ASKED", "net_worth", overview["net_worth"])
    paper = (await call(session, "list_paper_accounts"))["accounts"][0]
    found = await call(session, "search_transactions", limit=1)
    row = found["transactions"][0]
    trade = await call(
        session, "propose_paper_trade", account_id=paper["id"], symbol="AAPL", side="buy", quantity=1, reason="You asked."
    )
    await follow(session, trade)
    correction = await call(
        session, "propose_corrections", transaction_ids=[row["id"]], name="Corrected by the test"
    )
    await follow(session, correction)


async def follow(session, proposed) -> None:
    """Asks the person and waits for the decision."""
    action = proposed["action"]
    assert action["status"] == "pending_approval", action
    say("APPROVE", proposed["approval_url"])
    while action["status"] in ("pending_approval", "approved", "executing"):
        answer = await call(session, "get_action", action_id=action["action_id"], wait=30)
        action = answer["action"]
    say("DECIDED", json.dumps({"type": action["action_type"], "status": action["status"]}))


asyncio.run(main(sys.argv[1]))
