// The gateway a command talks to, and the token it shows there.

import type { TokenClaims } from "@mcpx/host";
import { errorTable, isObject, type JsonObject, type Reason } from "@mcpx/protocol";
import { dataDirOf } from "../files/data-dir.ts";
import { withStore } from "../files/local-store.ts";
import type { Home } from "../files/state-place.ts";
import type { gatewayOptions, OptionValues, Surroundings } from "../framework/command.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { runningPlace } from "./running-gateway.ts";

export interface Entrance {
  url: string;
  token: string;
  /** Shows that this program has the data directory, for an admin's work; a gateway elsewhere gets no secret of it. */
  local?: Readonly<Record<string, string>> | undefined;
}

export interface GatewayAccess {
  /** Whether tokens are made here as needed, or one was given. */
  readonly mintsTokens: boolean;
  /** Asked before every connection: a gateway may come back at another port, and tokens end. */
  enter(): Promise<Entrance>;
}

type GatewayContext = Pick<Surroundings, "env" | "cwd"> & { options: OptionValues<typeof gatewayOptions> };

/** Long enough for one command; connections that last are refreshed. */
const mintedTtlMs = 15 * 60_000;
const answerMs = 15_000;

/** `claims`: what a fresh token shall allow, no more than the command needs, for `ttlMs`. `urlOption`: what the user calls it. */
export function accessGateway(
  context: GatewayContext,
  claims: TokenClaims,
  urlOption = "--url",
  ttlMs = mintedTtlMs,
): GatewayAccess {
  const { options, env } = context;
  const dataDir = dataDirOf(context, options);
  const given = options.token ?? (env.MCPX_TOKEN || undefined);
  if (options.url !== undefined && given === undefined) {
    // A fresh token of the local gateway would give the server at that address access to the local gateway.
    throw misuse(`${urlOption} needs a token of that gateway`, "give --token TOKEN or set MCPX_TOKEN");
  }
  return {
    mintsTokens: given === undefined,
    async enter() {
      if (options.url !== undefined) return { url: readUrl(options.url, urlOption), token: given ?? "" };
      const url = placeUrl(dataDir, urlOption);
      return { url, ...(await proven({ dataDir, env }, given, claims, ttlMs)) };
    },
  };
}

/** The gateway running on the data directory, unless the command named one itself. */
export function hasGateway(context: GatewayContext): boolean {
  return context.options.url !== undefined || runningPlace(dataDirOf(context, context.options)) !== undefined;
}

/** One request with the token; throws what the gateway says in its own words. */
export async function callGateway(
  entrance: Entrance,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  return (await readGateway(entrance, method, path, body)).answer;
}

/** The same with the answer's text as it came. */
export async function readGateway(
  { url, token, local }: Entrance,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: JsonObject,
): Promise<{ answer: JsonObject; text: string }> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path, url), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...local,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.timeout(answerMs),
    });
    text = await response.text();
  } catch (error) {
    throw unreachable(url, error);
  }
  const answer = jsonOf(text);
  if (response.ok && isObject(answer)) return { answer, text };
  const topic = typeof body?.topic === "string" ? body.topic : undefined;
  throw refusal(url, response.status, answer, topic);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an HTTP error of the gateway means for the user. */
export function refusal(url: string, status: number, answer: unknown, topic = "ROOM"): Failure {
  const isTemporary = status === 429 || status >= 500;
  const error = isObject(answer) && isObject(answer.error) ? answer.error : undefined;
  if (error === undefined || typeof error.message !== "string") {
    const fault = `${url} answered ${status}, and not as a gateway does`;
    return new Failure(fault, "check --url", { isTemporary });
  }
  const reason = typeof error.reason === "string" ? error.reason : "";
  if (reason === "unauthorised") {
    // The table speaks to who writes a client; here somebody has typed a command.
    return new Failure(error.message, `make one with mcpx token --topic ${topic} --id NAME`, { reason });
  }
  const usual = Object.hasOwn(errorTable, reason) ? errorTable[reason as Reason].suggestion : undefined;
  const fix = typeof error.suggestion === "string" ? error.suggestion : usual;
  return new Failure(error.message, fix, { isTemporary, reason });
}

export function unreachable(url: string, cause: unknown): Failure {
  const code = codeOf(cause);
  if (code?.includes("CERT") || code?.includes("SSL") || code?.includes("TLS")) {
    const fix = "use the name in the certificate as --url, and NODE_EXTRA_CA_CERTS for a CA of your own";
    return new Failure(`the certificate of ${url} is not valid (${code})`, fix, { cause });
  }
  const fix = "check that the gateway runs and that the address is right";
  const why = code === undefined ? "" : ` (${code})`;
  return new Failure(`${url} cannot be reached${why}`, fix, { isTemporary: true, cause });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return codeOf(error.cause);
}

function placeUrl(dataDir: string, urlOption: string): string {
  const place = runningPlace(dataDir);
  if (place !== undefined) return place.url;
  const fix = `start it with mcpx up, or give ${urlOption} and --token for another`;
  throw new Failure(`no gateway is running on ${dataDir}`, fix, { isTemporary: true });
}

function readUrl(text: string, urlOption: string): string {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url.origin;
  throw new Failure(
    `${urlOption} ${text} is not an http or https address`,
    "write for example http://127.0.0.1:6279",
    {
      exitCode: 2,
    },
  );
}

/** The token, a fresh one where none was given; an admin's with the proof that it is shown at this machine. */
async function proven(
  home: Home,
  given: string | undefined,
  claims: TokenClaims,
  ttlMs: number,
): Promise<Pick<Entrance, "token" | "local">> {
  if (given !== undefined && !claims.admin) return { token: given };
  return withStore(home, {}, async ({ identity }) => {
    const { localHeader, localProof } = await import("@mcpx/host");
    const token = given ?? (await identity.tokens.mint(claims, { ttlMs })).token;
    return { token, ...(claims.admin && { local: { [localHeader]: localProof(identity, token) } }) };
  });
}
