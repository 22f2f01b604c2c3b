import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RoomEnvelope } from "../room-envelope.ts";
import { withFulfilmentMeta } from "./fulfilment-meta.ts";
import { ProposalTracker } from "./tracker.ts";

const params = { name: "heat", arguments: { celsius: 220 } };
let count = 0;

function envelope(
  from: string,
  kind: string,
  payload: object,
  more: Partial<RoomEnvelope> = {},
): RoomEnvelope {
  count += 1;
  return {
    protocol: "mcpx/v0.1",
    id: `e${count}`,
    ts: "2026-11-15T12:00:00Z",
    from,
    kind,
    payload: { ...payload },
    ...more,
  };
}

const wish = (more: Partial<RoomEnvelope> = {}, payload: object = {}) =>
  envelope(
    "novice",
    "mcp/proposal",
    { method: "tools/call", params, ...payload },
    { id: "wish", to: ["oven"], ...more },
  );
const call = (more: Partial<RoomEnvelope> = {}, given: object = params, from = "alice") =>
  envelope(
    from,
    "mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: given },
    { id: "call", to: ["oven"], ...more },
  );
const about = (from: string, kind: string, payload: object = {}) =>
  envelope(from, kind, payload, { correlation_id: "wish" });
const withdrawal = (from = "novice") => about(from, "mcpx.withdraw.proposal");
const rejection = (from: string, payload: object = {}) => about(from, "mcpx.reject.proposal", payload);

/** A tracker that has seen these, one a second. */
function after(...envelopes: RoomEnvelope[]): ProposalTracker {
  const tracker = new ProposalTracker();
  envelopes.forEach((one, i) => {
    tracker.observe(one, i * 1_000);
  });
  return tracker;
}

const statusAfter = (...envelopes: RoomEnvelope[]) => after(...envelopes).get("wish")?.status;

test("[X1-10.2-2] a proposal is remembered with all that was proposed", () => {
  expect(after(wish({}, { reason: "bread", ttl_ms: 5_000 })).get("wish")).toEqual({
    id: "wish",
    proposer: "novice",
    targets: ["oven"],
    method: "tools/call",
    params,
    reason: "bread",
    status: "pending",
    createdAt: 0,
    expiresAt: 5_000,
    rejections: [],
    statuses: [],
  });
});

describe("[X1-10.2-1] one documented outcome for every event", () => {
  test.each([
    ["nothing more", [], "pending"],
    ["a call that refers to it", [call({ correlation_id: "wish" })], "fulfilled"],
    [
      "a call whose _meta names it",
      [call({}, withFulfilmentMeta(params, { proposal: "wish", proposer: "novice" }))],
      "fulfilled",
    ],
    ["exactly the proposed call", [call()], "fulfilled"],
    ["another call", [call({}, { name: "cool" })], "pending"],
    ["the proposer withdraws", [withdrawal()], "withdrawn"],
    ["somebody else withdraws", [withdrawal("mallory")], "pending"],
    [
      "a batch withdrawal",
      [envelope("novice", "mcpx.withdraw.proposal", { proposals: ["other", "wish"] })],
      "withdrawn",
    ],
    ["the target rejects", [rejection("oven", { reason: "busy" })], "rejected"],
    ["somebody else rejects", [rejection("alice", { reason: "policy" })], "pending"],
    ["fulfilled, then withdrawn", [call(), withdrawal()], "fulfilled"],
    ["withdrawn, then fulfilled", [withdrawal(), call()], "withdrawn"],
    ["rejected, then fulfilled", [rejection("oven"), call()], "rejected"],
    ["withdrawn twice", [withdrawal(), withdrawal()], "withdrawn"],
  ])("%s", (_, envelopes, status) => {
    expect(statusAfter(wish(), ...(envelopes as RoomEnvelope[]))).toBe(status);
  });
});

test("[PL-2-2] with several targets it ends when all have rejected; untargeted it never does", () => {
  const two = wish({ to: ["oven", "stove"] });
  expect(statusAfter(two, rejection("oven"))).toBe("pending");
  expect(statusAfter(two, rejection("oven"), rejection("oven"))).toBe("pending");
  expect(statusAfter(two, rejection("oven"), rejection("stove"))).toBe("rejected");
  expect(statusAfter(wish({ to: [] }), rejection("oven"), rejection("stove"))).toBe("pending");
});

test("[X1-4.2.1-2] without a reference the call fulfils only where exactly one open proposal fits", () => {
  const twice = after(wish(), wish({ id: "wish-2" }), call());
  expect(twice.pending().map(({ id }) => id)).toEqual(["wish", "wish-2"]);
  expect(after(wish(), wish({ id: "wish-2" }), withdrawal(), call()).get("wish-2")?.status).toBe("fulfilled");
});

test("[X1-4.2.1-2] changed arguments or another target show as changed", () => {
  const changed = (more: Partial<RoomEnvelope>, given: object = params) =>
    after(wish(), call({ correlation_id: "wish", ...more }, given)).get("wish")?.fulfilment?.isChanged;
  expect(changed({})).toBe(false);
  expect(changed({}, { arguments: { celsius: 220 }, name: "heat" })).toBe(false);
  expect(changed({}, { name: "heat", arguments: { celsius: 180 } })).toBe(true);
  expect(changed({ to: ["stove"] })).toBe(true);
  expect(after(wish({ to: [] }), call({ correlation_id: "wish" })).get("wish")?.fulfilment?.isChanged).toBe(
    false,
  );
});

test("[X0-4.1-3] only the target's first answer counts", () => {
  const answer = (from: string, text: string) =>
    envelope(from, "mcp", { jsonrpc: "2.0", id: 1, result: { text } }, { correlation_id: "call" });
  const tracker = after(
    wish(),
    call(),
    answer("mallory", "forged"),
    answer("oven", "220 °C"),
    answer("oven", "again"),
  );
  expect(tracker.get("wish")?.result).toEqual({ text: "220 °C" });
});

test("[PL-6-1] [PL-11-1] it expires after its life, judged by the deciding envelope's receipt", () => {
  const tracker = new ProposalTracker({ defaultTtlMs: 10_000 });
  tracker.observe(wish(), 1_000);
  expect(tracker.nextExpiry()).toBe(11_000);
  expect(tracker.expire(11_000)).toEqual([]);
  const changes = tracker.observe(call({ correlation_id: "wish" }), 11_001);
  expect(changes.map(({ type, by }) => [type, by])).toEqual([["expired", undefined]]);
  expect(tracker.get("wish")?.status).toBe("expired");
});

test("[PL-11-3] rejections are counted by reason", () => {
  const tracker = after(
    wish(),
    rejection("a", { reason: "busy" }),
    rejection("b", { reason: "busy" }),
    rejection("c"),
  );
  expect(Object.fromEntries(tracker.countsByReason())).toEqual({ busy: 2, "no reason": 1 });
  tracker.observe(rejection("d", { code: "busy", reason: "Baking until six" }), 9_000);
  expect(tracker.countsByReason().get("busy")).toBe(3);
  expect(tracker.get("wish")?.rejections.at(-1)).toEqual({
    by: "d",
    code: "busy",
    reason: "Baking until six",
    isFinal: false,
  });
});

test("a batch withdrawal reports each proposal it ended", () => {
  const tracker = after(wish(), wish({ id: "wish-2" }));
  const batch = envelope("novice", "mcpx.withdraw.proposal", { proposals: ["wish", "wish-2", "unknown"] });
  expect(tracker.observe(batch, 5_000).map(({ proposal }) => proposal.id)).toEqual(["wish", "wish-2"]);
});

test("no more than the bound is remembered, ended ones go first", () => {
  const tracker = new ProposalTracker({ max: 3 });
  for (const id of ["a", "b", "c"]) tracker.observe(wish({ id }), 0);
  tracker.observe(envelope("novice", "mcpx.withdraw.proposal", {}, { correlation_id: "b" }), 1);
  tracker.observe(wish({ id: "d" }), 2);
  expect(tracker.all().map(({ id }) => id)).toEqual(["a", "c", "d"]);
});

describe("laws", () => {
  const event = fc.constantFrom(
    () => call({ id: "c1", correlation_id: "wish" }),
    () => call({ id: "c2" }),
    () => withdrawal(),
    () => withdrawal("mallory"),
    () => rejection("oven"),
    () => rejection("alice"),
    () => about("oven", "mcpx.status.proposal", { status: "queued" }),
    () => envelope("oven", "mcp", { jsonrpc: "2.0", id: 1, result: {} }, { correlation_id: "c1" }),
  );

  test("[PL-9-3] the first ending counts and nothing later changes it", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const tracker = after(wish());
        let ended: string | undefined;
        for (const make of events) {
          tracker.observe(make(), 1_000);
          const status = tracker.get("wish")?.status;
          if (ended !== undefined) expect(status).toBe(ended);
          if (status !== "pending") ended = status;
        }
      }),
    );
  });

  test("[PL-9-1] seeing everything twice changes nothing", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const envelopes = [wish(), ...events.map((make) => make())];
        expect(after(...envelopes, ...envelopes).get("wish")?.status).toBe(
          after(...envelopes).get("wish")?.status,
        );
      }),
    );
  });

  test("strangers' envelopes never end a proposal", () => {
    const strange = fc.constantFrom(
      () => withdrawal("mallory"),
      () => rejection("mallory"),
      () => rejection("alice"),
    );
    fc.assert(
      fc.property(fc.array(strange, { maxLength: 12 }), (events) => {
        expect(statusAfter(wish(), ...events.map((make) => make()))).toBe("pending");
      }),
    );
  });
});

describe("a call at a gate", () => {
  const gate = (payload: object = {}) =>
    wish({ from: "tree", to: ["tree"] }, { mcpax: { confirmation_id: "c-1" }, ...payload });
  const made = (from: string) => call({ to: ["tree"], correlation_id: "wish" }, params, from);

  test("[B-GATE-2] is ended by a call of its tree, and of nobody else", () => {
    expect(statusAfter(gate(), made("alice"))).toBe("pending");
    // Not even where the call does not name it, but is the same.
    expect(statusAfter(gate(), call({ to: ["tree"] }))).toBe("pending");
    expect(statusAfter(gate(), made("alice"), made("tree"))).toBe("fulfilled");
    // Control: what is no gate is done by whoever calls.
    expect(statusAfter(wish({ from: "tree", to: ["tree"] }), made("alice"))).toBe("fulfilled");
    expect(after(gate()).get("wish")).toMatchObject({ mcpax: { confirmation_id: "c-1" } });
  });

  test("[B-GATE-2] others' no is advice; its tree says why it is over", () => {
    expect(statusAfter(gate(), rejection("alice"))).toBe("pending");
    expect(statusAfter(gate(), rejection("tree"))).toBe("rejected");
    const over = about("tree", "mcpx.withdraw.proposal", { reason: "too late" });
    expect(after(gate(), over).get("wish")).toMatchObject({
      status: "withdrawn",
      withdrawal: { reason: "too late" },
    });
    const said = about("tree", "mcpx.status.proposal", { status: "considering", reason: "1 of 2" });
    expect(after(gate(), said).get("wish")?.statuses).toEqual([
      { by: "tree", status: "considering", reason: "1 of 2" },
    ]);
  });
});
