// Links between trees over TLS: `mcpx up` twice, each with its `mcpx.json`, and certificates such as `mcpx cert` makes.
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { mcpx, type RunningCommand, scratch, start } from "../../cli/support/mcpx-process.ts";
import { ask, callTool, type Place, textOf } from "../support/ask.ts";
import { stdioBackend } from "../support/backends.ts";
import { startUp, type Up } from "../support/mcpx-up.ts";
import { type Files, makeCertificates } from "./support/certificates.ts";
import {
  dangerous,
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

const name = "edge01.example.com";
const dir = mkdtempSync(join(tmpdir(), "mcpx-certs-"));
const made = makeCertificates(dir);
const trusted = getCACertificates("default");
let parent: Up;
let place: Place;

beforeAll(async () => {
  // For what this test asks itself; the servers are processes of their own.
  setDefaultCACertificates([readFileSync(made.ca, "utf8")]);
  const config = {
    mcpServers: {},
    listen: { tls: { ...made.server, clientCa: made.ca } },
    subservers: {
      edge: { scope: "write" },
      proven: { scope: "write", authority: `dns:${name}` },
      kept: { scope: "write", authority: `dns:${name}` },
    },
    degraded: { grace: "60s" },
    log: { level: "error" },
  };
  parent = await startUp(config as never);
  place = { url: parent.url, token: await parent.token() };
});

afterAll(async () => {
  await parent.stop();
  setDefaultCACertificates(trusted);
  rmSync(dir, { recursive: true });
});

const url = () => parent.url.replace(/\/mcp$/, "");
const read = (path: string) => readFileSync(path, "utf8");
const capability = { mutable: true, reversible: false, idempotent: false, auth_scope: "write" };

async function named(prefix: string): Promise<string[]> {
  const { message } = await ask(place, "tools/list");
  return message.result.tools
    .map(({ name: one }: Message) => one)
    .filter((one: string) => one.startsWith(prefix));
}

/** A tree below, with one server whose tools change things. */
function below(above: object): RunningCommand {
  const home = scratch();
  const config = {
    // Gates are tested elsewhere: here nothing waits for a human.
    gates: { rules: [{ tools: "**", action: "allow" }] },
    mcpServers: { raw: { ...stdioBackend(), trusted: true, tools: { work: { capability } } } },
    parents: [{ url: url(), segment: "edge", ...above }],
  };
  writeFileSync(join(home, "mcpx.json"), JSON.stringify(config));
  return start(["up", "--port", "0", "--json", "--no-demo", "--data", home], { cwd: home });
}

const placeAbove = (state: string, reason = "") =>
  new RegExp(`"state":"${state}"${reason === "" ? "" : `.*${reason}`}.*registration at the parent changed`);

test("[AX-10.4-1] a tree registers over TLS with a token and an authority of our own", async () => {
  const token = await parent.token({ tools: [], segment: "edge", scope: "write" } as never);
  await below({ token, ca: made.ca }).line(placeAbove("registered"));
  await expect.poll(() => named("edge.raw.")).toContain("edge.raw.work");
  expect(textOf(await callTool(place, "edge.raw.work"))).toMatch(/^[0-9]+$/);
});

test("[AX-4.2-3] [AX-4.2-5] [AX-10.1-1] a client's certificate is as good as a token, also for what changes things", async () => {
  const { cert, key } = made.client(name);
  const child = below({ ca: made.ca, cert, key, authority: `dns:${name}`, segment: "proven" });
  await child.line(placeAbove("registered"));
  await expect.poll(() => named("proven.raw.")).toContain("proven.raw.work");
  expect(textOf(await callTool(place, "proven.raw.work"))).toMatch(/^[0-9]+$/);
});

test("[AX-10.4-1] control: without its authority the parent is a stranger", async () => {
  const token = await parent.token({ tools: [], segment: "edge", scope: "write" } as never);
  await below({ token }).line(placeAbove("waiting", "(unable to|self.signed)"));
  await below({ token, ca: made.otherCa }).line(placeAbove("waiting", "(unable to|self.signed)"));
});

interface Visitor {
  title: string;
  files?: () => Files;
  /** Of the registration. */
  more?: object;
  segment?: string;
  refused: string;
}

const visitors: Visitor[] = [
  { title: "for another name", files: () => made.client("other.example.com"), refused: "authority_unproven" },
  { title: "for a name below it", files: () => made.client(`a.${name}`), refused: "authority_unproven" },
  { title: "for a name above it", files: () => made.client("example.com"), refused: "authority_unproven" },
  { title: "that is not said to stand for anything", files: () => made.client(name), more: { authority: undefined }, refused: "authority_unproven" },
  { title: "for another name than the segment's", files: () => made.client("a.example"), more: { authority: "dns:a.example" }, segment: "kept", refused: "authority_unproven" },
  { title: "of another authority", files: () => made.client(name, { isOfOther: true }), refused: "401" },
  { title: "that has ended", files: () => made.client(name, { isExpired: true }), refused: "401" },
  { title: "made for servers", files: () => made.serverAs(name), refused: "401" },
  { title: "that is missing", refused: "401" },
]; // biome-ignore format: a table

async function visit({ files, more, segment = "visited" }: Omit<Visitor, "refused" | "title">) {
  const { cert, key } = files?.() ?? {};
  const own = cert !== undefined && key !== undefined && { cert: read(cert), key: read(key) };
  const registrant: RawRegistrant = await rawRegistrant(url(), undefined, {
    parentId: null,
    tools: [toolOf("t", dangerous)],
    tls: { ca: read(made.ca), ...own },
  });
  onTestFinished(() => registrant.cut());
  const registration = registrationOf(segment, { authority: `dns:${name}`, ...more });
  return { registrant, answer: await registrant.register(registration) };
}

test.for(visitors)("[AX-4.2-3] [AX-4.2-5] refused: a certificate $title", async ({ refused, ...visitor }) => {
  const outcome = await visit(visitor).then(
    ({ answer }) => answer.error.data.reason,
    ({ message }: Error) => message,
  );
  expect(outcome).toBe(refused);
  expect(await named("visited.")).toEqual([]);
});

test("[AX-4.2-2] [AX-4.2-3] control: the right one is taken, and its segment is kept for its name", async () => {
  const { registrant, answer } = await visit({ files: () => made.client(name), segment: "kept" });
  expect(answer.result.status).toBe("registered");
  await expect.poll(() => named("kept.")).toEqual(["kept.t"]);
  registrant.cut();
  const token = await parent.token({ tools: [], segment: "kept", scope: "write" } as never);
  const other = await rawRegistrant(url(), token, { parentId: null, tls: { ca: read(made.ca) } });
  onTestFinished(() => other.cut());
  const { error } = await other.register(registrationOf("kept"));
  expect(error.data.reason).toBe("authority_unproven");
});

test("[AX-10.4-1] a parent that has no TLS 1.3 is told nothing", async () => {
  const heard: string[] = [];
  const old = createServer({
    cert: read(made.server.cert),
    key: read(made.server.key),
    maxVersion: "TLSv1.2",
  });
  old.on("upgrade", ({ headers }, socket) => {
    heard.push(String(headers.authorization));
    socket.destroy();
  });
  old.listen(0, "127.0.0.1");
  await once(old, "listening");
  onTestFinished(() => void old.close());
  const { port } = old.address() as AddressInfo;
  const child = below({ url: `https://127.0.0.1:${port}`, token: "a-secret", ca: made.ca });
  await child.line(placeAbove("waiting", "protocol"));
  expect(heard).toEqual([]);
  // Control: others are heard there.
  await expect(
    rawRegistrant(`https://127.0.0.1:${port}`, "b", { tls: { ca: read(made.ca) } }),
  ).rejects.toThrow();
  expect(heard).toEqual(["Bearer b"]);
});

test.for([
  ["ws://192.0.2.1:6279", {}],
  ["http://tree.example.com", {}],
  ["wss://192.0.2.1:6279", { backups: ["http://192.0.2.2:6279"] }],
] as const)(
  "[AX-10.4-1] plain text over a network is refused at the start: %s %j",
  async ([address, more]) => {
    const child = below({ url: address, token: "x", ...more });
    expect(await child.ended).toEqual({ code: 1, signal: null });
    const plain = "backups" in more ? more.backups[0] : address;
    expect(child.err.join("\n")).toBe(
      `mcpx: ${plain} is plain text over a network; write wss:// or https://, or allow it with "insecure": true in parents[0]`,
    );
  },
);

test("[AX-10.4-1] plain text is possible where it was allowed, and on this machine", async () => {
  await below({ url: "http://192.0.2.1:9", token: "x", insecure: true }).line(/^\{"url"/);
  await below({ url: "ws://127.0.0.1:9", token: "x" }).line(placeAbove("waiting", "ECONNREFUSED"));
});

test.for([
  ["ca", { ca: "mcpx.json" }, "parents[0].ca: there is no certificate in it"],
  ["half a pair", { cert: made.server.cert }, "parents[0].cert and parents[0].key must be given together"],
  ["a key of another", { cert: made.server.cert, key: made.client("x.example").key }, "are not a certificate and its private key"],
  ["a file that is not there", { ca: "none.pem" }, "none.pem cannot be read (ENOENT)"],
] as const)("files that are none are refused at the start: %s", async ([, more, fault]) => {
  const child = below({ token: "x", ...more });
  expect(await child.ended).toEqual({ code: 1, signal: null });
  expect(child.err).toHaveLength(1);
  expect(child.err[0]).toContain(fault);
}); // biome-ignore format: a table

test("[AX-10.4-1] `mcpx register` comes with a certificate, and goes nowhere in plain text", async () => {
  const { cert, key } = made.client(name);
  const home = scratch();
  const words = ["--data", home, "--", process.execPath, ...stdioBackend().args];
  const tls = ["--ca", made.ca, "--cert", cert, "--cert-key", key, "--authority", name];
  const command = start(["register", url().replace("https", "wss"), "kept", ...tls, ...words]);
  await command.line(/^kept is part of the tree/);
  await expect.poll(() => named("kept.")).toContain("kept.work");
  command.kill("SIGINT");
  expect(await command.ended).toEqual({ code: 0, signal: null });
  expect(await named("kept.")).toEqual([]);
  const plain = await mcpx(["register", "ws://192.0.2.1", "kept", "--token", "x", ...words]);
  expect(plain).toEqual({
    code: 1,
    out: "",
    err: "mcpx: ws://192.0.2.1 is plain text over a network; write wss:// or https://, or allow it with --insecure",
  });
});
