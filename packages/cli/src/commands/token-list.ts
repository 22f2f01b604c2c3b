// `mcpx token list`: what was issued, newest first.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { dataDirOf } from "../data-dir.ts";
import { formatDuration } from "../duration.ts";
import { accessGateway, callGateway, hasGateway } from "../gateway-access.ts";
import { localUser, withStore } from "../local-store.ts";
import { columns } from "../output.ts";
import { readLimit } from "../read-limit.ts";
import { visible } from "../visible.ts";

const options = {
  ...gatewayOptions,
  limit: { type: "string", value: "N", about: "how many (default: 50)" },
} as const;

export const tokenList = defineCommand({
  usage: "[--limit N]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx token list", "the newest, with whom they are for and when they end"],
    ["mcpx token list --json", "with all they grant, for programs"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const limit = readLimit(options.limit, 50);
  const tokens = hasGateway(context) ? await askGateway(context, limit) : await readStore(context, limit);
  if (options.json) output.json({ tokens });
  else if (tokens.length === 0) output.line("no token was issued yet");
  else for (const line of columns(tokens.map((token) => tokenRow(token, Date.now())))) output.line(line);
  return 0;
}

async function askGateway(context: Context<typeof options>, limit: number): Promise<JsonObject[]> {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  const { tokens } = await callGateway(await access.enter(), "GET", `/admin/tokens?limit=${limit}`);
  return Array.isArray(tokens) ? tokens.filter(isObject) : [];
}

function readStore(context: Context<typeof options>, limit: number): Promise<JsonObject[]> {
  const iso = (ms: number) => new Date(ms).toISOString();
  return withStore(dataDirOf(context, context.options), {}, ({ identity }) =>
    identity.revocations.list({ limit }).map(({ issuedAt, expiresAt, revokedAt, ...token }) => ({
      ...token,
      issuedAt: iso(issuedAt),
      expiresAt: iso(expiresAt),
      revokedAt: revokedAt === undefined ? null : iso(revokedAt),
    })),
  );
}

function tokenRow({ jti, sub, claims, expiresAt, revokedAt }: JsonObject, now: number): string[] {
  const { topics, level, admin } = isObject(claims) ? claims : {};
  const leftMs = Date.parse(String(expiresAt)) - now;
  const state = revokedAt ? "revoked" : leftMs <= 0 ? "expired" : `for ${formatDuration(leftMs)}`;
  const rights = [level, admin === true ? "admin" : undefined].filter((part) => part !== undefined);
  const rooms = Array.isArray(topics) ? topics.join(" ") : "";
  return [jti, state, sub ?? "-", rights.join(" ") || "-", rooms].map((cell) => visible(String(cell)));
}
