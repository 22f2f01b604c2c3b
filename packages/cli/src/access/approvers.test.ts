import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anchorKeys } from "@mcpx/aggregator";
import { createLogger, type PublicJwk } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { approversDir, checkNew, readApprovers, watchApprovers, writeApprover } from "./approvers.ts";

function newData(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-approvers-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const newKey = () => generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as PublicJwk;
const newPasskeyKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
const anchorOf = (name: string, jwk = newKey()) => anchorKeys([{ kind: "key", name, jwk }]);
const namesIn = (keys: readonly { name: string }[]) => keys.map(({ name }) => name);

test("who is enrolled is there, in a file only its owner may touch, and never written over", () => {
  const data = newData();
  const path = writeApprover(data, "alice", newKey());
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(approversDir(data)).mode & 0o777).toBe(0o700);
  expect(namesIn(readApprovers(data).keys)).toEqual(["alice"]);
  expect(() => writeApprover(data, "alice", newKey())).toThrow("left alone");
});

test("private keys, files others may write to, other names, links and nonsense do not count", () => {
  const data = newData();
  writeApprover(data, "alice", newKey());
  const put = (file: string, text: string) =>
    writeFileSync(join(approversDir(data), file), text, { mode: 0o600 });
  put("bob.json", JSON.stringify({ name: "bob", jwk: { ...newKey(), d: "x" } }));
  put("carol.json", JSON.stringify({ name: "dave", jwk: newKey() }));
  put("eve.json", "{");
  put("frank.json", JSON.stringify({ name: "frank", jwk: newKey() }));
  chmodSync(join(approversDir(data), "frank.json"), 0o666);
  put("notes.txt", "not one of them");
  symlinkSync(join(approversDir(data), "alice.json"), join(approversDir(data), "grace.json"));
  const { keys, faults } = readApprovers(data);
  expect(namesIn(keys)).toEqual(["alice"]);
  expect(faults).toEqual([
    expect.stringContaining("bob.json: a private key must not be here"),
    expect.stringContaining("carol.json: the name in the file is not the file's name"),
    expect.stringContaining("eve.json: cannot be read"),
    expect.stringContaining("frank.json: other users may write to the file"),
  ]);
});

test("a key has one name, and no name looks like another, the configuration's included", () => {
  const data = newData();
  const [ops] = anchorOf("ops");
  const jwk = newKey();
  writeApprover(data, "alice", jwk);
  writeApprover(data, "0ps", newKey());
  expect(namesIn(readApprovers(data, ops === undefined ? [] : [ops]).keys)).toEqual(["alice"]);
  const { keys } = readApprovers(data);
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
    const data = newData();
    mkdirSync(approversDir(data), { mode: 0o700 });
    const put = (approver: { name: string }) => {
      const file = join(approversDir(data), `${approver.name}.json`);
      writeFileSync(file, JSON.stringify(approver), { mode: 0o600 });
      return statSync(file).birthtimeMs;
    };
    const bornAt = put({ name: "paul", ...{ passkey } });
    // Clocks of file systems go in steps.
    while (put(later) <= bornAt) rmSync(join(approversDir(data), `${later.name}.json`));
    // What it has counted makes a file no younger.
    put({ name: "paul", ...{ passkey: { ...passkey, counter: 7 } } });
    const { keys, faults } = readApprovers(data);
    expect(namesIn(keys)).toEqual(["paul"]);
    expect(faults).toEqual([expect.stringContaining(`${later.name}.json: `)]);
    // The control: by itself the other is good.
    rmSync(join(approversDir(data), "paul.json"));
    expect(namesIn(readApprovers(data).keys)).toEqual([later.name]);
  }
});

test("who comes and goes does so at once", async () => {
  const data = newData();
  const known = anchorOf("ops");
  const { now } = watchApprovers({ dataDir: data, known, log: createLogger({ level: "silent" }) });
  expect(namesIn(await now())).toEqual(["ops"]);
  const path = writeApprover(data, "alice", newKey());
  expect(namesIn(await now())).toEqual(["ops", "alice"]);
  rmSync(path);
  expect(namesIn(await now())).toEqual(["ops"]);
});
