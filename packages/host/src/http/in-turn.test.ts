import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { defaultLimits } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { start } from "./listener-cases.ts";
import type { Route } from "./routes.ts";

function startSlow() {
  const begun: string[] = [];
  const go = new Map<string, () => void>();
  const slow: Route = {
    method: "GET",
    path: "/slow/:name",
    handle: async ({ params: { name = "" } }) => {
      begun.push(name);
      await new Promise<void>((resolve) => go.set(name, resolve));
      return { text: `answer ${name}` };
    },
  };
  const quick: Route = {
    method: "GET",
    path: "/quick",
    handle: () => ({ text: String(begun.push("quick")) }),
  };
  return { begun, go, routes: [slow, quick] };
}

async function dial(port: number): Promise<{ peer: Socket; heard(): string }> {
  const peer = connect(port, "127.0.0.1");
  peer.on("error", () => {});
  onTestFinished(() => void peer.destroy());
  let text = "";
  peer.on("data", (chunk) => {
    text += chunk;
  });
  await once(peer, "connect");
  return { peer, heard: () => text };
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test("[X0-9-4] requests sent ahead begin one after the other, and are answered in their order", async () => {
  const { begun, go, routes } = startSlow();
  const { port } = await start({ routes });
  const { peer, heard } = await dial(port);
  peer.write(ask("/slow/a") + ask("/slow/b") + ask("/quick"));
  await expect.poll(() => begun).toEqual(["a"]);
  // Control: another connection does not wait for this one.
  const other = await dial(port);
  other.peer.write(ask("/quick"));
  await expect.poll(other.heard).toContain("200 OK");
  expect(begun).toEqual(["a", "quick"]);
  go.get("a")?.();
  await expect.poll(() => begun).toEqual(["a", "quick", "b"]);
  go.get("b")?.();
  await expect.poll(() => heard().match(/answer \w|\d$/g)).toEqual(["answer a", "answer b", "4"]);
});

test("what was sent ahead by somebody who has left is not begun", async () => {
  const { begun, go, routes } = startSlow();
  const { port } = await start({ routes });
  const { peer } = await dial(port);
  peer.write(ask("/slow/a") + ask("/slow/b") + ask("/slow/c"));
  await expect.poll(() => begun).toEqual(["a"]);
  peer.destroy();
  const { peer: next, heard } = await dial(port);
  next.write(ask("/quick"));
  await expect.poll(heard).toContain("200 OK");
  go.get("a")?.();
  next.write(ask("/quick"));
  await expect.poll(() => begun).toEqual(["a", "quick", "quick"]);
});

test("[X0-9-4] who sends more ahead than a hundred or so is cut off, and nothing of it is begun", async () => {
  const { begun, go, routes } = startSlow();
  const { port } = await start({ routes });
  const { peer } = await dial(port);
  peer.write(ask("/slow/a"));
  await expect.poll(() => begun).toEqual(["a"]);
  peer.write(ask("/quick").repeat(100));
  const closed = once(peer, "close");
  peer.write(ask("/quick").repeat(100));
  await closed;
  go.get("a")?.();
  expect(begun).toEqual(["a"]);
});

test("[B-FAIR-2] what is sent ahead takes a bounded part of the memory: whoever sends more is cut off, others wait on", async () => {
  const { begun, go, routes } = startSlow();
  const { port } = await start({ routes, limits: { ...defaultLimits, heldBytesPerPrincipalMax: 2_000_000 } });
  const large = `GET /quick HTTP/1.1\r\nHost: localhost\r\n${`X-A: ${"x".repeat(50)}\r\n`.repeat(200)}\r\n`;
  const modest = await dial(port);
  modest.peer.write(ask("/slow/a") + large);
  await expect.poll(() => begun).toEqual(["a"]);
  const greedy = await dial(port);
  greedy.peer.write(ask("/slow/b"));
  await expect.poll(() => begun).toEqual(["a", "b"]);
  // Perhaps with a reset, since not all of it was read.
  const closed = new Promise((resolve) => greedy.peer.once("close", resolve));
  greedy.peer.write(large.repeat(100));
  await closed;
  // What it took is given back, and who has sent one ahead still has it.
  const next = await dial(port);
  next.peer.write(ask("/slow/c") + large.repeat(30));
  await expect.poll(() => begun).toEqual(["a", "b", "c"]);
  go.get("a")?.();
  go.get("c")?.();
  await expect.poll(() => modest.heard().match(/200 OK/g)).toHaveLength(2);
  await expect.poll(() => next.heard().match(/200 OK/g)).toHaveLength(31);
});
