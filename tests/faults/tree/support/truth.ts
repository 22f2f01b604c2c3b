// What the tree shows, compared with what is really there.
import { expect, vi } from "vitest";
import { fairNow } from "../../../support/fair-now.ts";
import { ask, type Message, type Place } from "../../../tree/support/ask.ts";
import { callOnce } from "./traffic.ts";

/** Name and availability of every tool of a subserver, by name. */
export async function shown(place: Place): Promise<Record<string, string>> {
  const { message } = await ask(place, "tools/list", {}, { signal: AbortSignal.timeout(15_000) });
  const tools: Message[] = message.result.tools.filter(({ name }: Message) => name.endsWith(".work"));
  const entries = tools.map(({ name, _meta }) => [name, _meta["x-mcpax-capability"].availability]);
  // Who were there twice would hide in an object.
  if (new Set(entries.map(([name]) => name)).size < entries.length) throw new Error(`twice: ${entries}`);
  return Object.fromEntries(entries);
}

/** These tools and no others are listed, none of them degraded, and each of them works. */
export async function expectTruth(place: Place, names: readonly string[], timeout = 20_000): Promise<void> {
  const all = Object.fromEntries(names.map((name) => [name, "always"]));
  const look = async () => expect(await shown(place)).toEqual(all);
  await vi.waitFor(look, { timeout, interval: 50 });
  const calls = await Promise.all(names.map((name) => callOnce(place, name)));
  expect(calls.filter(({ what }) => what !== "ok")).toEqual([]);
}

/** How long it takes until these are degraded there, and all others are as they were; `atMs` is of `fairNow`. */
export async function msUntilDegraded(place: Place, names: readonly string[], atMs: number): Promise<number> {
  const look = async () => {
    const tools = await shown(place);
    return Object.keys(tools).filter((name) => tools[name] === "degraded");
  };
  await expect.poll(look, { timeout: 15_000, interval: 15 }).toEqual([...names].sort());
  return fairNow() - atMs;
}
