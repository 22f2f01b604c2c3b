// [B-KEY-1]
import { generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto";
import { type PublicJwk, thumbprint } from "@mcpx/host";
import { type GateTerms, signStatement, statementOf } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { anchorKeys } from "./anchors.ts";
import { checkProof } from "./proofs.ts";
import { securityKeyAlgorithm } from "./security-key.ts";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const jwk = publicKey.export({ format: "jwk" }) as PublicJwk;
const keys = anchorKeys([{ kind: "key", name: "alice", jwk, application: "ssh:work" }]);

const gate: GateTerms = {
  confirmation_id: "c-1",
  aggregator_id: "7f0c2a34-0000-4000-8000-000000000001",
  route: ["files", "delete"],
  tool: "files.delete",
  arguments_digest: `sha256:${"A".repeat(43)}`,
  nonce: "n".repeat(43),
  expires_at: 1_893_456_300,
};
const question = {
  requester: { principal: "agent", thumbprints: [] },
  now: (gate.expires_at - 200) * 1_000,
};

interface Device {
  application?: string;
  flags?: number;
  privateKey?: KeyObject;
  /** Of its answer. */
  bytes?: (bytes: Buffer) => Buffer;
}

/** As a device signs through ssh-agent. */
function proofBy(device: Device = {}, alg: "EdDSA" | typeof securityKeyAlgorithm = securityKeyAlgorithm) {
  const { application = "ssh:work", flags = 1, privateKey: key = privateKey, bytes = (all) => all } = device;
  const details = Buffer.from([flags, 0, 0, 0, 7]);
  const answer = (text: Uint8Array) => {
    const parts = [hash("sha256", application, "buffer"), details, hash("sha256", text, "buffer")];
    return bytes(Buffer.concat([sign(null, Buffer.concat(parts), key), details]));
  };
  return signStatement(statementOf(gate, "approve"), {
    alg,
    kid: thumbprint(jwk),
    sign: (text) => Promise.resolve(answer(text)),
  });
}

const check = (proof: string) => checkProof(proof, gate, keys, question);

test("[B-KEY-1] a security key approves once it was touched, with or without a PIN", async () => {
  for (const flags of [0x01, 0x05]) {
    expect(await check(await proofBy({ flags }))).toMatchObject({ by: "alice", thumbprint: thumbprint(jwk) });
  }
});

test("[B-KEY-1] what nobody has touched is no proof, and says so", async () => {
  for (const flags of [0x00, 0x04]) {
    await expect(check(await proofBy({ flags }))).rejects.toThrow("nobody has touched the security key");
  }
});

test("[B-KEY-1] nor is one for another application, by another key, changed, cut, or longer", async () => {
  const changed = (at: number) => (bytes: Buffer) => {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  };
  const devices: Device[] = [
    { application: "ssh:" },
    { application: "example.org" },
    { privateKey: generateKeyPairSync("ed25519").privateKey },
    ...[0, 63, 64, 68].map((at) => ({ bytes: changed(at) })),
    { bytes: (bytes) => bytes.subarray(0, 64) },
    { bytes: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) },
  ];
  for (const device of devices) {
    await expect(check(await proofBy(device))).rejects.toThrow("the signature is not valid");
  }
});

test("[B-KEY-1] its key signs no text as other keys do, and other keys sign nothing as it does", async () => {
  const plain = await signStatement(statementOf(gate, "approve"), {
    alg: "EdDSA",
    kid: thumbprint(jwk),
    sign: (text) => Promise.resolve(sign(null, text, privateKey)),
  });
  await expect(check(plain)).rejects.toThrow("its key belongs to no enrolled approver");
  const others = anchorKeys([{ kind: "key", name: "alice", jwk }]);
  expect(await checkProof(plain, gate, others, question)).toMatchObject({ by: "alice" });
  await expect(checkProof(await proofBy(), gate, others, question)).rejects.toThrow("no enrolled approver");
});

test("[B-KEY-1] a key that no device of OpenSSH can have made is none", () => {
  const { publicKey: p256 } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  for (const wrong of [
    { jwk, application: "https://example.org" },
    { jwk, application: "ssh:\u202e" },
    { jwk: p256.export({ format: "jwk" }), application: "ssh:" },
  ]) {
    expect(() => anchorKeys([{ kind: "key", name: "eve", ...wrong }])).toThrow("no public");
  }
});
