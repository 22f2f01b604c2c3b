// Where servers of the running gateway wait to be authorised, by their names; none where no gateway runs or tells.
import { isObject } from "@mcpx/protocol";
import { accessGateway, hasGateway } from "../access/gateway-access.ts";
import { openTree } from "../access/gateway-link.ts";
import { localUser } from "../files/local-store.ts";
import { Failure } from "../framework/failure.ts";
import { serversIn } from "../tree-view/server-state.ts";
import type { DoctorWorld } from "./world.ts";

export async function awaitedAddresses(world: DoctorWorld): Promise<ReadonlyMap<string, string>> {
  if (!hasGateway(world)) return new Map();
  try {
    const claims = { sub: `cli:${localUser()}`, topics: [], tools: ["**"], admin: true } as const;
    const caller = await openTree(accessGateway(world, claims));
    try {
      // Servers that were not asked yet are asked now.
      await caller.request("tools/list", {});
      const { structuredContent } = await caller.request("tools/call", {
        name: "mcpax.status",
        arguments: {},
      });
      const servers = isObject(structuredContent) ? serversIn(structuredContent) : [];
      return new Map(
        servers.flatMap(({ name, authorise_url: address }) =>
          typeof address === "string" ? [[String(name), address]] : [],
        ),
      );
    } finally {
      await caller.close();
    }
  } catch (error) {
    // What is wrong with the gateway is a finding of its own.
    if (error instanceof Failure) return new Map();
    throw error;
  }
}
