// A bridge that an approver has signed for: a press of an approver is their approval, of what can be undone.
import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statementKey, thumbprint } from "@mcpx/host";
import { canonicalJson, signText, statementOf } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import {
  createFixturePlatform,
  type FixturePlatform,
  fixtureChannel,
} from "../../packages/bridges/src/testing/fixture-platform.ts";
import { keyOfPress } from "../../packages/cli/src/bridges/press-authority.ts";
import { gateConfig, type Key, newKey, sign } from "../gates/support/gate-room.ts";
import { enrol } from "../gates/support/give-grant.ts";
import { connectSdk } from "../tree/support/sdk-callers.ts";
import { type BridgedRoom, bridgeName, startBridgedRoom } from "./support/bridged-room.ts";

const userOf = (name: string) => `${name}@example.org`;
const presses = `/admin/bridges/${bridgeName}/presses`;

interface Desk {
  fixture: FixturePlatform;
  room: BridgedRoom;
  keys: Record<"alice" | "carol", Key>;
  /** The agent's call of the shredder, which waits. */
  call(tool: string, paper: string): Promise<void>;
  /** What an approver signs is signed. */
  signFor(who: Key): Promise<void>;
  card(what: string): { card: string | undefined; text: string };
  /** With a bridge that reaches something else, or as before. */
  restart(reach?: string): Promise<void>;
  approved(): Promise<{ actor: string; detail: Record<string, unknown> }[]>;
}

/** Alice and carol approve, and are linked; mallory is linked, and does not. */
async function startDesk(approvers = 1): Promise<Desk> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-presses-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const fixture = createFixturePlatform();
  const rules = [{ tools: "papers.look", action: "ask" as const, approvers }];
  const config = gateConfig(join(dir, "traces"), {}, { rules });
  const room = await startBridgedRoom({
    ...{ kind: "xmpp", channel: fixtureChannel, open: fixture.open },
    server: { config },
  });
  const keys = { alice: newKey(), carol: newKey() };
  for (const name of ["alice", "carol"] as const) enrol(room.server.dataDir, name, keys[name] as never);
  for (const name of ["alice", "carol", "mallory"])
    await fixture.say(userOf(name), `link ${await room.code(name, "full")}`, { channel: "" });
  const approversNow = async () =>
    (await room.server.callHere("GET", "/admin/approvers/chain")).body.approvers;
  await expect.poll(approversNow).toHaveLength(2);
  const token = await room.server.token({ sub: "clerk", topics: [], tools: ["**"] });
  const clerk = await connectSdk("v1", { url: `${room.server.url}/mcp`, token });
  // Where the server was started again, it does not know this session any more.
  onTestFinished(() => clerk.close().catch(() => undefined));
  const card: Desk["card"] = (what) => {
    const post = fixture.posts.findLast(({ text }) => text.includes(what));
    return { card: post?.post.buttons[0]?.card, text: post?.text ?? "" };
  };
  return {
    fixture,
    room,
    keys,
    card,
    async call(tool, paper) {
      await clerk.call(`papers.${tool}`, { paper });
      await expect.poll(() => card(paper).text).toContain(paper);
    },
    async signFor(key) {
      const asked = await room.server.callHere("POST", presses, {});
      expect(asked.body.waits).toEqual(expect.any(String));
      const { body } = await room.server.callHere("GET", `/admin/gates/${asked.body.waits}`);
      const proof = await sign(body.terms, "approve", key);
      const decided = await room.server.call("POST", `/approve/${asked.body.waits}/decision`, undefined, {
        proof,
      });
      expect(decided.body.status).toBe("done");
    },
    async restart(reach) {
      await room.restart(reach);
    },
    async approved() {
      const { body } = await room.server.callHere("GET", "/admin/audit?action=gate.approve");
      return body.records.filter(({ subject }: { subject: string }) => subject.startsWith("papers"));
    },
  };
}

test("[B-BRIDGE-2] before an approver has signed for the bridge no press is a signature, and afterwards an approver's is", async () => {
  const { fixture, room, keys, call, card, signFor, approved } = await startDesk();
  await call("look", "taxes");
  expect(card("taxes").card).toBeUndefined();
  const [before] = await room.store.openCards(bridgeName, fixtureChannel);
  await fixture.press(userOf("alice"), "approve", before?.id ?? "");
  expect(fixture.whispers.at(-1)?.text).toContain("A button cannot decide");
  // A token alone, an admin's too, cannot have it.
  const admin = await room.server.adminToken();
  expect((await room.server.call("POST", presses, admin, {})).body.error.reason).toBe("privilege_violation");
  await signFor(keys.alice);
  await call("look", "letters");
  const pressed = card("letters");
  expect(pressed.text).toContain("or the press of an approver who was enrolled here");
  // Linked, and no approver.
  await fixture.press(userOf("mallory"), "approve", pressed.card ?? "");
  expect(fixture.whispers.at(-1)?.text).toContain("Your press does not count as a signature. Open http");
  expect(await approved()).toEqual([]);
  await fixture.press(userOf("alice"), "approve", pressed.card ?? "");
  await expect.poll(() => card("letters").text).toMatch(/Approved by|done/);
  expect(await approved()).toMatchObject([{ actor: "alice", detail: { pressed: true } }]);
  // Once is once.
  await fixture.press(userOf("alice"), "approve", pressed.card ?? "");
  expect(await approved()).toHaveLength(1);
});

test("[B-BRIDGE-2] what cannot be undone is never decided by a press, and two people count as two", async () => {
  const { fixture, room, keys, call, card, signFor, approved } = await startDesk(2);
  await signFor(keys.carol);
  const press = (name: string, paper: string) =>
    fixture.press(userOf(name), "approve", card(paper).card ?? "");
  await call("shred", "taxes");
  expect(card("taxes")).toMatchObject({
    card: undefined,
    text: expect.stringContaining("requires a signature"),
  });
  const place = { bridge: bridgeName, user: userOf("alice"), participant: "alice" };
  const pressed = async (id: string) => {
    const { body } = await room.server.callHere("GET", `/admin/gates/${id}`);
    const key = keyOfPress(room.server.identity, place);
    const { x = "" } = createPublicKey(key).export({ format: "jwk" });
    const kid = thumbprint({ kty: "OKP", crv: "Ed25519", x });
    const text = canonicalJson(statementOf(body.terms, "approve"));
    return signText(text, "mcpx-press+jwt", statementKey(key, kid));
  };
  const gates = async () => (await room.server.callHere("GET", "/admin/gates?status=pending")).body.gates;
  const [{ id }] = await gates();
  const forged = await room.server.call("POST", `/approve/${id}/decision`, undefined, {
    proof: await pressed(id),
  });
  expect(forged.body.error.message).toContain(
    "the press of a button cannot decide about an irreversible call",
  );
  await call("look", "letters");
  await press("alice", "letters");
  await press("alice", "letters");
  expect(fixture.whispers.at(-1)?.text).toContain("has approved it already");
  expect(await approved()).toMatchObject([{ actor: "alice" }]);
  // The level counts that carol has when she presses.
  const admin = await room.server.adminToken();
  const level = async (verb: string) => {
    const path = `/admin/participants/carol/${verb}?topic=ops`;
    expect((await room.server.call("POST", path, admin)).status).toBe(200);
  };
  await fixture.say(userOf("carol"), "here I am");
  await level("demote");
  await press("carol", "letters");
  expect(fixture.whispers.at(-1)?.text).toContain("privilege_violation");
  expect(await approved()).toHaveLength(1);
  await level("promote");
  await press("carol", "letters");
  await expect.poll(async () => (await approved()).map(({ actor }) => actor)).toEqual(["carol", "alice"]);
});

test("[B-BRIDGE-2] a bridge that reaches something else, or whose enrolment has ended, brings no presses", async () => {
  const { fixture, room, keys, call, card, signFor, approved, restart } = await startDesk();
  await signFor(keys.alice);
  await call("look", "taxes");
  const { card: pressed = "" } = card("taxes");
  await restart("another platform");
  await fixture.press(userOf("alice"), "approve", pressed);
  expect(fixture.whispers.at(-1)?.text).toContain("does not count as a signature");
  await restart();
  const admin = await room.server.adminToken();
  expect((await room.server.call("DELETE", presses, admin)).body.what).toHaveLength(2);
  await fixture.press(userOf("alice"), "reject", pressed);
  expect(fixture.whispers.at(-1)?.text).toContain("A button cannot decide");
  expect(await approved()).toEqual([]);
  // Control: what was signed, with that bridge.
  await signFor(keys.carol);
  await fixture.press(userOf("alice"), "approve", pressed);
  await expect.poll(approved).toMatchObject([{ actor: "alice" }]);
});
