import { defaultLimits } from "@mcpx/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { withFulfilmentMeta } from "./fulfilment-meta.ts";
import type { Proposal } from "./proposal.ts";
import { proposalRecord } from "./proposal-record.ts";
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

test("[X1-10.2-2] its record has the names, texts and times of the specification", () => {
  const [one, several, anybody] = [{}, { to: ["oven", "stove"] }, { to: [] }].map((more) =>
    after(wish(more, { ttl_ms: 5_000 })).get("wish"),
  );
  expect(proposalRecord(one as Proposal)).toEqual({
    proposalId: "wish",
    proposer: "novice",
    target: "oven",
    method: "tools/call",
    params,
    status: "pending",
    createdAt: "1970-01-01T00:00:00.000Z",
    expiresAt: "1970-01-01T00:00:05.000Z",
  });
  expect(proposalRecord(several as Proposal).target).toEqual(["oven", "stove"]);
  expect(proposalRecord(anybody as Proposal).target).toEqual([]);
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

test("a changed call stands beside what was proposed, and what was called as proposed does not", () => {
  const fulfilment = (given: object) =>
    after(wish(), call({ correlation_id: "wish" }, given)).get("wish")?.fulfilment;
  expect(fulfilment(params)).not.toHaveProperty("called");
  const other = { name: "melt", arguments: { celsius: 1_500 } };
  expect(fulfilment(other)?.called).toEqual({ method: "tools/call", params: other });
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
  expect(changes.map(({ type, by }) => [type, by])).toEqual([
    ["expired", undefined],
    ["called late", "alice"],
  ]);
  expect(tracker.get("wish")?.status).toBe("expired");
});

describe("[X1-10.2-1] a call that names a proposal which is over", () => {
  const late = call({ correlation_id: "wish" });
  const answer = (from: string, text: string) =>
    envelope(from, "mcp", { jsonrpc: "2.0", id: 1, result: { text } }, { correlation_id: "call" });

  test.each([
    ["withdrawn", withdrawal()],
    ["rejected", rejection("oven")],
  ])("%s: it is remembered with its answer, and fulfils nothing", (status, end) => {
    const tracker = after(wish(), end, late, answer("mallory", "forged"), answer("oven", "220 °C"));
    const proposal = tracker.get("wish");
    expect(proposal).toMatchObject({
      status,
      lateCall: { fulfiller: "alice", target: "oven", isChanged: false },
      result: { text: "220 °C" },
    });
    // What guards go by.
    expect(proposal?.fulfilment).toBeUndefined();
  });

  test("an unnamed call is a call of its own, and only the first named one is remembered", () => {
    expect(after(wish(), withdrawal(), call()).get("wish")?.lateCall).toBeUndefined();
    const second = call({ correlation_id: "wish", id: "call-2" }, params, "bob");
    expect(after(wish(), withdrawal(), late, second).get("wish")?.lateCall?.fulfiller).toBe("alice");
    expect(after(wish(), late, withdrawal(), second).get("wish")?.lateCall).toBeUndefined();
  });

  test("[B-GATE-2] nobody but its tree calls for a gate", () => {
    const gate = wish({}, { mcpax: {} });
    expect(after(gate, withdrawal(), late).get("wish")?.lateCall).toBeUndefined();
  });
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

test("[PL-11-3] who says no again and again, each time with another reason, is remembered once", () => {
  const tracker = after(wish());
  for (let i = 0; i < 500; i += 1) tracker.observe(rejection("novice", { reason: `no ${i}` }), 9_000);
  expect(Object.fromEntries(tracker.countsByReason())).toEqual({ "no 499": 1 });
});

test("[PL-2-2] words that are too long are not remembered, those as long as a gateway allows are", () => {
  const { reasonCharsMax, codeCharsMax } = defaultLimits;
  const [reason, code] = ["r".repeat(reasonCharsMax), "c".repeat(codeCharsMax)];
  const last = (payload: object) => after(wish(), rejection("alice", payload)).get("wish")?.rejections.at(-1);
  expect(last({ reason, code })).toEqual({ by: "alice", isFinal: false, reason, code });
  const long = `${reason}r`;
  expect(last({ reason: long, code: long })).toEqual({ by: "alice", isFinal: false });
  const over = (why: string) =>
    after(wish(), about("novice", "mcpx.withdraw.proposal", { reason: why })).get("wish");
  expect(over(reason)).toMatchObject({ status: "withdrawn", withdrawal: { reason } });
  expect(over(long)).toMatchObject({ status: "withdrawn" });
  expect(over(long)).not.toHaveProperty("withdrawal");
  const says = (payload: object) =>
    after(wish(), about("oven", "mcpx.status.proposal", payload)).get("wish")?.statuses;
  expect(says({ status: "queued", reason: long })).toEqual([{ by: "oven", status: "queued" }]);
  expect(says({ status: long })).toEqual([]);
});

test("[PL-2-2] of a crowd at most a hundred are remembered, and a target's no for good", () => {
  const tracker = after(wish({ to: ["oven", "stove"] }), rejection("oven"));
  for (let i = 0; i < 250; i += 1) {
    expect(tracker.observe(rejection(`crowd-${i}`), 9_000)).toHaveLength(1);
    tracker.observe(about(`crowd-${i}`, "mcpx.status.proposal", { status: "queued" }), 9_000);
    expect(tracker.get("wish")?.rejections.at(-1)?.by).toBe(`crowd-${i}`);
    expect(tracker.get("wish")?.rejections.length).toBeLessThanOrEqual(100);
  }
  expect(tracker.get("wish")?.statuses).toHaveLength(100);
  expect(tracker.get("wish")?.statuses.at(-1)?.by).toBe("crowd-249");
  tracker.observe(rejection("stove"), 9_000);
  expect(tracker.get("wish")?.status).toBe("rejected");
});

describe("no more bytes than the bound are remembered", () => {
  const large = { name: "heat", arguments: { text: "x".repeat(250_000) } };
  const ids = (tracker: ProposalTracker) => tracker.all().map(({ id }) => id);
  const flooded = (kept: object) => {
    const tracker = after(wish({ id: "first" }), wish({ id: "ended" }));
    tracker.observe(envelope("novice", "mcpx.withdraw.proposal", {}, { correlation_id: "ended" }), 1);
    for (let i = 0; i < 100; i += 1) tracker.observe(wish({ id: `w${i}` }, kept), 2);
    return tracker;
  };

  test("whatever of a proposal is large", () => {
    const text = "x".repeat(250_000);
    const wide = Array(83_000).fill([]);
    for (const kept of [
      { params: large },
      { params: { [text]: 1 } },
      { params: { _meta: { text } } },
      { params: { wide } },
      { reason: text },
      { mcpax: { text } },
      { method: text },
    ]) {
      const some = ids(flooded(kept));
      expect(some.length).toBeLessThan(33);
      expect(some.at(-1)).toBe("w99");
    }
    // Control: small ones all stay.
    expect(ids(flooded({}))).toHaveLength(102);
  });

  test("ended ones go first, then the oldest", () => {
    const tracker = new ProposalTracker();
    const add = (n: number) => tracker.observe(wish({ id: `w${n}` }, { params: large }), 0);
    for (let n = 0; n < 31; n += 1) add(n);
    tracker.observe(envelope("novice", "mcpx.withdraw.proposal", {}, { correlation_id: "w1" }), 1);
    expect(ids(tracker).slice(0, 3)).toEqual(["w0", "w1", "w2"]);
    add(31);
    expect(ids(tracker).slice(0, 3)).toEqual(["w0", "w2", "w3"]);
    add(32);
    expect(ids(tracker).slice(0, 3)).toEqual(["w2", "w3", "w4"]);
  });

  test("answers count, and the one just answered stays", () => {
    const tracker = new ProposalTracker();
    for (let i = 0; i < 100; i += 1) {
      tracker.observe(wish({ id: `w${i}` }), 0);
      tracker.observe(call({ id: `c${i}`, correlation_id: `w${i}` }), 0);
      const payload = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(250_000) } };
      tracker.observe(envelope("oven", "mcp", payload, { correlation_id: `c${i}` }), 0);
      expect(tracker.get(`w${i}`)?.result).toBeDefined();
    }
    expect(tracker.all().length).toBeLessThan(33);
  });

  test("what was forgotten weighs nothing any more", () => {
    const tracker = flooded({ params: large });
    for (let i = 0; i < 900; i += 1) tracker.observe(wish({ id: `small-${i}` }), 3);
    expect(tracker.all().length).toBeGreaterThan(900);
  });

  test("nesting without end is weighed too", () => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    const tracker = flooded({ params: { deep } });
    expect(ids(tracker).length).toBeLessThan(33);
    // Nor does it keep others from being compared.
    tracker.observe(wish(), 4);
    tracker.observe(call(), 5);
    expect(tracker.get("wish")?.status).toBe("fulfilled");
  });
});

test("[X1-4.2.1-2] a call is compared with many large proposals at the cost of one", () => {
  let reads = 0;
  const watched = (n: number) => ({
    name: "heat",
    arguments: {
      get text() {
        reads += 1;
        return `same until the end ${n}`;
      },
    },
  });
  const tracker = new ProposalTracker();
  for (let n = 0; n < 50; n += 1) tracker.observe(wish({ id: `w${n}` }, { params: watched(n) }), 0);
  const other = { name: "heat", arguments: { text: "something else" } };
  tracker.observe(call({ id: "c0" }, other), 1);
  reads = 0;
  for (let n = 1; n < 20; n += 1) tracker.observe(call({ id: `c${n}` }, other), 1);
  expect(reads).toBe(0);
  // Control: it still finds the one that is meant.
  tracker.observe(
    call({ id: "c" }, { arguments: { text: "same until the end 7" }, name: "heat", _meta: { x: 1 } }),
    1,
  );
  expect(tracker.get("w7")?.status).toBe("fulfilled");
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
