// `mcpx token`: a token signed with the data directory's key.
import { resolve } from "node:path";
import { isParticipantKind, participantKinds, type TokenClaims } from "@mcpx/host";
import { isLevel, levels } from "@mcpx/protocol";
import { checkParticipantId, checkTopicGlob } from "../check-names.ts";
import { type Context, dataOption, defineCommand, type OptionValues } from "../command.ts";
import { dataDirOf } from "../data-dir.ts";
import { durationRule, formatDuration, parseDuration } from "../duration.ts";
import { misuse } from "../failure.ts";
import { readKeyFile } from "../key-file.ts";
import { localUser, withStore } from "../local-store.ts";
import { suggestion } from "../nearest.ts";

const options = {
  ...dataOption,
  topic: { type: "string", multiple: true, value: "T", about: "room it opens; * is any name, ** any path" },
  id: { type: "string", value: "ID", about: "participant id" },
  level: {
    type: "string",
    value: "LEVEL",
    about: "full, responder or restricted (default: the gateway decides)",
  },
  kind: { type: "string", value: "KIND", about: "human, agent or robot" },
  name: { type: "string", value: "NAME", about: "name shown to others" },
  ttl: { type: "string", value: "TIME", about: "how long it counts: 30s, 15m, 1h, 7d (default: 1h)" },
  admin: { type: "boolean", about: "may administer the gateway" },
  tools: { type: "string", multiple: true, value: "GLOB", about: "tools it may see and call" },
  segment: { type: "string", value: "NAME", about: "segment it may register" },
  key: { type: "string", value: "FILE", about: "bind it to this key" },
} as const;

export const token = defineCommand({
  name: "token",
  summary: "print a token for a participant",
  usage: "--topic T… --id ID [options]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx token --topic demo --id alice --level full", "a person who may do everything in demo"],
    ["mcpx token --topic 'team/**' --id bot --kind agent --ttl 7d", "an agent, restricted, for a week"],
    ["mcpx token --id ops --admin --ttl 15m", "an administrator, for a while"],
  ],
  run,
});

const ttlMsMax = 365 * 86_400_000;

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, cwd } = context;
  const claims = readClaims(options, cwd);
  const ttlMs = readTtl(options.ttl ?? "1h");
  const dataDir = dataDirOf(context, options);
  const minted = await withStore(dataDir, { mayCreate: true }, async ({ identity, audit, isNew }) => {
    if (isNew) output.note(`mcpx: new data directory ${dataDir}`);
    const minted = await identity.tokens.mint(claims, { ttlMs });
    const { cnf: _, ...granted } = claims;
    const detail = JSON.parse(JSON.stringify({ ...granted, jti: minted.jti, ttlMs }));
    audit.recordNow({ action: "token.issue", actor: `cli:${localUser()}`, subject: claims.sub, detail });
    return minted;
  });
  const { token, jti, expiresAt } = minted;
  if (options.json) output.json({ token, jti, expires_at: new Date(expiresAt).toISOString() });
  else output.line(token);
  if (output.isTerminal && !options.json) output.note(`(${jti}, counts for ${formatDuration(ttlMs)})`);
  return 0;
}

function readClaims(given: OptionValues<typeof options>, cwd: string): TokenClaims {
  const { topic, id, level, kind, name, admin, tools, segment, key } = given;
  if (id === undefined) throw misuse("--id is missing", "say whose token it is: --id alice");
  checkParticipantId(id);
  if (topic.length === 0 && !admin && tools.length === 0 && segment === undefined) {
    throw misuse("--topic is missing", "say which room it opens: --topic demo, or '**' for all");
  }
  topic.forEach(checkTopicGlob);
  if (level !== undefined && !isLevel(level)) throw notOneOf("level", level, levels);
  if (kind !== undefined && !isParticipantKind(kind)) throw notOneOf("kind", kind, participantKinds);
  return {
    sub: id,
    topics: topic,
    level,
    kind,
    name,
    tools: tools.length === 0 ? undefined : tools,
    segment,
    admin: admin ? true : undefined,
    cnf: key === undefined ? undefined : { jwk: readKeyFile(resolve(cwd, key)) },
  };
}

function notOneOf(name: string, value: string, known: readonly string[]) {
  const fix = suggestion(value, known, `--${name} `) ?? `use ${known.join(", ")}`;
  return misuse(`--${name} ${value} is not one`, fix);
}

function readTtl(text: string): number {
  const ttlMs = parseDuration(text);
  if (ttlMs === undefined) throw misuse(`--ttl ${text} is not ${durationRule}`, "write for example --ttl 1h");
  if (ttlMs > ttlMsMax) throw misuse(`--ttl ${text} is too long`, "a token counts for 365d at most");
  return ttlMs;
}
