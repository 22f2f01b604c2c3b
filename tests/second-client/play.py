"""Plays transcripts of rooms (spec/transcripts) against a gateway, with a client written from spec/PROTOCOL.md alone.

Standard input has the files' names, one a line; {"played": FILE, "fault": null or a text} follows on standard output.
In between it asks for what only the gateway's operator can do, one JSON object a line, and reads one line of JSON as
the answer: {"ask": "gateway", "configuration"} starts one with nothing in it in the place of the last → {"url"};
{"ask": "token", "claims"} → {"token"}; {"ask": "restart"} → {"url"}; {"ask": "trim", "topic", "keep"} → {}.
"""

import json
import re
import sys

from room import BINARY, TEXT, Closed, Refused, Room, call, payload_text


def tell(message):
    print(json.dumps(message), flush=True)


def ask(question):
    tell(question)
    return json.loads(sys.stdin.readline())


def explain(condition, text):
    if not condition:
        raise AssertionError(text)


class Player:
    shared = None  # {"url", "names"} of a gateway that the next transcript may use as well

    def __init__(self, lines):
        self.lines, self.at, self.url = lines, 0, None
        self.topic, self.tokens, self.rooms, self.queries = None, {}, {}, {}
        self.said, self.values = {}, {}

    def play(self):
        configuration = {}
        while self.at < len(self.lines):
            line, self.at = self.lines[self.at].rstrip("\n"), self.at + 1
            if line == "" or line.startswith(("#", "[")) or line == "a gateway of its own":
                continue
            number, block = self.at, self.block()
            if line == "configuration":
                configuration = json.loads(block)
                continue
            try:
                if self.url is None:
                    self.url = self.gateway(configuration)
                self.step(line, block)
            except (AssertionError, Closed, Refused, OSError, KeyError) as fault:
                raise AssertionError(f"line {number}, {line}: {type(fault).__name__} {fault}") from fault
        for who in self.rooms:
            self.receives_nothing(who)
        for room in self.rooms.values():
            room.close()

    def gateway(self, configuration):
        """A gateway that has not met this transcript's rooms and participants; its own where it needs one."""
        text = "".join(self.lines)
        names = set(re.findall(r"^(?:topic (\S+)|([a-z]+) (?:is|has) an? )", text, re.MULTILINE))
        alone = configuration or re.search("^(a gateway of its own|the gateway restarts|the log is )", text, re.MULTILINE)
        if not alone and Player.shared and not names & Player.shared["names"]:
            Player.shared["names"] |= names
            return Player.shared["url"]
        url = ask({"ask": "gateway", "configuration": configuration})["url"]
        Player.shared = None if alone else {"url": url, "names": names}
        return url

    def block(self):
        """The indented lines below a line: JSON, or the exact text of a frame."""
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at].startswith("  "):
            self.at += 1
        return "\n".join(line[2:].rstrip("\n") for line in self.lines[start : self.at])

    def step(self, line, block):
        for pattern, act in STEPS:
            found = re.fullmatch(pattern, line)
            if found:
                return act(self, *found.groups(), *([block] if block else []))
        raise AssertionError("this player does not know the line")

    # What is expected of a value: "*" is something, "<absent>" nothing, "$name" the same as the first time.

    def compare(self, value, expected, where):
        if expected == "*":
            explain(value is not None, f"{where} is missing")
        elif expected == "<absent>":
            explain(value is None, f"{where} is {value!r}")
        elif isinstance(expected, str) and expected.startswith("$"):
            explain(value is not None, f"{where} is missing")
            first = self.values.setdefault(expected[1:], value)
            explain(value == first, f"{where} is {value!r}, and was {first!r}")
        elif isinstance(expected, dict):
            explain(isinstance(value, dict), f"{where} is {value!r}")
            for key, inner in expected.items():
                self.compare(value.get(key), inner, f"{where}.{key}")
        elif isinstance(expected, list):
            explain(isinstance(value, list) and len(value) == len(expected), f"{where} is {value!r}")
            for index, inner in enumerate(expected):
                self.compare(value[index], inner, f"{where}[{index}]")
        else:
            explain(value == expected, f"{where} is {value!r}, not {expected!r}")

    def fill(self, text):
        return re.sub(r"\$([a-z]+)", lambda found: self.values[found[1]], text)

    # Who there is.

    def set_topic(self, topic):
        self.topic = topic

    def token(self, level=None, **claims):
        given = {"topics": [self.topic], "level": None if level == "unnamed" else level, **claims}
        claims = {name: value for name, value in given.items() if value is not None}
        return ask({"ask": "token", "claims": claims})["token"]

    def is_a(self, who, level, kind, name=None):
        self.tokens[who] = self.token(level, sub=who, kind=kind, name=name)

    def is_admin(self, who):
        self.tokens[who] = self.token(sub=who, admin=True)

    def is_nameless(self, who):
        self.tokens[who] = self.token()

    def has_token_of(self, who, other):
        self.tokens[who] = self.tokens[other]

    def new_token(self, variable, who, level, kind):
        self.values[variable] = self.token(level, sub=who, kind=kind)

    # Coming and going.

    def connects(self, who, query=None):
        self.queries[who] = self.fill(query or "")
        self.rooms[who] = Room(self.url, self.topic, self.tokens[who], self.queries[who])

    def joins(self, who, query=None):
        others = list(self.rooms)
        self.connects(who, query)
        self.expect(who, {"kind": "system", "payload": {"event": "welcome"}})
        for other in others:
            self.expect(other, {"kind": "presence", "payload": {"event": "join"}})

    def cannot_connect(self, who, query, subprotocol, status, reason, block="{}"):
        try:
            Room(self.url, self.topic, self.tokens.get(who), self.fill(query or ""), subprotocol)
        except Refused as refused:
            explain(refused.status == int(status), f"{refused}, not {status}")
            self.compare(refused.body["error"], {**json.loads(block), "reason": reason}, "error")
        else:
            raise AssertionError(f"{who} is connected")

    def leaves(self, who):
        self.rooms.pop(who).close()

    def is_closed(self, who, code):
        try:
            raise AssertionError(f"{who} has received {self.rooms[who].receive()}")
        except Closed as closed:
            explain(closed.code == int(code), str(closed))
        del self.rooms[who]

    def restarts(self):
        tell({"ask": "restart"})
        for room in self.rooms.values():
            room.until_closed()
        self.rooms.clear()
        self.url = json.loads(sys.stdin.readline())["url"]

    def is_trimmed(self, keep):
        ask({"ask": "trim", "topic": self.topic, "keep": int(keep)})

    # Sending.

    def sends(self, who, block):
        self.sends_exactly(who, json.dumps(json.loads(self.fill(block)), ensure_ascii=False))

    def sends_exactly(self, who, text):
        found = re.search(r'"id": "([^"]+)"', text)
        if found:
            self.said[found[1]] = text
        self.rooms[who].send(text)

    def sends_again(self, who, envelope):
        self.rooms[who].send(self.said[envelope])

    def sends_bytes(self, who, kind, data):
        self.rooms[who].send(bytes.fromhex(data), BINARY if kind == "binary" else TEXT)

    def chats(self, who, times):
        numbers = range(1, int(times) + 1)
        for n in numbers:
            envelope = {"protocol": "mcpx/v0.1", "id": f"chat-{n}", "kind": "chat", "payload": {"text": f"Line {n}"}}
            self.sends_exactly(who, json.dumps(envelope))
        for n in numbers:
            self.is_acked(who, f"chat-{n}")
            if "echo=1" in self.queries[who]:
                self.expect(who, {"id": f"chat-{n}", "kind": "chat"})

    # Receiving.

    def expect(self, who, expected):
        text = self.rooms[who].receive()
        self.compare(json.loads(text), expected, f"in {text}, it")

    def receives(self, who, block):
        self.expect(who, json.loads(block))

    def receives_as_sent(self, who, envelope):
        text = self.said[envelope]
        received = self.rooms[who].receive()
        expected = {"from": "*", "derived": "<absent>", **json.loads(text)}
        payload = expected.pop("payload")
        self.compare(json.loads(received), expected, f"in {received}, it")
        explain(payload_text(received) == payload_text(text), f"the bytes of {payload} differ: {received}")

    def receives_nothing(self, who):
        unread = self.rooms[who].unread()
        explain(not unread, f"{who} has received {unread}")

    def is_acked(self, who, envelope):
        ack = {"event": "ack", "id": envelope, "seq": "*", "epoch": "*", "at": "*"}
        self.expect(who, {"from": "system:gateway", "kind": "system", "payload": ack})

    def is_refused(self, who, envelope, reason):
        received = json.loads(self.rooms[who].receive())
        error = received["payload"]["error"]["data"] if received["kind"] == "mcp" else received["payload"]
        self.compare(received, {"from": "system:gateway", "correlation_id": envelope}, "the refusal")
        self.compare(error, {"reason": reason}, "the error")

    def requests(self, who, method, path, expected, block="null"):
        status, body = call(self.url, method, self.fill(path), self.tokens.get(who))
        explain(status == int(expected), f"HTTP {status} {body}")
        if block != "null":
            self.compare(body, json.loads(block), "the body")


NAME, WITH = "([a-z]+)", r"(?: with (\S+?))?"
LEVEL, KIND = "an? (full|responder|restricted|unnamed)", "(human|agent|robot)"
STEPS = [
    (r"topic (\S+)", Player.set_topic),
    (rf"{NAME} is an admin", Player.is_admin),
    (rf"{NAME} has a token without a name", Player.is_nameless),
    (rf"{NAME} has {NAME}'s token", Player.has_token_of),
    (rf'{NAME} is {LEVEL} {KIND}(?: called "(.+)")?', Player.is_a),
    (rf"\${NAME} is a new token for {NAME}, {LEVEL} {KIND}", Player.new_token),
    (rf"{NAME} connects{WITH}", Player.connects),
    (rf"{NAME} joins{WITH}", Player.joins),
    (rf"{NAME} cannot connect{WITH}(?: offering (\S+))?: (\d+) (\w+)", Player.cannot_connect),
    (rf"{NAME} leaves", Player.leaves),
    (rf"{NAME} is closed with (\d+)", Player.is_closed),
    (r"the gateway restarts", Player.restarts),
    (r"the log is trimmed to (\d+)", Player.is_trimmed),
    (rf"{NAME} sends", Player.sends),
    (rf"{NAME} sends exactly", Player.sends_exactly),
    (rf"{NAME} sends (\S+) again", Player.sends_again),
    (rf"{NAME} sends a (text|binary) frame of (.+)", Player.sends_bytes),
    (rf"{NAME} chats (\d+) times", Player.chats),
    (rf"{NAME} receives", Player.receives),
    (rf"{NAME} receives nothing", Player.receives_nothing),
    (rf"{NAME} receives (\S+) as sent", Player.receives_as_sent),
    (rf"{NAME} is acked as (\S+)", Player.is_acked),
    (rf"{NAME} is refused (\S+): (\w+)", Player.is_refused),
    (rf"{NAME} (GET|POST|DELETE) (\S+) answers (\d+)", Player.requests),
]



for name in iter(sys.stdin.readline, ""):
    file, fault = name.rstrip("\n"), None
    try:
        with open(file, encoding="utf8") as lines:
            Player(lines.readlines()).play()
    except AssertionError as failed:
        fault = str(failed)
    tell({"played": file, "fault": fault})
