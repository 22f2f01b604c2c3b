// A FIDO2 key at the terminal, through a real ssh-keygen and ssh-agent; the device is software (no hardware was tried).
// [B-KEY-1]
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx } from "../cli/support/mcpx-process.ts";
import { type Gated, gatedHome } from "./support/gated.ts";
import { canMakeDevices, startDevice } from "./support/ssh-agents.ts";

async function waitingCall(gated: Gated, paper: string): Promise<string> {
  const agent = await gated.agent("agent");
  await agent.call("papers.shred", { paper });
  await agent.close();
  return (
    (await gated.pending()).find(({ arguments: given }) => JSON.stringify(given).includes(paper))?.id ?? ""
  );
}

test.skipIf(!canMakeDevices)(
  "[B-KEY-1] a security key decides once it was touched, and nothing that nobody has touched counts",
  { timeout: 120_000 },
  async () => {
    const device = await startDevice();
    const gated = gatedHome();
    await gated.start();
    const run = (...args: string[]) => mcpx([...args, "--data", gated.dataDir], { env: device.env });
    expect(await run("key", "new", "--ssh-agent", "alice@key")).toMatchObject({
      code: 0,
      err: expect.stringContaining("touch it only where you have asked"),
    });
    const file = readFileSync(join(gated.dataDir, "keys", "default.jwk"), "utf8");
    expect(JSON.parse(file)).toMatchObject({ kept: "security-key", application: "ssh:" });
    expect(await run("key", "enroll", "alice")).toMatchObject({ code: 0 });
    expect((await run("key", "list")).out).toMatch(/^alice +key +security-key /m);
    expect((await run("doctor")).out).toMatch(/set-up: sealed/);

    const id = await waitingCall(gated, "taxes");
    device.touch("no");
    expect(await run("approve", id, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("nobody has touched it"),
    });
    device.touch("nobody");
    expect(await run("approve", id, "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("nobody has touched the security key"),
    });
    expect(gated.traces()).toEqual([]);
    device.touch("yes");
    expect(await run("approve", id, "--yes")).toMatchObject({ code: 0 });
    expect(gated.traces()).toEqual(['shred {"paper":"taxes"}']);

    // The same for calls allowed beforehand, and for the chain of approvers.
    const letters = await waitingCall(gated, "letters");
    expect(await run("grants", "add", "--like", letters, "--include", "--uses", "1", "--yes")).toMatchObject({
      code: 0,
    });
    expect(gated.traces()).toHaveLength(2);
    await run("key", "new", "--unsealed", "--out", join(gated.dataDir, "bob.jwk"));
    const enrol = ["key", "enroll", "bob", "--key", join(gated.dataDir, "bob.jwk"), "--unsealed", "--yes"];
    device.touch("nobody");
    expect((await run(...enrol)).out).not.toContain("bob can approve now");
    device.touch("yes");
    expect((await run(...enrol)).out).toContain("bob can approve now");
    expect((await run("key", "log")).out).toMatch(/signed by alice\n +bob may approve/);
    // What is shown for others says what the key was made for, and is enrolled elsewhere.
    const elsewhere = gatedHome();
    const shown = join(elsewhere.dataDir, "alice.public");
    writeFileSync(shown, (await run("key", "show")).out.split("\n")[0] ?? "");
    await elsewhere.start();
    expect(await elsewhere.run("key", "enroll", "alice", "--key", shown)).toMatchObject({ code: 0 });
    const there = await waitingCall(elsewhere, "maps");
    const key = join(gated.dataDir, "keys", "default.jwk");
    const approve = ["approve", there, "--yes", "--key", key, "--data", elsewhere.dataDir];
    expect(await mcpx(approve, { env: device.env })).toMatchObject({ code: 0 });
  },
);
