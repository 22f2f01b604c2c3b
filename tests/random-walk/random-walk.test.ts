// Several clients do arbitrary things, right and wrong; the room must do what the model says, step by step. A
// divergence shrinks to the shortest list of steps, printed as a transcript.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { RoomModel, type Sendable } from "./model.ts";
import { type Step, Walk } from "./walk.ts";

const levels = { ann: "full", bob: "full", cy: "restricted", di: "responder" } as const;
const runs = process.env.MCPX_SOAK === "1" ? 1_000 : 25;

const who = fc.constantFrom(...Object.keys(levels));
// Ids come from a small pool, so that references, duplicates and conflicts really happen.
const id = fc.integer({ min: 1, max: 12 }).map((n) => `e${n}`);
const to = fc.option(fc.uniqueArray(who, { maxLength: 2 }), { nil: undefined });
const of = (kinds: string[], ...payloads: Record<string, unknown>[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), payload: fc.constantFrom(...payloads) });
const body = fc.oneof(
  of(["chat"], { text: "hi" }, { text: "ho" }, { text: 7 }),
  of(["mcp/proposal"], { method: "tools/call", params: {} }, { params: {} }),
  of(["mcp"], { jsonrpc: "2.0", id: 1, method: "tools/list" }),
  of(["mcp"], { jsonrpc: "2.0", id: 1, result: {} }),
  of(["mcpx.withdraw.proposal", "mcpx.reject.proposal"], {}),
  of(["MCP", "mcp ", "gossip"], {}),
);
const from = fc.option(who, { nil: undefined, freq: 8 });
const envelope = fc
  .record({ id, to, body, from, correlation_id: fc.option(id, { nil: undefined }) })
  .map(({ body, ...rest }) => JSON.parse(JSON.stringify({ ...rest, ...body })) as Sendable);
const level = fc.constantFrom("full" as const, "restricted" as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("send" as const), who, envelope }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("join" as const, "leave" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("level" as const), who, level }) },
);

let server: TestServer;
let admin: string;
let walks = 0;

beforeAll(async () => {
  const many = 1_000_000;
  const limits = {
    envelopesPerSecondFull: many,
    envelopesPerSecondRestricted: many,
    proposalsPerMinute: many,
    faultsPerMinute: many,
    handshakesPerSecond: many,
  };
  server = await startTestServer({ limits });
  admin = await server.adminToken();
});

afterAll(() => server.stop());

function roomFollows(createModel: () => RoomModel) {
  return fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
    walks += 1;
    const model = createModel();
    for (const [name, own] of Object.entries(levels)) model.add(name, own);
    const walk = new Walk(server, admin, `walk-${walks}`, model, levels);
    try {
      for (const one of steps) await walk.take(one);
      await walk.finish();
    } catch (error) {
      throw new Error(`${steps.map((one) => JSON.stringify(one)).join("\n")}\n${(error as Error).message}`);
    }
  });
}

test("[X0-3-2] [X0-4-3] [X0-9-3] [X1-3.1-1] [PL-9-2] whatever participants do, the room does what the model says", {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    roomFollows(() => new RoomModel()),
    { numRuns: runs },
  );
});

test("control: a model with one wrong rule is told apart from the room", { timeout: 600_000 }, async () => {
  class Strict extends RoomModel {
    override send(from: string, envelope: Sendable) {
      const isRefused = envelope.kind === "chat" && this.member(from).level !== "full";
      return isRefused ? { refused: "kind_not_allowed" } : super.send(from, envelope);
    }
  }
  const result = await fc.check(
    roomFollows(() => new Strict()),
    { numRuns: 200, endOnFailure: true, seed: 7 },
  );
  expect(result.failed).toBe(true);
});
