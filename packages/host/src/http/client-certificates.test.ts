import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { type RequestOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import { connect, TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { der } from "../certificates/der.ts";
import {
  type CertificatePair,
  type CertificateWish,
  makeAuthority,
  makeCertificate,
} from "../certificates/make-certificate.ts";
import { commonName, endExtensions, signCertificate } from "../certificates/sign-certificate.ts";
import { certificateNamesOf, dnsNamesOf } from "./certificate-names.ts";
import { start } from "./listener-cases.ts";
import type { Route } from "./routes.ts";

const dayMs = 86_400_000;
const from = new Date(Date.now() - dayMs);
const until = new Date(Date.now() + 30 * dayMs);
const authority = makeAuthority({ name: "ours", from: new Date("2020-01-01T00:00:00Z"), until });
// The same name, another key.
const stranger = makeAuthority({ name: "ours", from, until });
const server = makeCertificate({ use: "server", names: ["localhost"], from, until }, authority);

const client = (wish: Partial<CertificateWish> = {}, by = authority) =>
  makeCertificate({ use: "client", names: ["edge01.example.com"], from, until, ...wish }, by);

/** Signed by the authority with names its own maker would not take. */
function forged(common: string, altNames: readonly string[]): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuerKey = createPrivateKey(authority.key);
  const names = altNames.map((name) => der(0x82, Buffer.from(name)));
  const extensions = endExtensions("client", names, { publicKey, issuerKey });
  const subject = commonName(common);
  const cert = signCertificate(
    { issuer: commonName("ours"), subject, publicKey, extensions, from, until },
    issuerKey,
  );
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

const routes: Route[] = [
  { method: "GET", path: "/names", handle: (asked) => ({ body: { names: asked.certificateNames() } }) },
];

const listen = (tls: object = {}) =>
  start({ routes, tls: { cert: server.cert, key: server.key, clientCa: authority.cert, ...tls } });

/** What the server says the names of whoever shows this are. */
async function namesShown(port: number, shown: RequestOptions = {}): Promise<unknown> {
  const asked = request({
    port,
    path: "/names",
    ca: authority.cert,
    servername: "localhost",
    agent: false,
    ...shown,
  });
  asked.end();
  const [response] = await once(asked, "response");
  return JSON.parse(await text(response)).names;
}

test("[AX-4.2-3] the names of a client certificate that our authority signed are known", async () => {
  const { port } = await listen();
  expect(await namesShown(port, client())).toEqual(["edge01.example.com"]);
  const many = client({ names: ["a.example", "10.0.0.1", "b.example"] });
  expect(await namesShown(port, many)).toEqual(["a.example", "b.example"]);
});

test("[AX-4.2-3] an upgrade knows them too", async () => {
  const { listener, port } = await listen();
  const known = new Promise((resolve) => {
    listener.onUpgrade("/ax", (asked, socket) => {
      resolve(asked.certificateNames());
      socket.destroy();
    });
  });
  const socket = connect({
    port,
    host: "127.0.0.1",
    ca: authority.cert,
    servername: "localhost",
    ...client(),
  });
  socket.on("error", () => {});
  socket.write(
    "GET /ax HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  expect(await known).toEqual(["edge01.example.com"]);
});

test("[AX-4.2-3] without a certificate one is served, and has no names", async () => {
  const { port } = await listen();
  expect(await namesShown(port)).toEqual([]);
});

test.each([
  ["of another authority", client({}, stranger)],
  ["that signed itself", stranger],
  [
    "that has ended",
    client({ from: new Date("2021-01-01T00:00:00Z"), until: new Date("2022-01-01T00:00:00Z") }),
  ],
  ["that does not count yet", client({ from: new Date(Date.now() + dayMs) })],
  ["of a server", client({ use: "server" })],
  ["with a wildcard", forged("edge01.example.com", ["*.example.com", "*"])],
  ["with the name in the common name only", forged("edge01.example.com", [])],
  ["with a dot at the end", forged("a", ["edge01.example.com."])],
  ["with a zero byte", forged("a", ["edge01.example.com\0.evil.example"])],
  ["with letters of another script", forged("a", ["edge01.ехаmple.com"])],
  ["with a list in one name", forged("a", ["x, DNS:edge01.example.com, DNS:y"])],
])("[AX-4.2-3] a certificate %s proves nothing", async (_what, shown) => {
  const { port } = await listen();
  expect(await namesShown(port, shown)).toEqual([]);
});

test("capitals are the same DNS name; control: the forge makes good certificates when told to", async () => {
  const { port } = await listen();
  expect(await namesShown(port, forged("x", ["Edge01.Example.COM"]))).toEqual(["edge01.example.com"]);
});

test("without clientCa nobody is asked, and nobody has names", async () => {
  const { port } = await listen({ clientCa: undefined });
  expect(await namesShown(port, client())).toEqual([]);
});

test("a clientCa without a certificate in it does not start", async () => {
  await expect(listen({ clientCa: "no certificate" })).rejects.toThrow();
});

test("[AX-10.4-1] TLS 1.2 is refused, and where it is allowed a certificate over it proves nothing", async () => {
  const strict = await listen();
  await expect(namesShown(strict.port, { ...client(), maxVersion: "TLSv1.2" })).rejects.toThrow(
    "alert protocol version",
  );
  expect(await namesShown(strict.port, { ...client(), maxVersion: "TLSv1.3" })).toEqual([
    "edge01.example.com",
  ]);
  const lax = await listen({ minVersion: "TLSv1.2" });
  expect(await namesShown(lax.port, { ...client(), maxVersion: "TLSv1.2" })).toEqual([]);
  expect(await namesShown(lax.port, client())).toEqual(["edge01.example.com"]);
});

/** Two connections, the second of which takes up the session of the first. */
async function namesWhenResumed(port: number, shown: object): Promise<unknown> {
  const options = { port, host: "127.0.0.1", ca: authority.cert, servername: "localhost", ...shown };
  const first = connect(options);
  const [session] = await once(first, "session");
  first.destroy();
  const second = connect({ ...options, session });
  await once(second, "secureConnect");
  expect(second.isSessionReused()).toBe(true);
  second.write("GET /names HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const answer = await text(second);
  return JSON.parse(answer.slice(answer.indexOf("{"))).names;
}

test("[AX-4.2-3] a resumed session has the names of the first, which may be none", async () => {
  const { port } = await listen();
  expect(await namesWhenResumed(port, client())).toEqual(["edge01.example.com"]);
  // Some releases of Node call such a socket authorised.
  expect(await namesWhenResumed(port, {})).toEqual([]);
  expect(await namesWhenResumed(port, client({}, stranger))).toEqual([]);
});

test("[AX-4.2-3] names end with their certificate, also on a connection that is older", async () => {
  const { listener, port } = await listen();
  const { promise, resolve } = Promise.withResolvers<TLSSocket>();
  listener.onUpgrade("/ax", ({ raw }) => resolve(raw.socket as TLSSocket));
  const socket = connect({
    port,
    host: "127.0.0.1",
    ca: authority.cert,
    servername: "localhost",
    ...client(),
  });
  socket.write(
    "GET /ax HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  const served = await promise;
  expect(served).toBeInstanceOf(TLSSocket);
  expect(certificateNamesOf(served, until.getTime() - 1_000)).toEqual(["edge01.example.com"]);
  expect(certificateNamesOf(served, until.getTime())).toEqual([]);
  expect(certificateNamesOf(served, from.getTime() - 1_000)).toEqual([]);
  socket.destroy();
});

test("names are read out of Node's text only where it cannot be misread", () => {
  expect(dnsNamesOf("DNS:a.example, IP Address:10.0.0.1, URI:https://b.example, DNS:c")).toEqual([
    "a.example",
    "c",
  ]);
  expect(dnsNamesOf('DNS:"a, DNS:evil.example, DNS:b"')).toEqual([]);
  expect(dnsNamesOf('othername:"x", DNS:a.example')).toEqual([]);
  expect(dnsNamesOf("")).toEqual([]);
});
