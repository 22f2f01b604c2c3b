// Bridges from the terminal: added, linked, listed, unlinked, removed, with a gateway that runs.
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, up } from "../cli/support/mcpx-process.ts";
import { slackTokens, startSlackWorkspace } from "./support/slack-workspace.ts";

test("[B-BRIDGE-2] a bridge is added, started with mcpx up, listed, its presses signed for, and removed with its links", {
  timeout: 90_000,
}, async () => {
  const bodies: string[] = [];
  const receiver = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const dir = scratch();
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const run = (...args: string[]) => mcpx([...args, "--data", dir], { cwd: dir });
  const added = await run(
    ...["bridge", "add", "pager", "--platform", "webhook", "--channel", "pager=ops"],
    ...["--address", address, "--secret", secret],
  );
  expect(added).toMatchObject({ code: 0 });
  expect(added.out).not.toContain(secret);
  const config = join(dir, "mcpx.json");
  expect(statSync(config).mode & 0o077).toBe(0);
  expect(JSON.parse(readFileSync(config, "utf8")).bridges.pager).toEqual({
    platform: "webhook",
    channels: { pager: "ops" },
    url: address,
    secret,
  });
  const workspace = await startSlackWorkspace();
  onTestFinished(() => workspace.close());
  const slack = await run(
    ...["bridge", "add", "team", "--platform", "slack", "--channel", `${workspace.channel}=ops`],
    ...["--address", workspace.apiUrl(), "--access", slackTokens.bot, "--app-access", slackTokens.app],
  );
  expect(slack).toMatchObject({ code: 0 });
  expect(slack.out).not.toContain(slackTokens.app);
  const doctor = (await run("doctor")).out;
  expect(doctor).toContain("bridge pager: webhook, 1 channel");
  expect(doctor).toContain("bridge team: slack, 1 channel");
  const gateway = await up(dir, ["--no-demo"], { cwd: dir });
  onTestFinished(async () => {
    gateway.kill("SIGTERM");
    await gateway.ended;
  });
  await expect
    .poll(async () => (await run("bridge", "list")).out)
    .toMatch(/pager {2}webhook {2}up\n {2}ops → pager/);
  await expect
    .poll(async () => (await run("bridge", "list")).out)
    .toMatch(/team {2}slack {2}up\n {2}ops → C0OPS/);
  expect(workspace.connections()).toBe(1);
  expect((await run("bridge", "link", "pager", "slack:T1:U1")).err).toContain("nobody can be linked");
  const linked = await run("bridge", "link", "pager", "alice", "--level", "full");
  expect(linked.out).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/);
  expect(await run("bridge", "unlink", "pager", "alice")).toMatchObject({ code: 1 });
  expect((await run("audit", "--action", "bridge.code")).out).toContain("alice");
  // Presses at team: nobody who approves, then asked for by a card, then signed here, then ended.
  const { out: code } = await run("bridge", "link", "team", "alice", "--level", "full");
  await workspace.tell("U0ALICE", `link ${code}`);
  const listed = async () => (await run("bridge", "list")).out;
  await expect.poll(listed).toContain("T0MCPX:U0ALICE is alice, full");
  expect((await run("bridge", "enroll", "team")).err).toContain(
    "no approver is linked at team, or the button presses of all of them approve calls already",
  );
  await run("key", "new", "--unsealed");
  expect(await run("key", "enroll", "alice", "--unsealed")).toMatchObject({ code: 0 });
  const words = "at the bridge team (slack) presses of T0MCPX:U0ALICE approve as alice";
  const asked = await run("bridge", "enroll", "team");
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining(words) });
  expect(asked.err).toContain("the change waits for the signature of an approver");
  expect((await run("pending")).out).toContain("mcpx.trust");
  expect(await listed()).not.toContain("presses approve");
  expect((await run("bridge", "enroll", "team", "--yes")).out).toContain(words);
  expect(await listed()).toContain("T0MCPX:U0ALICE is alice, full, presses approve");
  expect((await run("key", "log")).out).toContain(words);
  expect((await run("bridge", "enroll", "team", "--end")).out).toContain("decide about no call any more");
  expect(await listed()).not.toContain("presses approve");
  expect((await run("pending")).out).not.toContain("mcpx.trust");
  const removed = await run("bridge", "remove", "pager");
  expect(removed.out).toContain("removed the bridge pager");
  expect(removed.out).not.toContain(secret);
  expect((await run("bridge", "remove", "team")).out).not.toContain(slackTokens.bot);
  expect(JSON.parse(readFileSync(config, "utf8")).bridges ?? {}).toEqual({});
});
