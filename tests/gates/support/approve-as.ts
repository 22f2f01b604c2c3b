// The human, wherever they decide: at a terminal, at the page, in a room. Everywhere it is their key that signs.
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { joinRoom } from "@mcpx/client";
import { type PublicJwk, signDecision, thumbprint } from "@mcpx/host";
import { type Decision, type GateTerms, isObject, readGateNotice, statementOf } from "@mcpx/protocol";
import { expect } from "vitest";
import { mintTokens } from "../../faults/support/tokens.ts";
import type { Gated } from "./gated.ts";

export const surfaces = ["command line", "page", "room"] as const;
export type Surface = (typeof surfaces)[number];

/** In which calls are shown. */
export const room = "ops";

/** Decides about the one call of this agent that waits. */
export type Decide = (principal: string, decision: Decision, reason?: string) => Promise<void>;

export function approveAs(surface: Surface, gated: Gated): Decide {
  return async (principal, decision, reason) => {
    const id = await waitingId(gated, principal);
    await ways[surface](gated, id, decision, reason);
  };
}

type Way = (gated: Gated, id: string, decision: Decision, reason: string | undefined) => Promise<void>;

const ways: Record<Surface, Way> = {
  "command line": atTerminal,
  page: atPage,
  room: inRoom,
};

async function atTerminal(gated: Gated, id: string, decision: Decision, reason?: string): Promise<void> {
  const words = decision === "approve" ? ["--yes"] : reason === undefined ? [] : ["--reason", reason];
  expect(await gated.run(decision, id, ...words)).toMatchObject({ code: 0 });
}

async function atPage(gated: Gated, id: string, decision: Decision, reason?: string): Promise<void> {
  const address = `${gated.url()}/approve/${id}`;
  const shown = (await (await fetch(`${address}/call`)).json()) as { terms: GateTerms };
  const proof = await sign(gated, shown.terms, decision, reason);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${address}/decision`, {
    method: "POST",
    headers,
    body: JSON.stringify({ proof }),
  });
  expect(response.status).toBe(200);
}

async function inRoom(gated: Gated, id: string, decision: Decision, reason?: string): Promise<void> {
  const [token = ""] = await mintTokens(gated.dataDir, [{ sub: "alice", topics: [room], level: "full" }]);
  const joined = await joinRoom({ url: gated.url(), topic: room, token });
  try {
    const find = () =>
      joined.proposals
        .pending()
        .map(({ mcpax }) => readGateNotice(mcpax))
        .find((notice) => notice?.confirmation_id === id);
    await expect.poll(find).toBeDefined();
    const proof = await sign(gated, find() as GateTerms, decision, reason);
    await joined.peer("tree").request("mcpax/confirm", { confirmation_id: id, proof });
  } finally {
    await joined.close();
  }
}

/** With the key that `mcpx key new --unsealed` has made. */
function sign(gated: Gated, terms: GateTerms, decision: Decision, reason?: string): Promise<string> {
  const jwk: unknown = JSON.parse(readFileSync(join(gated.dataDir, "keys", "default.jwk"), "utf8"));
  if (!isObject(jwk)) throw new Error("there is no key");
  const key: KeyObject = createPrivateKey({ key: jwk as never, format: "jwk" });
  return signDecision(statementOf(terms, decision, reason), key, thumbprint(jwk as unknown as PublicJwk));
}

/** Of the one call of this agent that waits; comes back when there is one. */
export async function waitingId(gated: Gated, principal: string): Promise<string> {
  const [token = ""] = await mintTokens(gated.dataDir, [{ sub: "desk", topics: [], admin: true }]);
  const ids = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${gated.url()}/admin/gates?status=pending`, { headers });
    const { gates } = (await response.json()) as { gates: { id: string; principal: string }[] };
    return gates.filter((gate) => gate.principal === principal).map((gate) => gate.id);
  };
  await expect.poll(ids).toHaveLength(1);
  return (await ids())[0] as string;
}
