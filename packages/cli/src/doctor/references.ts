// What a server's configuration leaves to the environment and to files, and whether it is there. Pure but for looking.
import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { FillInFrom } from "../files/fill-in.ts";

type ServerConfig = NonNullable<Config["mcpServers"]>[string];

export interface Missing {
  kind: "env" | "file";
  name: string;
}

export function missingReferences(server: ServerConfig, { env, dir }: FillInFrom): Missing[] {
  const missing = referencesOf(server).filter(({ kind, name }) =>
    kind === "env" ? env[name] === undefined : !isReadable(resolve(dir, name)),
  );
  const seen = new Set<string>();
  return missing.filter(({ kind, name }) => {
    const key = `${kind}:${name}`;
    return !seen.has(key) && seen.add(key);
  });
}

function referencesOf(server: ServerConfig): Missing[] {
  const { command, args = [], env = {}, cwd, url, headers = {}, oauth } = server;
  const texts = [
    command,
    ...args,
    ...Object.values(env),
    cwd,
    url,
    ...Object.values(headers),
    oauth?.clientSecret,
  ];
  return texts.flatMap((text) =>
    (text ?? "")
      .split("${")
      .slice(1)
      .flatMap((part) => {
        const end = part.indexOf("}");
        const colon = part.indexOf(":");
        const kind = part.slice(0, colon);
        if (end === -1 || colon > end || (kind !== "env" && kind !== "file")) return [];
        return [{ kind, name: part.slice(colon + 1, end) } as const];
      }),
  );
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
