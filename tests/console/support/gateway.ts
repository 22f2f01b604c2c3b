// A gateway as `mcpx up` starts it, with a home of its own, and somebody logged in at its console.
import { join } from "node:path";
import { type RunOptions, scratch, start } from "../../cli/support/mcpx-process.ts";
import { type Visitor, visitBy } from "./visitor.ts";

export interface ConsoleGateway {
  url: string;
  /** Lets one browser in. */
  link: string;
  home: string;
  dataDir: string;
  /** What it has logged. */
  err: readonly string[];
}

export async function startGateway(
  args: readonly string[] = [],
  { home = scratch(), ...options }: RunOptions & { home?: string } = {},
): Promise<ConsoleGateway> {
  const dataDir = join(home, "data");
  const command = start(["up", "--port", "0", "--json", "--data", dataDir, ...args], {
    cwd: home,
    ...options,
    env: { HOME: home, ...options.env },
  });
  const ready = JSON.parse(await command.line(/^\{"url"/)) as { url: string; console: string };
  return { url: ready.url, link: ready.console, home, dataDir, err: command.err };
}

export function enter({ link }: ConsoleGateway): Promise<Visitor> {
  return visitBy(link.replace("localhost", "127.0.0.1"));
}
