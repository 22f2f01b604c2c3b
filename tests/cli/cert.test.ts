// Certificates made by the command and used by a gateway, and what proves a segment or a DNS name to the tree.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseConfig } from "@mcpx/cli";
import {
  createIdentity,
  createListener,
  createLogger,
  createSqliteIdentityStore,
  openState,
  systemClock,
} from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

const log = createLogger({ level: "silent" });
const dayMs = 86_400_000;

interface Made {
  cert: string;
  key: string;
  expires_at: string;
  config: { listen?: object; parents?: Record<string, string>[] };
}

async function make(dataDir: string, ...args: string[]): Promise<Made> {
  const { code, out, err } = await mcpx(["cert", ...args, "--json", "--data", dataDir]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out);
}

const read = (path: string) => readFileSync(path, "utf8");

async function get(options: RequestOptions): Promise<{ status: number; body: string }> {
  const asked = request({ agent: false, ...options });
  asked.end();
  const [response] = await once(asked, "response");
  return { status: response.statusCode, body: await text(response) };
}

test("[AX-10.4-1] an authority, a server and a client: keys are their owner's alone, ends are bounded", async () => {
  const dataDir = scratch();
  const ca = await make(dataDir, "ca", "--name", "Lab 7");
  const server = await make(dataDir, "server", "Tree.example.com", "localhost", "127.0.0.1", "::1");
  const client = await make(dataDir, "client", "edge01.example.com");
  expect(readdirSync(join(dataDir, "certs")).sort()).toEqual([
    "ca-key.pem",
    "ca.pem",
    "client-edge01.example.com-key.pem",
    "client-edge01.example.com.pem",
    "server-tree.example.com-key.pem",
    "server-tree.example.com.pem",
  ]);
  const authority = new X509Certificate(read(ca.cert));
  expect(authority.subject).toBe("CN=Lab 7");
  for (const { cert, key, expires_at } of [ca, server, client]) {
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const made = new X509Certificate(read(cert));
    expect(made.checkPrivateKey(createPrivateKey(read(key)))).toBe(true);
    expect(made.verify(authority.publicKey)).toBe(true);
    expect(made.validToDate.toISOString()).toBe(expires_at);
  }
  expect(new X509Certificate(read(server.cert)).subjectAltName).toBe(
    "DNS:tree.example.com, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
  );
  for (const { expires_at } of [server, client]) {
    const days = (Date.parse(expires_at) - Date.now()) / dayMs;
    expect(days).toBeGreaterThan(396);
    expect(days).toBeLessThanOrEqual(397);
  }
});

test("nothing is overwritten without --force, and then key and certificate are new and private", async () => {
  const dataDir = scratch();
  const ca = await make(dataDir, "ca");
  const before = [read(ca.cert), read(ca.key)];
  const again = await mcpx(["cert", "ca", "--data", dataDir]);
  expect(again).toMatchObject({
    code: 1,
    err: `mcpx: ${ca.key} is there already; replace it with --force`,
  });
  expect([read(ca.cert), read(ca.key)]).toEqual(before);
  await make(dataDir, "ca", "--force");
  expect(read(ca.cert)).not.toBe(before[0]);
  expect(read(ca.key)).not.toBe(before[1]);
  expect(statSync(ca.key).mode & 0o777).toBe(0o600);
});

test("without an authority, or with half of one, nothing is signed", async () => {
  const dir = join(scratch(), "certs");
  const client = () => mcpx(["cert", "client", "a.example", "--dir", dir]);
  expect((await client()).err).toBe(
    `mcpx: there is no authority: ${join(dir, "ca.pem")} is missing; make one with npx mcpx cert ca`,
  );
  await mcpx(["cert", "ca", "--dir", dir]);
  const other = join(scratch(), "other");
  await mcpx(["cert", "ca", "--dir", other]);
  writeFileSync(join(dir, "ca-key.pem"), read(join(other, "ca-key.pem")));
  const { code, err } = await client();
  expect(code).toBe(1);
  expect(err).toContain("the authority's certificate and key do not match");
  expect(readdirSync(dir).sort()).toEqual(["ca-key.pem", "ca.pem"]);
});

test("[AX-10.4-1] a gateway runs with what was made and printed, over TLS 1.3 alone", async () => {
  const dataDir = scratch();
  const ca = await make(dataDir, "ca");
  const { config } = await make(dataDir, "server", "tree.example.com", "localhost");
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify(config));
  const { url } = await up(dataDir);
  const asked = { host: "127.0.0.1", port: new URL(url).port, path: "/healthz", ca: read(ca.cert) };
  const headers = { host: "tree.example.com" };
  expect(url).toMatch(/^https:/);
  expect(await get({ ...asked, servername: "tree.example.com", headers })).toMatchObject({ status: 200 });
  await expect(get({ ...asked, servername: "other.example.com" })).rejects.toThrow("altnames");
  await expect(get({ ...asked, servername: "localhost", maxVersion: "TLSv1.2" })).rejects.toThrow(
    "alert protocol version",
  );
});

test("[AX-4.2-3] a client's certificate proves its name to a gateway that trusts the authority", async () => {
  const dataDir = scratch();
  const ca = await make(dataDir, "ca");
  const server = await make(dataDir, "server", "localhost");
  const { config } = await make(dataDir, "client", "edge01.example.com");
  const [parent] = config.parents ?? [];
  expect(parent).toMatchObject({ authority: "dns:edge01.example.com", segment: "edge01", ca: ca.cert });
  const listener = createListener({
    host: "127.0.0.1",
    port: 0,
    limits: defaultLimits,
    log,
    tls: { cert: read(server.cert), key: read(server.key), clientCa: read(ca.cert) },
  });
  const { port } = await listener.start([
    { method: "GET", path: "/", handle: (asked) => ({ body: asked.certificateNames() }) },
  ]);
  onTestFinished(() => listener.close({ graceMs: 0 }));
  const shown = { cert: read(parent?.cert ?? ""), key: read(parent?.key ?? ""), ca: read(parent?.ca ?? "") };
  expect((await get({ port, servername: "localhost", ...shown })).body).toBe('["edge01.example.com"]');
  expect((await get({ port, servername: "localhost", ca: shown.ca })).body).toBe("[]");
});

test("a clientCa that cannot be read, or is none, starts nothing", async () => {
  const dataDir = scratch();
  await make(dataDir, "ca");
  const server = await make(dataDir, "server", "localhost");
  const start = async (clientCa: string) => {
    const tls = { cert: server.cert, key: server.key, clientCa };
    writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ listen: { tls } }));
    return (await mcpx(["up", "--port", "0", "--data", dataDir])).err;
  };
  expect(await start("none.pem")).toBe(
    `mcpx: listen.tls.clientCa: ${join(dataDir, "none.pem")} cannot be read (ENOENT); give the path of a PEM file`,
  );
  expect(await start(server.key)).toBe(
    `mcpx: listen.tls.clientCa: ${server.key} has no certificate in it; give the ca.pem that npx mcpx cert ca has made`,
  );
});

test("[AX-10.2-2] what other issuers may grant in the tree is checked when it is read", () => {
  const parse = (more: object) => {
    const issuer = { issuer: "https://id.example", jwks: { keys: [] }, ...more };
    return parseConfig(JSON.stringify({ issuers: [issuer] }), "mcpx.json").issuers;
  };
  const good = { segments: ["lab-*", "edge"], scope: "write", authorities: ["*.example.com", "a.example"] };
  expect(parse(good)).toMatchObject([good]);
  const refused = (more: object, fault: string) => expect(() => parse(more)).toThrow(`issuers[0].${fault}`);
  refused({ segments: ["Lab"] }, 'segments[0]: expected a segment\'s name or glob, for example "lab-*"');
  refused({ scope: "root" }, 'scope: expected one of "read", "write", "admin"; found "root"');
  for (const name of ["**.example.com", "*", "a.*.example", "A.example", ""]) {
    refused({ authorities: [name] }, "authorities[0]: expected a DNS name in lower case");
  }
});

/** The identity of a data directory, as its gateway has it. */
async function identityOf(dataDir: string) {
  const db = openState(join(dataDir, "state.db"));
  const identity = await createIdentity({ store: createSqliteIdentityStore(db), clock: systemClock, log });
  onTestFinished(() => {
    identity.close();
    db.close();
  });
  return identity;
}

test("[AX-4.2-3] [AX-10.2-2] a token for a segment needs no room and no id; its scope is read unless given", async () => {
  const dataDir = scratch();
  const mint = async (...args: string[]) =>
    (await identityOf(dataDir)).tokens.verify((await mcpx(["token", ...args, "--data", dataDir])).out);
  expect(await mint("--segment", "edge", "--scope", "write")).toMatchObject({
    id: "edge",
    topics: [],
    tools: [],
    segment: "edge",
    scope: "write",
  });
  const { id, segment, scope } = await mint("--segment", "edge", "--id", "robot");
  expect({ id, segment, scope }).toEqual({ id: "robot", segment: "edge", scope: undefined });
});

test("[AX-4.2-5] a proof of authority is minted for one name and one tree, and is on the record", async () => {
  const dataDir = scratch();
  const audience = "0b9a4c52-6f0e-4c1e-9a8e-0c5f3f1d2e3a";
  const { out } = await mcpx([
    ...[
      "token",
      "--authority",
      "dns:Edge01.example.com",
      "--audience",
      audience,
      "--json",
      "--data",
      dataDir,
    ],
  ]);
  const { token, jti, expires_at } = JSON.parse(out);
  const identity = await identityOf(dataDir);
  const question = { name: "edge01.example.com", audience };
  expect(await identity.verifyAuthorityProof(token, question)).toEqual({
    jti,
    expiresAt: Date.parse(expires_at),
  });
  await expect(identity.verifyAuthorityProof(token, { ...question, name: "example.com" })).rejects.toThrow(
    "not proven",
  );
  await expect(identity.tokens.verify(token)).rejects.toThrow("of another type");
  const audit = await mcpx(["audit", "--action", "authority_proof.issue", "--data", dataDir]);
  expect(audit.out).toContain("→ edge01.example.com");
  expect(audit.out).not.toContain(token);
});
