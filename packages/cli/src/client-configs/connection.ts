// What `mcpx connect` did to a client, kept in the data directory so that it can be undone.
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "@mcpx/protocol";
import { readWhole } from "../files/replace-file.ts";
import type { ClientId } from "./client.ts";

export interface Connection {
  file: string;
  /** Hash of the file as connect left it. */
  sha256: string;
  /** What the file was before; `null` where there was none, `undefined` where others wrote since. */
  original: string | null | undefined;
  url: string;
  tools: readonly string[];
  ttlMs: number;
  /** Servers that came here from the client, and what that did to our configuration. */
  moved?:
    | {
        names: readonly string[];
        config: string;
        /** Hash of the configuration as connect left it. */
        sha256: string;
        /** What it was before; `null` where there was none, `undefined` where nothing was written. */
        original: string | null | undefined;
      }
    | undefined;
  /** Of the token, where there is one. */
  jti?: string | undefined;
  expiresAt?: number | undefined;
}

export function readConnection(dataDir: string, client: ClientId): Connection | undefined {
  try {
    const value: unknown = JSON.parse(readWhole(pathOf(dataDir, client))?.text ?? "");
    return isConnection(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function keepConnection(dataDir: string, client: ClientId, connection: Connection): void {
  const path = pathOf(dataDir, client);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(connection)}\n`, { mode: 0o600 });
}

export function forgetConnection(dataDir: string, client: ClientId): void {
  rmSync(pathOf(dataDir, client), { force: true });
}

export function sha256Of(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function pathOf(dataDir: string, client: ClientId): string {
  return join(dataDir, "connections", `${client}.json`);
}

function isConnection(value: unknown): value is Connection {
  return (
    isObject(value) &&
    typeof value.file === "string" &&
    typeof value.sha256 === "string" &&
    typeof value.url === "string" &&
    typeof value.ttlMs === "number" &&
    Array.isArray(value.tools)
  );
}
