// A thief with the agent's token, key and network tries all that can be reached, and is where it was before.
import { localHeader, localProof } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { startTestServer } from "../support/test-server.ts";
import { callTool } from "../tree/support/ask.ts";
import { newKey } from "./attacks/support/keys.ts";
import { openVault } from "./attacks/support/vault-config.ts";
import { addressesInSources } from "./support/addresses.ts";
import { walk } from "./support/thief.ts";

const slow = { timeout: 120_000 };
const room = "ops";
const args = { box: "of the bank" };

interface Wish {
  rules?: { tools: string; action: "allow" | "ask" }[];
  /** What an operator has. */
  admin?: true;
  /** What somebody at the gateway's machine has. */
  isHere?: true;
  /** The addresses that a control has to do with. */
  only?: RegExp;
}

/** One walk through a gateway of its own: how things stand before and after. */
async function afterWalk({ rules = [], admin, isHere, only }: Wish) {
  const vault = openVault();
  const [alice, key] = [newKey(), newKey()];
  const gates = { hold: 0, room, rules, anchors: [{ name: "alice", jwk: alice.jwk }] };
  const profiles = { narrow: { tools: ["**"] }, finder: { tools: ["**"], search: true } };
  const config = { mcpServers: vault.mcpServers("bank"), gates, profiles } as never;
  const server = await startTestServer({ config });
  onTestFinished(async () => {
    await server.stop();
    vault.remove();
  });
  const operator = await server.adminToken();
  const ask = async (path: string) => (await server.call("GET", `/admin${path}`, operator)).body;
  const claims = {
    sub: "thief",
    topics: ["**"],
    tools: ["**"],
    level: "full",
    cnf: { jwk: key.jwk },
  } as const;
  const token = await server.token({ ...claims, ...(admin && { admin }) });
  const { message } = await callTool({ url: `${server.url}/mcp`, token }, "vault.open", {
    ...args,
    first: true,
  });
  const waiting = message.result.structuredContent;
  // Where nothing waits, there is still something to ask about.
  const terms = waiting ?? {
    ...{ confirmation_id: "A".repeat(32), aggregator_id: "a", route: ["vault", "open"], tool: "vault.open" },
    ...{ arguments_digest: `sha256:${"A".repeat(43)}`, nonce: "A".repeat(32), expires_at: 1 },
  };
  if (waiting !== undefined) await server.call("POST", "/admin/panic", operator, { on: true });
  const look = async () => {
    const { approvers, panic } = await ask("/gates");
    const { grants } = await ask("/grants");
    const status = waiting === undefined ? "none" : (await ask(`/gates/${terms.confirmation_id}`)).status;
    return { done: vault.done(args.box).length, approvers, panic, grants, status };
  };
  const before = await look();
  const shown = isHere && { [localHeader]: localProof(server.identity, token) };
  const loot = { server, token, key, terms, args, room, isWaiting: waiting !== undefined };
  const tried = await walk({ ...loot, ...(shown && { shown }), ...(only && { only }) });
  return { before, after: await look(), tried };
}

test(
  "[AX-11.3-2] [AX-11.3-6] [AX-11.3-7] everything that can be reached is tried, and nothing is dispatched, decided, granted or enrolled",
  slow,
  async () => {
    const { before, after, tried } = await afterWalk({});
    expect(before).toMatchObject({ done: 0, panic: true, grants: [], status: "pending" });
    expect(after).toEqual(before);
    // It was there: the endpoints have answered, and the operator's have said no.
    const statusesOf = (path: string) =>
      new Set(tried.filter((one) => one.path === path).map(({ status }) => status));
    expect(statusesOf("/mcp")).toContain(200);
    expect(statusesOf("/admin/grants")).toContain(403);
    expect(statusesOf("/console/api/admin/grants")).not.toContain(200);
    expect(tried.filter(({ path, status }) => path.startsWith("/admin/") && status < 300)).toEqual([]);
    expect(tried.filter(({ status }) => status >= 500)).toEqual([]);
  },
);

test("control: where the gate is off, the same walk through the endpoints is noticed", slow, async () => {
  const { before, after } = await afterWalk({ rules: [{ tools: "**", action: "allow" }], only: /^\/mcp/ });
  expect(after.done).toBeGreaterThan(before.done);
});

test(
  "[AX-11.3-6] with an operator's token the same walk lets nothing go, enrols nobody, and neither grants nor ends the panic",
  slow,
  async () => {
    const { before, after, tried } = await afterWalk({ admin: true });
    expect(before).toMatchObject({ done: 0, panic: true, grants: [] });
    // An operator may be told what waits; nothing of that is any other for it.
    expect({ ...after, status: before.status }).toEqual(before);
    expect(tried.some(({ path, status }) => path === "/admin/gates" && status === 200)).toBe(true);
  },
);

test(
  "control: with what the gateway's machine has beside it, the same walk through the operator's addresses ends the panic, and grants nothing unsigned",
  slow,
  async () => {
    const { before, after } = await afterWalk({ admin: true, isHere: true, only: /^\/admin\// });
    expect(before).toMatchObject({ grants: [], panic: true });
    expect(after.grants).toEqual([]);
    expect(after.panic).toBe(false);
  },
);

test("the addresses are those of the gateway", () => {
  expect(addressesInSources()).toEqual(
    expect.arrayContaining([
      "/mcp",
      "/mcp/:profile",
      "/ax",
      "/rooms/:topic/mcp",
      "/v0/tickets",
      "/approve/:id/decision",
      "/approve/:id/passkey/decision",
      "/approve/enroll/:ticket/passkey",
      "/admin/approvers/enrolments",
      "/admin/gates/:id/decision",
      "/admin/grants/:id",
      "/admin/panic",
      "/admin/tokens/:jti",
      "/console/api/admin/gates/:id/decision",
    ]),
  );
});
