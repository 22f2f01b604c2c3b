"""A second, independent client: it joins a room, chats, is refused, proposes, loses its connection and resumes.

One JSON object comes on standard input: url, topic, token. Then each step is reported as one line of JSON on
standard output; after "sent" and "lost" it waits for a line on standard input. Needs only the websockets library (10.4).
"""

import asyncio
import json
import sys
import uuid
from urllib.parse import urlencode

import websockets


class Room:
    """A connection to a room that knows up to where it has read."""

    def __init__(self, url, topic, token):
        self.url, self.topic, self.token = url, topic, token
        self.epoch, self.seq = None, 0
        self.seen = []  # [seq, id] of everything that was said, our own by its ack
        self.socket = None

    async def connect(self):
        query = {"topic": self.topic, "seq": "1"}
        if self.epoch is not None:
            query["resume"] = f"{self.epoch}:{self.seq}"
        self.socket = await websockets.connect(
            f"{self.url}/v0/ws?{urlencode(query)}", extra_headers={"Authorization": f"Bearer {self.token}"}
        )
        welcome = await self.receive()
        history = welcome["payload"]["history"]
        if self.epoch is None:
            self.epoch, self.seq = history["epoch"], history["seq"]
        return welcome

    async def receive(self):
        envelope = json.loads(await asyncio.wait_for(self.socket.recv(), 20))
        payload = envelope["payload"]
        if payload.get("event") == "ack" and "seq" in payload:
            self.advance(payload["seq"], payload["id"])
        elif "seq" in envelope:
            self.advance(envelope["seq"], envelope["id"])
        return envelope

    def advance(self, seq, envelope_id):
        if seq > self.seq:  # an ack of something sent twice may speak of the past
            self.seq = seq
            self.seen.append([seq, envelope_id])

    async def send(self, kind, payload, **fields):
        envelope = {"protocol": "mcpx/v0.1", "id": str(uuid.uuid4()), "kind": kind, "payload": payload, **fields}
        await self.socket.send(json.dumps(envelope))
        return envelope["id"]

    async def until(self, fits):
        while True:
            envelope = await self.receive()
            if fits(envelope):
                return envelope

    async def answer(self, envelope_id):
        """What the gateway says to an envelope of ours."""
        return await self.until(
            lambda e: e["from"] == "system:gateway" and e.get("correlation_id") == envelope_id
        )

    async def break_off(self):
        """Without a closing handshake, as when a cable is pulled."""
        self.socket.transport.abort()
        await self.socket.wait_closed()


def report(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)


async def main():
    task = json.loads(sys.stdin.readline())
    room = Room(task["url"], task["topic"], task["token"])
    welcome = await room.connect()
    report("joined", welcome=welcome["payload"])

    ack = await room.answer(await room.send("chat", {"text": "hello from elsewhere"}))
    report("chatted", ack=ack["payload"])

    call = {"method": "tools/call", "params": {"name": "heat", "arguments": {"celsius": 220}}}
    refused = await room.answer(
        await room.send("mcp", {"jsonrpc": "2.0", "id": 7, **call}, to=["oven"])
    )
    report("refused", payload=refused["payload"], kind=refused["kind"])

    proposal = await room.send("mcp/proposal", call, to=["oven"])
    await room.answer(proposal)
    report("proposed", id=proposal)
    request = await room.until(lambda e: e["kind"] == "mcp" and e.get("correlation_id") == proposal)
    result = await room.until(lambda e: e["kind"] == "mcp" and e.get("correlation_id") == request["id"])
    report("fulfilled", by=request["from"], to=result["to"], result=result["payload"]["result"])

    last_words = {"kind": "chat", "payload": {"text": "can you hear"}, "id": str(uuid.uuid4())}
    await room.send(**last_words)
    report("sent", id=last_words["id"])
    sys.stdin.readline()  # others have heard it by now; its ack is still unread, and never will be
    await room.break_off()
    report("lost", at=room.seq)
    sys.stdin.readline()

    welcome = await room.connect()
    await room.until(lambda e: e["payload"].get("text") == "the end")
    again = await room.answer(await room.send(**last_words))
    report("resumed", welcome=welcome["payload"], ack=again["payload"], seen=room.seen)
    await room.socket.close()


asyncio.run(main())
