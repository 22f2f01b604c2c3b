// `mcpx hook`: Claude Code asks here before it uses a tool of its own, and people decide at a gate. Whatever goes wrong
// is a no: every other way out of a hook lets the call through. [B-CLIENT-3]
import { join } from "node:path";
import { answerHook, createApprovals, denied, type HookAnswer } from "@mcpx/client/adapters";
import { accessGateway } from "../../access/gateway-access.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { durationRule, parseDuration } from "../../framework/duration.ts";
import { misuse } from "../../framework/failure.ts";
import { shellWord } from "../../framework/show-change.ts";

const options = {
  ...gatewayOptions,
  wait: { type: "string", value: "TIME", about: "how long to wait for a decision (default: 55m)" },
  print: { type: "boolean", about: "only print what to put into Claude Code's settings" },
} as const;

type HookContext = Context<typeof options>;

/** A decision may come after hours: the gate must find the token good then. */
const tokenMs = 24 * 3_600_000;
/** What a gate can keep. */
const inputBytesMax = 4 * 1_048_576;
/** The answer must be there before Claude Code gives up, which lets the call through. */
const marginMs = 60_000;
/** Calls of the tree's own tools stop at their own gates. */
const ownServer = "mcp__mcpx__";

export const hook = defineCommand({
  usage: "[--wait TIME] [--print]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx hook --print", "what to put into ~/.claude/settings.json, so that it is asked before every tool"],
    ["mcpx hook --wait 8h --print", "the same for people who are away for long"],
    [
      "cat call.json | mcpx hook",
      "what Claude Code does: the call on standard input, the answer on standard output",
    ],
  ],
  async run(context: HookContext) {
    const waitMs = readWait(context.options.wait ?? "55m");
    if (context.options.print) context.output.line(JSON.stringify(settings(context, waitMs), null, 2));
    else context.output.line(JSON.stringify(await answer(context, waitMs)));
    return 0;
  },
});

function readWait(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw misuse(`--wait ${text} is not ${durationRule}`, "write for example --wait 55m");
}

async function answer(context: HookContext, waitMs: number): Promise<HookAnswer> {
  try {
    const input: unknown = JSON.parse(await readAll(process.stdin));
    const claims = { sub: "client:claude-code", topics: [], tools: ["mcpax.ask", "mcpax.wait"] };
    const access = accessGateway(context, claims, "--url", tokenMs);
    const { url } = await access.enter();
    const token = async () => (await access.enter()).token;
    const signal = context.interrupted();
    return await answerHook(createApprovals({ url, token }), input, { waitMs, signal });
  } catch (error) {
    return denied(`no approval could be requested: ${(error as Error).message}`);
  }
}

/** Read to its end, however large: a writer that is cut off may take that for the hook's failure. */
async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes <= inputBytesMax) parts.push(part);
  }
  if (bytes > inputBytesMax) {
    throw new Error(`the call has ${bytes} bytes, and people are asked about ${inputBytesMax} at most`);
  }
  return Buffer.concat(parts).toString();
}

/** A hook that cannot start, fails or takes too long blocks; older versions of Claude Code know only the exit code 2. */
function settings({ options }: HookContext, waitMs: number) {
  const data = options.data === undefined ? "" : ` --data ${shellWord(options.data)}`;
  const url = options.url === undefined ? "" : ` --url ${shellWord(options.url)}`;
  const wait = options.wait === undefined ? "" : ` --wait ${options.wait}`;
  // By their full paths: nobody knows in which directory, and with which PATH, Claude Code is started.
  const program = [process.execPath, join(import.meta.dirname, "../../..", "bin", "mcpx.js")].map(shellWord);
  const command = `${program.join(" ")} hook${data}${url}${wait} || exit 2`;
  const timeout = Math.ceil((waitMs + marginMs) / 1_000);
  const matcher = `^(?!${ownServer})`;
  return {
    hooks: {
      PreToolUse: [{ matcher, hooks: [{ type: "command", command, timeout, onFailure: "block" }] }],
    },
  };
}
