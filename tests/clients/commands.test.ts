// The commands that write into an assistant's settings, judged by the very program they are for: `mcpx connect` and
// `mcpx hook`. The programs are installed into a folder of their own, by `npm run soak -- tests/clients`.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, up } from "../cli/support/mcpx-process.ts";
import { programArgs } from "../support/programs.ts";
import { openDesk } from "./adapters/desk.ts";
import { type Assistant, assistants, claudeCode, openAssistant } from "./drivers/assistants.ts";
import { installClients } from "./support/installed.ts";

let dir = "";

beforeAll(() => {
  dir = installClients(assistants.map((assistant) => assistant.package));
}, 900_000);

async function open(assistant: Assistant, home: string) {
  const session = await openAssistant(assistant, dir, home);
  onTestFinished(() => session.close());
  /** As a new run of the program sees them. */
  const toolsNow = async () => {
    session.model.tools = [];
    return session.tools();
  };
  return { ...session, toolsNow };
}

test.for(assistants)(
  "[B-CLIENT-1] $client has the tools once `mcpx connect $id` was there, and none before and after",
  { timeout: 300_000 },
  async (assistant) => {
    const home = scratch();
    const dataDir = join(home, ".local", "share", "mcpx");
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const desk = [...programArgs("tests/clients/support/desk-server.ts"), "/dev/null"];
    const papers = { command: process.execPath, args: desk, trusted: true };
    writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ mcpServers: { papers } }));
    const options = { cwd: home, env: { HOME: home, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" } };
    await up(dataDir, [], options);
    const { toolsNow, call } = await open(assistant, home);
    expect(await toolsNow()).toEqual([]);
    expect(await mcpx(["connect", assistant.id, "--yes"], options)).toMatchObject({ code: 0 });
    await expect.poll(toolsNow, { timeout: 120_000 }).toContainEqual(expect.stringMatching(/papers__look$/));
    const look = (await toolsNow()).find((name) => name.endsWith("papers__look")) ?? "";
    expect((await call(look, { paper: "tax" })).text).toContain("tax is a paper");
    expect(await mcpx(["connect", assistant.id, "--undo", "--yes"], options)).toMatchObject({ code: 0 });
    expect(await toolsNow()).toEqual([]);
  },
);

/** Claude Code with the settings that `mcpx hook --print` prints, and a model that deletes a file in its shell. */
async function openHooked(change: (settings: string) => string = (settings) => settings) {
  const home = scratch();
  const desk = await openDesk({ timeout: 60_000 });
  onTestFinished(() => desk.server.stop());
  const { code, out } = await mcpx(["hook", "--print", "--url", desk.server.url, "--wait", "2m"]);
  expect(code).toBe(0);
  mkdirSync(join(home, ".claude"));
  writeFileSync(join(home, ".claude", "settings.json"), change(out));
  const token = await desk.token("coder");
  const session = await open(
    {
      ...claudeCode,
      // Nothing but the hook stands before its shell.
      words: ["-p", "go", "--allowedTools", "Bash"],
      env: (model) => ({ ...claudeCode.env(model), MCPX_TOKEN: token }),
    },
    home,
  );
  const victim = join(home, "old.txt");
  writeFileSync(victim, "old");
  return { desk, victim, shred: () => session.call("Bash", { command: "rm old.txt" }) };
}

const slow = { timeout: 240_000 };

test("[B-CLIENT-3] Claude Code starts `mcpx hook`, waits, and does what was approved", slow, async () => {
  const { desk, victim, shred } = await openHooked();
  const [told, asked] = await Promise.all([shred(), desk.decide("approve", "coder")]);
  expect(asked).toMatchObject({ tool: "Bash", arguments: { command: "rm old.txt" } });
  expect(told.isError).toBe(false);
  expect(existsSync(victim)).toBe(false);
});

test("[B-CLIENT-3] Claude Code does nothing that was rejected, and its model is told why", slow, async () => {
  const { desk, victim, shred } = await openHooked();
  const [told] = await Promise.all([shred(), desk.decide("reject", "coder")]);
  expect(told).toMatchObject({ isError: true, text: expect.stringContaining("not on a Friday") });
  expect(readFileSync(victim, "utf8")).toBe("old");
});

test.for([
  [
    "the gateway is away",
    (settings: string) => settings.replace(/http:\/\/[\d.:]+ --wait 2m/, "http://127.0.0.1:9 --wait 1s"),
  ],
  ["the hook is not there", (settings: string) => settings.replace("mcpx.js hook", "nothing.js hook")],
  [
    "the hook is ended before it has answered",
    (settings: string) => settings.replace(/"timeout": \d+/, '"timeout": 3'),
  ],
] as const)("[B-CLIENT-3] Claude Code does nothing where %s", slow, async ([, change]) => {
  const { victim, shred } = await openHooked(change);
  expect(await shred()).toMatchObject({ isError: true });
  expect(existsSync(victim)).toBe(true);
});

test("[B-CLIENT-3] the control: without the hook Claude Code asks nobody", slow, async () => {
  const { victim, shred } = await openHooked(() => "{}");
  expect(await shred()).toMatchObject({ isError: false });
  expect(existsSync(victim)).toBe(false);
});
