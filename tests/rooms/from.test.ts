// Nobody speaks for anybody else: whatever an authenticated client sends, others see it under its own name.
import { scan } from "@mcpx/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let alice: TestClient;
let witnesses: TestClient[];

beforeAll(async () => {
  server = await startTestServer({
    limits: {
      envelopesPerSecondFull: 1_000_000,
      proposalsPerMinute: 1_000_000,
      faultsPerMinute: 1_000_000,
      queueEnvelopesMax: 100_000,
    },
  });
  witnesses = [await enter(server, "young"), await enter(server, "old", { query: { protocol: "mcp-x/v0" } })];
  alice = await enter(server, "alice");
  for (const witness of witnesses) {
    await witness.taken();
    witness.texts.splice(0);
  }
});
afterAll(() => server.stop());

const name = fc.constantFrom(
  ...["alice", "alice", "alic\\u0065", "young", "system:gateway", "Alice", "sy\\u0073tem:gateway", ""],
);
const protocol = fc.constantFrom("mcpx/v0.1", "mcp-x/v0", "mcp-x\\/v0");
const kinds = ["chat", "mcp", "mcp/proposal", "system", "presence", "mcp/request:ping", "ch\\u0061t"];
/** Mostly such as go through; some try to be more than they are. */
const content = fc.oneof(
  fc.constantFrom<[string, string]>(
    ["chat", '{"text":"hi","from":"young"}'],
    ["ch\\u0061t", '{"text":"}","from":"young"}'],
    ["mcp", '{"jsonrpc":"2.0","method":"notifications/chat/message","params":{"text":"hi","from":"young"}}'],
    ["mcp/proposal", '{"method":"m","params":{"from":"young"}}'],
    ["system", '{"type":"presence_status","status":"x","participant":{"id":"young"}}'],
    ["system", '{"type":"capability_revoked","from":"young","event":"join"}'],
    ["presence", '{"event":"join","participant":{"id":"young"}}'],
  ),
  fc.tuple(fc.constantFrom(...kinds), fc.json({ maxDepth: 2 })),
);

/** One field of an envelope as text; `from` in all the spellings a sly client might try. */
const field = fc.oneof(
  name.map((v) => `"from":"${v}"`),
  fc
    .tuple(fc.constantFrom("fr\\u006fm", "From", "FROM", "\\u0066rom", "sender"), name)
    .map(([k, v]) => `"${k}":"${v}"`),
  fc.constantFrom(
    '"to":["young"]',
    '"ts":"2026-01-01T00:00:00Z"',
    '"x":{"from":"young"}',
    '"f":"\\"from\\":"',
  ),
  fc.constantFrom('"seq":1', '"derived":"mcp-x/v0"', '"from":["alice"]'),
  fc.json({ maxDepth: 1 }).map((v) => `"x-more":${v}`),
);

const envelope = fc
  .record({
    protocol,
    content,
    id: fc.uuid(),
    fields: fc.array(field, { maxLength: 3 }),
    order: fc.integer({ min: 0, max: 8 }),
    space: fc.constantFrom("", " ", "\n\t"),
    tail: fc.constantFrom("", "", "", "", "", "", ',"from":"young"}', '{"from":"young"}', "\u0000"),
  })
  .map(({ protocol, content: [kind, payload], id, fields, order, space, tail }) => {
    const known = [`"protocol":"${protocol}"`, `"id":"${id}"`, `"kind":"${kind}"`, `"payload":${payload}`];
    known.splice(order % 5, 0, ...fields);
    return `${space}{${space}${known.join(`,${space}`)}${space}}${tail}`;
  });

const frame = fc.oneof({ weight: 8, arbitrary: envelope }, { weight: 1, arbitrary: fc.string() });

/** Behind everything sent before it: once it is acked, the witnesses have been written to. */
async function fence(): Promise<string> {
  const id = alice.say("fence");
  await alice.ack(id);
  return id;
}

test("[X0-9-3] every envelope others receive has its true sender's `from`, and only that", {
  timeout: 120_000,
}, async () => {
  let relayed = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 20 }), async (frames) => {
      for (const text of frames) alice.ws.send(text);
      const fenceId = await fence();
      alice.inbox.splice(0);
      for (const witness of witnesses) {
        await witness.settled();
        witness.inbox.splice(0);
        const texts = witness.texts.splice(0);
        for (const text of texts) {
          // Strict: a key that stands twice would be another sender to another reader.
          const { value } = scan(text, { depthMax: 100 });
          if (value.from === "system:gateway") {
            expect(value).toMatchObject({
              kind: "presence",
              payload: { event: "heartbeat", participant: { id: "alice" } },
            });
          } else {
            expect(value.from).toBe("alice");
            if (value.id !== fenceId) relayed += 1;
          }
        }
      }
    }),
    { numRuns: 150 },
  );
  expect(relayed, "some of it went through").toBeGreaterThan(100);
});

test("[X0-9-3] a foreign from is refused, never corrected, and the room hears nothing of it", async () => {
  for (const from of ["young", "system:gateway", "gateway", "ALICE"]) {
    expect(await alice.outcome(alice.say("I am somebody else", { from }))).toBe("wrong_from");
  }
  for (const witness of witnesses) expect(await witness.taken()).toEqual([]);
});
