// After a command has appended to the chain of approvers: the gateway that runs there takes it over before the command
// ends, so that what it has done counts.
import { hasGateway } from "../access/gateway-access.ts";
import type { Context, dataOption } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { adminCall } from "./gate-access.ts";

export async function noteChain(context: Context<typeof dataOption>): Promise<void> {
  const options = { ...context.options, url: undefined, token: undefined };
  const local = { ...context, options } as Parameters<typeof adminCall>[0];
  if (!hasGateway(local)) return;
  try {
    await adminCall(local)("GET", "/approvers/chain");
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // It is written all the same; whether it counts there, only the gateway could have said.
    context.output.note(`the change is stored, but the running gateway has not applied it: ${error.message}`);
  }
}
