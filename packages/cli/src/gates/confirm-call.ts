// Whether the person at the terminal wants this call: asked for every tool that is not believed to only read. What a
// server says of its own tools counts only where the operator trusts it. [X0-9-1]
import { believedOf, isObject, type JsonObject } from "@mcpx/protocol";
import type { TreeCaller } from "../access/gateway-link.ts";
import type { Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { ask } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";

type Asking = Pick<Surroundings, "output" | "input"> & { options: { json: boolean } };

/** Throws where nobody can be asked. */
export async function isCallWanted(
  context: Asking,
  tree: TreeCaller,
  { name, args }: { name: string; args: JsonObject },
): Promise<boolean> {
  if (await onlyReads(tree, name)) return true;
  const question = `Call ${visible(name)} with ${visible(JSON.stringify(args))}? It may change things. y or n (Enter: n)`;
  const answer = context.options.json ? undefined : await ask(context, question);
  if (answer === undefined) {
    const why = `nothing was called: ${visible(name)} may change something, and there is no terminal to ask for confirmation`;
    throw new Failure(why, "add --yes");
  }
  return /^y(es)?$/i.test(answer);
}

/** By the name under which it is listed. A tool that is listed under another may be anything. */
async function onlyReads(tree: TreeCaller, name: string): Promise<boolean> {
  let cursor: unknown;
  do {
    const page = await tree.request("tools/list", cursor === undefined ? {} : { cursor });
    const tools = Array.isArray(page.tools) ? page.tools.filter(isObject) : [];
    const tool = tools.find((one) => one.name === name);
    if (tool !== undefined) return believedOf(tool).mutable === false;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return false;
}
