// A gateway as somebody has it after a week: eight servers, one of them down, two rooms, people and agents, calls that
// wait at a gate beside a proposal; and one as it is before anything is there.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { joinRoom, type Room } from "@mcpx/client";
import {
  createIdentity,
  createLogger,
  createSqliteIdentityStore,
  openState,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { serveTools } from "../../tests/console/support/serve-tools.ts";
import { callTool } from "../../tests/tree/support/ask.ts";

export interface Scene {
  url: string;
  link: string;
  /** Something has happened, and something waits. */
  begin(): Promise<void>;
  end(): Promise<void>;
}

type Enter = (claims: Omit<TokenClaims, "topics">, topic?: string) => Promise<Room>;

const heatSchema = {
  type: "object",
  properties: {
    celsius: { type: "number", minimum: 30, maximum: 300, description: "how hot it gets" },
    mode: { type: "string", enum: ["top and bottom", "fan", "grill"] },
    door: { type: "boolean" },
  },
  required: ["celsius"],
};
const shredder = resolve("tests/gates/support/shredder.ts");
const topic = "bakery";
const hourMs = 3_600_000;

/** `isEmpty`: with a configuration that names nothing, so that not even the demo is there. */
export async function startScene({ isEmpty = false } = {}): Promise<Scene> {
  const home = mkdtempSync(join(tmpdir(), "mcpx-pictures-"));
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, "mcpx.json"), JSON.stringify(isEmpty ? {} : configOf(home), undefined, 2));
  const args = ["up", "--port", "0", "--json", "--data", data, "--config", join(data, "mcpx.json")];
  const gateway = spawn(process.execPath, [resolve("packages/cli/bin/mcpx.js"), ...args], {
    cwd: home,
    env: { ...process.env, HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { url, console: link } = JSON.parse(await firstLine(gateway)) as { url: string; console: string };
  const rooms: Room[] = [];
  const state = openState(join(data, "state.db"));
  const log = createLogger({ level: "warn" });
  const identity = await createIdentity({ store: createSqliteIdentityStore(state), clock: systemClock, log });
  const mint = async (claims: TokenClaims) => (await identity.tokens.mint(claims, { ttlMs: hourMs })).token;
  const enter: Enter = async (claims, at = topic) => {
    const room = await joinRoom({ url, topic: at, token: await mint({ topics: [at], ...claims }) });
    rooms.push(room);
    return room;
  };
  const waiting: Promise<unknown>[] = [];
  const call = async (tool: string, given: JsonObject) => {
    const token = await mint({ sub: "researcher", topics: [], tools: ["**"] });
    return callTool({ url: `${url}/mcp`, token }, tool, given);
  };
  return {
    url,
    link,
    async begin() {
      await fill(enter);
      for (let shelf = 0; shelf < 5; shelf += 1) await call("library.look", { shelf });
      const papers = { path: "/srv/papers/2025", pages: [3, 4, 5], note: "older than a year" };
      waiting.push(call("office.shred", papers), call("archive.shred", { path: "/srv/tmp" }));
    },
    async end() {
      await Promise.all(rooms.map((room) => room.close()));
      identity.close();
      state.close();
      gateway.kill("SIGTERM");
      await new Promise((done) => gateway.once("close", done));
      await Promise.allSettled(waiting);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function configOf(home: string): object {
  const args = (name: string) => ["--conditions=mcpx-source", shredder, join(home, name)];
  const names = ["archive", "calendar", "kitchen", "library", "mail", "office", "print-shop"];
  const servers = names.map((name) => [name, { command: process.execPath, args: args(name), trusted: true }]);
  return {
    mcpServers: { ...Object.fromEntries(servers), weather: { command: join(home, "not-installed") } },
    gates: {
      timeout: "1h",
      rules: [
        { tools: "*.look", action: "allow" },
        { tools: "mail.*", action: "deny" },
      ],
    },
  };
}

async function fill(enter: Enter): Promise<void> {
  const robot = await enter({ sub: "oven-robot", level: "responder", kind: "robot" });
  await robot.serve(
    serveTools([], { more: { inputSchema: heatSchema, annotations: { destructiveHint: false } } }),
  );
  const agent = await enter({ sub: "baking-agent", level: "restricted", kind: "agent" });
  const anna = await enter({ sub: "anna", level: "full", kind: "human" });
  const elsewhere = await enter({ sub: "anna", level: "full", kind: "human" }, "orders");
  await elsewhere.say("Order A-17 wants to be ready at eight.");
  await anna.say("Bread at eight? The **rye** first.");
  await agent.say("I would heat the oven to 230 °C, then hold 210 °C for forty minutes.");
  await anna.peer("oven-robot").callTool("heat", { celsius: 180 });
  const ask = (celsius: number, reason?: string) => {
    const params = { name: "heat", arguments: { celsius } };
    return agent.propose({ to: "oven-robot", method: "tools/call", params, reason, ttlMs: hourMs });
  };
  for (const [celsius, isApproved] of [
    [210, true],
    [900, false],
    [215, true],
  ] as const) {
    const { withdraw } = ask(celsius, "the oven is cold");
    const one = await pending(anna, celsius);
    if (isApproved) await anna.proposals.fulfil(one);
    else {
      await anna.proposals.reject(one, { reason: "far too hot" });
      await withdraw();
    }
  }
  await anna.say("Good. Tell me when it is warm.");
  ask(230, "Rye wants it hotter than wheat.");
}

async function pending({ proposals }: Room, celsius: number) {
  for (;;) {
    const one = proposals
      .pending()
      .find(({ params }) => JSON.stringify(params.arguments).includes(`${celsius}`));
    if (one !== undefined) return one;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout !== null) for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("the gateway has not started");
}
