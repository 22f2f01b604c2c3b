import { generateKeyPairSync } from "node:crypto";
import { type Audit, type HttpRequest, systemClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { scratch } from "../../testing/scratch.ts";
import type { Gatekeeper } from "../gatekeeper.ts";
import { anchorKeys } from "../proofs/anchors.ts";
import type { PasskeyJwk } from "../proofs/passkey.ts";
import { provePresence } from "../proofs/proof-passkey.ts";
import { type Approver, anchorOf } from "../store/approver-store.ts";
import { createFileApproverStore } from "../store/approver-store-files.ts";
import { softPasskey } from "../testing/soft-passkey.ts";
import { softRegistration } from "../testing/soft-registration.ts";
import { enrolOptions, enrolPasskey } from "./enrol.ts";
import { createEnrolments } from "./enrolments.ts";

const origin = "http://localhost:7332";
const paul = softPasskey();
const newKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }) as PasskeyJwk;
const newId = () => Buffer.from("another credential").toString("base64url");

async function openParts() {
  const store = createFileApproverStore(scratch());
  const enrolled: Approver[] = [{ name: "paul", passkey: paul.passkey }];
  const recorded: string[] = [];
  const record = ({ action, reason = "ok" }: { action: string; reason?: string }) => {
    recorded.push(`${action} ${reason}`);
    return true;
  };
  const parts = {
    gates: { anchors: { now: async () => anchorKeys(enrolled.map(anchorOf)) } } as unknown as Gatekeeper,
    approvers: { ...store, add: async (one: Approver) => void enrolled.push(one) },
    enrolments: createEnrolments(systemClock),
    audit: { record, recordNow: record } as unknown as Audit,
  };
  const enrol = async (name: string, credentialId: string, publicKey: PasskeyJwk) => {
    const { ticket } = parts.enrolments.invite(name, "admin");
    const request = (body: object) =>
      ({
        ...{ params: { ticket }, headers: { origin, host: "localhost:7332" }, origin, remoteAddress: "::1" },
        json: async () => body,
      }) as unknown as HttpRequest;
    const { body } = await enrolOptions(parts, request({}));
    const { challenge } = body as { challenge: string };
    const credential = softRegistration({ credentialId, publicKey, challenge, origin });
    return await enrolPasskey(parts, request({ credential }));
  };
  return { enrol, recorded, keys: () => anchorKeys(enrolled.map(anchorOf)) };
}

test.each([
  ["the credential id", "ann", () => [paul.passkey.credentialId, newKey()] as const],
  ["the public key", "ann", () => [newId(), paul.passkey.publicKey] as const],
  ["a name that looks like that", "pau1", () => [newId(), newKey()] as const],
])("[AX-11.3-2] whoever has a link cannot take %s of another approver", async (_, name, make) => {
  const { enrol, recorded, keys } = await openParts();
  await expect(enrol(name, ...make())).rejects.toMatchObject({ code: "id_conflict" });
  expect(recorded).toEqual(["approver.enroll id_conflict"]);
  // The one who was there still counts.
  const proof = await paul.prove({} as never, { challenge: "AAAA", origin });
  expect((await provePresence(proof, "AAAA", keys())).key.name).toBe("paul");
  // The control: somebody of their own is taken.
  expect(await enrol("ann", newId(), newKey())).toMatchObject({ status: 201, body: { name: "ann" } });
  expect(recorded.at(-1)).toBe("approver.enroll ok");
});

test("of two that have one credential id none is guessed", async () => {
  const twice = anchorKeys(["ann", "paul"].map((name) => anchorOf({ name, passkey: paul.passkey })));
  const proof = await paul.prove({} as never, { challenge: "AAAA", origin });
  await expect(provePresence(proof, "AAAA", twice)).rejects.toThrow(
    "two approvers have a passkey with this id",
  );
  await expect(provePresence(proof, "AAAA", twice.slice(1))).resolves.toMatchObject({
    key: { name: "paul" },
  });
});
