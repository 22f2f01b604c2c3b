// What an agent with a shell has, as the same user: the data directory, with it the proof of the machine, the store and the
// configuration. Whether it also has the approver's key is the set-up's.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  createIdentity,
  createLogger,
  createSqliteIdentityStore,
  localHeader,
  localProof,
  openState,
  systemClock,
} from "@mcpx/host";
import { onTestFinished } from "vitest";
import type { Gated } from "./gated.ts";

/** A request with an admin's token and the proof of whoever has the data directory. */
export type Here = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ status: number; body: Record<string, unknown> }>;

export async function hereAt(gated: Gated): Promise<Here> {
  const state = openState(join(gated.dataDir, "state.db"));
  const identity = await createIdentity({
    store: createSqliteIdentityStore(state),
    clock: systemClock,
    log: createLogger({ level: "silent" }),
  });
  onTestFinished(() => {
    identity.close();
    state.close();
  });
  return async (method, path, body) => {
    const { token } = await identity.tokens.mint(
      { sub: "admin", topics: [], admin: true },
      { ttlMs: 60_000 },
    );
    const headers = { authorization: `Bearer ${token}`, [localHeader]: localProof(identity, token) };
    const json = body && { body: JSON.stringify(body) };
    const sent = { method, headers: { ...headers, "content-type": "application/json" }, ...json };
    const response = await fetch(`${gated.url()}${path}`, sent);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

export function inStore({ dataDir }: Gated, sql: string, ...values: string[]): void {
  const db = new DatabaseSync(join(dataDir, "state.db"));
  db.exec("PRAGMA busy_timeout = 5000");
  db.prepare(sql).run(...values);
  db.close();
}

export interface Config {
  mcpServers: Record<string, object>;
  gates: object;
}

export const configOf = ({ dataDir }: Gated) => join(dataDir, "mcpx.json");

export function withPapers(config: Config, more: object): object {
  return { ...config, mcpServers: { papers: { ...config.mcpServers.papers, ...more } } };
}
