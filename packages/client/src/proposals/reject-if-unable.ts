// A target that serves, but not this, says so at once rather than let the proposer wait. Nobody has to. [PL-11-2]
import { isObject, type JsonObject, written } from "@mcpx/protocol";
import { publish, type RoomCore } from "../core/room-core.ts";
import type { Proposal } from "./proposal.ts";

const pagesMax = 100;
/** Names that are told to a proposer that asked for another. */
const namesMax = 20;
const nameCharsMax = 64;

export async function rejectIfUnable(core: RoomCore, proposal: Proposal): Promise<void> {
  const { id, targets, proposer } = proposal;
  // A participant that proposes to itself knows its own tools.
  if (core.served === undefined || !targets.includes(core.id) || proposer === core.id) return;
  const reason = await whyUnable(core, proposal);
  if (reason === undefined) return;
  const payload = { code: "incapable", reason };
  await publish(core, { kind: "mcpx.reject.proposal", to: [proposer], correlation_id: id, payload });
}

/** `undefined` where it serves what is proposed. */
async function whyUnable(core: RoomCore, { method, params }: Proposal): Promise<string | undefined> {
  if (method !== "tools/call")
    return core.served?.serves(method) ? undefined : `${core.id} does not serve ${method}`;
  const { name } = params as JsonObject;
  const names: string[] = [];
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page += 1) {
    const listed = await core.callSelf?.("tools/list", cursor === undefined ? {} : { cursor }, {});
    const tools: unknown[] = Array.isArray(listed?.tools) ? listed.tools : [];
    const found = tools.flatMap((tool) =>
      isObject(tool) && typeof tool.name === "string" ? [tool.name] : [],
    );
    if (found.some((one) => one === name)) return undefined;
    names.push(...found);
    cursor = listed?.nextCursor;
    if (typeof cursor !== "string")
      return `${core.id} has no tool ${JSON.stringify(written(name).slice(0, nameCharsMax))}; ${toldNames(names)}`;
  }
  return undefined;
}

function toldNames(names: readonly string[]): string {
  if (names.length === 0) return "it has none";
  const more = names.length > namesMax ? `, and ${names.length - namesMax} more` : "";
  const told = names.slice(0, namesMax).map((name) => name.slice(0, nameCharsMax));
  return `it has ${told.join(", ")}${more}`;
}
