// Gates from the command line: agents with unmodified clients ask, a human looks, signs and decides, and what was
// approved happens once.
import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch, start } from "../cli/support/mcpx-process.ts";
import { mcpxCommand } from "../support/programs.ts";
import { connectSdk } from "../tree/support/sdk-callers.ts";
import { type Gated, gatedHome, startGated } from "./support/gated.ts";

const root = join(import.meta.dirname, "..", "..");
const waiting = /^Nothing has happened yet: papers\.shred was not called/;

/** Many commands, each a process of its own. */
const slow = { timeout: 120_000 };

/** The one gate of this agent that waits. */
async function gateOf(gated: Gated, principal: string) {
  const found = (await gated.pending()).filter((gate) => gate.principal === principal);
  expect(found).toHaveLength(1);
  return found[0] as (typeof found)[number];
}

test(
  "[AX-11.3-1] [AX-11.3-2] [AX-11.3-5] asked, approved and done once; rejected with a reason",
  slow,
  async () => {
    const gated = await startGated();
    const agent = await gated.agent("agent");
    const shred = (paper: string) => agent.call("papers.shred", { paper });
    expect(await shred("taxes")).toContain("Nothing has happened yet: papers.shred was not called");
    const { id, ...gate } = await gateOf(gated, "agent");
    expect(gate).toMatchObject({ tool: "papers.shred", arguments: { paper: "taxes" } });
    expect(gated.traces()).toEqual([]);
    // The address the agent was given is there.
    expect((await fetch(`${gated.url()}/approve/${id}`)).status).toBe(200);
    const approved = await gated.run("approve", id, "--yes");
    expect(approved).toEqual({ code: 0, out: "papers.shred: approved, and done\nshred is done", err: "" });
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
    expect(await shred("taxes")).toContain("shred is done");
    const again = await gated.run("approve", id, "--yes");
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("approved, and done") });

    await shred("letters");
    const { id: second } = await gateOf(gated, "agent");
    expect(await gated.run("reject", second, "--reason", "not on a Friday")).toMatchObject({ code: 0 });
    expect(await shred("letters")).toContain("alice has rejected this call: not on a Friday");
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
    await agent.close();
  },
);

test("who calls by hand is told how to decide, and not what a model is told", slow, async () => {
  const gated = await startGated();
  const { code, out } = await gated.run("call", "papers.shred", '{"paper": "taxes"}', "--yes");
  const { id } = await gateOf(gated, `cli:${userInfo().username}`);
  expect(code).toBe(1);
  expect(out).toMatch(/^papers\.shred waits at its gate; the call was not made yet\n/);
  expect(out).toContain(`mcpx approve ${id}\n`);
  expect(out).toContain(`/approve/${id}\n`);
  expect(out).not.toMatch(/you cannot|mcpax\.wait/);
  const json = await gated.run("call", "papers.shred", '{"paper": "taxes"}', "--yes", "--json");
  expect(JSON.parse(json.out)).toMatchObject({ structuredContent: { status: "confirmation_required" } });
});

test("[AX-11.3-1] where two must approve, the same one hears that the other is missing", slow, async () => {
  const gated = await startGated({ quorum: 2 });
  const agent = await gated.agent("agent");
  expect(await agent.call("papers.shred", { paper: "taxes" })).toMatch(waiting);
  const { id } = await gateOf(gated, "agent");
  expect(await gated.run("approve", id, "--yes")).toMatchObject({ code: 0 });
  expect(await gated.run("approve", id, "--yes")).toEqual({
    code: 1,
    out: "",
    err: "mcpx: you have approved it already; 1 of 2 have, and somebody else must",
  });
  expect(gated.traces()).toEqual([]);
  await agent.close();
});

test("[AX-11.3-1] nobody decides: it expires, and nothing has happened", slow, async () => {
  const gated = await startGated({ timeout: "2s" });
  const agent = await gated.agent("agent");
  expect(await agent.call("papers.shred", { paper: "taxes" })).toMatch(waiting);
  // Whoever waits is told when it is over, and not before.
  await expect
    .poll(() => agent.call("papers.shred", { paper: "taxes" }))
    .toBe("Nothing has happened: nobody has approved papers.shred in time.");
  expect(await gated.pending()).toEqual([]);
  // It is looked for once a second.
  const records = async () =>
    JSON.parse((await gated.run("audit", "--action", "gate.expired", "--json")).out).records;
  await expect.poll(records).toMatchObject([{ actor: "agent", subject: "papers.shred" }]);
  expect(gated.traces()).toEqual([]);
});

test("[AX-11.3-5] a gate outlives the gateway: approved after a restart, it happens once", slow, async () => {
  const gated = await startGated();
  const before = await gated.agent("agent");
  expect(await before.call("papers.shred", { paper: "taxes" })).toMatch(waiting);
  await before.close();
  const { id } = await gateOf(gated, "agent");
  await gated.end("SIGTERM");
  await gated.start();
  expect(await gated.run("approve", id, "--yes")).toMatchObject({ code: 0 });
  expect(await gated.run("approve", id, "--yes")).toMatchObject({ code: 1 });
  expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
  const after = await gated.agent("agent", "v2 modern");
  expect(await after.call("papers.shred", { paper: "taxes" })).toBe("shred is done");
  expect(gated.traces()).toHaveLength(1);
});

test(
  "[AX-11.3-5] killed while the call is under way: nobody knows, everybody is told, nothing is tried again",
  slow,
  async () => {
    const gated = await startGated();
    const before = await gated.agent("agent");
    await before.call("papers.stall", {});
    const { id } = await gateOf(gated, "agent");
    const approving = gated.run("approve", id, "--yes");
    await expect.poll(gated.traces).toEqual(["stall {}"]);
    await gated.end("SIGKILL");
    expect(await approving).toMatchObject({ code: 1 });
    await gated.start();
    const again = await gated.run("approve", id, "--yes");
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining("the call may or may not have been made"),
    });
    const { out } = await gated.run("audit", "--action", "gate.indeterminate", "--json");
    expect(JSON.parse(out).records).toMatchObject([{ actor: "agent", subject: "papers.stall" }]);
    const after = await gated.agent("agent");
    expect(await after.call("papers.stall", {})).toBe(
      "It is not known whether papers.stall was carried out. Check what it changed before you call it again.",
    );
    expect(gated.traces()).toEqual(["stall {}"]);
  },
);

test(
  "[AX-11.3-7] rules deny and ask; grants are used up; panic asks for everything, over a restart",
  slow,
  async () => {
    const gated = await startGated({
      unannotated: "allow",
      rules: [{ tools: "papers.shred", action: "deny", where: { paper: "law/**" } }],
    });
    const agent = await gated.agent("agent");
    await expect(agent.call("papers.shred", { paper: "law/1" })).rejects.toThrow("The rules deny this call");
    expect(await agent.call("papers.mute")).toBe("mute is done");
    const tested = await gated.run("rules", "test", "papers.shred", '{"paper":"law/1"}', "--json");
    expect(JSON.parse(tested.out)).toMatchObject({ action: "deny", why: "rule 1", isKnown: true });
    const shown = await gated.run("rules");
    expect(shown.out).toMatch(/1 {2}deny {2}papers\.shred where paper is "law\/\*\*"\n +papers\.shred\n/);
    expect(shown.out).toMatch(/ask +papers\.stall +cannot be undone/);

    expect(await gated.run("grants", "add", "agent", "papers.shred", "--uses", "2", "--yes")).toMatchObject({
      code: 0,
    });
    expect(await agent.call("papers.shred", { paper: "1" })).toBe("shred is done");
    expect(await agent.call("papers.shred", { paper: "2" })).toBe("shred is done");
    expect(await agent.call("papers.shred", { paper: "3" })).toMatch(waiting);
    expect(JSON.parse((await gated.run("grants", "--json")).out)).toEqual({ grants: [] });

    await gated.run("grants", "add", "agent", "papers.shred", "--for", "1h", "--yes");
    expect(await gated.run("panic")).toMatchObject({ code: 0 });
    expect(await agent.call("papers.shred", { paper: "4" })).toMatch(waiting);
    expect(await agent.call("papers.look")).toContain("papers.look was not called");
    expect((await gated.run("tree")).out).toMatch(/papers {2}\d+ tools/);
    expect(JSON.parse((await gated.run("pending", "--json")).out)).toHaveLength(3);
    await agent.close();
    await gated.end("SIGTERM");
    await gated.start();
    const later = await gated.agent("agent");
    expect(await later.call("papers.mute")).toContain("papers.mute was not called");
    expect(await gated.run("panic", "off", "--yes")).toMatchObject({ code: 0 });
    expect(await later.call("papers.look")).toBe("look is done");
    const happened = gated.traces().filter((line) => line.startsWith("shred"));
    expect(happened).toEqual(['shred {"paper":"1"}', 'shred {"paper":"2"}']);
  },
);

describe("who decides", () => {
  test(
    "[AX-11.3-6] the agent's own key approves nothing of it, nor does one that was not enrolled",
    slow,
    async () => {
      const gated = await startGated();
      const own = join(gated.dataDir, "keys", "default.jwk");
      const { out } = await gated.run("token", "--id", "insider", "--tools", "**", "--key", own);
      const insider = await connectSdk("v1", { url: `${gated.url()}/mcp`, token: out });
      await insider.call("papers.shred", { paper: "own" });
      const { id } = await gateOf(gated, "insider");
      expect(await gated.run("approve", id, "--yes")).toMatchObject({
        code: 1,
        err: expect.stringContaining("Nobody approves their own call"),
      });
      const other = join(scratch(), "other.jwk");
      await gated.run("key", "new", "--out", other, "--unsealed");
      expect(await gated.run("approve", id, "--yes", "--key", other)).toMatchObject({
        code: 1,
        err: expect.stringContaining("is not an enrolled approver on this gateway"),
      });
      // Enrolled, it counts at once.
      const enrolling = await gated.run("key", "enroll", "bob", "--key", other, "--unsealed", "--yes");
      expect(enrolling).toMatchObject({ code: 0 });
      expect(await gated.run("approve", id, "--yes", "--key", other)).toMatchObject({ code: 0 });
      expect(gated.traces()).toEqual(['shred {"paper":"own"}']);
    },
  );

  test("names that look alike, keys of somebody else and private keys are not enrolled", slow, async () => {
    const gated = await startGated();
    const refused = async (...args: string[]) =>
      (await gated.run("key", "enroll", ...args, "--unsealed")).err;
    const key = join(scratch(), "carol.jwk");
    await gated.run("key", "new", "--out", key, "--unsealed");
    expect(await refused("Al1ce", "--key", key)).toContain("is or looks like alice");
    expect(await refused("alyssa")).toContain("already belongs to alice");
    expect(await refused("../carol", "--key", key)).toContain("cannot be a name");
    const { out } = await gated.run("key", "list");
    expect(out).toMatch(/^alice +key +unsealed +\S{43}$/m);
    const path = join(gated.dataDir, "approvers", "carol.json");
    writeFileSync(
      path,
      JSON.stringify({ name: "carol", jwk: { kty: "OKP", crv: "Ed25519", x: "", d: "" } }),
      {
        mode: 0o600,
      },
    );
    expect((await gated.run("key", "list")).err).toContain("a private key must not be here");
  });

  test(
    "[AX-11.3-2] without an admin token nothing is shown or decided, and every attempt is recorded",
    slow,
    async () => {
      const gated = await startGated();
      const token = await gated.token("agent");
      const attempts = [
        ["GET", "/admin/gates"],
        ["GET", "/admin/gates/x"],
        ["POST", "/admin/gates/x/decision"],
        ["GET", "/admin/grants"],
        ["POST", "/admin/grants"],
        ["POST", "/admin/grants/terms"],
        ["DELETE", "/admin/grants/x"],
        ["POST", "/admin/panic"],
        ["GET", "/admin/rules"],
        ["POST", "/admin/rules/test"],
      ] as const;
      for (const [method, path] of attempts) {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${gated.url()}${path}`, { method, headers });
        expect([path, response.status]).toEqual([path, 403]);
      }
      const { out } = await gated.run("audit", "--json", "--limit", "50");
      const refused = (JSON.parse(out).records as { action: string; reason?: string; actor?: string }[])
        .filter(({ reason, actor }) => reason === "admin_only" && actor === "agent")
        .map(({ action }) => action.replace(":id", "x"));
      expect(refused.sort()).toEqual(attempts.map((words) => words.join(" ")).sort());
    },
  );

  test("at a terminal it shows the call and asks, and no is the default", slow, async () => {
    const gated = await startGated();
    const agent = await gated.agent("asking");
    const args = { paper: "diary", password: "hunter2hunter2", pages: 12 };
    await agent.call("papers.shred", args);
    const { id } = await gateOf(gated, "asking");
    const terminal = join(root, "tests/cli/support/terminal.py");
    const ask = async (answer: string) => {
      const command = start(["approve", id.slice(0, 6), "--data", gated.dataDir], {
        isTyped: true,
        program: ["python3", terminal, ...mcpxCommand],
      });
      await command.line(/Approve exactly this, once\? y or n \(Enter: n\)/);
      command.type(answer);
      return { ...(await command.ended), out: command.out.join("\n") };
    };
    const before = gated.traces();
    const no = await ask("");
    expect(no).toMatchObject({
      code: 1,
      out: expect.stringContaining("nothing was approved; the call still waits"),
    });
    expect(no.out).toContain('"paper":"diary","password":"•••","pages":12');
    expect(no.out).not.toContain("hunter2");
    expect(gated.traces()).toEqual(before);
    expect(await ask("y")).toMatchObject({ code: 0 });
    expect(gated.traces()).toEqual([...before, `shred ${JSON.stringify(args)}`]);
  });
});

test(
  "[AX-11.3-1] mcpx stdio without a gateway says what has to be done, and hears what was decided there",
  slow,
  async () => {
    const gated = gatedHome();
    const [command, ...args] = mcpxCommand;
    const agent = await connectSdk("v1", {
      command,
      args: [...args, "stdio", "--names", "canonical", "--data", gated.dataDir],
    });
    const told = await agent.call("papers.shred", { paper: "taxes" });
    expect(told).toMatch(waiting);
    expect(told).toContain("your user has to start it first with `mcpx up`");
    await gated.run("key", "new", "--unsealed");
    await gated.run("key", "enroll", "alice", "--unsealed");
    await gated.start();
    const [gate] = await gated.pending();
    expect(await gated.run("approve", gate?.id ?? "", "--yes")).toMatchObject({ code: 0 });
    expect(await agent.call("papers.shred", { paper: "taxes" })).toBe("shred is done");
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);
    await agent.close();
  },
);
