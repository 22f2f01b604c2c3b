"""A second, independent verifier of signed envelopes, written from spec/PROTOCOL.md, section 15, alone.

Reads one JSON object from standard input: keys (participant -> public JWKs) and cases (topic, text). Prints the state
of each case as a JSON list. Needs Debian's python3-cryptography.
"""

import base64
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

HEADER = {"alg": "EdDSA", "typ": "mcpx-envelope+jws"}
CHAT = "notifications/chat/message"
P = 2**255 - 19


class Invalid(Exception):
    pass


def need(condition):
    if not condition:
        raise Invalid


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    need(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]*", text) and len(text) % 4 != 1)
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    need(encode(data) == text)  # the one canonical spelling
    return data


def digest(text):
    return encode(hashlib.sha256(text.encode()).digest())


def top_fields(text):
    """The text of each field at the top of an object."""
    decoder, fields = json.JSONDecoder(), {}
    skip = lambda at: re.compile(r"[ \t\r\n]*").match(text, at).end()
    at = skip(0)
    need(text[at] == "{")
    at = skip(at + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        need(key not in fields)
        at = skip(at)
        need(text[at] == ":")
        start = skip(at + 1)
        _, end = decoder.raw_decode(text, start)
        fields[key] = text[start:end]
        at = skip(end)
        if text[at] == ",":
            at = skip(at + 1)
    return fields


def canonical(value):
    """RFC 8785, for objects of ASCII keys whose numbers are whole."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def has_small_order(data):
    """Whether eight times the point is the neutral one, on the Edwards curve; written out by hand."""
    d = -121665 * pow(121666, -1, P) % P
    y = (int.from_bytes(data, "little") & (2**255 - 1)) % P
    x2 = (y * y - 1) * pow(d * y * y + 1, -1, P) % P
    # Doubling needs only x squared and y: y' = (y^2 + x^2) / (2 + x^2 - y^2).
    for _ in range(3):
        below = (2 + x2 - y * y) % P
        above2 = 4 * x2 * y * y
        next_x2 = above2 * pow((y * y - x2) % P, -2, P) % P
        y, x2 = (y * y + x2) * pow(below, -1, P) % P, next_x2
    return y == 1


def read_signature(text):
    need(len(text) <= 2048)
    value = json.loads(text)
    need(isinstance(value, dict) and set(value) <= {"key", "session", "n", "prev", "skipped", "jws"})
    number = lambda one: isinstance(one, int) and not isinstance(one, bool) and 1 <= one < 2**53
    need(re.fullmatch(r"[A-Za-z0-9_-]{16,64}", value["session"]))
    n = value["n"]
    need(number(n) and ("prev" in value) == (n > 1))
    need(n == 1 or len(decode(value["prev"])) == 32)
    if "skipped" in value:
        skipped = value["skipped"]
        need(isinstance(skipped, list) and 1 <= len(skipped) <= 64 and all(map(number, skipped)))
        need(skipped == sorted(set(skipped)) and skipped[-1] < n)
    return value


def check(topic, fields, signature):
    envelope = {name: json.loads(text) for name, text in fields.items()}
    statement = {name: envelope[name] for name in ("protocol", "id", "ts", "from", "kind")}
    refers_to = envelope.get("correlation_id", envelope.get("correlationId"))
    if refers_to is not None:
        statement["correlation_id"] = refers_to
    statement.update({name: value for name, value in signature.items() if name != "jws"})
    statement.update(topic=topic, to=envelope.get("to", []), payload=digest(fields["payload"]))
    header, nothing, mark = signature["jws"].split(".")
    need(nothing == "" and json.loads(decode(header)) == HEADER)
    key = decode(signature["key"])
    need(len(key) == 32 and not has_small_order(key))
    signed = f"{header}.{encode(canonical(statement).encode())}"
    Ed25519PublicKey.from_public_bytes(key).verify(decode(mark), signed.encode())


def is_rendered_chat(envelope):
    pair = (envelope["derived"], envelope["protocol"])
    if pair == ("mcp-x/v0", "mcpx/v0.1"):
        return envelope["kind"] == "chat"
    return pair == ("mcpx/v0.1", "mcp-x/v0") and envelope["payload"].get("method") == CHAT


def judge(topic, text, keys):
    try:
        fields = top_fields(text)
        pinned = [jwk["x"] for jwk in keys.get(json.loads(fields["from"]), [])]
        if "signature" not in fields:
            return "stripped" if pinned else "unsigned"
        if "derived" in fields:
            need(is_rendered_chat(json.loads(text)))
            return "derived"
        signature = read_signature(fields["signature"])
        check(topic, fields, signature)
    except (Invalid, InvalidSignature, KeyError, IndexError, TypeError, ValueError):
        return "invalid"
    if not pinned:
        return "unpinned"
    return "valid" if signature["key"] in pinned else "key_changed"


task = json.load(sys.stdin)
print(json.dumps([judge(case["topic"], case["text"], task["keys"]) for case in task["cases"]]))
