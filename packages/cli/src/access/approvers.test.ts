import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApproverStore, anchorKeys, createFileApproverStore } from "@mcpx/aggregator";
import { createLogger, type PublicJwk } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { checkNew, judgeApprovers, watchApprovers } from "./approvers.ts";

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-approvers-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, "approvers");
}

const log = createLogger({ level: "silent" });
const newKey = () => generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as PublicJwk;
const newPasskeyKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
const anchorOf = (name: string, jwk = newKey()) => anchorKeys([{ kind: "key", name, jwk }]);
const namesIn = (keys: readonly { name: string }[]) => keys.map(({ name }) => name);

test("a key has one name, and no name looks like another, the configuration's included", async () => {
  const store = createFileApproverStore(newDirectory());
  const [ops] = anchorOf("ops");
  const jwk = newKey();
  await store.add({ name: "alice", jwk });
  await store.add({ name: "0ps", jwk: newKey() });
  expect(namesIn(judgeApprovers(store.known(), ops === undefined ? [] : [ops]).keys)).toEqual(["alice"]);
  const { keys } = judgeApprovers(store.known());
  const [twice] = anchorOf("zoe", jwk);
  const [alike] = anchorOf("ALlCE");
  if (twice === undefined || alike === undefined) throw new Error("no key");
  expect(() => checkNew(twice, keys)).toThrow("this key already belongs to alice");
  expect(() => checkNew(alike, keys)).toThrow("looks like alice");
});

test("[AX-11.3-2] of two files for one key, credential or name the older counts, whatever the alphabet says", () => {
  const passkey = {
    ...{ credentialId: "Y3JlZGVudGlhbA", counter: 0, rpId: "localhost", origin: "http://localhost:1" },
    ...{ transports: [], publicKey: newPasskeyKey() },
  };
  for (const later of [
    { name: "ann", passkey: { ...passkey, publicKey: newPasskeyKey() } },
    { name: "ann", passkey: { ...passkey, credentialId: "b3RoZXI" } },
    { name: "Pau1", passkey: { ...passkey, credentialId: "b3RoZXI", publicKey: newPasskeyKey() } },
  ]) {
    const directory = newDirectory();
    const store = createFileApproverStore(directory);
    mkdirSync(directory, { mode: 0o700 });
    const put = (approver: { name: string }) => {
      const file = join(directory, `${approver.name}.json`);
      writeFileSync(file, JSON.stringify(approver), { mode: 0o600 });
      return statSync(file).birthtimeMs;
    };
    const bornAt = put({ name: "paul", ...{ passkey } });
    // Clocks of file systems go in steps.
    while (put(later) <= bornAt) rmSync(join(directory, `${later.name}.json`));
    // What it has counted makes a file no younger.
    put({ name: "paul", ...{ passkey: { ...passkey, counter: 7 } } });
    const { keys, faults } = judgeApprovers(store.known());
    expect(namesIn(keys)).toEqual(["paul"]);
    expect(faults).toEqual([expect.stringContaining(`${later.name}.json: `)]);
    // The control: by itself the other is good.
    rmSync(join(directory, "paul.json"));
    expect(namesIn(judgeApprovers(store.known()).keys)).toEqual([later.name]);
  }
});

test("who comes and goes does so at once", async () => {
  const directory = newDirectory();
  const store = createFileApproverStore(directory);
  const { now, known } = watchApprovers({ store, known: anchorOf("ops"), log });
  expect(namesIn(await now())).toEqual(["ops"]);
  await store.add({ name: "alice", jwk: newKey() });
  expect(namesIn(await now())).toEqual(["ops", "alice"]);
  rmSync(join(directory, "alice.json"));
  expect(namesIn(known())).toEqual(["ops"]);
  expect(namesIn(await now())).toEqual(["ops"]);
});

test("where nobody can tell who is enrolled, nobody is told", async () => {
  const stored = createFileApproverStore(newDirectory());
  let isAway = false;
  const list = async () => (isAway ? Promise.reject(new Error("away")) : stored.list());
  const store: ApproverStore = { ...stored, list };
  const { now } = watchApprovers({ store, known: anchorOf("ops"), log });
  expect(namesIn(await now()), "control").toEqual(["ops"]);
  isAway = true;
  await expect(now()).rejects.toThrow("away");
  isAway = false;
  expect(namesIn(await now())).toEqual(["ops"]);
});
