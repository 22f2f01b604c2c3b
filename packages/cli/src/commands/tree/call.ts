// `mcpx call TOOL [JSON]`: one tool of the tree, called from the terminal. The caller is asked first, unless the tool
// is believed to only read. [X0-9-1]
import {
  isObject,
  type JsonObject,
  parseExact,
  readWaitingCall,
  withoutRoot,
  withRoot,
} from "@mcpx/protocol";
import { accessGateway } from "../../access/gateway-access.ts";
import { openTree } from "../../access/gateway-link.ts";
import { localUser } from "../../files/local-store.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import type { Output } from "../../framework/output.ts";
import { visible } from "../../framework/visible.ts";
import { resultLines } from "../../gates/call-text.ts";
import { isCallWanted } from "../../gates/confirm-call.ts";
import { waitingLines } from "../../gates/waiting-lines.ts";
import { lookAtTree } from "../../tree-view/look-at-tree.ts";
import { noSuchTool } from "../../tree-view/no-such-tool.ts";

const options = {
  ...gatewayOptions,
  yes: { type: "boolean", about: "call without asking, even where the tool changes things" },
} as const;

export const call = defineCommand({
  usage: "TOOL [JSON] [--yes]",
  words: { min: 1, max: 2, values: [["tool"], []] },
  options,
  examples: [
    ["mcpx call mcpax.status", "how the tree is"],
    [`mcpx call files.read_file '{"path": "README.md"}'`, "a tool with arguments"],
    [`mcpx call files.write_file '{"path": "x", "text": ""}' --yes`, "in a script, without a terminal"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { words, options, output } = context;
  const [name = "", text = "{}"] = words;
  const args = readArguments(text);
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], tools: [name] });
  const tree = await openTree(access);
  try {
    if (!options.yes && !(await isCallWanted(context, tree, { name, args }))) {
      output.line("nothing was called");
      return 1;
    }
    const interrupted = context.interrupted();
    const tell = progressTeller(output);
    const result = await tree
      .request(
        "tools/call",
        { name, arguments: args },
        {
          signal: interrupted,
          wantsProgress: true,
          notify: (method, params) => {
            if (method === "notifications/progress") tell(params);
          },
        },
      )
      .catch(async (error: unknown) => {
        throw await explained(context, name, error);
      });
    if (options.json) output.json(result);
    else for (const line of linesOf(result, context.program)) output.line(line);
    return result.isError === true || readWaitingCall(result) !== undefined ? 1 : 0;
  } finally {
    await tree.close();
  }
}

/** What a tool itself calls unknown is left as it is. */
async function explained(context: Context<typeof options>, name: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure) || error.reason !== "unknown_tool") return error;
  const view = await lookAtTree(context);
  const full = withRoot(view.root, withoutRoot(view.root, name));
  return view.tools.some((tool) => tool.name === full) ? error : noSuchTool(full, view);
}

function readArguments(text: string): JsonObject {
  let value: unknown;
  try {
    // What was typed is what is called: no number is rounded.
    value = parseExact(text);
  } catch {
    throw misuse("the arguments are not JSON", `write for example '{"path": "README.md"}'`);
  }
  if (isObject(value)) return value;
  throw misuse("the arguments are not a JSON object", `write for example '{"path": "README.md"}'`);
}

/** A message that a server repeats is printed once. */
function progressTeller(output: Output): (params: JsonObject) => void {
  let said: unknown;
  return (params) => {
    if (params.message !== undefined && params.message === said) return;
    said = params.message;
    output.note(progressLine(params));
  };
}

function linesOf(result: JsonObject, program: string): string[] {
  const waiting = readWaitingCall(result);
  if (waiting !== undefined) return waitingLines(waiting, { program, nowMs: Date.now() });
  if (result.resultType !== "input_required") return resultLines(result);
  return ["(the tool asks questions; use a client that can answer them)"];
}

function progressLine({ progress, total, message }: JsonObject): string {
  const of = total === undefined ? "" : ` of ${JSON.stringify(total)}`;
  const what = typeof message === "string" ? ` ${visible(message)}` : "";
  return `-- ${JSON.stringify(progress)}${of}${what}`;
}
