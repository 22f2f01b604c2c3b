// As a user has it: a gateway, a served server and a token from the command line, and a client's plain configuration.
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, start, up } from "../../cli/support/mcpx-process.ts";
import { programPath } from "../../support/programs.ts";
import { connectSdk, kinds } from "../../tree/support/sdk-callers.ts";

const tiny = [process.execPath, programPath("tests/cli/support/tiny-server.ts")];

test("[B-ROOM-1] [B-ROOM-2] what mcpx serve puts into a room is at its endpoint, for every client with a token", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = start(["serve", "kitchen", "tiny", "--data", dataDir, "--", ...tiny]);
  await served.line(/^tiny is in kitchen with 7 tools/);
  const args = ["token", "--topic", "kitchen", "--id", "assistant", "--level", "full", "--data", dataDir];
  const { out: token } = await mcpx(args);
  for (const kind of kinds) {
    const caller = await connectSdk(kind, { url: `${url}/rooms/kitchen/mcp`, token });
    onTestFinished(() => caller.close());
    const names = await caller.tools();
    expect(names).toContain("tiny__params");
    expect(names).toContain("chat__say");
    const got = JSON.parse(await caller.call("tiny__params", { text: "hi" }));
    expect(got).toMatchObject({ name: "params", arguments: { text: "hi" } });
    await caller.call("chat.say", { text: `hello from ${kind}` });
  }
  const { out } = await mcpx(["tail", "kitchen", "--history", "100", "--no-follow", "--data", dataDir]);
  for (const kind of kinds) expect(out).toContain(`hello from ${kind}`);
}, 120_000);
