// Signed envelopes from the terminal: sign, verify a room, export it, verify the file without a gateway.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createKey } from "@mcpx/client/signing";
import { signEnvelope } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

/** Every command is a process: a test starts few, so that a busy machine does not make it late. */
const slow = { timeout: 60_000 };

function writeKey(path: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, JSON.stringify(privateKey.export({ format: "jwk" })), { mode: 0o600 });
  return publicKey.export({ format: "jwk" });
}

/** The texts of a room in which alice signed each of these, and a key book with her key. */
async function signedTexts(words: readonly string[]) {
  const key = await createKey();
  const texts: string[] = [];
  let prev: string | undefined;
  for (const [at, text] of words.entries()) {
    const head = { protocol: "mcpx/v0.1", id: `id-${at}`, ts: "2026-11-18T09:30:00.000Z", from: "alice" };
    const payloadText = JSON.stringify({ text });
    const fields = { ...head, topic: "demo", to: [], kind: "chat", payloadText };
    const link = { session: "session-of-alice", n: at + 1, ...(prev === undefined ? {} : { prev }) };
    const { signature, digest } = await signEnvelope(key, fields, link);
    prev = digest;
    texts.push(JSON.stringify({ ...head, kind: "chat", payload: { text }, seq: at + 1, signature }));
  }
  const book = join(scratch(), "book.json");
  writeFileSync(book, JSON.stringify({ alice: key.jwk }));
  return { texts, book };
}

test(
  "[X0-9-7] a room is verified by the keys one trusts, and its export without any gateway",
  slow,
  async () => {
    const dataDir = scratch();
    const data = ["--data", dataDir];
    const [, { out }] = await Promise.all([
      up(dataDir),
      mcpx(["key", "new", "--unsealed", "--json", ...data]),
    ]);
    const book = join(dataDir, "book.json");
    writeFileSync(book, JSON.stringify({ alice: JSON.parse(out).jwk }));
    // One program, so that all are of one session.
    const alice = start(["join", "demo", "--id", "alice", "--sign", ...data], { isTyped: true });
    for (const line of ["one", "two", "three"]) alice.type(line);
    alice.type();
    expect(await alice.ended).toEqual({ code: 0, signal: null });
    const told = await mcpx(["verify", "demo", "--keys", book, ...data]);
    expect(told).toEqual({ code: 0, out: "demo: 3 envelopes, 3 valid", err: "" });
    const file = join(dataDir, "demo.jsonl");
    const exported = await mcpx(["verify", "demo", "--export", file, ...data]);
    expect(exported).toEqual({ code: 0, out: `3 envelopes of demo in ${file}`, err: "" });
    const offline = await mcpx(["verify", "demo", file, "--keys", book, "--json", "--data", scratch()]);
    expect(offline.code).toBe(0);
    expect(JSON.parse(offline.out)).toEqual({
      room: "demo",
      counts: { valid: 3 },
      faults: [],
      findings: [],
      isSound: true,
    });
    // Never over another file.
    const again = await mcpx(["verify", "demo", "--export", file, ...data]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("(EEXIST)") });
  },
);

test(
  "[X0-9-7] what was altered, stripped, cut or moved from another room is named, with exit code 1",
  slow,
  async () => {
    const { texts, book } = await signedTexts(["one", "two", "three", "four", "five"]);
    const judged = async (lines: readonly string[], room = "demo") => {
      const file = join(scratch(), "demo.jsonl");
      writeFileSync(file, `${lines.join("\n")}\n`);
      return await mcpx(["verify", room, file, "--keys", book, "--data", scratch()]);
    };
    const [sound, faulty, moved] = await Promise.all([
      // An envelope with line ends of its own is a JSON string in the file.
      judged(texts.map((text, at) => (at === 0 ? JSON.stringify(text) : text))),
      judged([
        texts[0] ?? "",
        texts[1]?.replace('"two"', '"too"') ?? "",
        texts[2]?.replace(/,"signature":\{[^}]*\}/, "") ?? "",
        texts[4] ?? "",
      ]),
      judged(texts, "cellar"),
    ]);
    expect(sound).toEqual({ code: 0, out: "demo: 5 envelopes, 5 valid", err: "" });
    expect(faulty.code).toBe(1);
    expect(faulty.out.split("\n")).toEqual([
      "seq 2  alice  invalid: the signature is not of this envelope in this room",
      "seq 3  alice  stripped: not signed, although a key of alice is pinned",
      "alice  missing: numbers 2 to 4 of session session-of-a did not arrive",
      "demo: 4 envelopes, 2 valid, 1 invalid, 1 stripped",
    ]);
    expect(faulty.err).toBe("the history is not what its participants signed");
    expect(moved).toMatchObject({ code: 1, out: expect.stringMatching(/\ncellar: 5 envelopes, 5 invalid$/) });
  },
);

test("[X0-9-7] --pin trusts the first key from then on; another key later is named", slow, async () => {
  const dataDir = scratch();
  const data = ["--data", dataDir];
  const [own, other] = [join(dataDir, "own.jwk"), join(dataDir, "other.jwk")];
  writeKey(own);
  writeKey(other);
  await up(dataDir);
  const say = (id: string, ...more: string[]) => mcpx(["say", "demo", "hello", "--id", id, ...more, ...data]);
  expect(await say("alice", "--sign", "--key", own)).toMatchObject({ code: 0, out: "seq 1" });
  const first = await mcpx(["verify", "demo", "--pin", ...data]);
  expect(first).toEqual({
    code: 0,
    out: "demo: 1 envelope, 1 unpinned",
    err: "unpinned: the first signature of its sender; that key is pinned from now on",
  });
  await say("bob");
  await say("alice", "--sign", "--key", other);
  const changed = await mcpx(["verify", "demo", ...data]);
  expect({ ...changed, out: changed.out.split("\n") }).toEqual({
    code: 1,
    out: [
      "seq 3  alice  key_changed: signed by another key than the pinned key of alice",
      "demo: 3 envelopes, 1 valid, 1 unsigned, 1 key_changed",
    ],
    err: "the history is not what its participants signed",
  });
});

test("[X0-9-7] a gateway whose history has no end, or cannot be one, is not read on", slow, async () => {
  const { texts } = await signedTexts(["one"]);
  let asked = 0;
  let newest: unknown = 1;
  const liar = createServer((request, response) => {
    asked += 1;
    const isFirst = request.url?.includes("limit=1") && !request.url.includes("after_seq");
    const page = isFirst ? `{"envelopes":[${JSON.stringify({ seq: newest })}]}` : undefined;
    const endless = `{"envelopes":[${texts[0]}],"next":"/v0/topics/demo/history?limit=500&after_seq=0"}`;
    response.setHeader("content-type", "application/json").end(page ?? endless);
  });
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void liar.close());
  const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
  const verify = () =>
    mcpx(["verify", "demo", "--url", url, "--data", scratch()], { env: { MCPX_TOKEN: "token" } });
  expect(await verify()).toMatchObject({
    code: 1,
    err: expect.stringContaining("more than the 500 envelopes it was asked for"),
  });
  expect(asked).toBeGreaterThan(500);
  newest = "many";
  expect(await verify()).toMatchObject({ code: 1, err: expect.stringContaining("without a number") });
});

test("a key book, a file or a key that is not there is named", slow, async () => {
  const nowhere = ["--data", scratch()];
  const [noBook, noFile, noKey] = await Promise.all([
    mcpx(["verify", "demo", "x.jsonl", "--keys", "none.json", ...nowhere]),
    mcpx(["verify", "demo", "none.jsonl", ...nowhere]),
    mcpx(["say", "demo", "x", "--sign", "--key", "none.jwk", ...nowhere]),
  ]);
  expect(noBook).toMatchObject({
    code: 1,
    err: expect.stringContaining("none.json cannot be read (ENOENT)"),
  });
  expect(noFile).toMatchObject({
    code: 1,
    err: expect.stringContaining("none.jsonl cannot be read (ENOENT)"),
  });
  expect(noKey).toMatchObject({ code: 1, err: expect.stringContaining("none.jwk") });
});
