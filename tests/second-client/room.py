"""A room's connection in Python: RFC 6455 and spec/PROTOCOL.md, with nothing but the standard library.

It was written from the page alone, by somebody who had not seen the gateway's code, and can be copied as it is.
"""

import base64
import hashlib
import http.client
import json
import os
import socket
import struct
from urllib.parse import quote, urlsplit

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
DECODER = json.JSONDecoder()
DEADLINE = 20  # seconds; reaching it is a failure, and nothing waits for it otherwise
PROTOCOLS = {"mcpx/v0.1", "mcp-x/v0"}


class Refused(Exception):
    """The gateway did not upgrade the connection: PROTOCOL.md §4."""

    def __init__(self, status, body):
        super().__init__(f"HTTP {status} {body}")
        self.status, self.body = status, body


class Closed(Exception):
    """The gateway closed the connection."""

    def __init__(self, code, reason):
        super().__init__(f"closed with {code} {reason}")
        self.code = code


def call(url, method, path, token):
    """One HTTP request with a bearer token: the status and the JSON of the answer."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=DEADLINE)
    connection.request(method, path, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else None


def payload_text(text):
    """The characters of an envelope's `payload` as they were sent: PROTOCOL.md §5 promises these bytes."""
    at = text.index("{") + 1
    while True:
        key, at = DECODER.raw_decode(text, _space(text, at))
        start = _space(text, _space(text, at) + 1)
        _, end = DECODER.raw_decode(text, start)
        if key == "payload":
            return text[start:end]
        at = _space(text, end) + 1


def _space(text, at):
    while text[at] in " \t\r\n":
        at += 1
    return at


class Room:
    """One participant's connection. `receive` returns the text of one envelope, in order."""

    def __init__(self, url, topic, token, query="", subprotocol=None):
        at = urlsplit(url)
        self.socket = socket.create_connection((at.hostname, at.port), timeout=DEADLINE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.bytes, self.waiting, self.pongs = b"", [], []
        self.closing = False
        self.seq = None  # of the newest envelope or own ack, once the welcome says where the stream begins
        key = base64.b64encode(os.urandom(16)).decode()
        asked = "" if query.startswith("topic=") else f"topic={quote(topic, safe='')}"
        lines = [
            f"GET /v0/ws?{'&'.join(part for part in (asked, query) if part)} HTTP/1.1",
            f"Host: {at.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        ]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        if subprotocol:
            lines.append(f"Sec-WebSocket-Protocol: {subprotocol}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        status, headers = self._head()
        if status != 101:
            body = json.loads(self._take(int(headers["content-length"])))
            self.socket.close()
            raise Refused(status, body)
        accept = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
        assert headers["sec-websocket-accept"] == base64.b64encode(accept).decode(), "not this handshake's answer"
        assert "sec-websocket-extensions" not in headers, "an extension that nobody asked for"

    def send(self, data, opcode=TEXT):
        """One frame, masked as a client's must be."""
        data = data.encode() if isinstance(data, str) else data
        mask, size = os.urandom(4), len(data)
        if size < 126:
            head = bytes([0x80 | opcode, 0x80 | size])
        elif size < 65536:
            head = bytes([0x80 | opcode, 0x80 | 126]) + struct.pack(">H", size)
        else:
            head = bytes([0x80 | opcode, 0x80 | 127]) + struct.pack(">Q", size)
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self):
        """The next envelope's text. Raises Closed where the gateway ends the connection."""
        while not self.waiting:
            self._frame()
        return self.waiting.pop(0)

    def unread(self):
        """What has arrived and was not received. Nothing is queued for an idle reader, so a pong comes behind it all."""
        mark = os.urandom(8)
        self.send(mark, PING)
        while mark not in self.pongs:
            self._frame()
        return self.waiting

    def close(self):
        """An orderly end: our close frame, then the gateway's."""
        self.send(struct.pack(">H", 1000), CLOSE)
        self.closing = True
        self.until_closed()

    def until_closed(self):
        """Reads on until the gateway ends the connection, and answers its close frame where it was the first."""
        try:
            while True:
                self._frame()
        except Closed:
            self.socket.close()

    def _frame(self):
        first, second = self._take(2)
        assert second & 0x80 == 0, "a masked frame from a server"
        assert first & 0x70 == 0, "a reserved bit"
        assert first & 0x80, "a message in several frames"
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", self._take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._take(8))
        data, opcode = self._take(size), first & 0x0F
        if opcode == TEXT:
            text = data.decode()
            self._check(text)
            self.waiting.append(text)
        elif opcode == PING:
            self.send(data, PONG)
        elif opcode == PONG:
            self.pongs.append(data)
        elif opcode == CLOSE:
            if not self.closing:
                self.send(data[:2], CLOSE)
            self.socket.close()
            raise Closed(struct.unpack(">H", data[:2])[0] if data else 1005, data[2:].decode())
        else:
            raise AssertionError(f"opcode {opcode}")

    def _check(self, text):
        """What the page says of every envelope, whatever a transcript looks at."""
        envelope, ambiguous = _read(text)
        assert not any(each is envelope for each in ambiguous), f"a key twice: {text}"
        assert envelope["protocol"] in PROTOCOLS, text
        for field in ("id", "ts", "from", "kind"):
            assert isinstance(envelope[field], str), f"{field} is missing: {text}"
        payload = envelope["payload"]
        assert isinstance(payload, dict), text
        assert isinstance(envelope.get("to", []), list), text
        if envelope["from"] == "system:gateway":
            assert "seq" not in envelope, f"what the gateway says itself has no number: {text}"
            if payload.get("event") == "welcome":
                assert self.seq is None, f"a second welcome: {text}"
                self.seq = payload["history"]["seq"]
            assert self.seq is not None, f"before the welcome: {text}"
            if payload.get("event") == "ack" and "seq" in payload:
                self.seq = max(self.seq, payload["seq"])
        else:
            assert self.seq is not None, f"before the welcome: {text}"
            if "seq" in envelope:  # dense: the next one or, with echo, the one that was acknowledged just now
                assert envelope["seq"] in (self.seq, self.seq + 1), f"{envelope['seq']} after {self.seq}"
                self.seq = envelope["seq"]

    def _head(self):
        while b"\r\n\r\n" not in self.bytes:
            self._more()
        head, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), {name.lower(): value for name, value in headers.items()}

    def _take(self, size):
        while len(self.bytes) < size:
            self._more()
        data, self.bytes = self.bytes[:size], self.bytes[size:]
        return data

    def _more(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the connection ended without a close frame")
        self.bytes += data


def _read(text):
    """JSON, and the objects in it that have a key twice. Deep inside a payload that is allowed, and relayed."""
    ambiguous = []

    def read(pairs):
        result = dict(pairs)
        if len(result) < len(pairs):
            ambiguous.append(result)
        return result

    return json.loads(text, object_pairs_hook=read), ambiguous
