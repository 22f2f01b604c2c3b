// A token made at the console, for somebody else: shown once, on record, and never an admin's.
import { type Audit, type Identity, isParticipantKind, type TokenClaims } from "@mcpx/host";
import { isId, isLevel, isObject, isReservedId, type JsonObject, McpxError } from "@mcpx/protocol";

export interface MintOptions {
  identity: Pick<Identity, "tokens">;
  audit: Audit;
  user: string;
}

const globShape = /^[A-Za-z0-9._:@/+*-]{1,128}$/;
const globsMax = 20;
const ttlMsMax = 90 * 86_400_000;

export async function mintToken({ identity, audit, user }: MintOptions, body: unknown): Promise<JsonObject> {
  const given = isObject(body) ? body : {};
  const claims = readClaims(given);
  const { ttlMs } = given;
  if (typeof ttlMs !== "number" || !Number.isSafeInteger(ttlMs) || ttlMs < 1_000 || ttlMs > ttlMsMax) {
    throw bad("ttlMs must be from a second to 90 days");
  }
  const { token, jti, expiresAt } = await identity.tokens.mint(claims, { ttlMs });
  const detail = JSON.parse(JSON.stringify({ ...claims, jti, ttlMs })) as JsonObject;
  await audit.recordNow({ action: "token.issue", actor: `console:${user}`, subject: claims.sub, detail });
  return { token, jti, expiresAt: new Date(expiresAt).toISOString() };
}

/** What a token shall grant, as a page says it. Throws `bad_request`. */
export function readClaims({ id, topics, tools = [], level, kind }: JsonObject): TokenClaims {
  if (!isId(id) || isReservedId(id)) throw bad("id must be a participant's id");
  if (level !== undefined && !isLevel(level)) throw bad("level must be full, responder or restricted");
  if (kind !== undefined && !isParticipantKind(kind)) throw bad("kind must be human, agent or robot");
  return { sub: id, topics: readGlobs(topics, "topics"), tools: readGlobs(tools, "tools"), level, kind };
}

function readGlobs(value: unknown, field: string): string[] {
  const isGood =
    Array.isArray(value) &&
    value.length <= globsMax &&
    value.every((one) => typeof one === "string" && globShape.test(one));
  if (!isGood) throw bad(`${field} must be a list of at most ${globsMax} names or patterns`);
  return value as string[];
}

function bad(detail: string): McpxError {
  return new McpxError("bad_request", detail);
}
