// The address and the rights that a client gets from us.
import { join } from "node:path";
import { localUrl } from "../access/local-url.ts";
import { runningPlace } from "../access/running-gateway.ts";
import type { ConnectContext } from "../commands/tree/connect.ts";
import { toolGlob } from "../config/config-values.ts";
import type { ConfigFile } from "../config-edit/edit-config.ts";
import { localUser, withStore } from "../files/local-store.ts";
import type { Home } from "../files/state-place.ts";
import { durationRule, parseDuration } from "../framework/duration.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import { defaultHost, defaultPort } from "../settings/server-settings.ts";
import type { Client, Endpoint } from "./client.ts";

/** What a client shall have, before there is a token for it. */
export interface EndpointWish extends Omit<Endpoint, "token"> {
  id: string;
  tools: readonly string[];
  ttlMs: number;
}

export interface MintedToken {
  token: string;
  jti: string;
  expiresAt: number;
}

const ttlMsMax = 365 * 86_400_000;

export function readEndpoint({ options }: ConnectContext, client: Client, file: ConfigFile): EndpointWish {
  const { profile, ttl, tools } = options;
  if (client.reaches === "stdio" && (ttl !== undefined || tools.length > 0)) {
    const option = ttl === undefined ? "--tools" : "--ttl";
    throw misuse(
      `${option} is for tokens, and ${client.title} gets none`,
      "choose its tools with --profile NAME",
    );
  }
  if (profile !== undefined) checkProfile(profile, Object.keys(file.config.profiles ?? {}), file.path);
  const bad = tools.find((glob) => !toolGlob.safeParse(glob).success);
  if (bad !== undefined)
    throw misuse(`--tools ${bad} is not a tool's name or glob`, "write for example 'files.*'");
  const id = `client:${client.id}`;
  const path = profile === undefined ? "/mcp" : `/mcp/${profile}`;
  return {
    id,
    tools: tools.length === 0 ? ["**"] : tools,
    ttlMs: readTtl(ttl ?? "30d"),
    url: `${gatewayUrl(file)}${path}`,
    command: process.execPath,
    args: [
      // By their full paths: what is started from a desktop knows no shell's PATH.
      join(import.meta.dirname, "..", "..", "bin", "mcpx.js"),
      ...["stdio", "--data", file.dataDir],
      ...configWords(file),
      ...(profile === undefined ? [] : ["--profile", profile]),
    ],
  };
}

/**
 * Always by name: a client starts commands in directories of strangers. What counts because it was accepted shall count
 * there too only as it was accepted.
 */
function configWords({ path, before, accepted }: ConfigFile): string[] {
  if (before === undefined) return [];
  return [accepted === undefined ? "--config" : "--trusted", path];
}

/** Where it runs now, else where the configuration says it will. */
function gatewayUrl({ dataDir, config }: ConfigFile): string {
  const running = runningPlace(dataDir);
  if (running !== undefined) return running.url;
  const { host = defaultHost, port = defaultPort, hosts, tls } = config.listen ?? {};
  const name = host.includes(":") ? `[${host}]` : host;
  const url = `${tls === undefined ? "http" : "https"}://${name}:${port}`;
  return localUrl(url, { hosts, tls: tls && { cert: "", key: "" } });
}

function checkProfile(profile: string, known: readonly string[], path: string): void {
  if (known.includes(profile)) return;
  const list = known.length === 0 ? `there is none in ${path}` : `there are ${known.join(", ")}`;
  throw new Failure(`there is no profile ${JSON.stringify(profile)}`, suggestion(profile, known) ?? list);
}

function readTtl(text: string): number {
  const ttlMs = parseDuration(text);
  if (ttlMs === undefined)
    throw misuse(`--ttl ${text} is not ${durationRule}`, "write for example --ttl 30d");
  if (ttlMs > ttlMsMax) throw misuse(`--ttl ${text} is too long`, "a token is valid for 365d at most");
  return ttlMs;
}

export async function mintFor(
  home: Home,
  { id, tools, ttlMs }: EndpointWish,
  title: string,
): Promise<MintedToken> {
  return withStore(home, { mayCreate: true }, async ({ identity, audit }) => {
    const claims = { sub: id, topics: [], tools: [...tools], kind: "agent", name: title } as const;
    const minted = await identity.tokens.mint(claims, { ttlMs });
    const detail = { ...claims, tools: [...tools], topics: [], jti: minted.jti, ttlMs };
    await audit.recordNow({ action: "token.issue", actor: `cli:${localUser()}`, subject: id, detail });
    return minted;
  });
}
