// A data directory of a build that signed no asker, opened by this one: its open gates can only be rejected, and all
// else in it goes on.
import { expect, test } from "vitest";
import { ask, revision } from "../tree/support/ask.ts";
import { gatedHome } from "./support/gated.ts";
import { olderGates, restoreOlderData } from "./support/older-data.ts";

const slow = { timeout: 120_000 };
const unsigned = "asker not signed: an older build stored this call";

async function openOlder() {
  const gated = gatedHome();
  restoreOlderData(gated.dataDir);
  await gated.start();
  return gated;
}

test(
  "[AX-11.3-2] gates of an older build are shown as that, cannot be approved, and can be rejected",
  slow,
  async () => {
    const gated = await openOlder();
    const { out } = await gated.run("pending");
    expect(out.match(new RegExp(`│ ${unsigned}`, "g"))).toHaveLength(2);
    expect(out).toContain('│ with {"paper":"taxes","copies":9007199254740993}');
    // The card offers nothing that would be refused.
    expect(out).not.toContain("mcpx approve");
    await gated.run("key", "enroll", "alice", "--unsealed");
    for (const id of [olderGates.waiting, olderGates.held]) {
      expect(await gated.run("approve", id, "--yes")).toMatchObject({
        code: 1,
        err: expect.stringContaining(unsigned),
      });
    }
    expect(gated.traces()).toEqual([]);
    expect(await gated.run("reject", olderGates.waiting, "--reason", "ask again")).toEqual({
      code: 0,
      out: "papers.shred: rejected by alice: ask again",
      err: "",
    });
    expect((await gated.run("reject", olderGates.held)).out).toContain("its result was withheld by alice");
    expect(await gated.pending()).toEqual([]);
    const agent = await gated.agent("agent");
    expect(await agent.call("mcpax.wait", { confirmation_id: olderGates.held })).toBe(
      "The call was made; its result was withheld: alice has not released it",
    );
  },
);

test(
  "the same call asked for again is a new gate, which can be approved; the older one is sent by nobody",
  slow,
  async () => {
    const gated = await openOlder();
    const place = { url: `${gated.url()}/mcp`, token: await gated.token("agent") };
    const meta = `{"io.modelcontextprotocol/protocolVersion":"${revision}","io.modelcontextprotocol/clientCapabilities":{}}`;
    const args = '{"paper":"taxes","copies":9007199254740993}';
    const params = `{"name":"papers.shred","arguments":${args},"_meta":${meta}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const shred = async () =>
      (await ask(place, "tools/call", { name: "papers.shred" }, { body })).message.result;
    const { structuredContent } = await shred();
    const fresh = (await gated.pending()).find(({ id }) => !Object.values<string>(olderGates).includes(id));
    expect(fresh).toMatchObject({ tool: "papers.shred", id: structuredContent.confirmation_id });
    // The key of then is a plain file: a program signs with it only once its owner has said that one may.
    expect(await gated.run("approve", fresh?.id ?? "", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is a plain file that any program of yours could use"),
    });
    expect(await gated.run("key", "enroll", "alice", "--unsealed")).toMatchObject({ code: 0 });
    expect(await gated.run("approve", fresh?.id ?? "", "--yes")).toMatchObject({ code: 0 });
    expect((await shred()).content[0].text).toBe("shred is done");
    expect(gated.traces()).toHaveLength(1);
    const left = (await gated.pending()).map(({ id }) => id);
    expect(left.sort()).toEqual([olderGates.held, olderGates.waiting]);
  },
);

test(
  "all else goes on: who approves, what is pinned, what was approved, tokens, the audit and the room",
  slow,
  async () => {
    const gated = await openOlder();
    const listed = await gated.run("key", "list");
    expect(listed.out).toMatch(/^alice {2}key {2}/);
    expect(listed.err).toMatch(/alice approves with a plain key file.*; npx mcpx key seal \S+default\.jwk/);
    // Its tools are those that were pinned: none is held back.
    const { out: tools } = await gated.run("tools");
    expect(tools).toContain("papers.shred");
    expect(tools).not.toMatch(/^\?/m);
    // What was approved then, and not heard, is told now.
    const agent = await gated.agent("agent");
    expect(await agent.call("papers.mute")).toBe("mute is done");
    expect(gated.traces()).toEqual([]);
    expect((await gated.run("token", "list")).out).toContain("agent");
    expect((await gated.run("audit", "verify")).out).toContain("the chain is whole");
    const { out: said } = await gated.run("tail", "demo", "--history", "10", "--no-follow");
    expect(said).toContain("Hello");
  },
);
