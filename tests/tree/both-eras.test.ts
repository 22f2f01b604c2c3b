// Servers of both eras, as the official SDK makes them: each caller is spoken for in its own era, so that whoever can be
// asked is asked. The same callers at the same servers without a tree between are the control.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpxCommand, programArgs } from "../support/programs.ts";
import { makeHome, startUp, type Up } from "./support/mcpx-up.ts";
import { connectSdk, type Kind, type SdkCaller, type Way } from "./support/sdk-callers.ts";

const [program, ...args] = [process.execPath, ...programArgs("tests/tree/support/asking-server.ts")] as const;
const stdio: Way = { command: program, args: [...args] };
const legacyKinds = ["v1", "v2 legacy"] as const satisfies Kind[];
const roomEndpoints = ["http", "mcpx stdio before a gateway", "mcpx stdio on its own"] as const;
const servers = ["overstdio", "overhttp"] as const;

let http: Way;
let stateless: Way;
let up: Up;
let alone: ReturnType<typeof makeHome>;
let token: string;
const stops: (() => Promise<unknown> | unknown)[] = [];

async function startHttp(...more: string[]): Promise<string> {
  const child = spawn(program, [...args, "--http", ...more], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  stops.push(async () => {
    child.kill();
    await ended;
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return JSON.parse(line as string).url;
}

beforeAll(async () => {
  const url = await startHttp();
  const statelessUrl = await startHttp("--stateless");
  http = { url, token: "" };
  stateless = { url: statelessUrl, token: "" };
  const server = { command: program, args: [...args] };
  const mcpServers = {
    overstdio: server,
    overhttp: { url },
    stateless: { url: statelessUrl },
    modernonly: { ...server, era: "modern" as const },
    legacyonly: { ...server, era: "legacy" as const },
  };
  up = await startUp({ mcpServers });
  alone = makeHome({ mcpServers });
  stops.unshift(up.stop, alone.remove);
  token = await up.token({ admin: true });
});

afterAll(async () => {
  for (const stop of stops) await stop();
});

function wayOf(roomEndpoint: (typeof roomEndpoints)[number]): Way {
  if (roomEndpoint === "http") return { url: up.url, token };
  const { dataDir, config } = roomEndpoint === "mcpx stdio before a gateway" ? up : alone;
  const [command, ...rest] = mcpxCommand;
  return { command, args: [...rest, "stdio", "--data", dataDir, "--config", config] };
}

async function using<T>(kind: Kind, way: Way, work: (caller: SdkCaller) => Promise<T>): Promise<T> {
  const caller = await connectSdk(kind, way);
  try {
    return await work(caller);
  } finally {
    await caller.close();
  }
}

const greet = (prefix: string) => (caller: SdkCaller) => caller.call(`${prefix}greet`);

describe("control: without a tree between", () => {
  test.for(legacyKinds)("a legacy client (%s) is asked over stdio and over HTTP", async (kind) => {
    expect(await using(kind, stdio, greet(""))).toBe("Hello, Ada");
    expect(await using(kind, http, greet(""))).toBe("Hello, Ada");
  });

  test("a legacy client cannot be asked where the server keeps no sessions", async () => {
    const invited = using("v1", stateless, (caller) => caller.call("invite"));
    expect(
      await invited.then(
        (text) => text,
        (error: unknown) => String(error),
      ),
    ).not.toBe("Welcome, Ada");
    expect(await using("v2 modern", stateless, (caller) => caller.call("invite"))).toBe("Welcome, Ada");
  });

  test("a modern client cannot be asked so", async () => {
    expect(await using("v2 modern", stdio, greet(""))).toMatch(/2026-07-28/);
    expect(await using("v2 modern", http, greet(""))).toMatch(/2026-07-28/);
  });
});

describe.for(roomEndpoints)("[B-TREE-2] over %s", (roomEndpoint) => {
  test.for(legacyKinds.flatMap((kind) => servers.map((server) => ({ kind, server }))))(
    "a legacy client ($kind) is asked by a server of both eras $server",
    async ({ kind, server }) => {
      expect(await using(kind, wayOf(roomEndpoint), greet(`${server}.`))).toBe("Hello, Ada");
    },
  );

  test.for(servers)("a modern client is spoken for in its own era at %s", async (server) => {
    await using("v2 modern", wayOf(roomEndpoint), async (caller) => {
      expect(await caller.call(`${server}.greet`)).toMatch(/2026-07-28/);
      expect(await caller.call(`${server}.where`)).toMatch(/^modern /);
    });
  });
});

const pidOf = (text: string) => Number(text.split(" ")[1]);

describe("at the tree", () => {
  const http = (): Way => ({ url: up.url, token });

  test("[B-ERA-1] two legacy clients have a conversation each, and the modern ones share one", async () => {
    const callers = await Promise.all([
      connectSdk("v1", http(), "Ada"),
      connectSdk("v1", http(), "Bob"),
      connectSdk("v2 modern", http()),
      connectSdk("v2 modern", http()),
    ]);
    try {
      const [ada, bob, carol, dan] = await Promise.all(
        callers.map((caller) => caller.call("overstdio.where")),
      );
      expect([ada, bob].map((text) => text?.split(" ")[0])).toEqual(["legacy", "legacy"]);
      expect(pidOf(ada as string)).not.toBe(pidOf(bob as string));
      expect(carol).toMatch(/^modern/);
      expect(dan).toBe(carol);
      expect(await Promise.all(callers.slice(0, 2).map((one) => one.call("overstdio.greet")))).toEqual([
        "Hello, Ada",
        "Hello, Bob",
      ]);
    } finally {
      for (const caller of callers) await caller.close();
    }
  });

  test("what a call changes in a caller's own conversation, that caller sees, and nobody else", async () => {
    const [ada, bob] = await Promise.all([connectSdk("v1", http(), "Ada"), connectSdk("v1", http(), "Bob")]);
    try {
      expect(await bob.call("overstdio.where")).toMatch(/^legacy/);
      expect(await ada.tools()).not.toContain("overstdio.late");
      expect(await ada.call("overstdio.grow")).toBe("grown");
      await expect.poll(() => ada.heard).toContain("tools");
      expect(await ada.tools()).toContain("overstdio.late");
      expect(await ada.call("overstdio.late")).toBe("here I am");
      expect(await bob.tools()).not.toContain("overstdio.late");
      expect(bob.heard).not.toContain("tools");
    } finally {
      await ada.close();
      await bob.close();
    }
  });

  test("one whose own process ends harms nobody else, however often", async () => {
    const mallory: Way = { url: up.url, token: await up.token({ sub: "mallory" }) };
    const [ada, bob, carol] = await Promise.all([
      connectSdk("v1", mallory, "Ada"),
      connectSdk("v1", http(), "Bob"),
      connectSdk("v2 modern", http()),
    ]);
    try {
      const before = await carol.call("overstdio.where");
      // Five times in a minute is too often: then it gets no process more, and is not let to everybody's.
      for (let times = 0; times < 5; times += 1) {
        await expect(ada.call("overstdio.crash")).rejects.toThrow(/exit code 3/);
      }
      await expect(ada.call("overstdio.where")).rejects.toThrow(/it ends again and again/);
      expect(await carol.call("overstdio.where")).toBe(before);
      expect(await bob.call("overstdio.greet")).toBe("Hello, Bob");
    } finally {
      await ada.close();
      await bob.close();
      await carol.close();
    }
  });

  test("a server that keeps no legacy sessions asks legacy clients by the answers of its modern era", async () => {
    await using("v1", http(), async (caller) => {
      expect(await caller.call("stateless.invite")).toBe("Welcome, Ada");
      expect(await caller.call("stateless.where")).toMatch(/^modern/);
    });
  });

  test("a server set to one era is spoken to in that", async () => {
    for (const kind of ["v1", "v2 modern"] as const) {
      await using(kind, http(), async (caller) => {
        expect(await caller.call("modernonly.where")).toMatch(/^modern/);
        expect(await caller.call("legacyonly.where")).toMatch(/^legacy/);
        expect(await caller.call("legacyonly.greet")).toBe("Hello, Ada");
        expect(await caller.call("modernonly.greet")).toMatch(/2026-07-28/);
      });
    }
  });

  test("lists start no second process; the status says in which eras a server is spoken to", async () => {
    await using("v1", http(), async (caller) => {
      await caller.tools();
      const statusOf = async () => {
        const { servers: all } = JSON.parse(await caller.call("mcpax.status"));
        return Object.fromEntries(all.map((one: { name: string }) => [one.name, one])) as Record<
          string,
          { era: string; era_set?: string; processes: object[]; conversations: number }
        >;
      };
      const before = await statusOf();
      expect(before.overstdio).toMatchObject({ era: "both", conversations: 1 });
      expect(before.overstdio?.processes).toHaveLength(1);
      expect(before.modernonly).toMatchObject({ era: "modern", era_set: "modern" });
      expect(before.legacyonly).toMatchObject({ era: "legacy", era_set: "legacy" });
      await caller.call("overstdio.where");
      expect((await statusOf()).overstdio?.processes).toHaveLength(2);
    });
  });
});
