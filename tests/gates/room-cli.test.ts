// Gates seen in a room from the command line: over SSH, without a browser and without rights at the gateway.
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, scratch, start } from "../cli/support/mcpx-process.ts";
import { mintTokens } from "../faults/support/tokens.ts";
import { type Gated, startGated } from "./support/gated.ts";

/** Many commands, each a process of its own. */
const slow = { timeout: 120_000 };

/** Somebody elsewhere: a token for the room and a key of their own, and nothing else. */
async function elsewhere(gated: Gated, id: string, name?: string) {
  const home = scratch();
  const key = join(home, "keys", "default.jwk");
  await mcpx(["key", "new", "--out", key, "--unsealed"]);
  if (name !== undefined) await gated.run("key", "enroll", name, "--key", key, "--unsealed", "--yes");
  const [token = ""] = await mintTokens(gated.dataDir, [{ sub: id, topics: ["ops"], level: "full" }]);
  const place = ["--url", gated.url(), "--token", token, "--data", home];
  return (...args: string[]) => mcpx([...args, ...place]);
}

/** A call that waits is shown in the room a moment after its caller was told. */
async function idIn(run: (...args: string[]) => ReturnType<typeof mcpx>): Promise<string> {
  const pending = async () => JSON.parse((await run("pending", "ops", "--json")).out);
  await expect.poll(pending).toHaveLength(1);
  const [proposal] = await pending();
  return proposal.mcpax.confirmation_id;
}

test(
  "[B-GATE-1] [B-GATE-2] seen, approved and rejected with a key, by who has nothing but the room",
  slow,
  async () => {
    const gated = await startGated({ room: "ops" });
    const bob = await elsewhere(gated, "bob", "bob");
    const agent = await gated.agent("agent");
    await agent.call("papers.shred", { paper: "taxes" });
    const id = await idIn(bob);
    const { out } = await bob("pending", "ops");
    expect(out).toMatch(
      /^┌ papers\.shred\n│ agent wants to call it; it cannot be undone\n│ with \{"paper":"taxes"\}\n/,
    );
    expect(out).toMatch(/\n│ shown in ops by tree, aggregator [\w-]+\n/);
    expect(out).toMatch(new RegExp(`\n└ \\S.*approve ops ${id}$`));
    expect(await bob("approve", "ops", id)).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no terminal to ask"),
    });
    expect(await bob("approve", "ops", id, "--yes", "--arguments", "{}")).toMatchObject({ code: 2 });
    expect(gated.traces()).toEqual([]);
    // The beginning of an id is enough. What the tool has answered is for who has asked.
    expect(await bob("approve", "ops", id.slice(0, 8), "--yes")).toEqual({
      code: 0,
      out: "papers.shred: approved, and done",
      err: "",
    });
    expect(await agent.call("papers.shred", { paper: "taxes" })).toBe("shred is done");
    expect(await bob("approve", "ops", id, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("approved, and done"),
    });

    await agent.call("papers.shred", { paper: "letters" });
    const second = await idIn(bob);
    expect((await bob("pending", "ops")).out).toContain('│   - /paper: "taxes"\n│   + /paper: "letters"');
    expect(await bob("reject", "ops", second, "not", "on", "a", "Friday")).toMatchObject({
      code: 0,
      out: "papers.shred: rejected by bob: not on a Friday",
    });
    expect(await agent.call("papers.shred", { paper: "letters" })).toContain(
      "bob has rejected this call: not on a",
    );
    expect(gated.traces()).toHaveLength(1);
  },
);

test("[B-GATE-2] a key that was not enrolled decides nothing in the room either", slow, async () => {
  const gated = await startGated({ room: "ops" });
  const stranger = await elsewhere(gated, "stranger");
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "taxes" });
  const id = await idIn(stranger);
  for (const words of [
    ["approve", "ops", id, "--yes"],
    ["reject", "ops", id, "no"],
  ]) {
    expect(await stranger(...words)).toMatchObject({
      code: 1,
      err: expect.stringContaining("no enrolled approver"),
    });
  }
  expect(gated.traces()).toEqual([]);
  // At home everything is shown together, and each gate once.
  const { out } = await gated.run("pending", "ops", "--json");
  expect(JSON.parse(out).map((one: { id: string }) => one.id)).toEqual([`gate-${id}`]);
  expect(await gated.run("approve", id, "--yes")).toMatchObject({ code: 0 });
  expect(await gated.run("pending", "ops")).toMatchObject({
    err: expect.stringContaining("nothing is pending"),
  });
});

test("[B-GATE-1] in the chat line a gate is a card, and a number decides", slow, async () => {
  const gated = await startGated({ room: "ops" });
  const words = ["join", "ops", "--id", "alice", "--data", gated.dataDir];
  const chat = start(words, { isTyped: true });
  await chat.line(/ops as alice/);
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper: "taxes" });
  await chat.line(/^┌ proposal 1 {2}papers\.shred$/);
  await chat.line(/^└ \/approve 1/);
  chat.type("/approve 1");
  await chat.line(/^-- proposal 1: alice has approved papers\.shred; it is done\.$/);
  expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
  await agent.call("papers.shred", { paper: "letters" });
  await chat.line(/^┌ proposal 2/);
  chat.type("/reject 2 these are mine");
  await chat.line(/^-- proposal 2: alice has rejected papers\.shred: these are mine$/);
  chat.type("/quit");
  expect(await chat.ended).toMatchObject({ code: 0 });
});
