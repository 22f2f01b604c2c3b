// `mcpx hook`, as Claude Code starts it: a call on standard input, and an answer before the hook's time is over.
import { expect, onTestFinished, test } from "vitest";
import { openDesk } from "../clients/adapters/desk.ts";
import { mcpx, start } from "./support/mcpx-process.ts";

const call = {
  hook_event_name: "PreToolUse",
  session_id: "s-1",
  tool_name: "Bash",
  tool_input: { command: "rm -r x" },
  tool_use_id: "toolu_1",
};

/** What it answers, and how it ends. */
async function ask(words: readonly string[], input: string) {
  const command = start(["hook", ...words], { isTyped: true });
  command.type(input);
  command.type();
  const { code } = await command.ended;
  const { permissionDecision, permissionDecisionReason } = JSON.parse(
    command.out.join(""),
  ).hookSpecificOutput;
  return { code, decision: permissionDecision, reason: permissionDecisionReason };
}

test("[B-CLIENT-3] a hook that was killed while it waited: its call, made again, hears what was decided meanwhile", {
  timeout: 60_000,
}, async () => {
  const desk = await openDesk();
  onTestFinished(() => desk.server.stop());
  const place = ["--url", desk.server.url, "--token", await desk.token("coder")];
  const killed = start(["hook", ...place], { isTyped: true });
  killed.type(JSON.stringify(call));
  killed.type();
  await expect.poll(() => desk.asked("coder")).toHaveLength(1);
  killed.kill("SIGKILL");
  await killed.ended;
  expect(await desk.decide("approve", "coder")).toMatchObject({
    tool: "Bash",
    arguments: { command: "rm -r x" },
    call: "s-1",
  });
  const again = JSON.stringify({ ...call, tool_use_id: "toolu_2" });
  expect(await ask(place, again)).toMatchObject({ code: 0, decision: "allow" });
  // One approval is one call.
  const third = ask(place, again);
  await desk.decide("reject", "coder");
  expect(await third).toMatchObject({ decision: "deny", reason: expect.stringContaining("not on a Friday") });
});

test("[B-CLIENT-3] whatever goes wrong is a no, in the form that Claude Code understands", async () => {
  const nowhere = ["--url", "http://127.0.0.1:9", "--token", "x", "--wait", "1s"];
  const answers = await Promise.all([
    ask(nowhere, JSON.stringify(call)),
    ask(nowhere, "not JSON"),
    ask(nowhere, ""),
    ask(nowhere, JSON.stringify({ ...call, hook_event_name: "Stop" })),
    ask(["--data", "/nonexistent"], JSON.stringify(call)),
    ask(nowhere, `{"tool_input": "${"x".repeat(5_000_000)}"}`),
  ]);
  for (const answer of answers) expect(answer).toMatchObject({ code: 0, decision: "deny" });
  // Claude Code blocks for this code, and for no other.
  expect((await mcpx(["hook", "--wait", "long"])).code).toBe(2);
});

test("[B-CLIENT-3] what is printed for the settings waits longer than the hook, and blocks where it fails", async () => {
  const { out } = await mcpx(["hook", "--print", "--wait", "2h"]);
  const [{ matcher, hooks }] = JSON.parse(out).hooks.PreToolUse;
  expect(hooks).toEqual([
    { type: "command", command: expect.any(String), timeout: 7_260, onFailure: "block" },
  ]);
  expect(hooks[0].command).toMatch(/^\/\S+ \/\S+mcpx\.js hook --wait 2h \|\| exit 2$/);
  expect(["Bash", "mcp__mcpx__files__read"].map((tool) => new RegExp(matcher).test(tool))).toEqual([
    true,
    false,
  ]);
});
