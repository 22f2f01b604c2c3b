// Independent callers use the tree as if each server were their own: the official SDKs' clients of both versions and
// eras, over HTTP and over `mcpx stdio`, before servers of both eras over both transports; and the inspector.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtureCommand, type RunningFixture, startFixture } from "../conformance/start-fixture.ts";
import { mcpxCommand } from "../support/programs.ts";
import { type HttpBackends, startHttpBackends, stdioBackend } from "./support/backends.ts";
import { makeHome, startUp, type Up } from "./support/mcpx-up.ts";
import { connectSdk, type Kind, kinds, type SdkCaller, type Way } from "./support/sdk-callers.ts";

const root = dirname(dirname(import.meta.dirname));
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const rawEras = ["legacy", "modern"] as const;
const eras = [...rawEras, "both"] as const;
const transports = ["stdio", "http"] as const;
const servers = eras.flatMap((era) => transports.map((transport) => `${era}-${transport}`));
const clientRoutes = ["http", "mcpx stdio before a gateway", "mcpx stdio on its own"] as const;
type ClientRoute = (typeof clientRoutes)[number];

/** Every combination over HTTP; over the other two, which share all but the endpoint, each era over another transport. */
const serversOf: Record<ClientRoute, readonly string[]> = {
  http: servers,
  "mcpx stdio before a gateway": ["legacy-stdio", "modern-http", "both-stdio"],
  "mcpx stdio on its own": ["legacy-http", "modern-stdio", "both-http"],
};
const rawOf = (clientRoute: ClientRoute) =>
  serversOf[clientRoute].filter((server) => !server.startsWith("both"));

const records = mkdtempSync(join(tmpdir(), "mcpx-records-"));
const stops: (() => Promise<unknown>)[] = [];
let up: Up;
let alone: ReturnType<typeof makeHome>;
let token: string;

const recordOf = (server: string) => join(records, server);

/** The fixture six times, the published server, and the raw one four times for what the fixture does not tell. */
function mcpServers(fixtures: Record<string, RunningFixture>, raw: Record<string, HttpBackends>) {
  return Object.fromEntries([
    ["everything", { command: process.execPath, args: [everything, "stdio"] }],
    ...eras.flatMap((era) => {
      const [command, ...args] = fixtureCommand("stdio", era);
      return [
        [`${era}-stdio`, { command, args }],
        [`${era}-http`, { url: fixtures[era]?.url }],
      ];
    }),
    ...rawEras.flatMap((era) => {
      return [
        [`raw-${era}-stdio`, stdioBackend({ era, record: recordOf(`${era}-stdio`) })],
        [`raw-${era}-http`, { url: raw[era]?.urlOf("none") }],
      ];
    }),
  ]);
}

beforeAll(async () => {
  const fixtures = {
    legacy: await startFixture("legacy"),
    modern: await startFixture("modern"),
    both: await startFixture("both"),
  };
  const raw = {
    legacy: await startHttpBackends({ era: "legacy", record: recordOf("legacy-http") }),
    modern: await startHttpBackends({ era: "modern", record: recordOf("modern-http") }),
  };
  stops.push(...[...Object.values(fixtures), ...Object.values(raw)].map(({ stop }) => stop));
  const config = { mcpServers: mcpServers(fixtures, raw) };
  up = await startUp(config);
  alone = makeHome(config);
  stops.unshift(up.stop, async () => alone.remove());
  token = await up.token();
});

afterAll(async () => {
  for (const stop of stops) await stop();
  rmSync(records, { recursive: true });
});

function wayOf(clientRoute: ClientRoute): Way {
  if (clientRoute === "http") return { url: up.url, token };
  const { dataDir, config } = clientRoute === "mcpx stdio before a gateway" ? up : alone;
  const [command, ...args] = mcpxCommand;
  return { command, args: [...args, "stdio", "--names", "canonical", "--data", dataDir, "--config", config] };
}

describe.for(clientRoutes.flatMap((clientRoute) => kinds.map((kind) => ({ clientRoute, kind }))))(
  "[AX-1.1-1] the SDK client $kind over $clientRoute",
  ({ clientRoute, kind }: { clientRoute: ClientRoute; kind: Kind }) => {
    let caller: SdkCaller;
    beforeAll(async () => {
      caller = await connectSdk(kind, wayOf(clientRoute));
    });
    afterAll(() => caller.close());
    const heardOf = async (work: () => Promise<unknown>) => {
      caller.heard.length = 0;
      await work();
      return caller.heard;
    };

    test("sees the tools of all servers, each under its segment", async () => {
      const tools = await caller.tools();
      for (const server of servers) expect(tools).toContain(`${server}.test_simple_text`);
      expect(tools).toEqual(
        expect.arrayContaining(["everything.echo", "everything.trigger-sampling-request"]),
      );
    });

    test.for(serversOf[clientRoute])("calls, reads, gets and completes at %s", async (server) => {
      expect(await caller.call(`${server}.test_simple_text`)).toBe(
        "This is a simple text response for testing.",
      );
      const uri = `mcpx://${server}/test://static-text`;
      expect(await caller.read(uri)).toMatchObject({
        uri,
        text: "This is the content of the static text resource.",
      });
      expect(await caller.prompt(`${server}.test_prompt_with_arguments`, { arg1: "a", arg2: "b" })).toBe(
        "Prompt with arguments: arg1='a', arg2='b'",
      );
      expect(await caller.completePrompt(`${server}.test_prompt_with_arguments`, "par")).toEqual([
        "paris",
        "park",
        "party",
      ]);
    });

    test.for(serversOf[clientRoute])(
      "[B-TREE-2] is asked by %s: model, form, roots, several at once and one after the other",
      async (server) => {
        const call = (name: string, args = {}) => caller.call(`${server}.${name}`, args);
        const prefix = "test_input_required_result";
        // A server of both eras that asks in the middle of a call asks no modern client, not even directly.
        const isPushed = server.startsWith("both") && kind === "v2 modern";
        const heard = await heardOf(async () => {
          if (isPushed) {
            expect(await call(`${prefix}_sampling`)).toBe("Ada says");
            expect(await call(`${prefix}_elicitation`)).toBe("Hello, Ada!");
          } else {
            expect(await call("test_sampling", { prompt: "Hello" })).toBe("LLM response: Ada says");
            expect(await call("test_elicitation", { message: "Who?" })).toContain('"username":"Ada"');
          }
          expect(await call(`${prefix}_list_roots`)).toBe("Roots: file:///Ada");
        });
        // The published server asks for the roots whenever it likes.
        expect([...new Set(heard.filter((what) => what.startsWith("asked")))].toSorted()).toEqual([
          "asked elicitation/create",
          "asked roots/list",
          "asked sampling/createMessage",
        ]);
        expect(await call(`${prefix}_multiple_inputs`)).toBe("Ada says Ada, you work in file:///Ada");
        expect(await call(`${prefix}_multi_round`)).toBe("Ada likes blue");
        expect(await call(`${prefix}_request_state`)).toBe("state-ok");
      },
    );

    test.for(serversOf[clientRoute])("[B-TREE-2] hears progress and log messages of %s", async (server) => {
      const steps: number[] = [];
      caller.steps.length = 0;
      await caller.call(
        `${server}.test_tool_with_progress`,
        {},
        { onprogress: ({ progress }) => steps.push(progress) },
      );
      expect(caller.steps).toEqual([0, 50, 100]);
      expect(steps).toEqual(caller.steps.slice(0, steps.length));
      const heard = await heardOf(() => caller.call(`${server}.test_tool_with_logging`));
      await expect
        .poll(() => heard.filter((what) => what.startsWith("log Tool")))
        .toEqual(["log Tool execution started", "log Tool processing data", "log Tool execution completed"]);
    });

    test.for(serversOf[clientRoute])(
      "[B-TREE-2] is told when a resource of %s changes, and when its lists do",
      async (server) => {
        const uri = `mcpx://${server}/test://watched-resource`;
        await caller.watch(uri);
        const heard = await heardOf(() => caller.call(`${server}.test_trigger_resource_update`));
        await expect.poll(() => heard).toContain(`updated ${uri}`);
        const extra = `${server}.test_extra_tool`;
        const toggled = async () => {
          await heardOf(() => caller.call(`${server}.test_trigger_tool_change`));
          await expect.poll(() => heard).toContain("tools");
          return (await caller.tools()).includes(extra);
        };
        const isThere = await toggled();
        expect(await toggled()).toBe(!isThere);
        await heardOf(() => caller.call(`${server}.test_trigger_prompt_change`));
        await expect.poll(() => heard).toContain("prompts");
      },
    );

    test.for(rawOf(clientRoute))("cancels a call at the raw %s", async (server) => {
      const lines = () => readFileSync(recordOf(server), "utf8").split("\n");
      const isWaiting = (line: string) => /tools\/call/.test(line) && /\\"name\\":\\"wait\\"/.test(line);
      const isCancelled = (line: string) =>
        /notifications\/cancelled/.test(line) || line.includes('{"left":"wait"}');
      const count = (fits: (line: string) => boolean) => lines().filter(fits).length;
      await caller.call(`raw-${server}.work`);
      const before = { waiting: count(isWaiting), cancelled: count(isCancelled) };
      const leaving = new AbortController();
      const waiting = caller.call(`raw-${server}.wait`, {}, { signal: leaving.signal });
      await expect.poll(() => count(isWaiting)).toBe(before.waiting + 1);
      expect(count(isCancelled)).toBe(before.cancelled);
      leaving.abort();
      await expect(waiting).rejects.toThrow();
      await expect.poll(() => count(isCancelled), { timeout: 5_000 }).toBeGreaterThan(before.cancelled);
    });

    test("uses the published server, questions included", async () => {
      expect(await caller.call("everything.echo", { message: "hi" })).toBe("Echo: hi");
      expect(
        await caller.call("everything.trigger-sampling-request", { prompt: "p", maxTokens: 5 }),
      ).toContain("Ada says");
      const steps: number[] = [];
      caller.steps.length = 0;
      await caller.call(
        "everything.trigger-long-running-operation",
        { duration: 0.3, steps: 3 },
        { onprogress: ({ progress }) => steps.push(progress) },
      );
      expect(caller.steps.slice(0, 2)).toEqual([1, 2]);
      expect(steps).toEqual(caller.steps.slice(0, steps.length));
    });

    test("[AX-5.2-1] is told that a tool nobody has is not there", async () => {
      await expect(caller.call("legacy-stdio.no_such_tool")).rejects.toMatchObject({ code: -32601 });
    });
  },
);

const run = promisify(execFile);
const inspector = join(root, "node_modules/.bin/mcp-inspector");

test.for(["legacy", "auto", "modern"])(
  "[AX-1.1-1] the inspector lists, calls, reads and gets in the era “%s”",
  { timeout: 60_000 },
  async (era) => {
    const inspect = async (method: string, ...args: string[]) => {
      const asked = ["--header", `Authorization: Bearer ${token}`, "--method", method, ...args];
      const all = ["--cli", up.url, ...asked, "--format", "json", "--protocol-era", era];
      // It keeps a catalogue in the home directory.
      const { stdout } = await run(inspector, all, { env: { ...process.env, HOME: records } });
      return stdout;
    };
    const sum = ["--tool-name", "everything__get-sum", "--tool-arg", "a=2", "--tool-arg", "b=3"];
    const prompt = ["--prompt-name", "modern-stdio__test_prompt_with_arguments"];
    const [listed, called, read, got] = await Promise.all([
      inspect("tools/list"),
      inspect("tools/call", ...sum),
      inspect("resources/read", "--uri", "mcpx://legacy-http/test://static-text"),
      inspect("prompts/get", ...prompt, "--prompt-args", "arg1=a", "arg2=b"),
    ]);
    expect(listed).toContain('"everything__echo"');
    expect(called).toContain("The sum of 2 and 3 is 5.");
    expect(read).toContain("This is the content of the static text resource.");
    expect(got).toContain("arg1='a', arg2='b'");
  },
);
