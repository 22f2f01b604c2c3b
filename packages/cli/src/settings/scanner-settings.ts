// From the configuration to what looks at results. Secrets are filled in when they are used.
import { askServer, askWebhook, type Scanner } from "@mcpx/aggregator";
import { signWebhook } from "@mcpx/bridges";
import { defaultLimits } from "@mcpx/protocol";
import type { Config } from "../config/config.ts";
import { type FillInFrom, fillIn, fillInAll } from "../files/fill-in.ts";

const deadlineMsDefault = 2_000;

type Entry = NonNullable<Config["scanners"]>[string];

export function scannerSettings({ scanners = {} }: Config, world: FillInFrom): Scanner[] {
  return Object.entries(scanners)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, entry]) => {
      const { tools = ["**"], deadline = deadlineMsDefault, whenDown = "hold", server } = entry;
      return { name, tools, deadlineMs: deadline, whenDown, server, ask: askerOf(entry, world) };
    });
}

function askerOf(
  { url, headers = {}, secret, server, tool = "scan" }: Entry,
  world: FillInFrom,
): Scanner["ask"] {
  if (server !== undefined) return askServer(server, tool);
  return askWebhook({
    url: url ?? "",
    bytesMax: defaultLimits.mcpBodyBytesMax,
    headers: (id, body) => ({
      ...fillInAll(headers, world),
      ...(secret !== undefined && signWebhook(fillIn(secret, world), id, Date.now(), body)),
    }),
  });
}
