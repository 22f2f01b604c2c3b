// GET /admin/proposals: bounded answers, one scan after the other.
import { createMemoryTopicLog } from "@mcpx/gateway";
import {
  type Audit,
  createIdentity,
  createLogger,
  createManualClock,
  createSqliteIdentityStore,
  openState,
} from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import type { ProposalRecord } from "./proposal-record.ts";
import { proposalRoutes } from "./proposal-routes.ts";

const entries = 8_000;

async function stage() {
  const clock = createManualClock();
  const db = openState(":memory:");
  const identity = await createIdentity({
    store: createSqliteIdentityStore(db),
    clock,
    log: createLogger({ level: "silent" }),
  });
  const refused: unknown[] = [];
  const audit = { record: (event) => void refused.push(event) } as Pick<Audit, "record"> as Audit;
  const log = createMemoryTopicLog();
  onTestFinished(async () => {
    await log.close();
    identity.close();
    db.close();
  });
  for (let at = 1; at <= entries; at += 1) {
    const id = `e${at}`;
    const isProposal = at === 1 || at === entries;
    const kind = isProposal ? "mcp/proposal" : "chat";
    const payload = isProposal ? { method: "ping", params: {}, ttl_ms: 86_400_000 } : { text: "hello" };
    const text = JSON.stringify({ protocol: "mcpx/v0.1", id, ts: "", from: "ann", kind, payload });
    await log.append({ topic: "kitchen", id, from: "ann", at, digest: id, text });
  }
  const [route] = proposalRoutes({ identity, audit, log, clock });
  const ask = async (query: string, admin = true) => {
    const { token } = await identity.tokens.mint(
      { sub: "boss", topics: [], ...(admin && { admin }) },
      { ttlMs: 60_000 },
    );
    const headers = { authorization: `Bearer ${token}` };
    const request = { query: new URLSearchParams(query), headers, remoteAddress: "::1", belongsTo() {} };
    const answer = await route?.handle(request as unknown as Parameters<typeof route.handle>[0]);
    return answer?.body as { records: ProposalRecord[]; next?: string };
  };
  return { ask, refused };
}

test("[B-AUDIT-1] a long log is read in several answers, each where the last one ended", async () => {
  const { ask } = await stage();
  const found: unknown[] = [];
  let page = await ask("topic=kitchen");
  let pages = 1;
  for (; page.next !== undefined; pages += 1) {
    found.push(...page.records);
    page = await ask(`next=${page.next}`);
  }
  found.push(...page.records);
  expect(pages).toBe(3);
  expect(found).toMatchObject([
    { action: "proposal.made", detail: { proposal: "e1" } },
    { action: "proposal.made", detail: { proposal: `e${entries}` } },
    // A scan still knows what it has read in answers before.
    { action: "proposal.expired", detail: { proposal: "e1" } },
    { action: "proposal.expired", detail: { proposal: `e${entries}` } },
  ]);
  expect(await ask("topic=cellar")).toEqual({ records: [] });
});

test("[B-AUDIT-1] a page is given once, four scans wait, and only an admin is answered", async () => {
  const { ask, refused } = await stage();
  const first = await ask("");
  await ask(`next=${first.next}`);
  await expect(ask(`next=${first.next}`)).rejects.toMatchObject({ code: "not_found" });
  const oldest = await ask("");
  for (let count = 0; count < 4; count += 1) await ask("");
  await expect(ask(`next=${oldest.next}`)).rejects.toMatchObject({ code: "not_found" });
  await expect(ask("since=yesterday")).rejects.toMatchObject({ code: "bad_request" });
  await expect(ask("", false)).rejects.toMatchObject({ code: "admin_only" });
  expect(refused).toMatchObject([{ action: "GET /admin/proposals", reason: "admin_only", actor: "boss" }]);
});
