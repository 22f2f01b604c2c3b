// `mcpax/update`: a subtree has changed. A circle that would close is refused, whoever closes it. [AX-5.3-2] [AX-5.3-3]
import { type JsonObject, McpxError, readSubtreeIds } from "@mcpx/protocol";
import {
  announceLess,
  checkCycle,
  checkSubtreeSize,
  type RegistrarState,
  type Subserver,
} from "./registrar.ts";

export async function update(
  state: RegistrarState,
  subserver: Subserver,
  params: JsonObject,
): Promise<JsonObject> {
  const ids = readSubtreeIds(params["x-mcpax-subtree-ids"]);
  if (ids === undefined) throw new McpxError("bad_params", "params.x-mcpax-subtree-ids is missing");
  if (subserver.registration.subtreeIds === undefined) {
    throw new McpxError("bad_params", "it has not registered as an aggregator");
  }
  checkCycle(state, ids);
  const before = subserver.subtreeIds;
  checkSubtreeSize(state, subserver.registration.segment, ids);
  subserver.subtreeIds = ids;
  try {
    await state.announceSubtree();
  } catch (error) {
    subserver.subtreeIds = before;
    announceLess(state);
    throw error;
  }
  return { status: "updated" };
}
