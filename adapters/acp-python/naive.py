"""A client of agents on the official Python SDK, written as its quickstart suggests, behind the kit's adapter protocol
(docs/acp-clients.md). What happens when the agent's line breaks it leaves to the SDK. What it can't do it does not declare.

    pip install agent-client-protocol==0.12.1
    standin kit acp --adapter 'python3 adapters/acp-python/naive.py'
"""

import asyncio
import base64
import json
import sys
from contextlib import AsyncExitStack

import acp
from acp.schema import AllowedOutcome, DeniedOutcome, McpServerStdio, RequestPermissionResponse

CAPABILITIES = [
    "acp.core", "acp.cancel", "acp.permission", "acp.sessions", "acp.load", "acp.modes", "acp.models", "acp.image", "environment",
]
# An agent's line may be longer than asyncio's 64 KiB.
LONGEST_LINE = 50 * 1024 * 1024


def write(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def show(kind, **fields):
    write({"method": "update", "params": {"update": {"kind": kind, **fields}}})


class Unsupported(Exception):
    pass


class Hears(acp.Client):
    """What the agent tells and asks."""

    def __init__(self, client):
        self.client = client

    async def session_update(self, session_id, update, **kwargs):
        chat = self.client.chats.get(session_id)
        if chat is None or session_id in self.client.loading:
            return
        if update.session_update == "agent_message_chunk" and update.content.type == "text":
            show("chatText", chatId=chat, delta=update.content.text)
        elif update.session_update in ("tool_call", "tool_call_update"):
            show("chatTool", chatId=chat, tool=update.tool_call_id, title=update.title or "", status=update.status or "")

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        show("chatPermission", chatId=self.client.chats.get(session_id, ""), title=tool_call.title or "")
        wanted = {"allow": "allow", "refuse": "reject"}.get(self.client.leave)
        if wanted is None:
            # Nobody is there to answer.
            await asyncio.get_running_loop().create_future()
        for option in options:
            if option.kind.startswith(wanted):
                outcome = AllowedOutcome(outcome="selected", option_id=option.option_id)
                return RequestPermissionResponse(outcome=outcome)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))


class Client:
    """The client itself: an agent, and chats by their sessions."""

    def __init__(self):
        self.stack = AsyncExitStack()
        self.chats = {}  # session -> chat
        self.loading = set()
        self.turns = set()
        self.leave = "allow"

    async def start(self, command, args, env, cwd, leave, **_):
        self.leave = leave
        self.chats.clear()
        spawned = acp.spawn_agent_process(
            Hears(self), command, *args, env=env, cwd=cwd, transport_kwargs={"limit": LONGEST_LINE}
        )
        self.agent, self.process = await self.stack.enter_async_context(spawned)
        await self.agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        return {"mode": "acp"}

    async def open(self, chatId, cwd, mcpServers=()):
        servers = [McpServerStdio.model_validate(server) for server in mcpServers]
        made = await self.agent.new_session(cwd=cwd, mcp_servers=servers)
        self.chats[made.session_id] = chatId
        return {"sessionId": made.session_id}

    def session(self, chat):
        return next(session for session, of in self.chats.items() if of == chat)

    def send(self, chatId, blocks):
        turn = asyncio.create_task(self.turn(chatId, blocks))
        self.turns.add(turn)
        turn.add_done_callback(self.turns.discard)
        return {}

    async def turn(self, chat, blocks):
        try:
            answer = await self.agent.prompt(session_id=self.session(chat), prompt=blocks)
            show("chatDone", chatId=chat, stop=answer.stop_reason)
        except Exception as error:
            show("chatDone", chatId=chat, stop="error", error=f"{type(error).__name__}: {error}")

    async def restore(self, chatId, file, cwd):
        with open(file) as kept:
            session = json.load(kept)["session_id"]
        self.chats[session] = chatId
        self.loading.add(session)
        await self.agent.load_session(cwd=cwd, session_id=session, mcp_servers=[])
        self.loading.discard(session)
        return {"sessionId": session, "restored": True}

    async def do(self, method, params):
        chat = params.get("chatId")
        if method == "initialize":
            declares = {"policy": "careful"}
            about = {"protocol": 1, "name": "acp-python", "version": "1", "clock": "scaled", "declares": declares}
            return {**about, "capabilities": CAPABILITIES}
        if method == "client/start":
            return await self.start(**params)
        if method == "client/stop":
            await self.stack.aclose()
        elif method == "chat/open":
            return await self.open(**params)
        elif method == "chat/send":
            return self.send(chat, [acp.text_block(params["text"])])
        elif method == "chat/sendImage":
            with open(params["path"], "rb") as picture:
                data = base64.b64encode(picture.read()).decode()
            return self.send(chat, [acp.text_block(params["caption"]), acp.image_block(data, "image/png")])
        elif method == "chat/cancel":
            await self.agent.cancel(session_id=self.session(chat))
        elif method == "chat/setMode":
            await self.agent.set_session_mode(session_id=self.session(chat), mode_id=params["mode"])
        elif method == "chat/setModel":
            await self.agent.set_config_option(session_id=self.session(chat), config_id="model", value=params["model"])
        elif method == "chat/save":
            with open(params["file"], "w") as kept:
                json.dump({"session_id": self.session(chat)}, kept)
        elif method == "chat/restore":
            return await self.restore(**params)
        elif method != "shutdown":
            raise Unsupported(method)
        return {}


async def answer(client, request):
    try:
        write({"id": request["id"], "result": await client.do(request["method"], request.get("params", {}))})
    except Unsupported as error:
        write({"id": request["id"], "error": {"code": -32601, "message": f"unsupported: {error}"}})
    except Exception as error:
        write({"id": request["id"], "error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}})


async def main():
    client, asked = Client(), set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        request = json.loads(line)
        task = asyncio.create_task(answer(client, request))
        asked.add(task)
        task.add_done_callback(asked.discard)
        if request["method"] == "shutdown":
            await task
            return


asyncio.run(main())
