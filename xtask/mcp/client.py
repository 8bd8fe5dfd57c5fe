"""The Python SDK as a client: reads the demo household, proposes a correction and a paper trade, and follows them. Then it
proposes as a client that can open pages."""

import asyncio
import json
import sys

from mcp import ClientSession, types
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def main(url: str, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    # Both eras of the protocol: with a handshake, and without.
    for opening in ("initialize", "discover"):
        async with create_mcp_http_client(headers=headers) as client:
            async with streamable_http_client(url, http_client=client) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await getattr(session, opening)()
                    count = await check(session)
                    print(f"the Python SDK called {count} tools at {session.protocol_version}")
        await check_pages(url, headers, opening)


async def check_pages(url, headers, opening) -> None:
    """A client that declares URL elicitation, which the SDK does for one with a callback, is asked to open the page."""
    opened = asyncio.Queue()

    async def open_page(context, params):
        await opened.put(params)
        return types.ElicitResult(action="decline")

    async with create_mcp_http_client(headers=headers) as client:
        async with streamable_http_client(url, http_client=client) as streams:
            async with ClientSession(streams[0], streams[1], elicitation_callback=open_page) as session:
                await getattr(session, opening)()
                arguments = {"title": f"Opened after {opening}?"}
                result = await session.call_tool("propose_custom", arguments, allow_input_required=True)
                if opening == "discover":
                    request, state = result.input_requests["approval"], result.request_state
                    responses = {"approval": await open_page(None, request.params)}
                    result = await session.call_tool(
                        "propose_custom", arguments, input_responses=responses, request_state=state
                    )
                params = await asyncio.wait_for(opened.get(), 10)
                proposed = result.structured_content
                assert params.mode == "url" and params.url == proposed["approval_url"], (params, proposed)
                assert proposed["action"]["status"] == "pending_approval", proposed
                print(f"the Python SDK was asked to open the page at {session.protocol_version}")


async def call(session, tool, **arguments):
    """The structured answer. The SDK checks it against the tool's output schema."""
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, (tool, result)
    assert json.loads(result.content[0].text) == result.structured_content, tool
    return result.structured_content


async def check(session) -> int:
    tools = {it.name for it in (await session.list_tools()).tools}
    assert len(tools) == 18, tools
    reading = [it for it in tools if not it.startswith("propose_") and it not in ("get_action", "get_balance_history")]
    for name in reading:
        await call(session, name)
    accounts = await call(session, "list_accounts")
    await call(session, "get_balance_history", account_id=accounts["accounts"][0]["id"])
    found = await call(session, "search_transactions", limit=3)
    corrected = await call(
        session, "propose_corrections", transaction_ids=[found["transactions"][0]["id"]], category="Groceries"
    )
    paper = await call(session, "list_paper_accounts")
    trade = await call(
        session, "propose_paper_trade", account_id=paper["accounts"][0]["id"], symbol="AAPL", side="buy", quantity=1
    )
    for proposed in (corrected, trade):
        action = await call(session, "get_action", action_id=proposed["action"]["action_id"], wait=1)
        assert action["action"]["status"] == "pending_approval", action
        assert "/approvals/" in action["approval_url"], action
    resources = await session.read_resource("evenkeel://accounts")
    assert "accounts" in json.loads(resources.contents[0].text)
    prompt = await session.get_prompt("monthly_review", {"month": "2026-03"})
    assert "2026-03" in prompt.messages[0].content.text
    return len(reading) + 4


asyncio.run(main(sys.argv[1], sys.argv[2]))
