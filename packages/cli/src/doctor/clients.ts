// Clients whose files name this gateway: whether they would reach it, and be let in.
import { existsSync } from "node:fs";
import { isMcpxError } from "@mcpx/protocol";
import { besideGates } from "../client-configs/client-servers.ts";
import { clientOf } from "../client-configs/clients.ts";
import type { FoundServer } from "../client-configs/find-servers.ts";
import { withStore } from "../files/local-store.ts";
import { Failure } from "../framework/failure.ts";
import { defaultPort } from "../settings/server-settings.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";
import type { DoctorWorld } from "./world.ts";

const dayMs = 86_400_000;
const soonMs = 3 * dayMs;
const answerMs = 3_000;

export const clients: Check = {
  name: "clients",
  doing: "looking at clients",
  async run(world) {
    const { servers, faults } = world.clients;
    const found = faults.map((text) =>
      warning("clients", text, "correct it there; until then that client starts no servers"),
    );
    for (const server of servers.filter(({ isOurs }) => isOurs))
      found.push(...(await judgeClient(world, server)));
    found.push(...judgeOwn(world));
    return found;
  },
};

/** A server that is gated here and started by a client itself is a way around the gate. */
function judgeOwn({ loaded, clients: { servers } }: DoctorWorld): Finding[] {
  if (loaded instanceof Failure) return [];
  return besideGates(servers, loaded.config.mcpServers ?? {}).map(({ found, name }) => {
    const { client, file, project } = found;
    const where = project === undefined ? file : `${file}, for ${project}`;
    const text = `${clientOf(client).title} starts ${found.name} by itself, past the gates before ${name} here (${where})`;
    const isMovable = project === undefined && !found.isFromHere;
    const fix = isMovable ? `mcpx connect ${client} --move` : `take ${found.name} out of ${file}`;
    return warning(`client ${client}`, text, fix);
  });
}

async function judgeClient(world: DoctorWorld, { client, entry }: FoundServer): Promise<Finding[]> {
  const { title } = clientOf(client);
  const about = `client ${client}`;
  const fix = `mcpx connect ${client} --yes`;
  const found =
    entry.url === undefined
      ? judgeCommand(about, fix, [entry.command ?? "", ...(entry.args ?? [])])
      : [
          ...(await judgeAddress(world, about, fix, entry.url)),
          ...(await judgeToken(world, about, fix, entry.headers)),
        ];
  return found.length > 0 ? found : [ok(about, `${title} is connected`)];
}

/** Paths that `mcpx connect` wrote, and that somebody may have moved since. */
function judgeCommand(about: string, fix: string, words: readonly string[]): Finding[] {
  const gone = words.filter((word) => word.startsWith("/") && !existsSync(word));
  return gone.map((path) => fault(about, `it starts mcpx with ${path}, which is not there`, fix));
}

async function judgeAddress(world: DoctorWorld, about: string, fix: string, url: string): Promise<Finding[]> {
  const origin = URL.parse(url)?.origin;
  if (origin === undefined) return [fault(about, `${url} is not a valid URL`, fix)];
  const { place, loaded } = world;
  if (place !== undefined && origin === new URL(place.url).origin) return [];
  if (await answers(origin)) return [];
  if (place !== undefined)
    return [
      fault(about, `it looks for mcpx at ${origin}, where nothing answers; it runs at ${place.url}`, fix),
    ];
  const port = loaded instanceof Failure ? undefined : (loaded.config.listen?.port ?? defaultPort);
  const isThere = port !== undefined && new URL(origin).port === String(port);
  const start = isThere ? "mcpx up" : `mcpx up, then ${fix}`;
  return [warning(about, `it looks for mcpx at ${origin}, where nothing answers`, start)];
}

async function answers(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/healthz`, {
      signal: AbortSignal.timeout(answerMs),
      redirect: "error",
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function judgeToken(
  { dataDir, env, hasStore }: DoctorWorld,
  about: string,
  fix: string,
  headers: Record<string, string> = {},
): Promise<Finding[]> {
  const token = Object.values(headers).flatMap((value) => /^Bearer +(\S+)$/.exec(value)?.[1] ?? [])[0];
  if (token === undefined || !hasStore) return [];
  try {
    const { expiresAt } = await withStore({ dataDir, env }, {}, ({ identity }) =>
      identity.tokens.verify(token),
    );
    const leftMs = expiresAt - Date.now();
    if (leftMs > soonMs) return [];
    return [warning(about, `its token ends in ${Math.max(1, Math.round(leftMs / 3_600_000))} h`, fix)];
  } catch (error) {
    if (!isMcpxError(error)) throw error;
    const why = { token_expired: "has expired", token_revoked: "is revoked" }[error.code as string];
    return [fault(about, `its token ${why ?? "is not this gateway's"}`, fix)];
  }
}
