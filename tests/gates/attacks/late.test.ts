// What comes too late: a proof after the call's time, and a server that is another one by the time the human decides.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startTestServer } from "../../support/test-server.ts";
import { callTool, ask as send } from "../../tree/support/ask.ts";
import { newKey } from "./support/keys.ts";
import { signed, textOf } from "./support/scene.ts";
import { type Cell, openStage, reasonOf, type Stage, waitingOf } from "./support/stage.ts";
import { openVault } from "./support/vault-config.ts";

async function untilExpired(stage: Stage, count: number): Promise<void> {
  const expired = async () =>
    expect((await stage.admin("GET", "/gates?status=expired")).body.gates).toHaveLength(count);
  await vi.waitFor(expired, { timeout: 10_000, interval: 100 });
}

const cells: Cell[] = ["here", "two hops below"];

describe.each(cells)("a gate %s", (cell) => {
  test("[AX-11.3-1] [AX-11.3-5] a proof after the end is confirmation_expired, also after a restart; before, it counts", async () => {
    const stage = await openStage(cell, { timeout: 4_000 });
    onTestFinished(() => stage.stop());
    const { alice } = stage.keys;
    const agent = await stage.agent({ sub: "agent" });
    const courier = await stage.agent({ sub: "courier" });
    const wait = async (box: string) => waitingOf(await agent.call("vault.open", { box }));
    const [early, late, later] = [await wait("early."), await wait("late."), await wait("later.")];
    expect(textOf(await courier.confirm(early.confirmation_id, signed(alice, early)))).toBe("open is done");
    await untilExpired(stage, 2);
    expect(reasonOf(await courier.confirm(late.confirmation_id, signed(alice, late)))).toBe(
      "confirmation_expired",
    );
    await stage.restart();
    expect(reasonOf(await courier.confirm(later.confirmation_id, signed(alice, later)))).toBe(
      "confirmation_expired",
    );
    expect(textOf(await agent.call("vault.open", { box: "late." }))).toBe(
      "Nothing has happened: nobody has approved vault.open in time.",
    );
    expect([stage.done("early."), stage.done("late")].map(({ length }) => length)).toEqual([1, 0]);
  });
});

test("[AX-11.3-1] another server in the same place while a call waits: approved, it fails, and neither does it", async () => {
  const vault = openVault();
  const alice = newKey();
  const gates = { hold: 0, anchors: [{ name: "alice", jwk: alice.jwk }] };
  const config = { mcpServers: vault.mcpServers("gate"), gates } as never;
  const server = await startTestServer({ config });
  onTestFinished(async () => {
    await server.stop();
    vault.remove();
  });
  const token = await server.token({ sub: "agent", topics: [], tools: ["**"] });
  const place = { url: `${server.url}/mcp`, token };
  const wait = async (box: string) => waitingOf(await callTool(place, "vault.open", { box }));
  const [first, second] = [await wait("first."), await wait("second.")];
  const confirm = ({ confirmation_id }: typeof first, proof: string) =>
    send(place, "mcpax/confirm", { confirmation_id, proof });
  await server.restart({ config: { mcpServers: vault.swapped("gate"), gates } as never });
  expect(reasonOf(await confirm(first, signed(alice, first)))).toBe("tool_quarantined");
  // The right one is back: what was approved for nothing is over, and the other goes.
  await server.restart({ config });
  expect(reasonOf(await confirm(first, signed(alice, first)))).toBe("confirmation_used");
  expect(textOf(await confirm(second, signed(alice, second)))).toBe("open is done");
  expect([vault.done("first."), vault.done("second.")].map(({ length }) => length)).toEqual([0, 1]);
});
