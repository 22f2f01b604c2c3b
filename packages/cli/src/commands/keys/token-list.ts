// `mcpx token list`: what was issued, newest first.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { issuedTokens } from "../../access/issued-tokens.ts";
import { isOwnToken } from "../../access/own-tokens.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { formatDuration } from "../../framework/duration.ts";
import { columns } from "../../framework/output.ts";
import { readLimit } from "../../framework/read-limit.ts";
import { visible } from "../../framework/visible.ts";

const options = {
  ...gatewayOptions,
  limit: { type: "string", value: "N", about: "how many (default: 50)" },
  all: { type: "boolean", about: "also those that commands and the console make for themselves" },
} as const;

export const tokenList = defineCommand({
  usage: "[--limit N] [--all]",
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
  const issued = await issuedTokens(context);
  const others = options.all ? issued : issued.filter((token) => !isOwn(token));
  const tokens = others.slice(0, limit);
  const left = issued.length - others.length;
  if (options.json) {
    output.json({ tokens, left });
    return 0;
  }
  const rows = tokens.map((token) => tokenRow(token, Date.now()));
  if (issued.length === 0) output.line("no token was issued yet");
  if (tokens.length > 0) for (const line of columns([head, ...rows])) output.line(line);
  if (others.length > limit) output.note(`${others.length - limit} older ones are left out; see --limit`);
  if (left > 0) output.note(ownText(left));
  return 0;
}

const head = ["ID", "STATE", "WHOSE", "RIGHTS", "ROOMS"];

function ownText(left: number): string {
  const what =
    left === 1 ? "1 short-lived one of mcpx itself is" : `${left} short-lived ones of mcpx itself are`;
  return `${what} left out; --all shows ${left === 1 ? "it" : "them"}`;
}

function isOwn({ sub, issuedAt, expiresAt }: JsonObject): boolean {
  const [begin, end] = [issuedAt, expiresAt].map((time) => Date.parse(String(time)));
  return isOwnToken({ sub: String(sub), issuedAt: Number(begin), expiresAt: Number(end) });
}

function tokenRow({ jti, sub, claims, expiresAt, revokedAt }: JsonObject, now: number): string[] {
  const { topics, level, admin } = isObject(claims) ? claims : {};
  const leftMs = Date.parse(String(expiresAt)) - now;
  const state = revokedAt ? "revoked" : leftMs <= 0 ? "expired" : `for ${formatDuration(leftMs)}`;
  const rights = [level, admin === true ? "admin" : undefined].filter((part) => part !== undefined);
  const rooms = Array.isArray(topics) ? topics.join(" ") : "";
  return [jti, state, sub ?? "-", rights.join(" ") || "-", rooms].map((cell) => visible(String(cell)));
}
