// What changes between a signature and its dispatch: each row of the table in docs/GATES.md. Either the server gets
// exactly what was signed, or it gets nothing and everybody is told why.
import { createManualClock } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer } from "../testing/in-process-server.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { overridesOf } from "../testing/overrides-of.ts";
import { type Gate, termsOf } from "./store/gate-store.ts";
import { createSqliteGateStore } from "./store/gate-store-sqlite.ts";
import {
  type SignedScene,
  type SignedSceneOptions,
  signedScene,
  type Terms,
  wipe,
} from "./testing/signed-calls.ts";

interface Row {
  what: string;
  scene?: SignedSceneOptions;
  asked?: Parameters<SignedScene["stop"]>[1];
  meanwhile(scene: SignedScene): unknown;
  /** The word of the refusal. */
  word: string;
}

const other = inProcessServer({ tools: [wipe()] });
const stdio = (args: string[]) => () => ({ kind: "stdio", facts: { command: "wiper", args } });

const spent = () => {
  throw new McpxError("budget_exceeded", "mutable calls");
};

const refusals: Row[] = [
  {
    what: "the fixed arguments",
    scene: { server: { overrides: overridesOf({ wipe: { arguments: { to: "A" } } }) } },
    meanwhile: ({ configure }) => configure({ overrides: overridesOf({ wipe: { arguments: { to: "B" } } }) }),
    word: "call_changed",
  },
  {
    what: "an argument that was the caller's and is fixed now",
    meanwhile: ({ configure }) => configure({ overrides: overridesOf({ wipe: { arguments: { n: 2 } } }) }),
    word: "call_changed",
  },
  {
    what: "the tool's name, by an override",
    meanwhile: ({ configure }) => configure({ overrides: overridesOf({ wipe: { name: "erase" } }) }),
    word: "unknown_tool",
  },
  {
    what: "the tool behind the name, by two overrides",
    scene: {},
    async meanwhile({ retool, configure, ask }) {
      retool([wipe(), wipe({ name: "wipe_all" })]);
      configure({ overrides: overridesOf({ wipe: { name: "old" }, wipe_all: { name: "wipe" } }) });
      await ask("tools/list");
    },
    word: "call_changed",
  },
  {
    what: "whether the tool is enabled",
    meanwhile: ({ configure }) => configure({ overrides: overridesOf({ wipe: { enabled: false } }) }),
    word: "unknown_tool",
  },
  {
    what: "the tool's definition, which is pinned",
    scene: { isPinned: true },
    meanwhile: ({ retool }) => retool([wipe({ description: "wipes everything" })]),
    word: "tool_quarantined",
  },
  {
    what: "the tool's schema, where nothing is pinned",
    meanwhile: ({ retool }) =>
      retool([wipe({ inputSchema: { type: "object", properties: { n: { const: 2 } } } })]),
    word: "call_changed",
  },
  {
    what: "the server under the segment",
    meanwhile: ({ configure }) => configure({ name: "other", open: other.open }),
    word: "call_changed",
  },
  {
    what: "the server's configuration",
    scene: { server: { identity: stdio(["--dry-run"]) } },
    meanwhile: ({ configure }) => configure({ identity: stdio([]) }),
    word: "call_changed",
  },
  {
    what: "whether the server is there",
    meanwhile: ({ tree }) => tree.change({ servers: [] }),
    word: "unknown_tool",
  },
  {
    what: "the asker's token, revoked",
    asked: { principal: { jti: "t1" } },
    meanwhile: ({ revoked }) => revoked.add("t1"),
    word: "token_revoked",
  },
  {
    what: "the asker's token, expired",
    asked: { principal: { expiresAt: createManualClock().now() + 1_000 } },
    meanwhile: ({ clock }) => clock.advance(1_000),
    word: "token_expired",
  },
  {
    what: "the asker's profile, narrower",
    asked: { caller: { profile: { name: "p", tools: ["**"] } } },
    meanwhile: ({ configure }) => configure({}, [{ name: "p", tools: ["other.*"] }]),
    word: "unknown_tool",
  },
  {
    what: "the asker's profile, gone",
    asked: { caller: { profile: { name: "p", tools: ["**"] } } },
    meanwhile: () => {},
    word: "unknown_tool",
  },
  {
    what: "the asker's latest token, revoked",
    asked: { principal: { jti: "t1" } },
    async meanwhile({ stop, revoked }) {
      await stop(undefined, { principal: { jti: "t2" } });
      revoked.add("t2");
    },
    word: "token_revoked",
  },
  {
    what: "the rules, which deny it now",
    meanwhile: ({ rules }) => rules.push({ tools: "s.*", action: "deny" }),
    word: "gate_denied",
  },
  {
    what: "the rules, which want another approver",
    meanwhile: ({ rules }) => rules.push({ tools: "s.*", action: "ask", approvers: 2 }),
    word: "gate_denied",
  },
  {
    what: "the budget, which is used up",
    meanwhile: ({ configure }) =>
      configure({
        budget: {
          check: spent,
          charge: spent,
          usage: () => ({}) as never,
        },
      }),
    word: "budget_exceeded",
  },
];

for (const { what, scene: options, asked, meanwhile, word } of refusals) {
  test(`[B-SIGN-1] changed between signature and dispatch: ${what}. Nothing is sent, and everybody is told ${word}`, async () => {
    const scene = signedScene(options);
    const terms = await scene.stop(undefined, asked);
    await meanwhile(scene);
    const before = other.asked.length;
    const told = await scene.approve(terms);
    expect(scene.arrived()).toEqual([]);
    expect(other.asked.slice(before).filter(({ method }) => method === "tools/call")).toEqual([]);
    const refused = { status: "refused", refusal: word, confirmation_id: terms.confirmation_id };
    expect(told).toMatchObject({ isError: true, structuredContent: refused });
    expect(await scene.gates.store.find(terms.confirmation_id)).toMatchObject({
      status: "refused",
      refusal: word,
    });
    expect(scene.events).toContainEqual(
      expect.objectContaining({
        action: "gate.refused",
        reason: word,
        detail: expect.objectContaining({ gate: terms.confirmation_id, digest: terms.arguments_digest }),
      }),
    );
    // The asker hears it too, at its next look.
    const wait = { name: "mcpax.wait", arguments: { confirmation_id: terms.confirmation_id } };
    expect(await scene.ask("tools/call", wait)).toMatchObject({ structuredContent: refused });
  });
}

const sendings: Omit<Row, "word">[] = [
  { what: "nothing (control)", meanwhile: () => {} },
  {
    what: "fixed arguments that say what was signed",
    meanwhile: ({ configure }) => configure({ overrides: overridesOf({ wipe: { arguments: { n: 1 } } }) }),
  },
  { what: "the server's deadline for calls", meanwhile: ({ configure }) => configure({ callMs: 5_000 }) },
  {
    what: "another tool of the server",
    scene: { isPinned: true },
    meanwhile: ({ retool }) => retool([wipe(), wipe({ name: "look", annotations: { readOnlyHint: true } })]),
  },
  {
    what: "panic, since a human has signed this very call",
    meanwhile: ({ gates }) => {
      gates.isPanic = true;
    },
  },
  {
    what: "rules that would let it go",
    meanwhile: ({ rules }) => rules.push({ tools: "**", action: "allow" }),
  },
  {
    what: "the asker's token, renewed by asking again",
    asked: { principal: { jti: "t1" } },
    async meanwhile({ revoked, stop }) {
      await stop(undefined, { principal: { jti: "t2" } });
      revoked.add("t1");
    },
  },
];

for (const { what, scene: options, asked, meanwhile } of sendings) {
  test(`[B-SIGN-1] changed between signature and dispatch: ${what}. Exactly what was signed is sent`, async () => {
    const scene = signedScene(options);
    const terms = await scene.stop(undefined, asked);
    await meanwhile(scene);
    expect(await scene.approve(terms)).toMatchObject({ content: [{ type: "text" }] });
    expect(scene.arrived()).toEqual([{ name: "wipe", arguments: { n: 1 } }]);
  });
}

test("[B-SIGN-1] a restart in between: the same configuration sends it, another one does not", async () => {
  for (const [args, arrived] of [
    [["--dry-run"], 1],
    [[], 0],
  ] as const) {
    const store = createSqliteGateStore({ db: openTreeState(), clock: createManualClock() });
    const first = signedScene({ store, server: { identity: stdio(["--dry-run"]) } });
    const terms = await first.stop();
    const second = signedScene({ store, server: { identity: stdio([...args]) } });
    await second.approve(terms).catch(() => undefined);
    expect(first.arrived()).toEqual([]);
    expect(second.arrived()).toHaveLength(arrived);
  }
});

test("[B-SIGN-1] the same call to another server waits at a gate of its own", async () => {
  const scene = signedScene({ server: { identity: stdio(["a"]) } });
  const first = await scene.stop();
  scene.configure({ identity: stdio(["b"]) });
  const second = await scene.stop();
  expect(second.confirmation_id).not.toBe(first.confirmation_id);
  expect(second.server).not.toEqual(first.server);
  expect(await scene.approve(first)).toMatchObject({ structuredContent: { refusal: "call_changed" } });
  await scene.approve(second);
  expect(scene.arrived()).toHaveLength(1);
});

test("[AX-11.3-2] what is signed names the asker and the server, and a signature for others does not count", async () => {
  const scene = signedScene();
  const terms = await scene.stop();
  expect(terms).toMatchObject({
    version: 2,
    asker: "agent",
    server: {
      name: "s",
      identity: expect.stringMatching(/^server:[\w-]{43}$/),
      tool: "wipe",
      definition: expect.stringMatching(/^sha256:[\w-]{43}$/),
    },
  });
  const { server } = terms as Terms & { server: JsonObject };
  const { version: _, asker: __, server: ___, ...first } = terms;
  const wrong = [
    { ...terms, asker: "friend" },
    { ...terms, server: { ...server, identity: `server:${"A".repeat(43)}` } },
    { ...terms, server: { ...server, name: "t" } },
    { ...terms, server: { ...server, tool: "look" } },
    { ...terms, server: { ...server, definition: `sha256:${"A".repeat(43)}` } },
    // Version 1.
    first,
  ] as Terms[];
  for (const one of wrong) {
    const proof = await scene.sign(one);
    const confirming = scene.ask("mcpax/confirm", { confirmation_id: terms.confirmation_id, proof });
    await expect(confirming).rejects.toMatchObject({ code: "bad_proof" });
  }
  expect(scene.arrived()).toEqual([]);
  await scene.approve(terms);
  expect(scene.arrived()).toHaveLength(1);
});

test("[B-SIGN-1] a gate of an older build is never approved; it can be rejected, and asking again makes a new one", async () => {
  const store = createSqliteGateStore({ db: openTreeState(), clock: createManualClock() });
  const scene = signedScene({ store });
  const made = await store.find(
    (await scene.stop(undefined, { principal: { id: "other" } })).confirmation_id,
  );
  const { server: _, token: __, ...old } = made as Gate;
  const { gate } = await store.open({ ...old, principal: "agent" }, 300_000);
  const terms = termsOf(gate, "a1") as Terms;
  expect(terms).not.toHaveProperty("version");
  await expect(scene.approve(terms)).rejects.toMatchObject({ code: "asker_unsigned" });
  const again = await scene.stop();
  expect(again.confirmation_id).not.toBe(terms.confirmation_id);
  const { confirmation_id } = terms;
  await scene.ask("mcpax/confirm", { confirmation_id, proof: await scene.sign(terms, "reject") });
  expect(await store.find(confirmation_id)).toMatchObject({ status: "rejected" });
  expect(scene.arrived()).toEqual([]);
  await scene.approve(again);
  expect(scene.arrived()).toHaveLength(1);
});
