// Requests and handshakes no honest client makes. A case is the bytes of a request, or the parts that make it hostile.
import { afterAll, describe, expect, test } from "vitest";
import { enterWith } from "../support/enter.ts";
import { canary, Oracle } from "./oracle.ts";
import { type RawAnswer, RawSocket } from "./raw-socket.ts";

const oracle = await Oracle.start({ limits: { handshakeMs: 1_000 } });
afterAll(() => oracle.stop());

const { host, port } = new URL(oracle.server.url);
const token = await oracle.token({ sub: "insider", topics: ["**"], level: "full" });
const bearer = `Bearer ${token}`;

interface Request {
  method?: string;
  target?: string;
  version?: string;
  /** Lines of headers; `Host` and `Authorization` are added unless they stand here. */
  headers?: string[];
  body?: string;
  /** Neither token nor anything else. */
  isAnonymous?: boolean;
}

function bytesOf({ method = "GET", target = "/v0/topics", version = "HTTP/1.1", ...rest }: Request): string {
  const { headers = [], body = "", isAnonymous = false } = rest;
  const has = (name: string) => headers.some((line) => line.toLowerCase().startsWith(`${name}:`));
  const lines = [
    ...(has("host") ? [] : [`Host: ${host}`]),
    ...(has("authorization") || isAnonymous ? [] : [`Authorization: ${bearer}`]),
    `X-Note: ${canary}`,
    ...headers,
  ];
  return `${method} ${target} ${version}\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

async function ask(bytes: string | Buffer): Promise<RawAnswer & { rest: string }> {
  const raw = await RawSocket.connect(oracle.server.url);
  raw.write(bytes);
  const answer = await raw.answer(bytes.toString().startsWith("HEAD "));
  // Where the server ends it, whatever else it had to say has come by then.
  if (answer.head.includes("connection: close")) await raw.ended();
  const { rest } = raw;
  raw.destroy();
  return { ...answer, rest };
}

interface HttpCase {
  title: string;
  request: Request | string | Buffer;
  /** Status and, where it has one, reason. */
  answer: string;
  /** The reason on record, for a denial that is one. */
  denied?: string;
}

async function attack({ request, answer, denied }: HttpCase): Promise<void> {
  const isWritten = typeof request === "string" || Buffer.isBuffer(request);
  const { status, body, rest } = await ask(isWritten ? request : bytesOf(request));
  const reason = body?.error?.reason;
  expect(`${status}${reason === undefined ? "" : ` ${reason}`}`).toBe(answer);
  expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts:|at [A-Z]\w+\./);
  // One answer to one request: what was smuggled behind it is not answered.
  expect(rest).toBe("");
  await oracle.check({ denials: denied === undefined ? [] : [denied] });
}

const json = "Content-Type: application/json";
const ticket = (body: string, ...headers: string[]): Request => ({
  method: "POST",
  target: "/v0/tickets",
  headers: [json, `Content-Length: ${Buffer.byteLength(body)}`, ...headers],
  body,
});
const smuggled = `0\r\n\r\nGET /admin/audit HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const post = (...headers: string[]): Request => ({
  method: "POST",
  target: "/v0/tickets",
  headers: [json, ...headers],
  body: smuggled,
});

const unreadable: HttpCase[] = [
  { title: "two lengths that differ", request: post("Content-Length: 5", "Content-Length: 6"), answer: "400 bad_request" },
  { title: "a length and chunks", request: post("Content-Length: 5", "Transfer-Encoding: chunked"), answer: "400 bad_request" },
  { title: "chunks and a length", request: post("Transfer-Encoding: chunked", "Content-Length: 5"), answer: "400 bad_request" },
  { title: "an encoding nobody has", request: post("Transfer-Encoding: xchunked"), answer: "400 bad_request" },
  { title: "chunked that is not last", request: post("Transfer-Encoding: chunked, identity"), answer: "400 bad_request" },
  { title: "chunked twice", request: post("Transfer-Encoding: chunked, chunked"), answer: "400 bad_request" },
  { title: "two encodings", request: post("Transfer-Encoding: chunked", "Transfer-Encoding: identity"), answer: "400 bad_request" },
  { title: "chunked behind a vertical tab", request: post("Transfer-Encoding: \u000bchunked"), answer: "400 bad_request" },
  { title: "a length in base 16", request: post("Content-Length: 0x5"), answer: "400 bad_request" },
  { title: "a list of lengths", request: post("Content-Length: 5, 5"), answer: "400 bad_request" },
  { title: "a length past 2^64", request: post("Content-Length: 18446744073709551621"), answer: "400 bad_request" },
  { title: "a chunk whose size has a sign", request: { ...post("Transfer-Encoding: chunked"), body: `+${smuggled}` }, answer: "400 bad_request" },
  { title: "a chunk whose size is past 2^64", request: { ...post("Transfer-Encoding: chunked"), body: `10000000000000000\r\n${smuggled}` }, answer: "400 bad_request" },
  { title: "a chunk longer than its size", request: { ...post("Transfer-Encoding: chunked"), body: `1\r\n{}\r\n${smuggled}` }, answer: "400 bad_request" },
  { title: "chunks that end their lines with a bare line feed", request: { ...post("Transfer-Encoding: chunked"), body: `2\n{}\n${smuggled.replaceAll("\r\n", "\n")}` }, answer: "400 bad_request" },
  { title: "a chunk extension with a line feed", request: { ...post("Transfer-Encoding: chunked"), body: `2;x=\n{}\r\n${smuggled}` }, answer: "400 bad_request" },
  { title: "a space before the colon", request: post("Content-Length : 5"), answer: "400 bad_request" },
  { title: "a negative length", request: post("Content-Length: -5"), answer: "400 bad_request" },
  { title: "a length with a plus", request: post("Content-Length: +5"), answer: "400 bad_request" },
  { title: "a folded header", request: { headers: ["X-A: b", " Authorization: x"] }, answer: "400 bad_request" },
  { title: "a NUL in a header", request: { headers: ["X-A: a\u0000b"] }, answer: "400 bad_request" },
  { title: "a bare line feed", request: bytesOf({}).replaceAll("\r\n", "\n"), answer: "400 bad_request" },
  { title: "a bare carriage return", request: { headers: ["X-A: a\rX-B: b"] }, answer: "400 bad_request" },
  { title: "HTTP/2 by prior knowledge", request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", answer: "400 bad_request" },
  { title: "TLS at a plain port", request: "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc", answer: "400 bad_request" },
  { title: "HTTP/0.9", request: "GET /v0/topics\r\n\r\n", answer: "400 bad_request" },
  { title: "HTTP/9.9", request: { version: "HTTP/9.9" }, answer: "400 bad_request" },
  { title: "a method of its own", request: { method: "HACK" }, answer: "400 bad_request" },
  { title: "a space in the address", request: { target: "/v0/ topics" }, answer: "400 bad_request" },
  { title: "a header of 17 000 bytes", request: { headers: [`X-Big: ${"x".repeat(17_000)}`] }, answer: "431 bad_request" },
  { title: "a thousand headers", request: { headers: Array.from({ length: 2_000 }, (_, i) => `X-${i}: ${i}`) }, answer: "431 bad_request" },
  { title: "an address of 17 000 bytes", request: { target: `/${"x".repeat(17_000)}` }, answer: "431 bad_request" },
  { title: "a bad second request in the same packet", request: `${bytesOf({ target: "/healthz" })}NOT HTTP\r\n\r\n`, answer: "400 bad_request" },
]; // biome-ignore format: a table

test.for(unreadable)(
  "[X0-9-2] what is not plain HTTP is refused, and nothing smuggled is answered: $title",
  (one) => attack(one),
);

const strangers: HttpCase[] = [
  ...["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example",
    "evil.example@127.0.0.1", "0.0.0.0", "[::]", "2130706433", "0x7f000001", "127.1", "localhost:", "localhost:99999999",
    "localhost/", "localhost, evil.example", "loc\u0430lhost", "xn--locahost-0za", "", " "]
    .map((name) => ({ title: `Host: ${name}`, request: { headers: [`Host: ${name}`] }, answer: "421 foreign_host" })),
  { title: "no Host", request: `GET /v0/topics HTTP/1.1\r\nAuthorization: ${bearer}\r\n\r\n`, answer: "400 bad_request" },
  { title: "no Host in HTTP/1.0", request: `GET /v0/topics HTTP/1.0\r\nAuthorization: ${bearer}\r\n\r\n`, answer: "400 bad_request" },
  { title: "two Hosts", request: { headers: [`Host: ${host}`, "Host: evil.example"] }, answer: "400 bad_request" },
  { title: "two Hosts, the same", request: { headers: [`Host: ${host}`, `Host: ${host}`] }, answer: "400 bad_request" },
  { title: "a foreign absolute address", request: { target: "http://evil.example/v0/topics" }, answer: "400 bad_request" },
  { title: "X-Forwarded-Host", request: { headers: ["Host: evil.example", `X-Forwarded-Host: ${host}`] }, answer: "421 foreign_host" },
  ...["https://evil.example", "null", `https://${host}`, "http://localhost", `http://localhost:${port}`, `http://${host}.evil.example`,
    `http://${host}/`, `HTTP://${host}`, `http://${host}, https://evil.example`, "file://", "", "*", "chrome-extension://x"]
    .map((origin) => ({ title: `Origin: ${origin}`, request: { headers: [`Origin: ${origin}`] }, answer: "403 foreign_origin" })),
  { title: "two Origins", request: { headers: [`Origin: http://${host}`, "Origin: https://evil.example"] }, answer: "403 foreign_origin" },
  { title: "a preflight from elsewhere", request: { method: "OPTIONS", headers: ["Origin: https://evil.example", "Access-Control-Request-Method: POST"] }, answer: "403 foreign_origin" },
]; // biome-ignore format: a table

test.for(strangers)("[X0-9-2] a stranger's page or name is turned away, whatever its token: $title", async (one) => {
  await attack(one);
  if (typeof one.request === "string" || Buffer.isBuffer(one.request)) return;
  // The same at the WebSocket's endpoint.
  const headers = one.request.headers ?? [];
  const handshake = bytesOf({ ...one.request, method: "GET", target: one.request.target ?? `/v0/ws?topic=${oracle.topic}`, headers: [...headers, ...upgrade] });
  const { status, body } = await ask(handshake);
  expect(`${status} ${body.error.reason}`).toBe(one.answer);
  await oracle.check({});
}); // biome-ignore format: one call

const upgrade = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Version: 13",
];

test.for([`http://${host}`, undefined])("control: from %s it is let in", async (origin) => {
  const headers = [...upgrade, ...(origin === undefined ? [] : [`Origin: ${origin}`])];
  const answer = await ask(bytesOf({ target: `/v0/ws?topic=${oracle.topic}`, headers }));
  expect(answer.status).toBe(101);
  await oracle.check({});
});

const parameters = [
  "token",
  "access_token",
  "TOKEN",
  "Access_Token",
  "jwt",
  "id_token",
  "authorization",
  "%74oken",
  "bearer",
];
test.for(parameters)("[X0-5.1-1] a token in the address is refused, also beside a good header: %s", async (name) => {
  for (const target of ["/v0/topics?x=1&", `/v0/ws?topic=${oracle.topic}&`]) {
    const headers = target.includes("/ws") ? upgrade : [];
    const { status, body } = await ask(bytesOf({ target: `${target}${name}=${token}`, headers }));
    expect(`${status} ${body.error.reason}`).toBe("400 bad_request");
    expect(JSON.stringify(body)).not.toContain(token);
  }
  await oracle.check({});
}); // biome-ignore format: one call

const topics: [title: string, query: string][] = [
  ["none", ""],
  ["an empty one", "topic="],
  ["a space", "topic=a%20b"],
  ["a plus that means a space", "topic=a+b"],
  ["a NUL", "topic=a%00b"],
  ["a line end", "topic=a%0d%0aSet-Cookie:%20x"],
  ["an encoded percent sign", "topic=a%252fb"],
  ["a broken escape", "topic=a%zz"],
  ["bad UTF-8", "topic=%ff%fe"],
  ["a bidirectional override", "topic=a%E2%80%AEb"],
  ["129 characters", `topic=${"x".repeat(129)}`],
  ["8 000 characters", `topic=${"x".repeat(8_000)}`],
  ["a glob", "topic=**"],
  ["an array", "topic[]=room:target"],
  ["an array by number", "topic[0]=room:target"],
  ["two topics", "topic=room:target&topic=room:other"],
  ["the same topic twice", "topic=room:target&topic=room:target"],
  ["a semicolon", "topic=room:target;topic=room:other"],
  ["another spelling", "Topic=room:target"],
];

test.for(topics)("[X0-3-1] a topic that is no name is a 400 on record: %s", async ([, query]) => {
  const { status, body } = await ask(bytesOf({ target: `/v0/ws?${query}`, headers: upgrade }));
  expect(`${status} ${body.error.reason}`).toBe("400 bad_request");
  await oracle.check({ denials: ["bad_request"] });
});

test("[X0-3-1] an encoded slash belongs to the topic's name, and is decoded once", async () => {
  const client = await enterWith(oracle.server, token, { topic: "a/b" });
  const names = (await oracle.server.call("GET", "/v0/topics/a%2Fb/participants", token)).body.participants;
  expect(names).toMatchObject([{ id: "insider" }]);
  expect((await oracle.server.call("GET", "/v0/topics/a%252Fb/participants", token)).status).toBe(400);
  await client.leave();
  await oracle.check({});
});

const paths: HttpCase[] = [
  ["/v0/topics/../../etc/passwd", "404 not_found"],
  ["/../../../etc/passwd", "404 not_found"],
  ["/v0/topics/..%2f..%2fadmin%2faudit/history", "404 not_found"],
  ["/v0/topics/%2e%2e/history", "404 not_found"],
  ["/v0/topics/a%2Fhistory", "404 not_found"],
  ["/v0/./topics", "404 not_found"],
  ["//v0/topics", "404 not_found"],
  ["/v0/topics/", "404 not_found"],
  ["/v0/topics//history", "404 not_found"],
  ["/V0/TOPICS", "404 not_found"],
  ["/%76%30/topics", "404 not_found"],
  ["/v0\\topics", "404 not_found"],
  ["/v0/topics;x=1", "404 not_found"],
  ["/v0/topics%00", "404 not_found"],
  ["/v0/topics/a%00b/history", "400 bad_request"],
  ["/v0/topics/%zz/history", "400 bad_request"],
  ["/v0/topics/%ff/history", "400 bad_request"],
  ["/v0/topics/%252e%252e/history", "400 bad_request"],
  ["/v0/topics/room:target/history?limit=0", "400 bad_request"],
  ["/v0/topics/room:target/history?limit=-1", "400 bad_request"],
  ["/v0/topics/room:target/history?limit=1e3", "400 bad_request"],
  ["/v0/topics/room:target/history?limit=99999999999999999999", "400 bad_request"],
  ["/v0/topics/room:target/history?before=%00", "400 bad_request"],
  ["/v0/topics/room:target/history?before=nobody", "404 not_found"],
  ["/v0/topics/room:target/history?before_seq=0x10", "400 bad_request"],
  ["/v0/ws", "400 bad_request"],
  ["/v0/ws/", "404 not_found"],
  ["/admin", "404 not_found"],
  ["/.git/config", "404 not_found"],
  ["*", "400 bad_request"],
].map(([target = "", answer = ""]) => ({ title: `${target}: ${answer}`, request: { target }, answer }));

test.for(paths)("[X0-5.1-3] addresses are compared as they are: $title", (one) => attack(one));

const denied: HttpCase[] = [
  { title: "no token", request: { isAnonymous: true }, answer: "401 unauthorised", denied: "unauthorised" },
  { title: "forged X-User", request: { isAnonymous: true, headers: ["X-User: admin", "X-Remote-User: admin", "X-Forwarded-User: admin"] }, answer: "401 unauthorised", denied: "unauthorised" },
  { title: "a cookie", request: { isAnonymous: true, headers: [`Cookie: token=${token}`] }, answer: "401 unauthorised", denied: "unauthorised" },
  { title: "a token in Proxy-Authorization", request: { isAnonymous: true, headers: [`Proxy-Authorization: ${bearer}`] }, answer: "401 unauthorised", denied: "unauthorised" },
  { title: "/admin/audit as nobody", request: { target: "/admin/audit", isAnonymous: true }, answer: "401 unauthorised", denied: "unauthorised" },
  { title: "/admin/audit as no admin", request: { target: "/admin/audit" }, answer: "403 admin_only", denied: "admin_only" },
  { title: "/admin/tokens as no admin", request: { target: "/admin/tokens" }, answer: "403 admin_only", denied: "admin_only" },
  { title: "/admin/audit by HEAD", request: { method: "HEAD", target: "/admin/audit" }, answer: "403", denied: "admin_only" },
  { title: "revoking as no admin", request: { method: "DELETE", target: "/admin/tokens/x" }, answer: "403 admin_only", denied: "admin_only" },
  { title: "a rewritten address", request: { target: "/admin/audit", headers: ["X-Original-URL: /healthz", "X-Rewrite-URL: /healthz"] }, answer: "403 admin_only", denied: "admin_only" },
  { title: "a method in a header", request: { target: "/admin/tokens", headers: ["X-HTTP-Method-Override: DELETE"] }, answer: "403 admin_only", denied: "admin_only" },
  ...["X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 8.8.8.8", "Forwarded: for=127.0.0.1", "X-Real-IP: 127.0.0.1", "Via: 1.1 proxy", "x-forwarded-proto: http"]
    .map((header) => ({ title: `/metrics with ${header}`, request: { target: "/metrics", isAnonymous: true, headers: [header] }, answer: "401 unauthorised", denied: "unauthorised" })),
]; // biome-ignore format: a table

test.for(denied)("[X0-5.1-3] who is not allowed is denied, on record: $title", (one) => attack(one));

const methods: HttpCase[] = [
  ...["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE", "QUERY"].map((method) => ({
    title: `${method} where only GET is`,
    request: { method },
    answer: "405 method_not_allowed",
  })),
  { title: "GET where only POST is", request: { target: "/v0/tickets" }, answer: "405 method_not_allowed" },
  { title: "GET of a promotion", request: { target: "/admin/participants/x/promote" }, answer: "405 method_not_allowed" },
  { title: "Expect of something else", request: { headers: ["Expect: 200-maybe"] }, answer: "417" },
]; // biome-ignore format: a table

test.for(methods)("[X0-9-2] other methods change nothing: $title", (one) => attack(one));

test("CONNECT makes no tunnel", async () => {
  const raw = await RawSocket.connect(oracle.server.url);
  raw.write(bytesOf({ method: "CONNECT", target: "127.0.0.1:22" }));
  await raw.ended();
  expect(raw.rest).toBe("");
  raw.destroy();
  await oracle.check({});
});

const bodies: HttpCase[] = [
  { title: "no body", request: ticket(""), answer: "400 bad_json" },
  { title: "no JSON", request: ticket(`topic=${canary}`), answer: "400 bad_json" },
  { title: "half of it", request: ticket('{"topic":"a"'), answer: "400 bad_json" },
  { title: "an array", request: ticket('["room:target"]'), answer: "400 bad_request" },
  { title: "null", request: ticket("null"), answer: "400 bad_request" },
  { title: "a topic that is a number", request: ticket('{"topic":1}'), answer: "400 bad_request" },
  { title: "a topic that is an object", request: ticket('{"topic":{"toString":"room:target"}}'), answer: "400 bad_request" },
  { title: "a topic in a prototype", request: ticket('{"__proto__":{"topic":"room:target"}}'), answer: "400 bad_request" },
  { title: "a topic that is no name", request: ticket('{"topic":"a b"}'), answer: "400 bad_request" },
  { title: "bad UTF-8", request: Buffer.concat([Buffer.from(bytesOf({ ...ticket("xx"), body: "" })), Buffer.from([0xff, 0xfe])]), answer: "400 bad_utf8" },
  { title: "4 000 levels", request: ticket("[".repeat(4_000)), answer: "400 too_deep" },
  { title: "4 000 levels, closed", request: ticket(`{"topic":${"[".repeat(2_000)}${"]".repeat(2_000)}}`), answer: "400 too_deep" },
  { title: "a value for every other byte", request: ticket(`{"topic":"room:target","x":[${"{},".repeat(1_000)}{}]}`), answer: "413 too_many_values" },
  { title: "a form", request: { ...ticket('{"topic":"room:target"}'), headers: ["Content-Type: text/plain", "Content-Length: 23"] }, answer: "400 bad_request" },
  { title: "a body of 4 097 bytes", request: ticket(`"${"x".repeat(4_095)}"`), answer: "413 too_large" },
  { title: "a body that announces 1 GiB", request: { ...ticket(""), headers: [json, "Content-Length: 1073741824"] }, answer: "413 too_large" },
  { title: "a body in chunks, too large", request: { ...ticket(""), headers: [json, "Transfer-Encoding: chunked"], body: `${`4000\r\n${"x".repeat(0x4000)}\r\n`.repeat(5)}0\r\n\r\n` }, answer: "413 too_large" },
  { title: "a chunk that announces 1 GiB", request: { ...ticket(""), headers: [json, "Transfer-Encoding: chunked"], body: `40000000\r\n${"x".repeat(70_000)}` }, answer: "413 too_large" },
  { title: "a body where none belongs", request: { target: "/healthz", headers: ["Content-Length: 5"], body: "hello" }, answer: "200" },
]; // biome-ignore format: a table

test.for(bodies)("[X0-5.1-1] a bad body gets no ticket: $title", (one) => attack(one));

const handshakes: [title: string, changes: Record<string, string | undefined>, body?: string][] = [
  ["no key", { "Sec-WebSocket-Key": undefined }],
  ["an empty key", { "Sec-WebSocket-Key": "" }],
  ["a short key", { "Sec-WebSocket-Key": "YWJj" }],
  ["a long key", { "Sec-WebSocket-Key": "A".repeat(8_000) }],
  ["a key that is not base64", { "Sec-WebSocket-Key": `${"!".repeat(22)}==` }],
  ["a key that would split the answer", { "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==, x" }],
  ["HTTP/1.0", { version: "HTTP/1.0" }],
  ["a body", { "Content-Length": "5" }, "hello"],
  ["a body in chunks", { "Transfer-Encoding": "chunked" }, "5\r\nhello\r\n0\r\n\r\n"],
  [
    "a request hidden in the body",
    { "Content-Length": "60" },
    `GET /admin/audit HTTP/1.1\r\nHost: ${host}\r\n\r\n`.padEnd(60),
  ],
];

test.for(handshakes)("[X0-5.2-1] a handshake with %s is a 400", async ([, changes, body = ""]) => {
  const { status, body: answer, rest } = await ask(oracle.handshake(token, changes) + body);
  expect(`${status} ${answer.error.reason}`).toBe("400 bad_request");
  expect(rest).toBe("");
  await oracle.check({});
});

const versions: [title: string, version: string | undefined][] = [
  ["version 8", "8"],
  ["version 0", "0"],
  ["two versions", "13, 8"],
  ["no version", undefined],
];

test.for(versions)("[X0-5.2-1] a handshake with %s is a 426 that names version 13", async ([, version]) => {
  const changes = { "Sec-WebSocket-Version": version };
  for (const target of ["/v0/ws?topic=room:target", "/ax"]) {
    const { status, head, body } = await ask(oracle.handshake(token, { ...changes, target }));
    expect(`${target} ${status} ${body.error.reason}`).toBe(`${target} 426 websocket_version`);
    // RFC 6455 §4.2.2 and RFC 9110 §15.5.22.
    expect(head).toContain("sec-websocket-version: 13");
    expect(head).toContain("upgrade: websocket");
    expect(head).toContain("connection: upgrade, close");
  }
  await oracle.check({});
});

const wishes: [title: string, changes: Record<string, string | undefined>, answer: string][] = [
  ["another subprotocol", { "Sec-WebSocket-Protocol": "graphql-ws" }, "400 unsupported_protocol"],
  ["a thousand subprotocols", { "Sec-WebSocket-Protocol": "x,".repeat(1_000) }, "400 unsupported_protocol"],
  ["a subprotocol of Object's own", { "Sec-WebSocket-Protocol": "constructor" }, "400 unsupported_protocol"],
  ["another protocol", { target: "/v0/ws?topic=room:target&protocol=mcpx/v9" }, "400 unsupported_protocol"],
  ["somebody else's id", { target: "/v0/ws?topic=room:target&id=speaker" }, "400 bad_request"],
  ["the gateway's id", { target: "/v0/ws?topic=room:target&id=system:gateway" }, "400 bad_request"],
  ["a negative history", { target: "/v0/ws?topic=room:target&history=-1" }, "400 bad_request"],
  ["a resume of nonsense", { target: "/v0/ws?topic=room:target&resume=%00:1" }, "400 bad_request"],
  ["a resume far ahead of numbers", { target: "/v0/ws?topic=room:target&resume=x:9999999999999999" }, "400 bad_request"],
]; // biome-ignore format: a table

test.for(wishes)(
  "[X0-10-1] a handshake that wishes for %s is refused, on record",
  async ([, changes, expected]) => {
    const { status, body } = await ask(oracle.handshake(token, changes));
    expect(`${status} ${body.error.reason}`).toBe(expected);
    await oracle.check({ denials: [body.error.reason] });
  },
);

describe("[X0-9-2] slow ones", () => {
  test("that never finish their headers, their body or begin at all are ended; others are served", async () => {
    const slow = await Promise.all(
      [
        "GET /healthz HTTP/1.1\r\nHost: ",
        "",
        bytesOf({ ...ticket(""), headers: [json, "Content-Length: 50"] }),
      ].map(async (bytes) => {
        const raw = await RawSocket.connect(oracle.server.url);
        raw.write(bytes);
        return raw;
      }),
    );
    await oracle.check({});
    for (const raw of slow) {
      await raw.ended();
      expect(raw.rest === "" || raw.rest.includes("408")).toBe(true);
      raw.destroy();
    }
    await oracle.check({});
  });
});

test("strangers who try a hundred topics leave a count, not a hundred records", async () => {
  for (let i = 0; i < 100; i += 1) {
    const target = `/v0/ws?topic=room:${i}`;
    expect((await ask(oracle.handshake(undefined, { target }))).status).toBe(401);
  }
  const query = "/admin/audit?action=room.join&limit=100";
  const { body } = await oracle.server.call("GET", query, await oracle.server.adminToken());
  const counts: number[] = body.records.map(({ count }: { count: number }) => count);
  expect(Math.max(...counts)).toBeGreaterThan(10);
  await oracle.check({ denials: Array(100).fill("unauthorised") });
});

test("[X0-5.3-3] a page of the largest envelopes is bounded in bytes, and the next goes on", async () => {
  const client = await enterWith(oracle.server, token, { topic: "room:large" });
  const ids: string[] = [];
  for (let i = 0; i < 20; i += 1) ids.unshift((await client.ack(client.say("x".repeat(200_000)))).payload.id);
  const seen: string[] = [];
  let next: string | undefined = "/v0/topics/room:large/history?limit=1000";
  while (next !== undefined) {
    const { body } = await oracle.server.call("GET", next, token);
    expect(JSON.stringify(body).length).toBeLessThan(1_300_000);
    seen.push(...body.envelopes.map(({ id }: { id: string }) => id));
    next = body.next;
  }
  expect(seen).toEqual(ids);
  await client.leave();
  const late = await enterWith(oracle.server, token, { topic: "room:large", history: "1000" });
  expect(late.welcome.payload.history.envelopes.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2).reverse());
  await late.leave();
  await oracle.check({});
}); // biome-ignore format: one line reads best

test("control: the oracle sees a token in a log line, whole or by its signature", async () => {
  const { logged } = oracle.server;
  for (const leak of [bearer, `sig=${token.split(".")[2]}`]) {
    const at = logged.push(`{"msg":"${leak}"}`) - 1;
    await expect(oracle.check({})).rejects.toThrow("a secret was logged");
    logged.splice(at, 1);
  }
  await oracle.check({});
});
