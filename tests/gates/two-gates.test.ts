// A call with a gate in each of two trees, over real sockets: one command signs for both, or for the first alone.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { scratch, start } from "../cli/support/mcpx-process.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { startBelow, stopAll } from "../tree/registration/support/family.ts";
import { ask, callTool, type Message, type Place } from "../tree/support/ask.ts";
import { newKey } from "./attacks/support/keys.ts";
import { waitingOf } from "./attacks/support/stage.ts";
import { openVault, type Vault } from "./attacks/support/vault-config.ts";

const alice = newKey();
const gates = { hold: 0, anchors: [{ name: "alice", jwk: alice.jwk }] } as const;
let vault: Vault;
let root: TestServer;
let leaf: TestServer;
let agent: Place;

beforeAll(async () => {
  vault = openVault();
  root = await startTestServer({ config: { gates } as never });
  leaf = await startBelow(root, "leaf", {
    heartbeat: 15_000,
    config: { mcpServers: vault.mcpServers("leaf"), gates } as never,
  });
  agent = { url: `${root.url}/mcp`, token: await root.token({ sub: "agent", topics: [], tools: ["**"] }) };
  await vi.waitFor(
    async () => expect(names((await ask(agent, "tools/list")).message)).toContain("leaf.vault.open"),
    { timeout: 15_000 },
  );
});

afterAll(async () => {
  await stopAll([root, leaf]);
  vault.remove();
});

const names = ({ result }: Message) => result.tools.map(({ name }: Message) => name);
const open = (box: string) => callTool(agent, "leaf.vault.open", { box });

/** Of alice, as `mcpx key new --unsealed` writes it: a test is a program. */
function keyFile(): string {
  const path = join(scratch(), "alice.jwk");
  const jwk = { ...alice.privateKey.export({ format: "jwk" }), mcpx_unsealed: true };
  writeFileSync(path, JSON.stringify(jwk), { mode: 0o600 });
  return path;
}

/** `mcpx approve` in a process of its own, as an admin of the root. */
async function approve(id: string, ...words: string[]) {
  const key = keyFile();
  const admin = ["--url", root.url, "--token", await root.adminToken(), "--key", key];
  return start(["approve", id, ...admin, ...words]);
}

test("[AX-11.3-8] mcpx approve --below shows where the call stops again, and one proof lets it through both", async () => {
  const waiting = waitingOf(await open("both."));
  const look = await approve(waiting.confirmation_id, "--below");
  await look.line(/stops again below at vault\.open of vault, aggregator /);
  expect(await look.ended).toMatchObject({ code: 1 });
  expect(vault.done("both.")).toEqual([]);
  const command = await approve(waiting.confirmation_id, "--below", "--yes");
  expect(await command.ended).toMatchObject({ code: 0 });
  expect(command.out.at(-1)).toBe("open is done");
  expect(vault.done("both.")).toHaveLength(1);
  // Each tree has the decision in its own books.
  for (const server of [root, leaf]) {
    const { body } = await server.call("GET", "/admin/gates?status=done", await server.adminToken());
    expect(body.gates).toMatchObject([{ approvals: [{ by: "alice" }] }]);
  }
});

test("[AX-11.3-8] without --below the same command signs for the first gate alone, and the call stops at the second", async () => {
  const waiting = waitingOf(await open("first."));
  const command = await approve(waiting.confirmation_id, "--yes");
  await command.ended;
  expect(vault.done("first.")).toEqual([]);
  const again = waitingOf(await open("first."));
  expect(again).toMatchObject({ status: "confirmation_required", tool: "vault.open" });
  expect(again.aggregator_id).not.toBe(waiting.aggregator_id);
});

test("[AX-11.3-8] a call whose gate below is unknown is not signed with --below", async () => {
  const { confirmation_id } = waitingOf(await open("unknown."));
  const first = await approve(confirmation_id, "--yes");
  await first.ended;
  const { body } = await leaf.call("GET", "/admin/gates?status=pending", await leaf.adminToken());
  const [gate] = body.gates.filter(({ terms }: Message) => terms.asker.endsWith("/agent"));
  const key = keyFile();
  const at = ["--url", leaf.url, "--token", await leaf.adminToken(), "--key", key];
  const command = start(["approve", gate.id, ...at, "--below", "--yes"]);
  expect(await command.ended).toMatchObject({ code: 1 });
  expect(command.err.join("\n")).toContain("no gate below is known for this call");
  expect(vault.done("unknown.")).toEqual([]);
});
