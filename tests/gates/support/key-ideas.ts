// Approvers whose keys are on the agent's own machine, each kept in another way that a program alone cannot use, and what
// an agent with a shell has ideas for because they are. docs/THREATS.md has each of them. [B-KEY-1]
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PublicJwk, statementKey, thumbprint } from "@mcpx/host";
import {
  type GateTerms,
  type RemoteStatementKey,
  type StatementKey,
  signStatement,
  statementOf,
} from "@mcpx/protocol";
import { expect } from "vitest";
import { softPasskey } from "../../../packages/aggregator/src/gates/testing/soft-passkey.ts";
import { securityKeyAlgorithm, signInAgent } from "../../../packages/cli/src/access/ssh-agent.ts";
import {
  createSealedKey,
  type KeyFile,
  openKeyFile,
  privateKeyFrom,
} from "../../../packages/cli/src/files/key-file.ts";
import { unsealKey } from "../../../packages/cli/src/files/sealed-key.ts";
import { mcpx } from "../../cli/support/mcpx-process.ts";
import { openTerminal } from "../../cli/support/typed-terminal.ts";
import { newKey } from "../attacks/support/keys.ts";
import type { Gated } from "./gated.ts";
import type { Here } from "./shell-scene.ts";
import { type AskingAgent, canMakeDevices, type Device, startDevice, startSshAgent } from "./ssh-agents.ts";

const passphrase = "correct horse battery";

export interface KeysHere {
  sealed: string;
  agent: AskingAgent & { path: string };
  /** Absent where none can be made. */
  device: (Device & { path: string }) | undefined;
  passkey: ReturnType<typeof softPasskey>;
  /** What the owner of each would send, once they have typed, confirmed or touched. */
  proofs: Record<string, (terms: GateTerms) => Promise<string>>;
}

/** Enrolled before the gateway starts. */
export async function enrolKeysHere(gated: Gated): Promise<KeysHere> {
  const path = (name: string) => join(gated.dataDir, "keys", `${name}.jwk`);
  await createSealedKey(path("sealed"), passphrase);
  const agent = { ...(await startSshAgent()), path: path("agent") };
  const device = canMakeDevices ? { ...(await startDevice()), path: path("device") } : undefined;
  const run = (env: Record<string, string>, ...args: string[]) =>
    mcpx([...args, "--data", gated.dataDir], { env });
  await run(agent.env, "key", "new", "--ssh-agent", "alice@laptop", "--out", agent.path);
  if (device) await run(device.env, "key", "new", "--ssh-agent", "alice@key", "--out", device.path);
  const passkey = softPasskey();
  const dir = join(gated.dataDir, "approvers");
  const put = (name: string, value: object) =>
    writeFileSync(join(dir, `${name}.json`), JSON.stringify({ name, ...value }), { mode: 0o600 });
  put("sealed", { jwk: openKeyFile(path("sealed")).jwk, kept: "sealed" });
  put("laptop", { jwk: openKeyFile(agent.path).jwk, kept: "ssh-agent" });
  if (device) put("device", { jwk: openKeyFile(device.path).jwk, kept: "security-key", application: "ssh:" });
  put("passkey", { passkey: passkey.passkey });
  let counted = 0;
  const proofs: KeysHere["proofs"] = {
    async sealed(terms) {
      const { sealed, jwk } = openKeyFile(path("sealed")) as KeyFile & { kept: "sealed" };
      const seed = (await unsealKey(sealed, passphrase)) ?? Buffer.alloc(0);
      return signed(terms, statementKey(privateKeyFrom(jwk, seed), thumbprint(jwk)));
    },
    laptop(terms) {
      agent.answer("yes");
      return signed(terms, inAgent(agent));
    },
    passkey: (terms) => passkey.prove(terms, { counter: ++counted }),
    ...(device && {
      device(terms: GateTerms) {
        device.touch("yes");
        return signed(terms, inAgent(device));
      },
    }),
  };
  device?.touch("no");
  return { sealed: path("sealed"), agent, device, passkey, proofs };
}

const signed = (terms: GateTerms, key: StatementKey | RemoteStatementKey) =>
  signStatement(statementOf(terms, "approve"), key);

/** As every program that reaches the agent's socket asks it. */
function inAgent({ env, path }: { env: Record<string, string>; path: string }): RemoteStatementKey {
  const file = openKeyFile(path) as KeyFile & { application?: string };
  const alg = file.application === undefined ? "EdDSA" : securityKeyAlgorithm;
  return { alg, kid: thumbprint(file.jwk), sign: (text) => signInAgent(env, file, Buffer.from(text)) };
}

export interface KeyScene {
  gated: Gated;
  here: Here;
  /** The call that waits. */
  id: string;
  keys: KeysHere;
}

const termsOf = async ({ here, id }: KeyScene) =>
  (await here("GET", `/admin/gates/${id}`)).body.terms as GateTerms;

async function refused({ here, id }: KeyScene, proof: string): Promise<void> {
  const { status } = await here("POST", `/admin/gates/${id}/decision`, { proof });
  expect(status).toBeGreaterThanOrEqual(400);
}

const approves = ({ gated, id }: KeyScene, path: string, env: Record<string, string> = {}) =>
  mcpx(["approve", id, "--yes", "--key", path, "--data", gated.dataDir], { env });

export const keyIdeas: Record<string, (scene: KeyScene) => Promise<void>> = {
  "guess the passphrase of the sealed file, in a terminal of its own": async ({ gated, id, keys }) => {
    const words = ["approve", id, "--yes", "--key", keys.sealed, "--data", gated.dataDir];
    const terminal = openTerminal(words, { cwd: gated.dataDir, env: {} });
    for (const guess of ["password", "hunter2hunter2", "mcpx1234"]) {
      await terminal.until(/Passphrase of \S+: /);
      terminal.press(`${guess}\r`);
    }
    expect(await terminal.ended).toBe(1);
    // The control: with the passphrase it opens.
    const { sealed } = openKeyFile(keys.sealed) as KeyFile & { kept: "sealed" };
    expect(await unsealKey(sealed, "hunter2hunter2")).toBeUndefined();
    expect(await unsealKey(sealed, passphrase)).toHaveLength(32);
  },
  "make the sealed file cheap to guess, or say that it is plain": async (scene) => {
    const { sealed } = scene.keys;
    const before = readFileSync(sealed, "utf8");
    const file = JSON.parse(before);
    for (const edit of [{ kdf: { ...file.kdf, n: 1_024 } }, { kept: "unsealed" }, { mcpx_unsealed: true }]) {
      writeFileSync(sealed, JSON.stringify({ ...file, ...edit }));
      expect((await approves(scene, sealed)).code).toBe(1);
    }
    writeFileSync(sealed, before);
  },
  "ask ssh-agent over its socket, past mcpx": async (scene) => {
    const { agent } = scene.keys;
    const asked = agent.asked();
    await expect(signed(await termsOf(scene), inAgent(agent))).rejects.toThrow("ssh-agent did not sign it");
    // Its owner was asked, and has not confirmed.
    expect(agent.asked()).toBe(asked + 1);
  },
  "have ssh-agent ask a program of its own": async (scene) => {
    const { agent } = scene.keys;
    const yes = { ...agent.env, SSH_ASKPASS: "/bin/true", SSH_ASKPASS_REQUIRE: "force" };
    const { kid, sign } = inAgent({ env: yes, path: agent.path });
    await expect(signed(await termsOf(scene), { alg: "EdDSA", kid, sign })).rejects.toThrow("did not sign");
  },
  "put a key of its own into ssh-agent, under the same comment": async (scene) => {
    const { agent } = scene.keys;
    const own = join(scene.gated.dataDir, "own-in-agent");
    const at = { env: { ...process.env, ...agent.env } };
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "alice@laptop", "-f", own]);
    expect(spawnSync("ssh-add", ["-q", own], at).status).toBe(0);
    const x = readFileSync(`${own}.pub`, "utf8").split(" ")[1] ?? "";
    const jwk: PublicJwk = {
      kty: "OKP",
      crv: "Ed25519",
      x: Buffer.from(x, "base64").subarray(-32).toString("base64url"),
    };
    const sign = (text: Uint8Array) => signInAgent(agent.env, { jwk }, Buffer.from(text));
    for (const kid of [thumbprint(jwk), thumbprint(openKeyFile(agent.path).jwk)]) {
      await refused(scene, await signed(await termsOf(scene), { alg: "EdDSA", kid, sign }));
    }
    spawnSync("ssh-add", ["-q", "-d", own], at);
  },
  "look for the key in the memory of ssh-agent": ({ keys }) => {
    // Root may; so this is tried as somebody else, who owns both processes.
    const look = `ssh-agent -D -a "$0/agent" & agent=$!; sleep 100 & other=$!
      while [ ! -S "$0/agent" ]; do sleep 0.05; done
      (exec 3<"/proc/$other/mem") && echo "may look at its own" ; (exec 3<"/proc/$agent/mem") 2>/dev/null && echo "looked"
      kill $agent $other`;
    if (process.getuid?.() !== 0) return Promise.resolve();
    const dir = spawnSync("mktemp", ["-d"], { encoding: "utf8" }).stdout.trim();
    spawnSync("chown", ["65534:65534", dir]);
    const user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    const { stdout } = spawnSync("setpriv", [...user, "sh", "-c", look, dir], { encoding: "utf8" });
    spawnSync("rm", ["-rf", dir]);
    expect(stdout).toContain("may look at its own");
    expect(stdout).not.toContain("looked");
    expect(keys.agent.pid).toBeGreaterThan(0);
    return Promise.resolve();
  },
  "ask the security key, which nobody touches": async (scene) => {
    const { device } = scene.keys;
    if (device === undefined) return;
    expect((await approves(scene, device.path, device.env)).code).toBe(1);
    await expect(signed(await termsOf(scene), inAgent(device))).rejects.toThrow("nobody has touched it");
  },
  "say of the security key that it was touched": async (scene) => {
    const { device } = scene.keys;
    if (device === undefined) return;
    device.touch("nobody");
    const { alg, kid, sign } = inAgent(device);
    const flagged = async (text: Uint8Array<ArrayBuffer>) => {
      const answer = Buffer.from(await sign(text));
      answer[64] = 1;
      return answer;
    };
    for (const way of [sign, flagged]) {
      await refused(scene, await signed(await termsOf(scene), { alg, kid, sign: way }));
    }
    device.touch("no");
  },
  "make an assertion in the passkey's name": async (scene) => {
    const { passkey } = scene.keys;
    const { credentialId, ...rest } = softPasskey().passkey;
    expect(rest.publicKey).not.toEqual(passkey.passkey.publicKey);
    const own = await softPasskey().prove(await termsOf(scene));
    await refused(scene, JSON.stringify({ ...JSON.parse(own), credential_id: passkey.passkey.credentialId }));
    // The device signs for another page, or asks nobody.
    for (const wish of [{ origin: "http://localhost:1" }, { rpId: "evil.example" }, { flags: 1 }]) {
      await refused(scene, await passkey.prove(await termsOf(scene), wish));
    }
  },
  "send an approver's signature of another call": async (scene) => {
    const other = await scene.gated.agent("another");
    await other.call("papers.shred", { paper: "allowed once" });
    await other.close();
    const gate = (await scene.gated.pending()).find(({ principal }) => principal === "another");
    const terms = (await scene.here("GET", `/admin/gates/${gate?.id}`)).body.terms as GateTerms;
    for (const prove of Object.values(scene.keys.proofs)) await refused(scene, await prove(terms));
    scene.keys.agent.answer("no");
    scene.keys.device?.touch("no");
  },
  "enrol its own key under the name of an approver who is here": async (scene) => {
    const { gated } = scene;
    const path = join(gated.dataDir, "approvers", "sealed.json");
    copyFileSync(path, join(gated.dataDir, "sealed.kept"));
    const own = newKey();
    writeFileSync(path, JSON.stringify({ name: "sealed", jwk: own.jwk }), { mode: 0o600 });
    await refused(scene, await signed(await termsOf(scene), statementKey(own.privateKey, own.kid)));
    copyFileSync(join(gated.dataDir, "sealed.kept"), path);
    const names = async () => JSON.stringify((await scene.here("GET", "/admin/gates")).body.approvers);
    await expect.poll(names, { timeout: 15_000 }).toContain('"sealed"');
  },
};
