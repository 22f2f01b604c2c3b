// `mcpax/deregister`: it leaves by its own will, at once. [AX-6.3-4]
import type { JsonObject } from "@mcpx/protocol";
import { giveBack, type RegistrarState, type Subserver } from "./registrar.ts";
import { remove } from "./remove.ts";

export async function deregister(state: RegistrarState, subserver: Subserver): Promise<JsonObject> {
  const { registration, standing, sessionId } = subserver;
  const { subserverId } = registration;
  remove(state, subserver, "it has deregistered");
  await state.store.letGo(subserverId, sessionId);
  await giveBack(state, registration, standing);
  return { status: "deregistered" };
}
